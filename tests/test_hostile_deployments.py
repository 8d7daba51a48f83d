"""Numbers from hell, wherever a stretch is fitted or goes: files, PyTorch, ONNX, batches, Dask."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fitted import probes
from fuzz import cases
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from promises import assert_sound
from strategies import (
    LARGEST,
    TARGET_TYPES,
    UNLIKE_ROWS,
    Table,
    make_table,
    make_target,
    make_weight,
    supervised_parameters,
    tables,
    targets,
    unsupervised_parameters,
    weights,
    with_weight,
)
from streams import batches, small_blocks

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch._loading import from_document
from tabstretch._saving import to_document, to_text

numbers_only = tables(3).filter(lambda table: table.kind not in ("frame", "object"))


def fitted(table: Table, parameters: dict[str, Any]) -> StretchTransformer:
    return StretchTransformer(**parameters).fit(table.X)


def inputs(stretch: Any) -> Any:
    """What an engine is asked: never NaN alone, and float64, which holds all of it."""
    return probes(stretch, 40)


@cases(40, nightly=10_000)
@given(table=tables(3), parameters=unsupervised_parameters)
def test_files(table: Table, parameters: dict[str, Any]) -> None:
    stretch = fitted(table, parameters)
    loaded = from_document(json.loads(to_text(to_document(stretch))))
    assert loaded.maps_ == stretch.maps_
    assert loaded.fallback_ == stretch.fallback_
    assert_array_equal(loaded.transform(table.X), stretch.transform(table.X))


@pytest.mark.parametrize("learnable", [False, True])
@cases(40, nightly=5_000)
@given(table=tables(3), parameters=unsupervised_parameters)
# The slope of its shortest bin, for each width of the bin, is no float.
@example(
    table=make_table(("landmarks",), 30, "float64", 256), parameters={"n_bins": 7, "value_weight": 1e300}
)
# Edges on both sides of zero that are one once the largest are scaled: the map jumps there.
@example(
    table=make_table(("landmarks",), 271, "float64", 12495036), parameters={"n_bins": 64, "value_weight": 0.0}
)
# Its last bin has so little of the range that the slope beyond it has few digits.
@example(
    table=Table(
        np.array([[1e-323], [2.5e-323], [-LARGEST], [-1.0], [-1.0 - 2**-52]]), ("by hand",), 0, "float64"
    ),
    parameters={"n_bins": 3, "value_weight": 1e300, "out_of_range": "extrapolate"},
)
def test_torch(learnable: bool, table: Table, parameters: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    from tabstretch.torch import StretchLayer

    stretch = fitted(table, parameters)
    layer = StretchLayer.from_estimator(stretch, learnable=learnable)
    X = inputs(stretch)
    with torch.no_grad():
        output = layer(torch.from_numpy(X)).numpy()
    assert_agree(stretch, X, output, 1e-12 if learnable else 1e-13)
    output = np.column_stack([layer.maps()[k](X[:, j]) for k, (j, _) in enumerate(_maps(stretch))])
    assert_agree(stretch, X, output, 1e-12, beyond=slope_errors(stretch))


def slope_errors(stretch: Any) -> Any:
    """How exact the slopes are that maps go on with, if their outputs are exact to a few last places."""
    ends = [np.diff(map_.values)[[0, -1]].min() if len(map_.edges) > 1 else 1.0 for map_ in stretch.maps_]
    return 1e-15 * np.abs(stretch.feature_range).max() / np.array(ends)


@cases(10, nightly=1_500)
@given(table=tables(2), parameters=unsupervised_parameters)
def test_onnx(table: Table, parameters: dict[str, Any]) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tabstretch.onnx")

    stretch = fitted(table, parameters)
    X = inputs(stretch)
    model = skl2onnx.to_onnx(stretch, X[:1]).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    assert_agree(stretch, X, session.run(None, {"X": X})[0], 1e-12)


def assert_agree(stretch: Any, X: Any, output: Any, tolerance: float, beyond: Any = 0.0) -> None:
    """Check that an engine's output is the estimator's, within a part of the range, and of what is beyond."""
    expected = np.column_stack([map_(X[:, j]) for j, map_ in _maps(stretch)])
    low, high = stretch.feature_range
    largest = max(abs(low), abs(high))
    assert_array_equal(np.isnan(output), np.isnan(expected))
    # Extrapolated outputs are large, and their rounding too. Of halves, no difference overflows.
    half, inside = expected / 2, np.clip(expected, low, high) / 2
    allowed = tolerance * largest / 2 + tolerance * np.abs(half) + beyond * np.abs(half - inside)
    wrong = np.abs(output / 2 - half) > allowed
    assert not np.any(wrong), (X[np.any(wrong, axis=1)], output[wrong], expected[wrong])
    present = output[~np.isnan(output)]
    assert np.all(np.isfinite(present))
    if stretch.out_of_range == "clip":
        assert np.all((present >= low) & (present <= high))


def _maps(stretch: Any) -> list[tuple[int, Any]]:
    return [(number // len(stretch.views_), map_) for number, map_ in enumerate(stretch.maps_)]


@pytest.mark.parametrize("variation", [None, "within_fold", "pooled"])
@cases(30, nightly=4_000)
@given(
    table=numbers_only,
    target=targets,
    weight=weights,
    parameters=supervised_parameters,
    size=st.integers(1, 400),
    block=st.sampled_from([7, 64, 1 << 19]),
)
# Bins so short that the energy along them is larger than all floats.
@example(
    table=make_table(("any floats",), 28, "float64", 186),
    target="adjacent",
    weight="fractions",
    parameters={"n_bins": 7, "value_weight": 0.0, "rank_weight": 0.0, "cv": 2},
    size=1,
    block=7,
)
# Numbers that are equal once the largest of all are scaled, which come last.
@example(
    table=make_table(("adjacent", "any floats", "geometric"), 257, "float64", 1474),
    target="adjacent",
    weight="counts",
    parameters={"n_bins": 2, "value_weight": 0.0, "rank_weight": 0.0, "cv": 2},
    size=1,
    block=7,
)
def test_batches(
    variation: str | None,
    table: Table,
    target: str,
    weight: str,
    parameters: dict[str, Any],
    size: int,
    block: int,
) -> None:
    y, row_weight = of_rows(table, target, weight)
    stretch = estimator(variation, target, parameters)
    in_memory = stretch(table.X, y, row_weight)
    parts = (table.X, y) if row_weight is None else (table.X, y, row_weight)
    with pytest.MonkeyPatch.context() as monkeypatch:
        small_blocks(monkeypatch, block)
        try:
            found = stretch().fit_batches(batches(size, *parts))
        except ValueError as error:
            refused(error, target)
            return
    assert_sound(found, with_weight(table.X, row_weight))
    assert_alike(found, in_memory, weight)


@pytest.mark.parametrize("variation", [None, "within_fold"])
@cases(4, nightly=300)
@given(
    table=numbers_only,
    target=targets,
    weight=weights,
    parameters=supervised_parameters,
    n_rows=st.integers(1, 200),
)
def test_dask(
    variation: str | None, table: Table, target: str, weight: str, parameters: dict[str, Any], n_rows: int
) -> None:
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    tabstretch_dask = pytest.importorskip("tabstretch.dask")
    y, row_weight = of_rows(table, target, weight)
    stretch = estimator(variation, target, parameters)
    parts = [
        None if part is None else da.from_array(part, chunks=n_rows) for part in (table.X, y, row_weight)
    ]
    with dask.config.set(scheduler="synchronous"):
        try:
            found = tabstretch_dask.fit(stretch(), *parts)
        except ValueError as error:
            refused(error, target)
            return
        output = tabstretch_dask.transform(found, parts[0]).compute()
    assert_array_equal(output, found.transform(table.X))
    assert_sound(found, with_weight(table.X, row_weight))
    assert_alike(found, stretch(table.X, y, row_weight), weight)


def of_rows(table: Table, target: str, weight: str) -> tuple[Any, Any]:
    return make_target(target, table.n_rows, table.seed), make_weight(weight, table.n_rows, table.seed)


def estimator(variation: str | None, target: str, parameters: dict[str, Any]) -> Callable[..., Any]:
    """Make an estimator, fitted if there are rows."""

    def make(X: Any = None, y: Any = None, weight: Any = None) -> Any:
        stretch: Any
        if variation is None:
            known = StretchTransformer().get_params()
            stretch = StretchTransformer(**{key: parameters[key] for key in known if key in parameters})
        else:
            # Parts of a target may look like another kind than all of it.
            stretch = SupervisedStretchTransformer(
                variation=variation, target_type=TARGET_TYPES[target], **parameters
            )
        return stretch if X is None else stretch.fit(X, y, sample_weight=weight)

    return make


def refused(error: ValueError, target: str) -> None:
    """Check the one reason to refuse batches: first rows that tell nothing of the others."""
    if "y becomes too large for what its first rows were like" not in str(error) or target not in UNLIKE_ROWS:
        raise error


def assert_alike(found: Any, expected: Any, weight: str) -> None:
    """Check that two fits of few distinct values have the same bins; folds, and so widths, may differ."""
    for edges, wanted in zip(found.bin_edges_, expected.bin_edges_, strict=True):
        assert_array_equal(edges[[0, -1]] if len(edges) else [], wanted[[0, -1]] if len(wanted) else [])
    if weight not in ("none", "counts", "mostly zero"):  # sums of other weights depend on their order
        return
    for edges, wanted in zip(found.bin_edges_, expected.bin_edges_, strict=True):
        assert_array_equal(edges, wanted)
    if isinstance(found, StretchTransformer):
        assert found.fallback_ == expected.fallback_
        for widths, wanted in zip(found.output_widths_, expected.output_widths_, strict=True):
            assert_allclose(widths, wanted, atol=1e-9)


@cases(3, nightly=500)
@given(table=tables(3), target=targets, weight=weights, parameters=supervised_parameters)
def test_teachers(table: Table, target: str, weight: str, parameters: dict[str, Any]) -> None:
    y, row_weight = of_rows(table, target, weight)
    stretch = SupervisedStretchTransformer(n_curves=10, **parameters | {"cv": 2})
    stretch.fit(table.X, y, sample_weight=row_weight)
    assert_sound(stretch, with_weight(table.X, row_weight))
