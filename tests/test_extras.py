"""A library that is missing is named, with the line that installs it."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("tabstretch.torch", "torch", "torch"),
        ("tabstretch.onnx", "skl2onnx", "onnx"),
        ("tabstretch.dask", "dask", "dask"),
    ],
)
def test_a_missing_library_is_named(module: str, library: str, extra: str) -> None:
    code = f"import sys, tabstretch; sys.modules[{library!r}] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"ImportError: {library} is needed for this: pip install 'tabstretch[{extra}]'" in done.stderr


def test_what_studies_need_is_named() -> None:
    code = "import sys; sys.modules['optuna'] = None; from tabstretch.study import run_study"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ModuleNotFoundError: optuna is needed for this: pip install 'tabstretch[study]'" in done.stderr


def test_a_stretch_is_loaded_and_put_into_sql_without_any() -> None:
    code = (
        "import sys; import tabstretch, tempfile, os; "
        "path = os.path.join(tempfile.mkdtemp(), 'map.json'); "
        "stretch = tabstretch.StretchTransformer().fit([[1.0], [2.0]]); "
        "stretch.to_json(path); tabstretch.load(path).to_sql('postgres'); "
        "print([name for name in ('torch', 'onnx', 'duckdb', 'jsonschema') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
