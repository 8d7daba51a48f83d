"""The estimators. `fit` reads as the steps of the method; the mathematics is elsewhere."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tabstretch._base import BaseStretch
from tabstretch._batches import block_rows, supervised_request
from tabstretch._column import ColumnFit, TargetFit
from tabstretch._context import encode_context
from tabstretch._folds import keep_rows, make_column_folds, requested_splits
from tabstretch._interactions import TeacherFit, supervise_by_teachers
from tabstretch._parameters import VARIATIONS
from tabstretch._parts import Plan, Request, TablePart
from tabstretch._routing import SplitterRouting
from tabstretch._target import encode_target, resolve_target_type
from tabstretch._validation import (
    check_count,
    check_matrix,
    check_n_bins,
    check_number,
    check_target,
    check_weights,
)
from tabstretch._views import VIEWS
from tabstretch._whole import WholeTable

# Folds where `cv` is None: of the kernel estimate, and of teachers, which take longer to train.
_DEFAULT_FOLDS = 10
_DEFAULT_TEACHERS = 4


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
    output : {"blend", "views"}, default="blend"
        Whether value and rank are blended into one output per column, or stand side by side as
        `<name>_value`, with squashed tails, and `<name>_rank`. Views do not depend on `value_weight`.
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
        Where these edges go; of views, in the last one.
    output_widths_ : list of arrays
        Share of the output range of each bin; of views, in the last one.
    n_bins_ : array of shape (n_features,)
        Number of bins there are.
    maps_ : list of MonotoneMap
        The map of each output column.
    views_ : tuple of str
        What each column becomes: "blend", or the names of its views.
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
        output: str = "blend",
        feature_range: tuple[float, float] = (0, 1),
        out_of_range: str = "clip",
        n_jobs: int | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.value_weight = value_weight
        self.output = output
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
            the number of rows, or to more than 2^53, are taken as relative.
        """
        self._check_common()
        value_weight = check_number("value_weight", self.value_weight)
        X = check_matrix(self, X, reset=True)
        weight = check_weights(sample_weight, len(X))
        if weight is not None and not np.all(weight > 0):
            X, weight = X[weight > 0], weight[weight > 0]
        # Without a target all of its weight goes to the rank.
        columns = self._fit_columns(X, rank_weight=0.0, value_weight=value_weight, weight=weight)
        return self._store(columns, views=VIEWS[:-1])

    def _request(self) -> Request:
        self._check_common()
        check_number("value_weight", self.value_weight)
        return Request(n_jobs=self.n_jobs)

    def _fit_part(self, part: TablePart, plan: Plan) -> Self:
        self._remember_columns(plan.first)
        n_bins = check_n_bins(self.n_bins, self.n_features_in_)
        columns = WholeTable(part, plan).fit(
            n_bins, self.n_jobs, rank_weight=0.0, value_weight=float(self.value_weight)
        )
        return self._store(columns, views=VIEWS[:-1])


class SupervisedStretchTransformer(SplitterRouting, BaseStretch):
    """Stretch every column so that the target is smooth along it.

    Each column gets a monotone piecewise-linear map onto `feature_range` that gives more room to the
    bins in which the target changes fast and less to the others. How fast it changes when the other
    columns stay as they are is estimated by models that have not seen the row, so no row's own target helps
    to predict it; the map itself is the same for all data, and `fit(X, y).transform(X)` equals
    `fit_transform(X, y)`.

    Parameters
    ----------
    n_bins : int or array-like of int of shape (n_features,), default=64
        Number of quantile bins (T in the paper), for all columns or for each. 1 is min-max scaling.
    n_neighbors : int or "auto", default="auto"
        How many training rows the kernel's bandwidth spans (k in the paper). "auto" is n^(2/3), at
        least 5. For "conditional" it matters only to the marginal variation, shown for comparison.
    cv : int, splitter or iterable of splits, default=None
        Folds for the estimate of the target. A number gives shuffled folds, stratified for classes
        and no more of them than the smallest class has members, but at least 2. None means 10, and 4 for
        "conditional". A splitter that needs groups gets those passed to `fit`.
    variation : {"conditional", "within_fold", "pooled"}, default="conditional"
        What counts as variation of the target: how the prediction of a model that sees all columns varies
        when only this column moves ("conditional"); how the target varies along this column alone, estimated
        in each fold by one model ("within_fold": much faster, blind to columns that matter only together);
        or the same with all folds' estimates sorted together ("pooled": the paper's recipe).
    teacher : estimator, default=None
        The model for "conditional", a regressor or a classifier with `predict_proba`; it is cloned. None
        means `HistGradientBoostingRegressor` or `HistGradientBoostingClassifier`. The teacher sees numbers
        only: the columns, then the context, then shuffled columns as the measure of noise (none if
        `shrinkage` is a number). Missing ones are NaN: put an imputer before one that refuses them.
    n_curves : int, default=400
        For "conditional", the number of held-out rows for which every column is moved.
    teacher_rows : int, default=100000
        For "conditional", the number of rows, drawn at random, that teachers learn from at most.
    shrinkage : "auto" or float from 0 to 1, default="auto"
        Share of the target's influence that goes to the rank. "auto" removes from the variation what
        noise alone would show and shrinks by the share of noise in it; a number switches this off.
    rank_weight : float, default=0.0
        How much of the column's rank to keep beside the target, which counts 1; for "conditional", less if
        the column moves the prediction by less than one (standard deviation, or probability of classes).
    value_weight : float, default=2.0
        How much of the column's own shape to keep. With both weights 0 the target alone decides (the
        paper's recipe).
    output : {"blend", "views"}, default="blend"
        Whether value, rank and target are blended into one output per column, `<name>`, or this blend stands
        as `<name>_target` beside `<name>_value`, with squashed tails, and `<name>_rank`.
    target_type : str, default="auto"
        "continuous", "binary", "multiclass", "multilabel-indicator", "continuous-multioutput",
        "multiclass-multioutput", or "auto" to decide as scikit-learn's `type_of_target`. Whole numbers
        look like classes: say "continuous" for counts.
    feature_range : tuple (min, max), default=(0, 1)
        Range of the output.
    out_of_range : {"clip", "extrapolate"}, default="clip"
        Whether values beyond those seen in `fit` get the end of the range or continue the end slope.
    random_state : int, RandomState instance or None, default=0
        Shuffles the rows into folds where `cv` is a number. For "conditional" it also draws the rows to
        learn from and to ask, and seeds the teachers. None draws anew in every `fit`. Rows are drawn by
        their values, so that their order does not matter.
    n_jobs : int, default=None
        Number of threads; None means 1, -1 all cores. The result does not depend on it.

    Attributes
    ----------
    bin_edges_ : list of arrays
        Edges of the bins of each column, increasing; ties are merged.
    output_edges_ : list of arrays
        Where these edges go; of views, in the last one.
    output_widths_ : list of arrays
        Share of the output range of each bin; of views, in the last one.
    n_bins_ : array of shape (n_features,)
        Number of bins there are.
    maps_ : list of MonotoneMap
        The map of each output column.
    views_ : tuple of str
        What each column becomes: "blend", or the names of its views.
    variation_ : list of arrays
        Variation of the estimated target in each bin, without noise if `shrinkage="auto"`.
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
    array([0.26, 0.47, 0.26])
    """

    def __init__(
        self,
        n_bins: Any = 64,
        *,
        n_neighbors: Any = "auto",
        cv: Any = None,
        variation: str = "conditional",
        teacher: Any = None,
        n_curves: int = 400,
        teacher_rows: int = 100_000,
        shrinkage: Any = "auto",
        rank_weight: float = 0.0,
        value_weight: float = 2.0,
        output: str = "blend",
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
        self.teacher = teacher
        self.n_curves = n_curves
        self.teacher_rows = teacher_rows
        self.shrinkage = shrinkage
        self.rank_weight = rank_weight
        self.value_weight = value_weight
        self.output = output
        self.target_type = target_type
        self.feature_range = feature_range
        self.out_of_range = out_of_range
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, context: Any = None, **params: Any
    ) -> Self:
        """Learn the widths of every column's bins from the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is allowed. Maps leave it alone, teachers make of it what they can.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target: numbers, labels of any kind, several numbers, or label indicators.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that count rows: 2 is the row twice, 0 is no row. Weights that sum to less than
            the number of rows, or to more than 2^53, are taken as relative. Only where all are whole is each
            copy taken to have noise of its own. Teachers take weights as their own `fit` does.
        context : DataFrame or array-like of shape (n_samples, n_columns), default=None
            Other columns of any type, for "conditional" only: they help the teachers and are not
            transformed.
        **params : dict
            What the splitter needs, that is `groups`; with metadata routing, whatever it requests.
        """
        weights = self._check_parameters(context)
        X = check_matrix(self, X, reset=True)
        y = check_target(self, X, y)
        weight = check_weights(sample_weight, len(X))
        kind = resolve_target_type(y, self.target_type)
        context = None if context is None else encode_context(context, len(X))
        splits = requested_splits(self._n_folds(), X, y, self._split_params(params))
        if weight is not None and not np.all(weight > 0):
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
            context = None if context is None else context[kept]
            splits = keep_rows(splits, kept)
        target = encode_target(y, kind, weight)
        if self.variation == "conditional":
            columns = self._fit_columns(X, weight=weight, **weights)
            columns = supervise_by_teachers(
                columns, X, context, target, splits, weight, self._teacher_fit(), **weights
            )
        else:
            block = block_rows(X.shape[1]) if self.variation == "within_fold" else None
            folds = make_column_folds(splits, X, target, weight, self.random_state, block)
            marginal = TargetFit(target, folds, self._neighbors(), self.variation, self._fixed_shrinkage())
            columns = self._fit_columns(X, weight=weight, supervision=marginal, **weights)
        self._target_units = target.shift, target.scale
        self._keep_target(columns, kind, target.classes)
        return self._store(columns, views=VIEWS)

    def _request(self) -> Request:
        self._check_parameters(None)
        return supervised_request(
            self.target_type,
            self._n_folds(),
            self.variation,
            self.teacher_rows,
            self.random_state,
            self.n_jobs,
        )

    def _fit_part(self, part: TablePart, plan: Plan) -> Self:
        weights = self._check_parameters(None)
        self._remember_columns(plan.first)
        table = WholeTable(part, plan)
        columns = table.fit(check_n_bins(self.n_bins, self.n_features_in_), self.n_jobs, **weights)
        columns = table.supervise(columns, self.variation, self._n_folds(), self._teacher_fit(), **weights)
        self._target_units = table.target.units
        self._keep_target(columns, table.target.kind, table.target.classes)
        return self._store(columns, views=VIEWS)

    def _keep_target(self, columns: list[ColumnFit], kind: str, classes: Any) -> None:
        self.target_type_ = kind
        self.classes_ = classes
        self.variation_ = [column.variation for column in columns]
        self.shrinkage_ = np.array([column.shrinkage for column in columns])

    def _check_parameters(self, context: Any) -> dict[str, float]:
        """Check what can be checked without data, and return the weights of the blend."""
        self._check_common()
        if self.variation not in VARIATIONS:
            raise ValueError(f"variation must be one of {VARIATIONS}, got {self.variation!r}")
        for name, given in (("teacher", self.teacher), ("context", context)):
            if given is not None and self.variation != "conditional":
                raise ValueError(f"{name} is for variation='conditional', got variation={self.variation!r}")
        self._teacher_fit()
        return {
            "rank_weight": check_number("rank_weight", self.rank_weight),
            "value_weight": check_number("value_weight", self.value_weight),
        }

    def _neighbors(self) -> float | None:
        return None if self.n_neighbors == "auto" else check_number("n_neighbors", self.n_neighbors, low=1)

    def _fixed_shrinkage(self) -> float | None:
        return None if self.shrinkage == "auto" else check_number("shrinkage", self.shrinkage, high=1)

    def _n_folds(self) -> Any:
        if self.cv is not None:
            return self.cv
        return _DEFAULT_TEACHERS if self.variation == "conditional" else _DEFAULT_FOLDS

    def _teacher_fit(self) -> TeacherFit:
        return TeacherFit(
            self.teacher,
            check_count("n_curves", self.n_curves),
            check_count("teacher_rows", self.teacher_rows, low=2),
            self._neighbors(),
            self._fixed_shrinkage(),
            self.random_state,
            self.n_jobs,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
