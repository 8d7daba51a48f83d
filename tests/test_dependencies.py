"""What the core stands on, and what no code of ours does with data."""

import ast
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

import tabstretch

PACKAGE = Path(tabstretch.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

# Calls that would execute what a file, a name or a text holds.
EXECUTES = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load", "pickle.loads"),
    *("joblib.load", "yaml.load", "marshal.loads", "shelve.open", "np.load", "numpy.load", "torch.load"),
    *(
        "pandas.read_pickle",
        "pd.read_pickle",
        "pandas.eval",
        "pd.eval",
        "cloudpickle.loads",
        "runpy.run_path",
    ),
}
# A pickle of RealMLP holds another one, for its own __reduce__: the user has begun to unpickle already.
# What the workers of a study share lies in a folder that a coordinator has just made, for its user alone.
ALLOWED = {("study/models/realmlp.py", "pickle.loads"), ("study/shelf.py", "pickle.loads")}


def calls(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_code_executes_data(path: Path) -> None:
    name = path.relative_to(PACKAGE).as_posix()
    assert {(name, call) for call in calls(path) & EXECUTES} <= ALLOWED
    text = path.read_text(encoding="utf-8")
    assert "allow_pickle=True" not in text.replace("`allow_pickle=True`", "")
    assert "shell=True" not in text


def test_the_core_needs_three_packages() -> None:
    wanted = [line for line in requires("tabstretch") or [] if "extra ==" not in line]
    assert {line.split(">=")[0] for line in wanted} == {"numpy", "numba", "scikit-learn"}


def test_the_core_imports_only_what_it_needs() -> None:
    """With every other package hidden, it is imported, fits and transforms."""
    allowed = {"tabstretch", "numpy", "numba", "sklearn"}
    allowed |= {"llvmlite", "scipy", "joblib", "threadpoolctl", "cloudpickle", "narwhals"}  # what these need
    code = f"""
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {allowed!r} and top not in sys.stdlib_module_names and not top.startswith("_"):
            raise ModuleNotFoundError(f"hidden: {{name}}", name=name)
sys.meta_path.insert(0, Hide())
import numpy as np, tabstretch
x = np.arange(60.0)[:, None]
stretch = tabstretch.SupervisedStretchTransformer(8, cv=2, n_curves=10).fit(x, x.ravel() ** 2 + 0.5)
print(stretch.transform(x)[-1, 0], len(stretch.to_sql()))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.stdout.split() == ["1.0", "1"], found.stderr
