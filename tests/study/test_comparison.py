"""One table: which transformation is best, by how much, and its pipeline."""

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

from tabstretch.study import compare
from tabstretch.study.comparison import comparison_table
from tabstretch.study.errors import StudyError


@pytest.fixture(scope="module")
def houses():
    """A heavy tail whose logarithm matters, a category that matters, gaps in both, and a useless name."""
    rng = np.random.default_rng(0)
    size, place = rng.lognormal(0, 2, 600), rng.choice(["north", "south, east"], 600)
    price = np.log(size) + 2.0 * (place == "north") + 0.1 * rng.standard_normal(600)
    frame = pd.DataFrame({"size": size, "place": place, "id": np.arange(600), "price": price})
    frame.loc[::20, "size"] = np.nan
    frame.loc[5::20, "place"] = None
    return frame


@pytest.fixture(scope="module")
def found(houses, tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "my houses?.csv"
    houses.to_csv(path, index=False)
    return compare(
        path,
        "price",
        transformations=("standard", "stretch_unsup", "quantile"),
        seeds=2,
        drop=("id",),
        workers=0,
        progress=False,
    )


def test_the_winner_is_the_one_that_should_win(found):
    table = found.table.set_index("transformation")
    assert found.metric == "r2"
    assert table.loc["standard", "verdict"] == "worse"
    assert table.loc["standard", "difference"] < -0.1
    assert found.table["transformation"].iloc[0] in ("stretch_unsup", "quantile")
    assert found.table["verdict"].iloc[0] == "chosen"


def test_the_pipeline_takes_rows_as_they_are(found, houses):
    pipeline = joblib.load(found.pipeline_path)
    assert pipeline.feature_names_in_ == ["size", "place"]
    predicted = pipeline.predict(houses)
    assert np.corrcoef(predicted, houses["price"])[0, 1] > 0.9
    shuffled = houses[["place", "size"]].iloc[::-1]
    np.testing.assert_array_equal(pipeline.predict(shuffled), predicted[::-1])
    unseen = pd.DataFrame({"size": [None, 1e9], "place": ["west", None]})
    assert np.isfinite(pipeline.predict(unseen)).all()


def test_the_pipeline_is_the_networks_of_the_study(found, houses):
    """Its score on the test rows is that of the run it repeats."""
    chosen = found.results[found.results["transformation"] == found.table["transformation"].iloc[0]]
    best = chosen.sort_values("val_score").iloc[0]
    from tabstretch.study.datasets import load_dataset

    path = found.pipeline_path.parents[1] / "my houses?.csv"
    rows = load_dataset("file:my houses%3F.csv?target=price&drop=id", path.parent).split["test"]
    predicted = found.pipeline.predict(houses.iloc[rows])
    assert np.abs(predicted - houses["price"].iloc[rows]).mean() == pytest.approx(best["mae"], rel=1e-4)


def test_a_column_that_is_missing_is_named(found, houses):
    with pytest.raises(ValueError, match="there is no column 'place'; available: 'size'"):
        found.pipeline.predict(houses[["size"]])
    with pytest.raises(TypeError, match="rows must be a data frame with named columns, got ndarray"):
        found.pipeline.predict(houses.to_numpy())
    with pytest.raises(AttributeError, match="a regression has no probabilities"):
        found.pipeline.predict_proba(houses)


def test_classes_come_back_as_they_were(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(200)}).assign(y=lambda f: np.where(f["x"] > 0.5, 7, 30))
    frame.to_parquet(tmp_path / "t.parquet")
    found = compare(
        tmp_path / "t.parquet", "y", transformations=("standard",), seeds=1, workers=0, progress=False
    )
    assert found.metric == "accuracy"
    assert found.pipeline.classes_.tolist() == [7, 30]
    assert np.mean(found.pipeline.predict(frame) == frame["y"]) > 0.9
    assert found.pipeline.predict_proba(frame).shape == (200, 2)
    assert (tmp_path / "t-compare" / "results.csv").is_file()


@pytest.mark.parametrize("labels", [("01", "1"), (True, False), ("1_0", "2")])
def test_labels_that_look_like_others(tmp_path, labels):
    x = np.linspace(0, 1, 100)
    frame = pd.DataFrame({"x": x, "y": np.where(x > 0.5, *labels)})
    frame.to_parquet(tmp_path / "t.parquet")
    found = compare(
        tmp_path / "t.parquet", "y", transformations=("standard",), seeds=1, workers=0, progress=False
    )
    assert sorted(found.pipeline.classes_.tolist()) == sorted(labels)
    assert np.mean(found.pipeline.predict(frame) == frame["y"]) > 0.9


def test_again_uses_what_is_there_and_new_data_is_a_new_study(tmp_path, monkeypatch, capsys):
    frame = pd.DataFrame({"x": np.linspace(0, 1, 80), "y": np.linspace(0, 1, 80) ** 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = {"transformations": ("standard",), "seeds": 1, "workers": 0, "progress": False}
    first = compare(tmp_path / "t.csv", "y", **options)
    again = compare(tmp_path / "t.csv", "y", **options)
    pd.testing.assert_frame_equal(first.results, again.results)  # seconds and all
    frame.assign(y=1 - frame["y"]).to_csv(tmp_path / "t.csv", index=False)
    other = compare(tmp_path / "t.csv", "y", **options)
    assert (other.results["checksum"] != first.results["checksum"]).all()


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(StudyError, match=r"none\.csv cannot be read: No such file"):
        compare(tmp_path / "none.csv", "y", progress=False)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StudyError, match="there is no column 'y'; available: 'a', 'b'"):
        compare(tmp_path / "t.csv", "y", progress=False)
    for folder in (tmp_path, Path()):
        with pytest.raises(StudyError, match="is a folder; name a CSV or Parquet file"):
            compare(folder, "y", progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def runs(scores, task="binclass"):
    rows = [
        {
            "model": "mlp",
            "transformation": name,
            "accuracy": test,
            "val_score": val,
            "status": "ok",
            "task": task,
        }
        for name, pairs in scores.items()
        for val, test in pairs
    ]
    return pd.DataFrame(rows)


def test_verdicts_by_hand():
    table = comparison_table(
        runs(
            {
                "b": [(0.8, 0.70), (0.8, 0.72)],
                "a": [(0.9, 0.80), (0.9, 0.82)],
                "c": [(0.7, 0.80), (0.7, 0.84)],
            }
        )
    )
    assert table["transformation"].tolist() == ["a", "b", "c"]  # by validation
    assert table["difference"].tolist() == pytest.approx([0.0, -0.10, 0.01])
    # Standard deviations sqrt(.0002) twice and sqrt(.0008); errors of means of two seeds.
    assert table["error"].tolist()[1:] == pytest.approx([0.0002**0.5, 0.0005**0.5])
    assert table["verdict"].tolist() == ["chosen", "worse", "within noise"]


def test_one_seed_says_nothing_about_noise():
    table = comparison_table(runs({"a": [(0.9, 0.8)], "b": [(0.8, 0.7)]}))
    assert table["verdict"].tolist() == ["chosen", "unknown"]


def test_a_winner_of_one_seed_says_nothing_about_noise_either():
    table = comparison_table(runs({"a": [(0.9, 0.8)], "b": [(0.8, 0.7), (0.8, 0.71)]}))
    assert table["verdict"].tolist() == ["chosen", "unknown"]
