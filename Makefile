# Needs Python >= 3.11 with pip, and make. `make` alone lists the targets.
#
#   make test PYTHON=python3.12    choose the interpreter (after `make clean`, if .venv exists)
#   make test WORKERS=1            choose the number of test processes

PYTHON  ?= python3
WORKERS ?= auto

VENV        := .venv
VENV_OLDEST := .venv-oldest

# A finished environment is marked by a stamp file, so a set-up that was interrupted starts again.
READY        := $(VENV)/.ready
READY_OLDEST := $(VENV_OLDEST)/.ready
READY_DOCS   := $(VENV)/.ready-docs

CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
  { echo "tabstretch needs Python 3.11 or newer, which PYTHON=$(PYTHON) is not; try make PYTHON=python3.12" >&2; exit 1; }

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo dist docs test test-oldest torture faults lint types bench bench-study bench-report clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY)  ## install, then run a small study; its results and report go to build/demo
	@mkdir -p build/demo
	$(VENV)/bin/tabstretch run studies/demo.toml --storage build/demo/demo.db
	$(VENV)/bin/tabstretch results studies/demo.toml --storage build/demo/demo.db -o build/demo/results.csv
	$(VENV)/bin/tabstretch report studies/demo.toml --storage build/demo/demo.db -o build/demo/report.html

# Nothing is asked of the network once the tools are there. Examples that have not changed are not run again.
docs: $(READY_DOCS)  ## build the site into build/docs, running its examples, and check its links
	rm -rf build/docs
	$(VENV)/bin/python -m sphinx -b html -d build/doctrees -W --keep-going -q docs build/docs
	$(VENV)/bin/python docs/check_links.py build/docs
	@echo "The site is in build/docs/index.html"

# The report is tested in a real browser, which a machine of our own may install; elsewhere those tests are skipped.
test: $(READY)  ## run every test and doctest
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && apt-get install -qq --yes chromium >/dev/null 2>&1; } || echo "no chromium: the report is not tested in a browser"
	$(VENV)/bin/python -m pytest -n $(WORKERS)

test-oldest: $(READY_OLDEST)  ## the same but for the documents, with the oldest supported dependencies
	$(VENV_OLDEST)/bin/python -m pytest -n $(WORKERS) --ignore=tests/test_documents.py

# Files whose generated cases are worth a night; TORTURE chooses among them.
TORTURE ?= tests/test_hostile_numbers.py tests/test_hostile_deployments.py tests/test_hostile_tables.py tests/test_json_reader.py tests/study/test_no_way_in.py tests/study/datasets/test_npy.py tests/study/datasets/test_pickles.py tests/study/datasets/test_openml_answers.py
torture: $(READY)  ## generate 200,000 cases and more, others in every run, and stop at the first that fails
	HYPOTHESIS_PROFILE=torture $(VENV)/bin/python -m pytest -x -n $(WORKERS) --dist worksteal $(TORTURE)

lint: $(READY)  ## check style and formatting
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(READY)  ## check the types
	$(VENV)/bin/mypy

bench: $(READY)  ## measure speed and signal recovery
	$(VENV)/bin/python benchmarks/speed.py
	$(VENV)/bin/python benchmarks/signal_recovery.py
	$(VENV)/bin/python benchmarks/conditional_noise.py
	$(VENV)/bin/python benchmarks/deployment.py

bench-study: $(READY)  ## measure the study's own cost over bare training
	$(VENV)/bin/python benchmarks/study.py studies/quick.toml
	$(VENV)/bin/python benchmarks/stacks.py

bench-report: $(READY)  ## measure the report of a full-size study
	$(VENV)/bin/python benchmarks/report.py

dist: $(READY)  ## build the wheel and the source distribution into dist, and check what such hold
	rm -rf dist
	$(VENV)/bin/python -m hatchling build --directory dist
	$(VENV)/bin/python -m pytest -q tests/test_distribution.py

# The sequence of faults is drawn with a seed: make faults SEED=1 FAULTS=100
SEED   ?= 0
FAULTS ?= 60

faults: $(READY)  ## strike studies with 60 faults, and compare them with an undisturbed one (about 10 minutes)
	$(VENV)/bin/python tests/study/fault_injection.py --faults $(FAULTS) --seed $(SEED)

clean:  ## remove the environments and everything generated
	rm -rf $(VENV) $(VENV_OLDEST) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/api docs/auto_examples
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

# The environments are rebuilt from nothing when what they install changes.
# PyTorch comes first and stays as it is: any newer one that pip might prefer brings gigabytes for graphics cards.
$(READY): pyproject.toml constraints/torch.txt
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --requirement constraints/torch.txt
	$(VENV)/bin/python -m pip install --constraint constraints/torch.txt --editable '.[full,dev]'
	@touch $@

# On top of the others, so that tests do not wait for tools they do not need.
$(READY_DOCS): $(READY)
	$(VENV)/bin/python -m pip install --constraint constraints/torch.txt --editable '.[docs]'
	@touch $@

$(READY_OLDEST): pyproject.toml constraints/oldest.txt
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv --clear $(VENV_OLDEST)
	$(VENV_OLDEST)/bin/python -m pip install --constraint constraints/oldest.txt --editable '.[plot,pandas,polars,data,test]'
	@touch $@
