"""The layer is the estimator, on tensors: same outputs, gradients, types, and widths that can learn."""

import copy
import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fitted import FRAME, MAKERS, Y, every_kind, extreme_stretch, fitted, fitted_table, probes
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from tabstretch import MonotoneMap, StretchTransformer

torch = pytest.importorskip("torch")

from tabstretch.torch import StretchLayer  # noqa: E402

both_types = pytest.mark.parametrize("dtype", ["float32", "float64"])


def outputs_of(stretch: Any, X: Any) -> Any:
    """The estimator's own, without names and without its refusal of what overflows its checks."""
    out = np.empty((len(X), len(stretch.maps_)), dtype=X.dtype)
    for view, table in enumerate(stretch._forward):
        out[:, view :: len(stretch.views_)] = table(X)
    return out


@both_types
@pytest.mark.parametrize("learnable", [False, True])
@every_kind
def test_outputs_are_the_estimators(kind: str, learnable: bool, dtype: str) -> None:
    stretch = fitted(kind)
    X = probes(stretch, dtype=getattr(np, dtype))
    layer = StretchLayer.from_estimator(stretch, learnable=learnable)
    with torch.no_grad():
        output = layer(torch.from_numpy(X))
    assert output.dtype == getattr(torch, dtype)
    expected = outputs_of(stretch, X)
    span = np.subtract(*stretch.feature_range[::-1])
    rounding = 1e-13 if dtype == "float64" else 2e-7
    # Beyond the ends, extrapolated outputs are large, and their rounding too.
    assert_allclose(output.numpy(), expected, rtol=rounding, atol=rounding * span)
    assert_array_equal(np.isnan(output.numpy()[:, :: len(stretch.views_)]), np.isnan(X))


@both_types
@pytest.mark.parametrize("learnable", [False, True])
@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
def test_extreme_columns(out_of_range: str, learnable: bool, dtype: str) -> None:
    stretch = extreme_stretch(out_of_range)
    X = probes(stretch, dtype=getattr(np, dtype))
    with torch.no_grad():
        output = StretchLayer.from_estimator(stretch, learnable=learnable)(torch.from_numpy(X)).numpy()
    rounding = 1e-12 if dtype == "float64" else 2e-7
    assert_allclose(output, outputs_of(stretch, X), rtol=rounding, atol=rounding)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_types_are_rounded_once(dtype: str) -> None:
    x = torch.linspace(-3, 3, 50, dtype=torch.float64).reshape(-1, 1).to(getattr(torch, dtype))
    stretch = StretchTransformer(8).fit(FRAME[["normal"]].to_numpy())
    output = StretchLayer.from_estimator(stretch)(x)
    assert output.dtype == x.dtype
    expected = torch.from_numpy(stretch.transform(x.double().numpy())).to(x.dtype)
    assert torch.equal(output, expected)


@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
def test_infinite_inputs_are_those_of_the_map(out_of_range: str) -> None:
    maps = [MonotoneMap([0, 1, 3], [10, 20, 24], out_of_range), MonotoneMap([0.0], [0.5], out_of_range)]
    x = np.array([[-np.inf, -np.inf], [np.inf, np.inf], [-1e308, 1e308]])
    output = StretchLayer(maps)(torch.from_numpy(x)).numpy()
    assert_array_equal(output[:, 0], maps[0](x[:, 0]))
    if out_of_range == "clip":
        assert_array_equal(output[:, 1], 0.5)


@pytest.mark.parametrize("shape", [(7,), (0, 7), (3, 7), (2, 3, 7), (2, 0, 7)])
def test_any_leading_shape(shape: tuple[int, ...]) -> None:
    stretch = fitted("views")
    x = torch.from_numpy(np.random.default_rng(0).normal(size=shape))
    output = StretchLayer.from_estimator(stretch)(x)
    assert output.shape == (*shape[:-1], 14)
    assert output.is_contiguous()
    assert_allclose(
        output.numpy().reshape(-1, 14), outputs_of(stretch, x.numpy().reshape(-1, 7)), rtol=1e-13, atol=1e-13
    )


def test_what_it_refuses() -> None:
    layer = StretchLayer.from_estimator(fitted("blend"))
    with pytest.raises(ValueError, match=r"of shape \(..., 7\), got torch.float32 of shape \(2, 3\)"):
        layer(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"floating-point tensor .* got torch.int64"):
        layer(torch.zeros(2, 7, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"floating-point tensor .* of shape \(\)"):
        layer(torch.tensor(1.0))
    with pytest.raises(TypeError, match=r"x must be a tensor, got ndarray: torch.as_tensor"):
        layer(np.zeros((2, 7)))
    with pytest.raises(TypeError, match=r"a fitted StretchTransformer, .* is needed, got StretchTransformer"):
        StretchLayer.from_estimator(StretchTransformer())
    with pytest.raises(ValueError, match="maps must be 2 for each input column, got 3"):
        StretchLayer([MonotoneMap([0, 1], [0, 1])] * 3, n_views=2)


def test_arrays_frames_and_pipelines_are_refused_with_the_way_out() -> None:
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(20, 2))
    pipeline = make_pipeline(StretchTransformer()).fit(X)
    with pytest.raises(TypeError, match=r"pass a step of it, such as pipeline\[0\]"):
        StretchLayer.from_estimator(pipeline)
    layer = StretchLayer.from_estimator(pipeline[0])
    with pytest.raises(TypeError, match=r"must be a tensor, got ndarray: torch.as_tensor\(x\) makes one"):
        layer(X)
    with pytest.raises(TypeError, match=r"got DataFrame: .*torch.as_tensor\(x.to_numpy\(\)\)"):
        layer(pandas.DataFrame(X))


def test_of_a_table_it_takes_the_numeric_columns() -> None:
    layer = StretchLayer.from_estimator(fitted_table())
    assert layer(torch.zeros(1, 2)).shape == (1, 4)


@given(st.integers(0, 1000))
def test_gradients_are_the_slopes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.normal(size=12))
    map_ = MonotoneMap(edges, np.cumsum(rng.uniform(0.1, 1, len(edges))))
    inside = edges[:-1] + rng.uniform(0.1, 0.9, len(edges) - 1) * np.diff(edges)
    x = torch.tensor(np.r_[inside, edges[0] - 1, edges[-1] + 1, np.nan].reshape(-1, 1), requires_grad=True)
    StretchLayer([map_])(x).nansum().backward()
    assert_allclose(x.grad.numpy().ravel(), [*map_.slopes, 0, 0, 0], rtol=1e-12)


def test_gradients_beyond_the_ends_are_the_end_slopes() -> None:
    map_ = MonotoneMap([0, 1, 3], [0, 2, 3], "extrapolate")
    x = torch.tensor([[-5.0], [9.0]], requires_grad=True)
    StretchLayer([map_])(x).sum().backward()
    assert x.grad.flatten().tolist() == [2.0, 0.5]


@pytest.mark.parametrize("learnable", [False, True])
@pytest.mark.parametrize("kind", ["blend", "supervised views"])
def test_state_dict_round_trip(kind: str, learnable: bool) -> None:
    stretch = fitted(kind)
    layer = StretchLayer.from_estimator(stretch, learnable=learnable)
    if learnable:
        torch.nn.init.normal_(layer.table.shift)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other = StretchLayer(  # of the same sizes
        [MonotoneMap(map_.edges * 2 + 1, map_.values, map_.out_of_range) for map_ in stretch.maps_],
        n_views=len(stretch.views_),
        learnable=learnable,
    )
    x = torch.from_numpy(probes(stretch))
    assert not torch.equal(torch.nan_to_num(other(x)), torch.nan_to_num(layer(x)))
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(torch.nan_to_num(other(x)), torch.nan_to_num(layer(x)))
    assert torch.equal(torch.nan_to_num(copy.deepcopy(layer)(x)), torch.nan_to_num(layer(x)))


def test_a_network_that_changes_its_type_keeps_the_map() -> None:
    stretch = StretchTransformer(16).fit(1e6 + FRAME[["normal"]].to_numpy())
    x = torch.from_numpy(probes(stretch))
    layer = StretchLayer.from_estimator(stretch, learnable=True)
    before = layer(x)
    network = torch.nn.Sequential(layer, torch.nn.Linear(1, 2)).half()
    assert torch.equal(torch.nan_to_num(network[0](x)), torch.nan_to_num(before))
    assert network[1].weight.dtype == layer.table.shift.dtype == torch.float16
    assert layer.float().table.shift.dtype == torch.float32
    assert network.to("meta")[0].edges.device.type == "meta"


def test_gradients_change_their_type_with_their_parameters() -> None:
    layer = StretchLayer.from_estimator(fitted("blend"), learnable=True)
    layer(torch.randn(20, 7)).sum().backward()
    layer.double()
    assert layer.table.shift.grad.dtype == torch.float64


def finite_rows(kind: str) -> Any:
    return torch.from_numpy(np.nan_to_num(probes(fitted(kind)))).float()


def test_fixed_layers_have_no_parameters() -> None:
    assert list(StretchLayer.from_estimator(fitted("blend")).parameters()) == []


@every_kind
def test_widths_learn_and_the_map_stays_increasing(kind: str) -> None:
    torch.manual_seed(0)
    layer = StretchLayer.from_estimator(fitted(kind), learnable=True)
    x = finite_rows(kind)
    target = torch.rand(len(x), len(layer.edges))
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.3)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (layer(x).clamp(-5, 5) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert torch.isfinite(layer.table.shift).all()
    assert losses[-1] < losses[0]
    for column in range(layer.n_features):
        grid = torch.zeros(500, layer.n_features)
        grid[:, column] = x[:, column].sort().values.quantile(torch.linspace(0, 1, 500))
        for output in layer(grid.sort(dim=0).values).T:
            assert (output.diff() >= 0).all()
    first = layer.maps()[0]
    fitted_map = fitted(kind).maps_[0]
    assert_array_equal(first.edges, fitted_map.edges)
    assert_array_equal(first.values[[0, -1]], fitted_map.values[[0, -1]])
    assert not np.allclose(first.values, fitted_map.values)


def test_missing_values_do_not_poison_what_learns() -> None:
    layer = StretchLayer.from_estimator(fitted("blend"), learnable=True)
    x = torch.from_numpy(probes(fitted("blend"))).requires_grad_()
    output = layer(x)
    torch.where(output.isnan(), 0.0, output).sum().backward()
    assert torch.isfinite(layer.table.shift.grad).all()
    assert torch.isfinite(x.grad).all()
    assert (layer.table.shift.grad.abs().sum(dim=1)[:5] > 0).all()


def test_vanishing_widths_keep_the_map_increasing() -> None:
    layer = StretchLayer([MonotoneMap([0, 1, 2, 3], [0, 1e-300, 1.0, 1.0 + 3e-16])], learnable=True)
    with torch.no_grad():
        layer.table.shift[0, 1] = 2000.0
    x = torch.linspace(-1, 4, 1001, dtype=torch.float64).reshape(-1, 1)
    output = layer(x).flatten()
    assert (output.diff() >= 0).all()
    assert output[0] == 0
    assert output[-1] == 1.0 + 3e-16
    assert np.all(np.diff(layer.maps()[0].values) > 0)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2000.0])
def test_the_shortest_bins_learn(shift: float) -> None:
    """Their slopes are close to the largest float, and a slope for each unit of their width is none."""
    edges, values = [-1e308, -2e-308, 2e-308, 1e308], [0, 0.5, 0.5 + 1e-8, 1.0]
    layer = StretchLayer([MonotoneMap(edges, values)], learnable=True)
    with torch.no_grad():
        layer.table.shift[0, 1] = shift
    x = torch.tensor([-2e-308, 0.0, 1e-308, 2e-308, 1.0], dtype=torch.float64).reshape(-1, 1)
    output = layer(x)
    assert (output.diff(dim=0) >= 0).all()
    if shift < 2000:  # where the bin takes the whole range, no slope is a float
        assert_allclose(output.detach().numpy(), layer.maps()[0](x.numpy()), rtol=0, atol=1e-12)
    output.sum().backward()
    assert torch.isfinite(layer.table.shift.grad).all()


@pytest.mark.parametrize("kind", MAKERS)
def test_maps_of_a_fixed_layer_are_the_estimators(kind: str) -> None:
    for ours, theirs in zip(
        StretchLayer.from_estimator(fitted(kind)).maps(), fitted(kind).maps_, strict=True
    ):
        assert ours.out_of_range == theirs.out_of_range
        assert_array_equal(ours.values, theirs.values)
        if len(theirs.edges):
            assert_array_equal(ours.edges, theirs.edges)


@pytest.mark.parametrize("learnable", [False, True])
def test_export_with_any_number_of_rows(learnable: bool, tmp_path: Path) -> None:
    layer = StretchLayer.from_estimator(fitted("supervised views"), learnable=learnable).eval()
    x = torch.from_numpy(probes(fitted("supervised views"))).float()
    batch = torch.export.Dim("batch")
    program = torch.export.export(layer, (x,), dynamic_shapes={"x": {0: batch}})
    torch.export.save(program, tmp_path / "layer.pt2")
    again = torch.export.load(tmp_path / "layer.pt2").module()
    for rows in (x, x[:17]):
        assert torch.equal(torch.nan_to_num(again(rows)), torch.nan_to_num(layer(rows)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # the compiler's own
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(backend: str) -> None:
    if backend == "inductor" and shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    layer = StretchLayer.from_estimator(fitted("supervised views"), learnable=True)
    compiled = torch.compile(layer, backend=backend, fullgraph=True)
    x = finite_rows("supervised views").requires_grad_()
    expected = layer(x)
    (gradient,) = torch.autograd.grad(expected.sum(), layer.table.shift)
    output = compiled(x)
    assert_allclose(output.detach(), expected.detach(), rtol=1e-6, atol=1e-6)
    output.sum().backward()
    assert_allclose(layer.table.shift.grad, gradient, rtol=1e-4, atol=1e-4)


def test_in_a_network_that_trains() -> None:
    torch.manual_seed(0)
    stretch = StretchTransformer(16).fit(FRAME[["normal", "ties"]].to_numpy())
    network = torch.nn.Sequential(StretchLayer.from_estimator(stretch, learnable=True), torch.nn.Linear(2, 1))
    x, y = torch.tensor(FRAME[["normal", "ties"]].to_numpy()).float(), torch.tensor(Y).float()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        loss = (network(x).squeeze() - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
def test_maps_of_columns_without_values_or_with_one(out_of_range: str) -> None:
    maps = [MonotoneMap([], [0.5], out_of_range), MonotoneMap([1e-300], [0.5], out_of_range)]
    layer = StretchLayer(maps)
    assert layer.maps() == maps
    largest = np.finfo(float).max
    assert_array_equal(layer(torch.tensor([[largest, largest], [-largest, -largest]])).numpy(), 0.5)
