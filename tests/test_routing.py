"""Groups and sample weights by scikit-learn's metadata routing."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import column, noisy_target
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline

from tabstretch import StretchTransformer, SupervisedStretchTransformer

N = 120
x = column("normal", N)
X = np.column_stack([x, column("ties", N)])
Y = noisy_target(x)
GROUPS = np.repeat(np.arange(12), 10)
WEIGHT = np.arange(N) % 3 + 1.0
SPLITS = list(GroupKFold(3).split(X, Y, GROUPS))


pytestmark = pytest.mark.usefixtures("routing")


def supervised(**params: Any) -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(8, variation="within_fold", **params)


def expected(**fit_params: Any) -> Any:
    with config_context(enable_metadata_routing=False):
        return supervised(cv=SPLITS).fit(X, Y, **fit_params).transform(X)


def test_groups_alone() -> None:
    assert_array_equal(supervised(cv=GroupKFold(3)).fit(X, Y, groups=GROUPS).transform(X), expected())
    assert_array_equal(supervised(cv=GroupKFold(3)).fit_transform(X, Y, groups=GROUPS), expected())


def test_groups_by_another_name() -> None:
    splitter = GroupKFold(3).set_split_request(groups="site")
    assert_array_equal(supervised(cv=splitter).fit(X, Y, site=GROUPS).transform(X), expected())
    pipe = make_pipeline(supervised(cv=splitter), Ridge()).fit(X, Y, site=GROUPS)
    assert_array_equal(pipe[:-1].transform(X), expected())


def test_weights_and_groups_alone() -> None:
    fitted = supervised(cv=GroupKFold(3)).fit(X, Y, sample_weight=WEIGHT, groups=GROUPS)
    assert_array_equal(fitted.transform(X), expected(sample_weight=WEIGHT))
    assert not np.array_equal(expected(sample_weight=WEIGHT), expected())


def test_groups_in_a_pipeline() -> None:
    pipe = make_pipeline(supervised(cv=GroupKFold(3)), Ridge()).fit(X, Y, groups=GROUPS)
    assert_allclose(pipe.predict(X), Ridge().fit(expected(), Y).predict(expected()))


def test_weights_and_groups_in_a_pipeline() -> None:
    first = supervised(cv=GroupKFold(3)).set_fit_request(sample_weight=True)
    last = Ridge().set_fit_request(sample_weight=False)
    pipe = make_pipeline(first, last).fit(X, Y, groups=GROUPS, sample_weight=WEIGHT)
    assert_array_equal(pipe[:-1].transform(X), expected(sample_weight=WEIGHT))


def test_weights_declined_in_a_pipeline() -> None:
    first = supervised(cv=SPLITS).set_fit_request(sample_weight=False)
    last = Ridge().set_fit_request(sample_weight=True)
    pipe = make_pipeline(first, last).fit(X, Y, sample_weight=WEIGHT)
    assert_array_equal(pipe[:-1].transform(X), expected())


def test_weights_of_the_unsupervised_one_in_a_pipeline() -> None:
    first = StretchTransformer(8).set_fit_request(sample_weight=True)
    last = Ridge().set_fit_request(sample_weight=False)
    pipe = make_pipeline(first, last).fit(X, Y, sample_weight=WEIGHT)
    assert_array_equal(
        pipe[:-1].transform(X), StretchTransformer(8).fit(X, sample_weight=WEIGHT).transform(X)
    )


def test_groups_in_a_column_transformer() -> None:
    both = make_column_transformer((supervised(cv=GroupKFold(3)), [0, 1]))
    assert_array_equal(both.fit(X, Y, groups=GROUPS).transform(X), expected())


def test_groups_of_a_search_reach_the_folds_inside() -> None:
    pipe = make_pipeline(supervised(cv=GroupKFold(3)), Ridge())
    grid = {"supervisedstretchtransformer__n_bins": [8]}
    search = GridSearchCV(pipe, grid, cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    assert_array_equal(search.best_estimator_[:-1].transform(X), expected())


def test_weights_without_a_request_are_refused_in_a_pipeline() -> None:
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make_pipeline(supervised(cv=3), Ridge().set_fit_request(sample_weight=True)).fit(
            X, Y, sample_weight=WEIGHT
        )


def test_groups_that_the_splitter_does_not_take_are_refused() -> None:
    with pytest.raises(TypeError, match="groups"):
        supervised(cv=KFold(3)).fit(X, Y, groups=GROUPS)
    with pytest.raises((TypeError, ValueError), match="groups"):
        supervised(cv=3).fit(X, Y, groups=GROUPS)


def test_what_is_requested() -> None:
    requests = supervised(cv=GroupKFold(3)).set_fit_request(sample_weight=True).get_metadata_routing()
    assert requests.consumes("fit", ["sample_weight", "groups", "colour"]) == {"sample_weight", "groups"}
    assert supervised().get_metadata_routing().consumes("fit", ["sample_weight", "groups"]) == set()
