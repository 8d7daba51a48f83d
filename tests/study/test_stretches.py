"""The stretches of a study: what each name stands for."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch.study.datasets import Dataset, load_dataset
from tabstretch.study.stretches import STRETCHES, fit_stretch


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.lognormal(size=300)})
    frame["city"] = rng.choice(["Oslo", "Rome"], 300)
    frame["price"] = np.round(10 * np.tanh(3 * frame["a"]) * np.where(frame["city"] == "Oslo", 1, -1)) + 20.0
    frame.to_csv(folder / "houses.csv", index=False)
    return load_dataset("file:houses.csv?target=price", folder)


def test_names() -> None:
    assert STRETCHES == (
        "stretch_sup",
        "stretch_unsup",
        "stretch_within",
        "stretch_anchored",
        "stretch_conditional",
        "stretch_views",
    )


@pytest.mark.parametrize("name", STRETCHES)
def test_every_stretch_fits_and_gives_one_or_three_inputs_per_column(name: str, dataset: Dataset) -> None:
    fitted = fit_stretch(name, dataset, n_bins=8)
    inputs = fitted.transform(dataset.numeric["test"])
    assert inputs.shape == (dataset.n_rows["test"], 6 if name == "stretch_views" else 2)
    assert np.all((inputs >= 0) & (inputs <= 1))
    assert list(fitted.n_bins_) == [8, 8]
    assert getattr(fitted, "target_type_", "continuous") == "continuous"


def test_the_paper_s_two_are_the_paper_s(dataset: Dataset) -> None:
    X, y = dataset.numeric["train"], dataset.y["train"]
    paper = {"variation": "pooled", "shrinkage": 0, "rank_weight": 0, "value_weight": 0}
    supervised = SupervisedStretchTransformer(8, **paper, target_type="continuous").fit(X, y)
    assert_array_equal(fit_stretch("stretch_sup", dataset, n_bins=8).transform(X), supervised.transform(X))
    plain = StretchTransformer(8, value_weight=0).fit(X)
    assert_array_equal(fit_stretch("stretch_unsup", dataset, n_bins=8).transform(X), plain.transform(X))


def test_teachers_see_the_categorical_columns(dataset: Dataset) -> None:
    """The target depends on `a` one way in Oslo and the other way in Rome: alone it looks flat."""
    within, conditional = (
        fit_stretch(f"stretch_{name}", dataset, n_bins=8) for name in ("within", "conditional")
    )
    assert within.shrinkage_[0] > 0.5 > conditional.shrinkage_[0]


def test_without_n_bins_the_default(dataset: Dataset) -> None:
    assert fit_stretch("stretch_conditional", dataset).n_bins == SupervisedStretchTransformer().n_bins


def test_classes() -> None:
    iris = load_dataset("sklearn:iris", Path())
    fitted = fit_stretch("stretch_within", iris)
    assert fitted.target_type_ == "multiclass"
    assert len(fitted.classes_) == 3


def test_unknown_names_are_refused(dataset: Dataset) -> None:
    with pytest.raises(ValueError, match="unknown stretch 'stretch', known are stretch_sup, stretch_unsup"):
        fit_stretch("stretch", dataset)


@pytest.mark.parametrize("name", ["stretch_conditional", "stretch_views"])
def test_one_bin_needs_no_teacher(name: str, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = dataset.numeric["train"], dataset.y["train"]
    output = "views" if name == "stretch_views" else "blend"
    taught = SupervisedStretchTransformer(1, output=output, target_type="continuous").fit(X, y)
    monkeypatch.setattr("tabstretch._transformers.supervise_by_teachers", None)
    assert_array_equal(fit_stretch(name, dataset, n_bins=1).transform(X), taught.transform(X))
