"""Threads and processes: many at once, forked, on clusters, and where machine code cannot be kept."""

import multiprocessing
import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tabstretch
from tabstretch import StretchTransformer, SupervisedStretchTransformer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
Y = np.tanh(3 * X[:, 0]) + X[:, 1]

MAKERS: dict[str, Any] = {
    "unsupervised": lambda: StretchTransformer(32, output="views", n_jobs=2),
    "within fold": lambda: SupervisedStretchTransformer(16, variation="within_fold", n_jobs=2),
    "pooled": lambda: SupervisedStretchTransformer(16, variation="pooled", cv=3),
    "conditional": lambda: SupervisedStretchTransformer(8, cv=2, n_curves=20, teacher_rows=300, n_jobs=2),
}
every = pytest.mark.parametrize("name", MAKERS)


def fit_transform(name: str) -> Any:
    return MAKERS[name]().fit(X, Y).transform(X)


@every
def test_a_hundred_transforms_at_once(name: str) -> None:
    fitted = MAKERS[name]().fit(X, Y)
    tables = [np.ascontiguousarray(np.roll(X, shift, axis=0)) for shift in range(100)]
    serial = [fitted.transform(table) for table in tables]
    serial_back = [fitted.inverse_transform(output) for output in serial]
    with ThreadPoolExecutor(16) as pool:
        stretched = list(pool.map(fitted.transform, tables))
        back = list(pool.map(fitted.inverse_transform, stretched))
    assert_array_equal(stretched, serial)
    assert_array_equal(back, serial_back)


@every
def test_fits_at_once(name: str) -> None:
    expected = fit_transform(name)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(fit_transform, [name] * 6):
            assert_array_equal(found, expected)


def test_different_fits_at_once() -> None:
    names = list(MAKERS) * 3
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fit_transform, names))
    for name, output in zip(names, found, strict=True):
        assert_array_equal(output, fit_transform(name))


def test_fits_in_processes_of_joblib() -> None:
    found = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(_fit_elsewhere)(MAKERS[name](), X, Y) for name in MAKERS
    )
    for name, output in zip(MAKERS, found, strict=True):
        assert_array_equal(output, fit_transform(name))


def _fit_elsewhere(stretch: Any, X: Any, y: Any) -> Any:
    return stretch.fit(X, y).transform(X)


def test_fits_in_a_worker_of_dask() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        tasks = [client.submit(_fit_elsewhere, MAKERS[name](), X, Y, pure=False) for name in MAKERS]
        for name, output in zip(MAKERS, client.gather(tasks), strict=True):
            assert_array_equal(output, fit_transform(name))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # that is the point
def test_fits_in_a_forked_process() -> None:
    expected = {name: fit_transform(name) for name in MAKERS}  # the parent has used kernels and threads
    with ThreadPoolExecutor(4) as alive:
        list(alive.map(fit_transform, ["within fold"] * 4))  # its threads are still there at the fork
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(fit_transform, list(MAKERS)).get(timeout=240)
    for name, output in zip(MAKERS, found, strict=True):
        assert_array_equal(output, expected[name])


SCRIPT = """
import sys
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import numpy as np
    import tabstretch
    X = np.random.default_rng(0).normal(size=(300, 2))
    stretch = tabstretch.StretchTransformer(8).fit(X)
    back = stretch.inverse_transform(stretch.transform(X))
assert np.allclose(back, X)
print([str(each.message) for each in caught], file=sys.stderr)
print(len(caught), sum("NUMBA_CACHE_DIR" in str(each.message) for each in caught), tabstretch.__file__)
"""
ROOT = Path(tabstretch.__file__).parents[1]
NOWHERE = "/dev/null/nowhere"  # a folder that not even root can make


def run_script(source: Path, home: Path | str, **environment: str) -> tuple[int, str]:
    """Fit and transform in a new process; return how often it warned of the cache, and what it imported."""
    usual = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    paths = {"PYTHONPATH": str(source), "HOME": str(home), "XDG_CACHE_HOME": f"{home}/cache"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=usual | paths | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    n_warnings, n_ours, where = done.stdout.split()
    assert n_warnings == n_ours, done.stderr
    return int(n_ours), where


def package_files() -> list[Path]:
    """The core of the package, as it is installed."""
    root = Path(tabstretch.__file__).parent
    return [path for path in [*root.glob("*.py"), *root.glob("schemas/*")] if path.is_file()]


def test_a_cache_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    missing = tmp_path / "not" / "there"
    assert run_script(ROOT, tmp_path, NUMBA_CACHE_DIR=str(missing))[0] == 0
    assert any(missing.rglob("*.nbc"))


@pytest.mark.parametrize(("home", "n_warnings"), [("home", 0), (NOWHERE, 1)])
def test_a_zipped_install(tmp_path: Path, home: str, n_warnings: int) -> None:
    archive = tmp_path / "tabstretch.zip"
    with zipfile.ZipFile(archive, "w") as bundle:
        for path in package_files():
            bundle.write(path, path.relative_to(ROOT))
    found, where = run_script(archive, tmp_path / home)
    assert where.startswith(str(archive))
    # Older releases of numba cache nothing of a zipped install.
    assert found <= 1 if home == "home" else found == n_warnings


@pytest.mark.parametrize(("home", "n_warnings"), [("home", 0), (NOWHERE, 1)])
def test_an_install_beside_which_nothing_can_be_written(tmp_path: Path, home: str, n_warnings: int) -> None:
    """The cache goes to the user's folder, and in a container without one it is done without."""
    for path in package_files():
        copy = tmp_path / "site" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    (tmp_path / "site" / "tabstretch" / "__pycache__").write_text("no folder can be made here")
    found, where = run_script(
        tmp_path / "site", tmp_path / home, NUMBA_CACHE_DIR=NOWHERE, PYTHONDONTWRITEBYTECODE="1"
    )
    assert where.startswith(str(tmp_path / "site"))
    assert found == n_warnings
