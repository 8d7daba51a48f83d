"""FT-Transformer: its tokens, its weight decay, the memory of its attention."""

import pytest
import torch
from contract import NetworkContract, categories, rings
from rtdl_revisiting_models import FTTransformer

from tabstretch.study.models import ftt

SMALL = {**ftt.DEFAULTS, "n_layers": 1, "d_token": 8, "lr": 1e-3}


class TestFTT(NetworkContract):
    model = ftt
    small = {"n_layers": 1, "d_token": 32, "lr": 3e-3}  # noqa: RUF012


@pytest.mark.parametrize("d_token", [8, 16, 32, 64, 128])
@pytest.mark.parametrize("d_ffn_factor", [0.67, 2.67])
def test_heads_divide_all_tokens_of_the_search_space(d_token: int, d_ffn_factor: float) -> None:
    network = ftt.FTT(categories(2), {**SMALL, "d_token": d_token, "d_ffn_factor": d_ffn_factor})
    feed_forward = network.module.backbone.blocks[0]["ffn"]
    first, second = feed_forward.linear1, feed_forward.linear2
    width = int(d_token * d_ffn_factor)
    assert (first.out_features, second.in_features) == (2 * width, width), "ReGLU halves it"


def test_every_column_is_a_token() -> None:
    """With PLE, every dimension of what it makes of a column."""
    network = ftt.FTT(categories(2), SMALL)
    seen = []
    network.module.backbone.register_forward_pre_hook(lambda _, given: seen.append(given[0].shape))
    network(torch.zeros(1, 5, 2), torch.zeros(1, 5, 1, dtype=torch.int64))
    assert seen == [(5, 1 + 2 + 1, 8)]


def test_tokenizer_normalisation_and_biases_have_no_weight_decay() -> None:
    network = ftt.FTT(categories(2), {**SMALL, "n_layers": 2})
    names = {id(tensor): name for name, tensor in network.named_parameters()}
    decayed, free = ({names[id(tensor)] for tensor in each["params"]} for each in network.parameter_groups())
    assert decayed | free == set(names.values())
    kept = {name for name in names.values() if "embedding" not in name and "bias" not in name}
    assert decayed == {name for name in kept if "_normalization" not in name}


def test_defaults_are_those_of_the_library() -> None:
    theirs = FTTransformer.get_default_kwargs()
    renamed = {"n_blocks": "n_layers", "d_block": "d_token", "ffn_d_hidden_multiplier": "d_ffn_factor"}
    network = {renamed.get(name, name): value for name, value in theirs.items()}
    assert network["attention_n_heads"] == ftt.N_HEADS
    optimizer = FTTransformer(
        n_cont_features=1, cat_cardinalities=[], d_out=1, **theirs
    ).make_default_optimizer()
    published = {
        **network,
        "lr": optimizer.defaults["lr"],
        "weight_decay": optimizer.defaults["weight_decay"],
    }
    assert {name: published[name] for name in ftt.DEFAULTS} == ftt.DEFAULTS


@pytest.mark.parametrize(
    ("width", "n_layers", "d_token"), [(10, 1, 64), (10, 3, 192), (150, 2, 8), (150, 1, 32), (150, 3, 64)]
)
def test_memory_is_what_a_step_keeps(width: int, n_layers: int, d_token: int) -> None:
    params = {**ftt.DEFAULTS, "n_layers": n_layers, "d_token": d_token}
    network = ftt.FTT(rings("binclass", width), params)
    sizes = {}
    kept = []  # so that no address is used twice

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        network(torch.zeros(1, 16, width), torch.zeros(1, 16, 0, dtype=torch.int64))
    weights = {parameter.untyped_storage().data_ptr() for parameter in network.parameters()}
    measured = sum(size for address, size in sizes.items() if address not in weights)
    assert ftt.memory(width, 16, params) == pytest.approx(measured, rel=0.25)
