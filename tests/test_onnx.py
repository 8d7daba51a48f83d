"""onnxruntime's output is the estimator's: alone, in pipelines and in column transformers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted import FRAME, Y, every_kind, extreme_stretch, fitted, probes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tabstretch import StretchTransformer, SupervisedStretchTransformer

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

import tabstretch.onnx  # noqa: E402, F401

TYPES = {
    "float32": skl2onnx.common.data_types.FloatTensorType,
    "float64": skl2onnx.common.data_types.DoubleTensorType,
}
both_types = pytest.mark.parametrize("dtype", TYPES)


def run(model: Any, inputs: dict[str, Any]) -> Any:
    """The first output of a model in onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)[0]


def converted(stretch: Any, dtype: str, **options: Any) -> Any:
    shape = [None, stretch.n_features_in_]
    return skl2onnx.to_onnx(stretch, initial_types=[("X", TYPES[dtype](shape))], **options)


def as_array(stretch: Any, X: Any) -> Any:
    """The estimator's output for an array, whether it was fitted on names or not."""
    names = getattr(stretch, "feature_names_in_", None)
    return stretch.transform(X if names is None else pd.DataFrame(X, columns=names))


@both_types
@every_kind
def test_outputs_are_the_estimators(kind: str, dtype: str) -> None:
    stretch = fitted(kind)
    X = probes(stretch, dtype=np.dtype(dtype))
    output = run(converted(stretch, dtype), {"X": X})
    assert output.dtype == dtype
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    span = np.subtract(*stretch.feature_range[::-1])
    expected = as_array(stretch, X)
    # Beyond the ends, extrapolated outputs are large, and their rounding too.
    assert_allclose(output, expected, rtol=tolerance, atol=tolerance * span)
    assert_array_equal(np.isnan(output), np.isnan(expected))
    if stretch.out_of_range == "clip":
        low, high = stretch.feature_range
        assert np.nanmin(output) == low
        assert np.nanmax(output) == high


@both_types
@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
def test_extreme_columns(out_of_range: str, dtype: str) -> None:
    stretch = extreme_stretch(out_of_range)
    X = probes(stretch, dtype=np.dtype(dtype))
    output = run(converted(stretch, dtype), {"X": X})
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    assert_allclose(output, stretch._forward[0](X), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
def test_infinite_inputs_are_those_of_the_map(out_of_range: str) -> None:
    stretch = StretchTransformer(5, out_of_range=out_of_range).fit(FRAME[["normal"]].to_numpy())
    X = np.array([[-np.inf], [np.inf], [np.nan]])
    assert_array_equal(run(converted(stretch, "float64"), {"X": X}).ravel(), stretch.maps_[0](X.ravel()))


@pytest.mark.parametrize("opset", [9, 11, 13, 17, None])
def test_old_and_new_opsets(opset: int | None) -> None:
    stretch = fitted("supervised views")
    model = converted(stretch, "float64", target_opset=opset)
    X = probes(stretch)
    assert_allclose(run(model, {"X": X}), as_array(stretch, X), rtol=1e-12, atol=1e-12)
    assert {node.domain for node in model.graph.node} == {""}


@pytest.mark.parametrize("n_bins", [1, 2, 3, 1000, 5000])
def test_any_number_of_bins_with_few_nodes(n_bins: int) -> None:
    X = np.random.default_rng(0).normal(size=(6000, 3))
    stretch = StretchTransformer(n_bins).fit(X)
    model = converted(stretch, "float64")
    assert_allclose(run(model, {"X": X[:500]}), stretch.transform(X[:500]), atol=1e-12)
    assert len(model.graph.node) <= 20 + 4 * np.ceil(np.log2(n_bins + 1))


def test_integers() -> None:
    X = FRAME[["ties"]].to_numpy().astype(np.int64)
    stretch = StretchTransformer(5).fit(X)
    model = skl2onnx.to_onnx(
        stretch, initial_types=[("X", skl2onnx.common.data_types.Int64TensorType([None, 1]))]
    )
    assert_allclose(run(model, {"X": X}), stretch.transform(X), atol=1e-6)


@both_types
def test_in_a_pipeline(dtype: str) -> None:
    X = np.nan_to_num(FRAME[["normal", "lognormal", "ties"]].to_numpy()).astype(dtype)
    model = make_pipeline(
        StandardScaler(),
        SupervisedStretchTransformer(16, variation="within_fold", output="views"),
        Ridge(),
    ).fit(X, Y)
    output = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
    assert_allclose(output.ravel(), model.predict(X), atol=1e-10 if dtype == "float64" else 1e-4)


def test_in_a_column_transformer_with_text() -> None:
    frame = FRAME[["normal", "ties"]].assign(city=np.where(Y > 0, "Oslo", "Rome"))
    model = make_column_transformer(
        (StretchTransformer(8, output="views"), ["normal", "ties"]),
        (OneHotEncoder(sparse_output=False), ["city"]),
    ).fit(frame)
    double, text = TYPES["float64"]([None, 1]), skl2onnx.common.data_types.StringTensorType([None, 1])
    types = [("normal", double), ("ties", double), ("city", text)]
    onnx_model = skl2onnx.to_onnx(model, initial_types=types)
    inputs = {name: frame[[name]].to_numpy(object if name == "city" else float) for name in frame}
    assert_allclose(run(onnx_model, inputs), model.transform(frame), atol=1e-6)


def test_columns_that_come_one_by_one() -> None:
    frame = FRAME[["normal", "ties"]]
    stretch = StretchTransformer(8).fit(frame)
    types = [("normal", TYPES["float64"]([None, 1])), ("ties", TYPES["float64"]([None, 1]))]
    model = skl2onnx.to_onnx(make_pipeline(stretch), initial_types=types)
    output = run(model, {name: frame[[name]].to_numpy() for name in frame})
    assert_allclose(output, stretch.transform(frame), atol=1e-12)


def test_a_wrong_number_of_columns() -> None:
    with pytest.raises(ValueError, match="StretchTransformer was fitted on 7 columns, the input has 3"):
        skl2onnx.to_onnx(fitted("array"), initial_types=[("X", TYPES["float32"]([None, 3]))])


def test_what_it_refuses() -> None:
    text = skl2onnx.common.data_types.StringTensorType([None, 7])
    with pytest.raises(ValueError, match="StretchTransformer takes numbers, the input has text"):
        skl2onnx.to_onnx(fitted("array"), initial_types=[("X", text)])
    with pytest.raises(NotFittedError, match="StretchTransformer instance is not fitted"):
        skl2onnx.to_onnx(StretchTransformer(), initial_types=[("X", TYPES["float32"]([None, 7]))])


def test_no_rows() -> None:
    model = converted(fitted("views"), "float32")
    assert run(model, {"X": np.empty((0, 7), np.float32)}).shape == (0, 14)
