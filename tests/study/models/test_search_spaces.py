"""Search spaces are the paper's tables, here word for word: they are sampled and compared with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from tabstretch.study.models import MODELS
from tabstretch.study.transformations import TRANSFORMATIONS, suggest

OF_MODELS = {
    "mlp": {
        "d_layers": "$mlp_d_layers[1, 8, 64, 2048]",
        "dropout": "?uniform[0.0, 0.0, 0.5]",
        "lr": "loguniform[1e-5, 0.01]",
        "weight_decay": "?loguniform[0.0, 1e-6, 0.001]",
    },
    "mlp_plr": {
        "d_layers": "$mlp_d_layers[1, 8, 64, 1024]",
        "dropout": "?uniform[0.0, 0.0, 0.5]",
        "n_frequencies": "int[16, 96]",
        "frequency_scale": "loguniform[0.01, 100.0]",
        "d_embedding": "int[16, 64]",
        "lr": "loguniform[1e-5, 0.01]",
        "weight_decay": "?loguniform[0.0, 1e-6, 0.001]",
    },
    "ftt": {
        "n_layers": "int[1, 4]",
        "d_token": "categorical[8, 16, 32, 64, 128]",
        "residual_dropout": "?uniform[0.0, 0.0, 0.2]",
        "attention_dropout": "uniform[0.0, 0.5]",
        "ffn_dropout": "uniform[0.0, 0.5]",
        "d_ffn_factor": "uniform[0.67, 2.67]",
        "lr": "loguniform[1e-5, 0.001]",
        "weight_decay": "loguniform[1e-6, 0.001]",
    },
    "realmlp": {
        "num_emb_type": "categorical[none, pbld, pl, plr]",
        "add_front_scale": "categorical[true, false]",
        "hidden_sizes": "categorical[[256,256,256], [64,64,64,64,64], [512]]",
        "p_drop": "categorical[0.0, 0.15, 0.30]",
        "act": "categorical[selu, relu, mish]",
        "lr": "loguniform[0.02, 0.3]",
        "wd": "categorical[0.0, 0.02]",
        "ls_eps": "categorical[0.0, 0.1]",
        "plr_sigma": "loguniform[0.05, 0.5]",
    },
    "resnet": {
        "n_layers": "int[1, 8]",
        "d": "int[64, 512]",
        "d_hidden_factor": "uniform[1.0, 4.0]",
        "hidden_dropout": "uniform[0.0, 0.5]",
        "residual_dropout": "?uniform[0.0, 0.0, 0.5]",
        "lr": "loguniform[1e-5, 0.01]",
        "weight_decay": "?loguniform[0.0, 1e-6, 0.001]",
    },
}
OF_TRANSFORMATIONS = {
    "Supervised/Unsupervised Stretch": {
        "n_bins": "?categorical[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 100000]"
    },
    "PLE": {"n_bins": "int[2, 256]"},
    "Other transformations": {},
}
N_TRIALS = 300


class Space(NamedTuple):
    """A cell of the tables: `distribution[…]`, `?distribution[default, …]` or `$name[…]`."""

    kind: str
    arguments: list[Any]
    is_optional: bool
    default: Any

    @classmethod
    def parse(cls, cell: str) -> Space:
        mark, kind, inside = re.fullmatch(r"([?$]?)(\w+)(\[.*\])", cell).groups()
        words = {"true": "True", "false": "False"}
        quoted = re.sub(r"\b[a-z]\w*", lambda word: words.get(word[0], repr(word[0])), inside)
        arguments = ast.literal_eval(quoted)
        default = arguments.pop(0) if mark == "?" else None
        return cls(kind, arguments, mark == "?", default)

    def distributions(self, name: str) -> dict[str, BaseDistribution]:
        """What Optuna must be asked for."""
        if self.kind == "mlp_d_layers":
            fewest, most, *widths = self.arguments
            parts = {part: IntDistribution(*widths) for part in ("d_first", "d_middle", "d_last")}
            return {"n_layers": IntDistribution(fewest, most), **parts}
        made = {
            "int": lambda low, high: IntDistribution(low, high),
            "uniform": lambda low, high: FloatDistribution(low, high),
            "loguniform": lambda low, high: FloatDistribution(low, high, log=True),
            "categorical": lambda *choices: CategoricalDistribution([as_choice(each) for each in choices]),
        }[self.kind](*self.arguments)
        asked = {f"optional_{name}": CategoricalDistribution([False, True])} if self.is_optional else {}
        return {name: made, **asked}

    def value(self, name: str, drawn: dict[str, Any]) -> Any:
        """What the network must be given, if Optuna drew this."""
        if self.kind == "mlp_d_layers":
            inner = [drawn["d_middle"]] * (drawn["n_layers"] - 2) if drawn["n_layers"] > 2 else []
            return [drawn["d_first"], *inner, *([drawn["d_last"]] if drawn["n_layers"] > 1 else [])]
        return self.default if self.is_optional and not drawn[f"optional_{name}"] else drawn[name]


def as_choice(value: Any) -> Any:
    """Optuna has no lists to choose from."""
    return "-".join(map(str, value)) if isinstance(value, list) else value


@pytest.fixture
def study() -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))


def assert_is_the_table_s(
    draw: Callable[[optuna.Trial], dict[str, Any]], table: dict[str, str], study: optuna.Study
) -> None:
    spaces = {name: Space.parse(cell) for name, cell in table.items()}
    wanted = {key: each for name, space in spaces.items() for key, each in space.distributions(name).items()}
    seen: dict[str, BaseDistribution] = {}
    for _ in range(N_TRIALS):
        trial = study.ask()
        params = draw(trial)
        assert params == {name: space.value(name, trial.params) for name, space in spaces.items()}
        for name, space in spaces.items():  # what goes unused would cost the sampler a dimension
            assert not space.is_optional or (name in trial.params) == trial.params[f"optional_{name}"]
        for name, distribution in trial.distributions.items():
            assert seen.setdefault(name, distribution) == distribution, f"{name} changes between trials"
    assert seen == wanted


@pytest.mark.parametrize("name", OF_MODELS)
def test_space_of_a_network_is_the_table_s(name: str, study: optuna.Study) -> None:
    assert_is_the_table_s(MODELS[name].suggest, OF_MODELS[name], study)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_space_of_a_transformation_is_the_table_s(name: str, study: optuna.Study) -> None:
    """Our stretches have the space of the paper's two."""
    kind = name.split("_")[0]
    row = {"stretch": "Supervised/Unsupervised Stretch", "ple": "PLE"}.get(kind, "Other transformations")
    assert_is_the_table_s(lambda trial: suggest(name, trial), OF_TRANSFORMATIONS[row], study)


def test_all_networks_are_in_the_table() -> None:
    assert set(MODELS) == set(OF_MODELS)


@pytest.mark.parametrize("name", OF_MODELS)
def test_defaults_have_the_names_of_the_table(name: str) -> None:
    """Or none at all: those of the library that the network is from."""
    assert set(MODELS[name].DEFAULTS) in (set(), set(OF_MODELS[name]))
