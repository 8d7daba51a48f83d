"""The estimators. `fit` reads as the steps of the method; the mathematics is in the modules above."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from tabstretch._base import BaseStretch
from tabstretch._column import TargetFit
from tabstretch._folds import keep_rows, make_folds, requested_splits
from tabstretch._target import encode_target, resolve_target_type
from tabstretch._validation import check_matrix, check_number, check_target, check_weights

VARIATIONS = ("within_fold", "pooled")


class StretchTransformer(BaseStretch):
    """Stretch every column to even density, without a target.

    Each column gets a monotone piecewise-linear map onto `feature_range` in which every quantile bin
    is equally wide (`value_weight=0`, the unsupervised stretch of the paper), or a compromise between
    that and min-max scaling.

    Parameters
    ----------
    n_bins : int or array-like of int of shape (n_features,), default=256
        Number of quantile bins (T in the paper), for all columns or for each. 1 is min-max scaling; a very
        large number, with `value_weight=0`, the dense rank.
    value_weight : float, default=2.0
        How much of the column's own shape to keep: 0 keeps the rank only, large values approach
        min-max scaling.
    feature_range : tuple (min, max), default=(0, 1)
        Range of the output.
    out_of_range : {"clip", "extrapolate"}, default="clip"
        Whether values beyond those seen in `fit` get the end of the range or continue the end slope.
    n_jobs : int, default=None
        Number of threads; None means 1, -1 all cores.

    Attributes
    ----------
    bin_edges_ : list of arrays
        Edges of the bins of each column, increasing; ties are merged.
    output_edges_ : list of arrays
        Where these edges go.
    output_widths_ : list of arrays
        Share of the output range of each bin.
    n_bins_ : array of shape (n_features,)
        Number of bins there are.
    maps_ : list of MonotoneMap
        The map of each column.
    fallback_ : list of str or None
        Why a column could not be stretched as asked, if so.
    n_features_in_, feature_names_in_
        Number and names of the columns seen in `fit`.

    See Also
    --------
    SupervisedStretchTransformer : Gives more room to where the target changes fast.

    Examples
    --------
    >>> from tabstretch import StretchTransformer
    >>> X = [[0.0], [1.0], [2.0], [10.0], [100.0]]
    >>> StretchTransformer(n_bins=4, value_weight=0).fit_transform(X).ravel()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    def __init__(
        self,
        n_bins: Any = 256,
        *,
        value_weight: float = 2.0,
        feature_range: tuple[float, float] = (0, 1),
        out_of_range: str = "clip",
        n_jobs: int | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.value_weight = value_weight
        self.feature_range = feature_range
        self.out_of_range = out_of_range
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the quantile bins of every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is allowed and ignored.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that count rows: 2 is the row twice, 0 is no row. Weights that sum to less than
            the number of rows are taken as relative.
        """
        self._check_common()
        value_weight = check_number("value_weight", self.value_weight)
        X = check_matrix(self, X, reset=True)
        weight = check_weights(sample_weight, len(X))
        if weight is not None and not np.all(weight > 0):
            X, weight = X[weight > 0], weight[weight > 0]
        # Without a target all of its weight goes to the rank.
        return self._store(self._fit_columns(X, rank_weight=0.0, value_weight=value_weight, weight=weight))


class SupervisedStretchTransformer(BaseStretch):
    """Stretch every column so that the target is smooth along it.

    Each column gets a monotone piecewise-linear map onto `feature_range` that gives more room to the
    bins in which the target changes fast and less to the others. How fast it changes is estimated out
    of fold, so no row's own target helps to predict it; the map itself is the same for all data, and
    `fit(X, y).transform(X)` equals `fit_transform(X, y)`.

    Parameters
    ----------
    n_bins : int or array-like of int of shape (n_features,), default=256
        Number of quantile bins (T in the paper), for all columns or for each. 1 is min-max scaling.
    n_neighbors : int or "auto", default="auto"
        How many training rows the kernel's bandwidth spans (k in the paper). "auto" is n^(2/3), at
        least 5.
    cv : int, splitter or iterable of splits, default=10
        Folds for the estimate of the target. A number gives shuffled folds, stratified for classes
        and no more of them than the smallest class has members, but at least 2. A splitter that needs
        groups gets those passed to `fit`.
    variation : {"within_fold", "pooled"}, default="within_fold"
        Whether the variation of the target is taken along each fold's held-out rows, which one model
        predicts, or along all rows together (the paper's recipe).
    shrinkage : "auto" or float from 0 to 1, default="auto"
        Share of the target's influence that goes to the rank. "auto" removes from the variation what
        noise alone would show and shrinks by the share of noise in it; a number switches this off.
    rank_weight : float, default=1.0
        How much of the column's rank to keep beside the target, which counts 1.
    value_weight : float, default=2.0
        How much of the column's own shape to keep. With both weights 0 the target alone decides (the
        paper's recipe).
    target_type : str, default="auto"
        "continuous", "binary", "multiclass", "multilabel-indicator", "continuous-multioutput",
        "multiclass-multioutput", or "auto" to decide as scikit-learn's `type_of_target`. Whole numbers
        look like classes: say "continuous" for counts.
    feature_range : tuple (min, max), default=(0, 1)
        Range of the output.
    out_of_range : {"clip", "extrapolate"}, default="clip"
        Whether values beyond those seen in `fit` get the end of the range or continue the end slope.
    random_state : int, RandomState instance or None, default=0
        Shuffles the rows into folds where `cv` is a number. None shuffles anew in every `fit`.
    n_jobs : int, default=None
        Number of threads; None means 1, -1 all cores. The result does not depend on it.

    Attributes
    ----------
    bin_edges_ : list of arrays
        Edges of the bins of each column, increasing; ties are merged.
    output_edges_ : list of arrays
        Where these edges go.
    output_widths_ : list of arrays
        Share of the output range of each bin.
    n_bins_ : array of shape (n_features,)
        Number of bins there are.
    maps_ : list of MonotoneMap
        The map of each column.
    variation_ : list of arrays
        Total variation of the estimated target in each bin, noise removed if `shrinkage="auto"`.
    shrinkage_ : array of shape (n_features,)
        Share of the target's influence that went to the rank.
    fallback_ : list of str or None
        Why a column could not be stretched as asked, if so.
    target_type_ : str
        Kind of target found or asked for.
    classes_ : array, list of arrays or None
        Class labels; None for regression.
    n_features_in_, feature_names_in_
        Number and names of the columns seen in `fit`.

    See Also
    --------
    StretchTransformer : Needs no target.

    Examples
    --------
    >>> import numpy as np
    >>> from tabstretch import SupervisedStretchTransformer
    >>> x = np.linspace(-3, 3, 601).reshape(-1, 1)
    >>> y = np.tanh(5 * x.ravel())
    >>> stretch = SupervisedStretchTransformer(n_bins=3).fit(x, y)
    >>> stretch.output_widths_[0].round(2)
    array([0.27, 0.45, 0.27])
    """

    def __init__(
        self,
        n_bins: Any = 256,
        *,
        n_neighbors: Any = "auto",
        cv: Any = 10,
        variation: str = "within_fold",
        shrinkage: Any = "auto",
        rank_weight: float = 1.0,
        value_weight: float = 2.0,
        target_type: str = "auto",
        feature_range: tuple[float, float] = (0, 1),
        out_of_range: str = "clip",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.variation = variation
        self.shrinkage = shrinkage
        self.rank_weight = rank_weight
        self.value_weight = value_weight
        self.target_type = target_type
        self.feature_range = feature_range
        self.out_of_range = out_of_range
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Learn the widths of every column's bins from the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is allowed and ignored.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target: numbers, labels of any kind, several numbers, or label indicators.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that count rows: 2 is the row twice, 0 is no row. Weights that sum to less than
            the number of rows are taken as relative.
        **params : dict
            What the splitter needs, that is `groups`; with metadata routing, whatever it requests.
        """
        self._check_common()
        options = {
            "rank_weight": check_number("rank_weight", self.rank_weight),
            "value_weight": check_number("value_weight", self.value_weight),
        }
        n_neighbors = (
            None if self.n_neighbors == "auto" else check_number("n_neighbors", self.n_neighbors, low=1)
        )
        shrinkage = None if self.shrinkage == "auto" else check_number("shrinkage", self.shrinkage, high=1)
        if self.variation not in VARIATIONS:
            raise ValueError(f"variation must be one of {VARIATIONS}, got {self.variation!r}")
        X = check_matrix(self, X, reset=True)
        y = check_target(self, X, y)
        weight = check_weights(sample_weight, len(X))
        kind = resolve_target_type(y, self.target_type)
        splits = requested_splits(self.cv, X, y, self._split_params(params))
        if weight is not None and not np.all(weight > 0):
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
            splits = keep_rows(splits, kept)
        target = encode_target(y, kind, weight)
        folds = make_folds(splits, target, self.random_state)
        supervision = TargetFit(target, folds, n_neighbors, self.variation, shrinkage)
        columns = self._fit_columns(X, weight=weight, supervision=supervision, **options)
        self.target_type_ = kind
        self.classes_ = target.classes
        self.variation_ = [column.variation for column in columns]
        self.shrinkage_ = np.array([column.shrinkage for column in columns])
        return self._store(columns)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata: `sample_weight` is our own, the splitter gets its own."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        if hasattr(self.cv, "split"):
            mapping = MethodMapping()
            mapping.add(caller="fit", callee="split").add(caller="fit_transform", callee="split")
            router.add(splitter=self.cv, method_mapping=mapping)
        return router

    def _split_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what goes to the splitter: routed if routing is on, else the groups."""
        given = {name: value for name, value in params.items() if value is not None}
        if given and get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            return dict(routed["splitter"]["split"]) if "splitter" in routed else given
        unknown = sorted(set(given) - {"groups"})
        if unknown:
            raise TypeError(f"{type(self).__name__}.fit() got unexpected arguments {unknown}")
        return given

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
