"""Read a fitted stretch back from its JSON file: nothing is executed, everything is checked."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tabstretch._column import ColumnFit
from tabstretch._json import Node, is_number, parse_json
from tabstretch._monotone import OUT_OF_RANGE, MonotoneMap
from tabstretch._parameters import checked_parameter
from tabstretch._saving import ESTIMATORS, FORMAT, VERSION
from tabstretch._table import TableStretch
from tabstretch._target import REGRESSION, TARGET_TYPES
from tabstretch._transformers import StretchTransformer, SupervisedStretchTransformer
from tabstretch._views import VIEWS

_CLASSES: dict[str, Any] = dict(
    zip(ESTIMATORS, (StretchTransformer, SupervisedStretchTransformer), strict=True)
)
_KEYS = (
    *("format", "version", "written_by", "estimator", "parameters", "omitted", "table", "target"),
    *("out_of_range", "views", "columns"),
)
_COLUMN_KEYS = (
    *("name", "fallback", "maps", "widths", "row_shares", "variation", "marginal_variation", "shrinkage"),
    "interaction",
)
_LABEL_TYPE = r"bool|u?int(8|16|32|64)|float(16|32|64)|str|object"
# Shares that were added up in another order differ by less than this.
_ROUNDING = 1e-9


def load(path: str | os.PathLike[str]) -> Any:
    """Load a stretch that `to_json` has written.

    Nothing in the file is executed, and everything in it is checked: a file that is damaged or was
    tampered with raises a `ValueError` that names the column and the place.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    StretchTransformer, SupervisedStretchTransformer or TableStretch
        Fitted; it transforms as the one that was saved, to the bit.

    Examples
    --------
    >>> import tempfile, tabstretch
    >>> stretch = tabstretch.StretchTransformer(n_bins=2, value_weight=0).fit([[0.0], [1.0], [9.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stretch.to_json(f"{folder}/map.json")
    ...     loaded = tabstretch.load(f"{folder}/map.json")
    >>> loaded.transform([[0.5], [5.0]]).ravel()
    array([0.25, 0.75])
    """
    data = Path(path).read_bytes()
    try:
        return from_document(parse_json(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be loaded: not JSON: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {error}") from error


def from_document(document: Any) -> Any:
    """Return the fitted estimator that `to_document` has described."""
    _check_version(document)
    members = Node(document).members(_KEYS)
    members["written_by"].text()
    kind = members["estimator"].choice(ESTIMATORS)
    columns = list(members["columns"].items())
    if not columns:
        members["columns"].fail("an array of at least one column")
    stretch = _CLASSES[kind](**_read_parameters(kind, members, len(columns)))
    supervised = isinstance(stretch, SupervisedStretchTransformer)
    views = _read_views(members["views"], VIEWS if supervised else VIEWS[:-1])
    out_of_range = members["out_of_range"].choice(OUT_OF_RANGE)
    names = _set_names(stretch, columns)
    fits, maps = [], []
    for name, column in zip(names, columns, strict=True):
        place = column.place if name is None else f"{column.place} ({name!r})"
        fit, maps_of_column = _read_column(Node(column.value, place), views, out_of_range)
        fits.append(fit)
        maps.extend(maps_of_column)
    _check_ends(maps)
    stretch._keep(fits, maps, views)
    if supervised:
        stretch._keep_target(fits, *_read_target(members["target"]))
    elif members["target"].value is not None:
        members["target"].fail(f"null for a {kind}")
    return stretch if members["table"].value is None else _table_of(stretch, members["table"])


def _check_version(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'not a stretch: the file must hold an object with "format": "{FORMAT}"')
    node = Node(document.get("version"), "version")
    if type(node.value) is not int or node.value < 1:
        node.fail(f"a whole number from 1 to {VERSION}")
    if node.value > VERSION:
        raise ValueError(
            f"written by a newer tabstretch (format version {node.value}); "
            "upgrade: pip install --upgrade tabstretch"
        )


def _read_parameters(kind: str, members: dict[str, Node], n_features: int) -> dict[str, Any]:
    """Return the parameters for the constructor; those that are not there get their defaults."""
    names = _CLASSES[kind]().get_params(deep=False)
    for node in members["omitted"].members((), names).values():
        node.text()
    given = members["parameters"].members((), names)
    return {name: checked_parameter(name, node, n_features) for name, node in given.items()}


def _read_views(node: Node, names: tuple[str, ...]) -> tuple[str, ...]:
    views = tuple(item.text() for item in node.items())
    if views not in (("blend",), names):
        node.fail(f"['blend'] or {list(names)}")
    return views


def _set_names(stretch: Any, columns: list[Node]) -> list[str | None]:
    """Return the names of the columns: strings, or None for all."""
    names = [column.members(_COLUMN_KEYS)["name"] for column in columns]
    stretch.n_features_in_ = len(names)
    if all(name.value is None for name in names):
        return [None] * len(names)
    stretch.feature_names_in_ = np.array([name.text() for name in names], dtype=object)
    seen: set[str] = set()
    for name in names:
        if name.value in seen:
            name.fail("a name that no other column has")
        seen.add(name.value)
    return list(stretch.feature_names_in_)


def _read_target(node: Node) -> tuple[str, Any]:
    """Return the kind of target and its classes."""
    members = node.members(("type", "classes"))
    kind = members["type"].choice(TARGET_TYPES)
    if kind in REGRESSION:
        if members["classes"].value is not None:
            members["classes"].fail(f"null for a {kind} target")
        return kind, None
    classes = [_read_labels(item) for item in members["classes"].items()]
    if kind == "multiclass-multioutput":
        return kind, classes
    if len(classes) != 1:
        members["classes"].fail(f"one list of labels for a {kind} target")
    return kind, classes[0]


def _read_labels(node: Node) -> NDArray[Any]:
    members = node.members(("dtype", "labels"))
    dtype = members["dtype"].text()
    if not re.fullmatch(_LABEL_TYPE, dtype):
        members["dtype"].fail(f"a type of labels, {_LABEL_TYPE}")
    for item in members["labels"].items():
        if not _is_label(item.value, dtype):
            item.fail(f"a label of type {dtype}")
    labels = members["labels"].value
    if any(later <= label for label, later in pairwise(labels)):
        members["labels"].fail("an array of labels that differ, in their order")
    return np.array(labels, dtype=dtype)


def _is_label(value: Any, dtype: str) -> bool:
    """Tell whether a value is one of this type, exactly."""
    if dtype in ("str", "object"):
        return isinstance(value, str)
    if dtype == "bool" or isinstance(value, bool):
        return dtype == "bool" and isinstance(value, bool)
    if dtype.startswith("float"):
        with np.errstate(over="ignore"):
            return is_number(value) and float(np.dtype(dtype).type(value)) == value
    bounds = np.iinfo(dtype)
    return isinstance(value, int) and bounds.min <= value <= bounds.max


def _read_column(
    node: Node, views: tuple[str, ...], out_of_range: str
) -> tuple[ColumnFit, list[MonotoneMap]]:
    """Return what was fitted of a column and the map of each of its views."""
    members = node.members(_COLUMN_KEYS)
    by_view = members["maps"].members(views)
    maps = [_read_map(by_view[view], out_of_range) for view in views]
    n_bins = max(len(maps[-1].edges) - 1, 0)
    fit = ColumnFit(
        edges=maps[-1].edges,
        widths=_read_widths(members["widths"], maps[-1]),
        bin_weight=_read_shares(members["row_shares"], n_bins),
        variation=_optional_numbers(members["variation"], n_bins, nothing=[]),
        shrinkage=members["shrinkage"].number(low=0, high=1),
        fallback=None if members["fallback"].value is None else members["fallback"].text(),
        marginal=_optional_numbers(members["marginal_variation"], n_bins, nothing=None),
        interaction=_optional_share(members["interaction"]),
    )
    return fit, maps


def _read_map(node: Node, out_of_range: str) -> MonotoneMap:
    members = node.members(("edges", "values"))
    edges, values = members["edges"].numbers(), members["values"].numbers()
    try:
        return MonotoneMap(edges, values, out_of_range)
    except ValueError as error:
        raise ValueError(f"{node.place}: {error}") from None


def _read_widths(node: Node, map_: MonotoneMap) -> NDArray[np.float64]:
    """Return the widths of the bins, which must lead to the outputs at the edges."""
    widths = _read_shares(node, max(len(map_.edges) - 1, 0))
    if len(widths) == 0:
        return widths
    low, high = map_.values[0], map_.values[-1]
    rounding = _ROUNDING * (high - low) + len(widths) * np.spacing(max(abs(low), abs(high)))
    wrong = ~(np.abs(low + (high - low) * np.cumsum(widths) - map_.values[1:]) <= rounding)
    if np.any(wrong) or np.any(widths <= 0):
        place = f"{node.place}[{int(np.argmax(wrong | (widths <= 0)))}]"
        raise ValueError(f"{place} does not lead to the values at the edges")
    return widths


def _read_shares(node: Node, size: int) -> NDArray[np.float64]:
    shares = node.numbers(low=0, size=size)
    with np.errstate(over="ignore"):
        total = shares.sum()
    if size and not abs(total - 1.0) <= _ROUNDING * size:
        raise ValueError(f"{node.place} must sum to 1, got {total:g}")
    return shares


def _optional_numbers(node: Node, size: int, nothing: Any) -> Any:
    """Return one number for each bin, none of them negative, or what stands for nothing."""
    if node.value == nothing:
        return None if nothing is None else np.empty(0)
    return node.numbers(low=0, size=size)


def _optional_share(node: Node) -> float:
    return np.nan if node.value is None else node.number(low=0, high=1)


def _check_ends(maps: list[MonotoneMap]) -> None:
    """Check that all columns have one output range, where a constant column has only its lower end."""
    lows = {float(map_.values[0]) for map_ in maps}
    highs = {float(map_.values[-1]) for map_ in maps if len(map_.edges) > 1}
    if len(lows) > 1 or len(highs) > 1:
        raise ValueError(
            f"all columns must have the same output range, got lower ends {sorted(lows)[:5]} and "
            f"upper ends {sorted(highs)[:5]}"
        )


def _table_of(stretch: Any, node: Node) -> TableStretch:
    """Return the stretch of a table, given all its columns."""
    names = [item.text() for item in node.items()]
    numeric = list(getattr(stretch, "feature_names_in_", []))
    if len(set(names)) < len(names):
        node.fail("an array of names that differ")
    if not numeric or [name for name in names if name in set(numeric)] != numeric:
        node.fail(f"an array of names with the columns {numeric[:10]} among them, in this order")
    table = TableStretch(clone(stretch))
    table.stretch_, table.numeric_columns_ = stretch.set_output(transform="default"), numeric
    table.n_features_in_ = len(names)
    table.feature_names_in_ = np.array(names, dtype=object)
    table._check_clash()
    return table
