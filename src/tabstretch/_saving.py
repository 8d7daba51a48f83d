"""A fitted stretch as a document of plain values, and the document as a JSON file.

The layout is that of `schemas/map-1.json`; `_loading` reads it back. A change that older releases cannot
read gets a new `VERSION`, a schema of its own, and a file in `tests/data` that must load forever.
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tabstretch._column import ColumnFit
from tabstretch._files import written_whole
from tabstretch._json import Node
from tabstretch._monotone import MonotoneMap
from tabstretch._parameters import checked_parameter, plain

FORMAT, VERSION = "tabstretch", 1
ESTIMATORS = ("StretchTransformer", "SupervisedStretchTransformer")


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a JSON file, whole or not at all."""
    text = to_text(to_document(estimator))
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def to_document(estimator: Any) -> dict[str, Any]:
    """Return a fitted estimator as plain values."""
    check_is_fitted(estimator)
    is_table = hasattr(estimator, "stretch_")
    stretch = estimator.stretch_ if is_table else estimator
    if type(stretch).__name__ not in ESTIMATORS:
        raise TypeError(f"only {' and '.join(ESTIMATORS)} have a JSON form, got {type(stretch).__name__}")
    parameters, omitted = _parameters(stretch)
    names = getattr(stretch, "feature_names_in_", [None] * stretch.n_features_in_)
    _check_names(names)
    n_views = len(stretch.views_)
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"tabstretch {version('tabstretch')}",
        "estimator": type(stretch).__name__,
        "parameters": parameters,
        "omitted": omitted,
        "table": estimator.feature_names_in_.tolist() if is_table else None,
        "target": _target(stretch) if hasattr(stretch, "target_type_") else None,
        "out_of_range": stretch.maps_[0].out_of_range,
        "views": list(stretch.views_),
        "columns": [
            _column(name, column, dict(zip(stretch.views_, stretch.maps_[n_views * j :], strict=False)))
            for j, (name, column) in enumerate(zip(names, stretch._columns, strict=True))
        ],
    }


def _check_names(names: Any) -> None:
    """Refuse equal names, which older scikit-learns let pass: by them a column could not be found again."""
    twice = sorted(name for name, count in Counter(names).items() if name is not None and count > 1)
    if twice:
        raise ValueError(f"columns have the same name, {twice[:10]}: rename them and fit again")


def to_text(document: dict[str, Any]) -> str:
    """Return the document as JSON, each member and each column on a line."""
    columns = ",\n".join(_dump(column) for column in document["columns"])
    members = [f'"{key}": {_dump(value)}' for key, value in document.items() if key != "columns"]
    return "{\n" + ",\n".join([*members, f'"columns": [\n{columns}\n]']) + "\n}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _parameters(stretch: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the parameters that have a plain form, and descriptions of those that have none."""
    kept, omitted = {}, {}
    for name, value in stretch.get_params(deep=False).items():
        try:
            checked_parameter(name, Node(plain(value), name), stretch.n_features_in_)
        except ValueError:
            omitted[name] = repr(value)
        else:
            kept[name] = plain(value)
    if omitted:
        warnings.warn(
            f"the parameters {list(omitted)} have no form in JSON: the map is kept, but they will have their "
            "defaults in the loaded estimator, should it be fitted anew",
            stacklevel=5,
        )
    return kept, omitted


def _target(stretch: Any) -> dict[str, Any]:
    classes = stretch.classes_
    if classes is not None:
        several = classes if isinstance(classes, list) else [classes]
        classes = [{"dtype": _label_type(labels), "labels": labels.tolist()} for labels in several]
    return {"type": stretch.target_type_, "classes": classes}


def _label_type(labels: Any) -> str:
    return "str" if labels.dtype.kind == "U" else str(labels.dtype)


def _column(name: str | None, column: ColumnFit, maps: dict[str, MonotoneMap]) -> dict[str, Any]:
    return {
        "name": name,
        "fallback": column.fallback,
        "maps": {
            view: {"edges": map_.edges.tolist(), "values": map_.values.tolist()}
            for view, map_ in maps.items()
        },
        "widths": column.widths.tolist(),
        "row_shares": column.bin_weight.tolist(),
        "variation": column.variation.tolist(),
        "marginal_variation": None if column.marginal is None else column.marginal.tolist(),
        "shrinkage": float(column.shrinkage),
        "interaction": None if np.isnan(column.interaction) else float(column.interaction),
    }
