"""The stretches of a study by name: the paper's two, then ours."""

from __future__ import annotations

from typing import Any

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch.study.datasets import Dataset

_ALONE = {"rank_weight": 0.0, "value_weight": 0.0}
_SUPERVISED: dict[str, dict[str, Any]] = {
    "stretch_sup": {"variation": "pooled", "shrinkage": 0.0, **_ALONE},
    "stretch_within": {"variation": "within_fold", **_ALONE},
    "stretch_anchored": {"variation": "within_fold", "rank_weight": 1.0, "value_weight": 2.0},
    "stretch_conditional": {"variation": "conditional"},
    "stretch_views": {"variation": "conditional", "output": "views"},
}
STRETCHES = ("stretch_sup", "stretch_unsup", *(name for name in _SUPERVISED if name != "stretch_sup"))


def fit_stretch(
    name: str, dataset: Dataset, *, n_bins: int | None = None
) -> StretchTransformer | SupervisedStretchTransformer:
    """Fit one of `STRETCHES` on the training part; the categorical columns are shown to teachers.

    Parameters
    ----------
    name : str
        One of `STRETCHES`.
    dataset : Dataset
        With at least one numeric column.
    n_bins : int, default=None
        Number of bins, by default the estimator's own.
    """
    if name not in STRETCHES:
        raise ValueError(f"unknown stretch {name!r}, known are {', '.join(STRETCHES)}")
    bins: dict[str, Any] = {} if n_bins is None else {"n_bins": n_bins}
    X = dataset.numeric["train"]
    if name == "stretch_unsup":
        return StretchTransformer(**bins, value_weight=0.0).fit(X)
    # Whole-numbered targets of regression would look like classes.
    target_type = "continuous" if dataset.task == "regression" else "multiclass"
    settings = dict(_SUPERVISED[name])
    if n_bins == 1 and settings["variation"] == "conditional":
        settings["variation"] = "within_fold"  # one bin is a straight line: teachers would work for nothing
    stretch = SupervisedStretchTransformer(**bins, **settings, target_type=target_type)
    others = dataset.categorical["train"]
    context = others if stretch.variation == "conditional" and others.shape[1] else None
    return stretch.fit(X, dataset.y["train"], context=context)
