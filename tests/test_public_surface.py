"""What is public, what its documentation says, and what importing it costs."""

import ast
import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tabstretch

SOURCES = sorted(Path(tabstretch.__file__).parent.glob("*.py"))


def test_exported_names() -> None:
    assert tabstretch.__all__ == [
        "MonotoneMap",
        "StretchDisplay",
        "StretchTransformer",
        "SupervisedStretchTransformer",
        "TableStretch",
        "dirichlet_energy",
        "fit_parquet",
        "load",
        "suggest",
    ]
    public = {
        name
        for name, value in vars(tabstretch).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public == set(tabstretch.__all__)
    assert tabstretch.__version__ == importlib.metadata.version("tabstretch")


SIGNATURES = {
    "StretchTransformer": ["n_bins", "value_weight", "output", "feature_range", "out_of_range", "n_jobs"],
    "SupervisedStretchTransformer": [
        "n_bins",
        "n_neighbors",
        "cv",
        "variation",
        "teacher",
        "n_curves",
        "teacher_rows",
        "shrinkage",
        "rank_weight",
        "value_weight",
        "output",
        "target_type",
        "feature_range",
        "out_of_range",
        "random_state",
        "n_jobs",
    ],
    "TableStretch": ["stretch"],
    "MonotoneMap": ["edges", "values", "out_of_range"],
    "dirichlet_energy": ["f", "y"],
    "fit_parquet": ["path", "target", "columns", "weight", "transformer"],
    "load": ["path"],
    "suggest": ["X", "y", "target_type", "cv", "max_rows", "random_state", "n_jobs"],
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters(name: str) -> None:
    parameters = inspect.signature(getattr(tabstretch, name)).parameters
    assert list(parameters) == SIGNATURES[name]
    if name.endswith("Transformer"):
        keyword_only = [p for p in parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        assert len(keyword_only) == len(parameters) - 1


def documented_parameters(docstring: str) -> dict[str, str]:
    """Name -> type and default, as the Parameters section has them."""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n\w+\n-+\n|\n\nExamples|\Z)", docstring, re.DOTALL)
    assert section
    entries = re.findall(r"^(\w[\w, ]*?) : (.+)$", section[1], re.MULTILINE)
    return {name: text for names, text in entries for name in names.split(", ")}


@pytest.mark.parametrize("name", SIGNATURES)
def test_documented_defaults_are_the_signatures(name: str) -> None:
    thing: Any = getattr(tabstretch, name)
    documented = documented_parameters(inspect.getdoc(thing) or "")
    parameters = inspect.signature(thing).parameters
    assert list(documented) == list(parameters)
    for parameter in parameters.values():
        default = re.search(r"default=(.+)$", documented[parameter.name])
        if parameter.default is inspect.Parameter.empty:
            assert default is None
        else:
            assert default, f"{parameter.name} has a default that is not documented"
            assert ast.literal_eval(default[1]) == parameter.default


@pytest.mark.parametrize("name", ["StretchTransformer", "SupervisedStretchTransformer"])
def test_fitted_attributes_are_documented(name: str) -> None:
    class_ = getattr(tabstretch, name)
    X = [[float(i)] for i in range(30)]
    fitted = class_().fit(X, [float(i % 7) + 0.5 for i in range(30)])
    attributes = {key for key in vars(fitted) if key.endswith("_") and not key.startswith("_")}
    documented = inspect.getdoc(class_).split("Attributes\n")[1].split("See Also")[0]
    assert attributes <= set(re.findall(r"\w+_\b", documented))


def test_public_things_have_docstrings() -> None:
    for name in tabstretch.__all__:
        thing = getattr(tabstretch, name)
        assert inspect.getdoc(thing), name
        for method, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not method.startswith("_") and callable(value):
                assert inspect.getdoc(value), f"{name}.{method}"


EXTRAS = ("pandas", "polars", "pyarrow", "matplotlib", "torch", "optuna", "dask")
FIT = (
    "import numpy; x = numpy.arange(50.0)[:, None]; "
    "tabstretch.SupervisedStretchTransformer().fit(x, x.ravel() ** 2 + 0.5).transform(x); "
)


@pytest.mark.parametrize("then", ["", FIT], ids=["import", "fit"])
def test_the_extras_are_left_alone(then: str) -> None:
    """By us: scikit-learn itself imports pandas where it is installed."""
    code = (
        "import sys, sklearn.model_selection, sklearn.preprocessing; before = set(sys.modules); "
        f"import tabstretch; {then}print([name for name in {EXTRAS} if name in set(sys.modules) - before])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_departures_from_the_paper_are_marked() -> None:
    assert sum(path.read_text().count("NOTE[DIFF]") for path in SOURCES) >= 4


def test_it_is_typed() -> None:
    assert (Path(tabstretch.__file__).parent / "py.typed").exists()
