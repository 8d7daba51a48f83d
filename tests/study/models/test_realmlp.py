"""RealMLP: what the library it comes from must not do, and what its options must be."""

import logging
import os
import pickle
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from contract import Array, NetworkContract, categories, noise, rings, rows
from numpy.testing import assert_array_equal

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import realmlp
from tabstretch.study.training import Budget, Fitted

SHORT = Budget(max_epochs=2, patience=2, batch_size=64)


class TestRealMLP(NetworkContract):
    model = realmlp

    def test_stops_early_where_there_is_nothing_to_learn(self) -> None:
        """Its learning rate goes up and down, so it waits for twice the best epoch, and then the patience."""
        for fitted in self.fit(noise(), [0, 1, 2], Budget(max_epochs=100, patience=2, batch_size=64)):
            assert fitted.epochs < 100
            assert fitted.epochs == 2 * fitted.best_epoch + 3

    def test_memory_grows_with_the_inputs(self) -> None:
        """But training has batches of its own, which the budget makes no larger."""
        none, plr = ({"num_emb_type": kind} for kind in ("none", "plr"))
        assert realmlp.memory(20, 64, {}) < realmlp.memory(20, 256, {}) < realmlp.memory(2000, 256, {})
        assert realmlp.memory(20, 1024, {}) == realmlp.memory(20, 256, {})
        assert realmlp.memory(20, 256, none) < realmlp.memory(20, 256, plr) == realmlp.memory(20, 256, {})
        assert realmlp.memory(20, 256, {"hidden_sizes": "512"}) < realmlp.memory(20, 256, {})


def fit_one(inputs: Inputs, params: dict[str, Any] | None = None, budget: Budget = SHORT) -> Fitted:
    (fitted,) = realmlp.fit(inputs, params or {}, [0], budget)
    if isinstance(fitted, Exception):
        raise fitted
    return fitted


def predict(fitted: Fitted, inputs: Inputs) -> Array:
    return fitted.predict(*rows(inputs, "test"))


def global_state() -> tuple:
    levels = [logging.getLogger(name).level for name in ("pytorch_lightning", "lightning_fabric")]
    generators = torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    slurm = os.environ.get("SLURM_JOB_NAME")
    return levels, generators, slurm, torch.get_num_threads(), signal.getsignal(signal.SIGINT)


def test_leaves_no_trace(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Warnings would be errors."""
    monkeypatch.chdir(tmp_path)
    inputs = categories(1)
    before = global_state()
    predict(fit_one(inputs), inputs)
    assert global_state() == before
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_columns_are_not_scaled_again() -> None:
    """Its own robust scaling would undo what a transformation did."""
    inputs = rings("regression")
    wider = replace(inputs, numeric={part: 10 * rows for part, rows in inputs.numeric.items()})
    assert not np.allclose(predict(fit_one(inputs), inputs), predict(fit_one(wider), wider))


def test_codes_that_were_not_trained_are_all_the_same() -> None:
    """Though the validation part has them."""
    one, other = categories(1), categories(1)
    one.categorical["val"][:50], other.categorical["val"][:50] = 4, 7
    fitted = fit_one(one)
    expected = predict(fitted, one)
    other.categorical["test"][other.categorical["test"] == 4] = 7
    assert_array_equal(predict(fitted, other), expected)
    assert_array_equal(predict(fit_one(other), other), expected)


@pytest.mark.parametrize("task", ["binclass", "regression"])
def test_the_score_is_that_of_the_best_epoch(task: str) -> None:
    inputs = rings(task)
    fitted = fit_one(inputs, budget=Budget(max_epochs=12, batch_size=64))
    module = fitted.network.estimator.alg_interface_.model
    (((error,),),) = module.best_val_errors.values()
    wanted = error * inputs.target_scale if task == "regression" else 1 - error
    assert fitted.val_score == pytest.approx(wanted, rel=1e-5)
    assert (fitted.epochs, 1 <= fitted.best_epoch <= 12) == (12, True)


def test_options_of_the_search_space_reach_the_library() -> None:
    params = {
        "num_emb_type": "plr",
        "add_front_scale": False,
        "hidden_sizes": "64-64-64-64-64",
        "p_drop": 0.3,
        "act": "relu",
        "lr": 0.1,
        "wd": 0.0,
        "ls_eps": 0.0,
        "plr_sigma": 0.2,
    }
    estimator = fit_one(categories(1), params).network.estimator
    assert {name: getattr(estimator, name) for name in params} == {**params, "hidden_sizes": [64] * 5}
    assert (estimator.tfms, estimator.batch_size) == (["one_hot", "embedding"], 64)


@pytest.mark.parametrize("task", ["binclass", "regression"])
def test_diverging_is_an_error_for_each_seed(task: str) -> None:
    failed = realmlp.fit(rings(task), {"lr": 1e30}, [0, 1], SHORT)
    assert ["predictions contain nan" in str(error) for error in failed] == [True, True], failed


def test_ctrl_c_stays_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lightning would exit, and leave Ctrl-C without effect."""
    inputs = categories(1)
    module = type(fit_one(inputs).network.estimator.alg_interface_.model)

    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(module, "validation_step", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may start tests without it
    try:
        with pytest.raises(KeyboardInterrupt):
            realmlp.fit(inputs, {}, [0], SHORT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_trains_inside_a_slurm_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lightning refuses jobs of several tasks that it has not started itself."""
    monkeypatch.setenv("SLURM_NTASKS", "4")
    monkeypatch.setenv("SLURM_JOB_NAME", "study")
    fit_one(categories(1))
    assert os.environ["SLURM_JOB_NAME"] == "study"


def test_another_process_predicts_the_same(tmp_path: Path) -> None:
    inputs = categories(1)
    fitted = fit_one(inputs)
    (tmp_path / "fitted.pickle").write_bytes(pickle.dumps((fitted, inputs)))
    code = """
import pickle
from pathlib import Path
import numpy as np
fitted, inputs = pickle.loads(Path("fitted.pickle").read_bytes())
np.save("predictions.npy", fitted.predict(inputs.numeric["test"], inputs.categorical["test"]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert_array_equal(np.load(tmp_path / "predictions.npy"), predict(fitted, inputs))
