"""`ftt`: FT-Transformer of rtdl_revisiting_models: inputs are tokens that attend to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from optuna.trial import BaseTrial
from rtdl_revisiting_models import FTTransformer
from torch import Tensor

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import spaces
from tabstretch.study.training import Alone, Budget, Fitted, Streams, train

STACKS = False  # attention takes its time by arithmetic, which a stack would not save

DEFAULTS: dict[str, Any] = {
    "n_layers": 3,
    "d_token": 192,
    "residual_dropout": 0.0,
    "attention_dropout": 0.2,
    "ffn_dropout": 0.1,
    "d_ffn_factor": 4 / 3,
    "lr": 1e-4,
    "weight_decay": 1e-5,
}

N_HEADS = 8


def suggest(trial: BaseTrial) -> dict[str, Any]:
    """Draw from the paper's search space."""
    return {
        "n_layers": trial.suggest_int("n_layers", 1, 4),
        "d_token": trial.suggest_categorical("d_token", [8, 16, 32, 64, 128]),
        "residual_dropout": spaces.optional_dropout(trial, "residual_dropout", 0.2),
        "attention_dropout": trial.suggest_float("attention_dropout", 0.0, 0.5),
        "ffn_dropout": trial.suggest_float("ffn_dropout", 0.0, 0.5),
        "d_ffn_factor": trial.suggest_float("d_ffn_factor", 0.67, 2.67),
        "lr": spaces.learning_rate(trial, 1e-3),
        "weight_decay": trial.suggest_float("weight_decay", 1e-6, 1e-3, log=True),
    }


class FTT(Alone):
    """The library's network, whose tokenizer, normalisations and biases have no weight decay."""

    def __init__(self, inputs: Inputs, params: Mapping[str, Any]) -> None:
        module = FTTransformer(
            n_cont_features=inputs.width,
            cat_cardinalities=list(inputs.n_categories),
            d_out=inputs.n_outputs,
            n_blocks=params["n_layers"],
            d_block=params["d_token"],
            attention_n_heads=N_HEADS,
            attention_dropout=params["attention_dropout"],
            ffn_d_hidden_multiplier=params["d_ffn_factor"],
            ffn_dropout=params["ffn_dropout"],
            residual_dropout=params["residual_dropout"],
        )
        super().__init__(module)

    def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
        """Call it with None for a kind of columns that there is not."""
        numbers, codes = (part[0] if part.shape[2] else None for part in (numeric, categorical))
        outputs: Tensor = self.module(numbers, codes)
        return outputs[None]

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the groups with and without weight decay, as its authors have them."""
        groups: list[dict[str, Any]] = cast(FTTransformer, self.module).make_parameter_groups()
        return groups


def fit(
    inputs: Inputs, params: Mapping[str, Any], seeds: Sequence[int], budget: Budget
) -> list[Fitted | Exception]:
    """Train a network for each seed, one after the other.

    NOTE[DIFF]: the library normalises before attention and feed-forward blocks (PreNorm), TALENT's copy of
    the network after them (PostNorm). `d_ffn_factor` means the same in both, the width after ReGLU, so that
    it needs no factor of 2/3.
    """
    return train(
        lambda inputs, _: FTT(inputs, params),
        inputs,
        seeds,
        budget,
        learning_rate=params["lr"],
        weight_decay=params["weight_decay"],
    )


def memory(inputs_width: int, batch: int, params: Mapping[str, Any]) -> float:
    """Return how many bytes the activations of a training step take, roughly.

    Attention keeps three numbers for every pair of tokens and head, but in the last layer, where only one
    token asks. A token keeps 9 numbers for each of its dimensions and 5 for each one of its hidden layer.
    """
    n_tokens, n_layers, d_token = inputs_width + 1, params["n_layers"], params["d_token"]
    pairs = 3 * N_HEADS * n_tokens**2 * (n_layers - 1)
    tokens = n_tokens * n_layers * d_token * (9 + 5 * params["d_ffn_factor"])
    return 4.0 * batch * (pairs + tokens)
