"""A fitted stretch as a file: the same to the bit, in every respect, today and in a year."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted import CLASSES, FRAME, MAKERS, Y, every_kind, extreme_stretch, fitted, fitted_table, probes
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import tabstretch
from tabstretch import StretchTransformer, SupervisedStretchTransformer, TableStretch
from tabstretch._loading import from_document
from tabstretch._saving import to_document, to_text

DATA = Path(__file__).parent / "data"


def round_trip(estimator: Any) -> Any:
    return from_document(json.loads(to_text(to_document(estimator))))


def assert_same(loaded: Any, estimator: Any) -> None:
    """Every fitted attribute, public or not, but what is said to be left out."""
    assert type(loaded) is type(estimator)
    assert str(loaded.get_params()) == str(estimator.get_params())
    assert {key for key in vars(estimator) if key.endswith("_")} == {
        key for key in vars(loaded) if key.endswith("_")
    }
    assert loaded.maps_ == estimator.maps_
    assert loaded.views_ == estimator.views_
    assert loaded.fallback_ == estimator.fallback_
    assert loaded.n_features_in_ == estimator.n_features_in_
    assert_array_equal(loaded.n_bins_, estimator.n_bins_)
    assert_array_equal(loaded.get_feature_names_out(), estimator.get_feature_names_out())
    for name in ("bin_edges_", "output_edges_", "output_widths_", "variation_"):
        for ours, theirs in zip(getattr(loaded, name, []), getattr(estimator, name, []), strict=True):
            assert_array_equal(ours, theirs)
    pd.testing.assert_frame_equal(loaded.summary(), estimator.summary())


@every_kind
def test_what_is_loaded_is_what_was_saved(kind: str, tmp_path: Path) -> None:
    estimator = fitted(kind)
    estimator.to_json(tmp_path / "map.json")
    loaded = tabstretch.load(tmp_path / "map.json")
    assert_same(loaded, estimator)
    for dtype in (np.float64, np.float32):
        X = probes(estimator, dtype=dtype)
        X = X if kind == "array" else pd.DataFrame(X, columns=FRAME.columns)
        output = estimator.transform(X)
        assert_array_equal(loaded.transform(X), output)
        assert_array_equal(loaded.inverse_transform(output), estimator.inverse_transform(output))


def test_extreme_numbers_are_the_same_to_the_bit() -> None:
    assert_same(round_trip(extreme_stretch()), extreme_stretch())


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_any_column_is_the_same_to_the_bit(column: list[float]) -> None:
    estimator = StretchTransformer(8).fit(np.array(column).reshape(-1, 1))
    assert_same(round_trip(estimator), estimator)


@given(st.lists(st.text(), min_size=2, max_size=4, unique=True))
def test_any_name_is_kept(names: list[str]) -> None:
    frame = pd.DataFrame(np.arange(3.0 * len(names)).reshape(3, -1), columns=np.array(names, dtype=object))
    assert_same(round_trip(StretchTransformer().fit(frame)), StretchTransformer().fit(frame))


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (Y, "continuous"),
        (np.column_stack([Y, Y]), "continuous-multioutput"),
        (CLASSES, "multiclass"),
        (CLASSES.astype(object), "multiclass"),
        (Y > 0, "binary"),
        (np.digitize(Y, [-0.5, 0.5]).astype(np.uint8), "multiclass"),
        (np.digitize(Y, [-0.5, 0.5]).astype(np.float32), "multiclass"),
        ((np.column_stack([Y, -Y]) > 0).astype(int), "multilabel-indicator"),
        (np.digitize(np.column_stack([Y, -Y]), [-0.5, 0.5]), "multiclass-multioutput"),
    ],
)
def test_targets_of_every_kind(y: Any, kind: str) -> None:
    estimator = SupervisedStretchTransformer(4, variation="within_fold", cv=2).fit(FRAME[["normal"]], y)
    loaded = round_trip(estimator)
    assert loaded.target_type_ == kind
    theirs = estimator.classes_ if isinstance(estimator.classes_, list) else [estimator.classes_]
    ours = loaded.classes_ if isinstance(loaded.classes_, list) else [loaded.classes_]
    for a, b in zip(ours, theirs, strict=True):
        assert_array_equal(a, b)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
    assert_array_equal(loaded.shrinkage_, estimator.shrinkage_)


def test_weights_and_many_bins() -> None:
    weight = np.random.default_rng(0).uniform(0, 3, len(FRAME))
    assert_same(
        round_trip(StretchTransformer(100_000).fit(FRAME, sample_weight=weight)),
        StretchTransformer(100_000).fit(FRAME, sample_weight=weight),
    )


@pytest.mark.parametrize(
    "params",
    [
        {"n_bins": [2, 3]},
        {"n_bins": np.array([2, 3])},
        {"n_bins": np.int64(7), "value_weight": np.float32(0.5)},
        {"feature_range": [-2, 5.5], "n_jobs": -1},
    ],
)
def test_parameters_in_whatever_form(params: dict[str, Any]) -> None:
    estimator = StretchTransformer(**params).fit(FRAME[["normal", "ties"]])
    again = clone(round_trip(estimator)).fit(FRAME[["normal", "ties"]])
    assert again.maps_ == estimator.maps_


def test_parameters_without_a_plain_form_are_left_out_and_named(tmp_path: Path) -> None:
    teacher = DecisionTreeRegressor(max_depth=2)
    estimator = SupervisedStretchTransformer(4, teacher=teacher, cv=GroupKFold(2))
    estimator.fit(FRAME[["normal"]].assign(ties=FRAME.ties), Y, groups=np.arange(len(Y)) % 5)
    with pytest.warns(UserWarning, match=r"the parameters \['cv', 'teacher'\] have no form in JSON") as seen:
        estimator.to_json(tmp_path / "map.json")
    assert seen[0].filename == __file__
    document = json.loads((tmp_path / "map.json").read_text())
    assert document["omitted"]["teacher"] == "DecisionTreeRegressor(max_depth=2)"
    loaded = tabstretch.load(tmp_path / "map.json")
    assert loaded.teacher is None
    assert loaded.maps_ == estimator.maps_


def test_parameters_that_were_changed_after_fit_do_not_change_the_map() -> None:
    estimator = StretchTransformer(4, feature_range=(2, 3)).fit(FRAME)
    maps = estimator.maps_
    estimator.set_params(feature_range=(0, 1), output="views", out_of_range="extrapolate", n_bins=[1])
    with pytest.warns(UserWarning, match="n_bins"):
        loaded = round_trip(estimator)
    assert loaded.maps_ == maps
    assert loaded.output == "views"


def test_a_loaded_stretch_works_in_a_pipeline_and_fits_anew() -> None:
    X = FRAME[["normal", "ties"]]
    estimator = SupervisedStretchTransformer(8, variation="within_fold").fit(X, Y)
    loaded = round_trip(estimator)
    assert not hasattr(clone(loaded), "maps_")
    assert clone(loaded).fit(X, Y).maps_ == estimator.maps_
    model = make_pipeline(loaded, Ridge()).set_output(transform="pandas").fit(X, Y)
    assert list(model[:-1].transform(X).columns) == ["normal", "ties"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(X.rename(columns={"ties": "knots"}))
    with pytest.raises(ValueError, match="2 features"):
        round_trip(StretchTransformer().fit(X.to_numpy())).transform(np.zeros((3, 5)))


def test_a_table_is_kept_with_its_other_columns(tmp_path: Path) -> None:
    table = fitted_table()
    table.to_json(tmp_path / "map.json")
    loaded = tabstretch.load(tmp_path / "map.json")
    assert type(loaded) is TableStretch
    frame = FRAME[["normal", "ties"]].assign(city="Rome")[["normal", "city", "ties"]]
    pd.testing.assert_frame_equal(loaded.transform(frame), table.transform(frame))
    back = loaded.inverse_transform(table.transform(frame))
    pd.testing.assert_frame_equal(back, table.inverse_transform(table.transform(frame)))
    assert clone(loaded).fit(frame).stretch_.maps_ == table.stretch_.maps_


def test_equal_names_are_refused(tmp_path: Path) -> None:
    stretch = StretchTransformer().fit(np.arange(10.0).reshape(5, 2))
    stretch.feature_names_in_ = np.array(["a", "a"], dtype=object)  # as older scikit-learns let pass
    with pytest.raises(ValueError, match=r"columns have the same name, \['a'\]: rename them"):
        stretch.to_json(tmp_path / "map.json")
    assert not any(tmp_path.iterdir())


def test_what_has_no_json_form() -> None:
    class Mine(StretchTransformer):
        pass

    with pytest.raises(TypeError, match=r"only StretchTransformer and .* got Mine"):
        Mine().fit(FRAME).to_json("map.json")
    with pytest.raises(NotFittedError):
        StretchTransformer().to_json("map.json")


@pytest.fixture(scope="module")
def schema() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    content = json.loads((files("tabstretch") / "schemas" / "map-1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


@pytest.mark.parametrize("kind", [*MAKERS, "table", "extreme"])
def test_documents_follow_the_schema(kind: str, schema: Any) -> None:
    special: dict[str, Any] = {"table": fitted_table, "extreme": extreme_stretch}
    estimator = special[kind]() if kind in special else fitted(kind)
    schema.validate(json.loads(to_text(to_document(estimator))))


OUTPUTS = {
    stem: output
    for path in DATA.glob("outputs-v*.json")
    for stem, output in json.loads(path.read_text()).items()
}


def frame_of(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Columns as a frame, in which None is NaN."""
    return pd.DataFrame({k: v if k == "city" else np.array(v, dtype=float) for k, v in columns.items()})


@pytest.mark.parametrize("stem", OUTPUTS)
def test_old_files_load_forever(stem: str, schema: Any) -> None:
    loaded = tabstretch.load(DATA / f"{stem}.json")
    source, expected = (frame_of(OUTPUTS[stem][part]) for part in ("input", "output"))
    output = pd.DataFrame(loaded.transform(source), columns=loaded.get_feature_names_out())
    pd.testing.assert_frame_equal(output, expected, rtol=0, atol=1e-15)
    loaded.summary()
    schema.validate(json.loads((DATA / f"{stem}.json").read_text()))


def test_every_file_has_its_outputs() -> None:
    assert {path.stem for path in DATA.glob("map-v*.json")} == set(OUTPUTS)
    assert len(OUTPUTS) >= 3
