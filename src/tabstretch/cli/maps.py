"""Verbs that need a map alone: plot, export."""

from __future__ import annotations

import argparse
import io
import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tabstretch._base import BaseStretch
from tabstretch._files import written_whole
from tabstretch._map_display import draw_maps, map_picture
from tabstretch._sources import shortened
from tabstretch._sql import DIALECTS
from tabstretch._tables import fitted_stretch
from tabstretch._terminal import tell
from tabstretch.cli.arguments import Verbs, add_map, check_ending, check_output, mended_by_user, read_map

_PICTURES = (".png", ".svg", ".pdf")
_MOST_ROWS = 20
_DTYPES = ("float32", "float64")
_FILES = {"onnx": ".onnx", "torch": ".pt2"}


def add_plot(verbs: Verbs) -> None:
    """Add `tabstretch plot`."""
    verb = verbs.add_parser(
        "plot",
        help="draw the columns of a map",
        description="Draw how a map stretches columns, by value and by rank, and where the target varies "
        "along them. No data are needed.",
    )
    add_map(verb)
    verb.add_argument(
        "--feature",
        action="append",
        metavar="COLUMN",
        help=f"draw this column; again for more (default: all, if there are at most {_MOST_ROWS})",
    )
    verb.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="a .png, .svg or .pdf file (default: MAP.png beside the map); one that exists is replaced",
    )
    verb.set_defaults(run=mended_by_user(_plot), interrupted="nothing was drawn")


def _plot(chosen: argparse.Namespace) -> None:
    stretch = fitted_stretch(read_map(chosen.map))
    output = chosen.output or chosen.map.with_suffix(".png")
    check_ending(output, _PICTURES)
    check_output(output, [chosen.map])
    numbers = _chosen_columns(stretch, chosen.feature)
    figure = draw_maps([map_picture(stretch, number) for number in numbers])
    with written_whole(output) as temporary, warnings.catch_warnings():
        # A letter that the font lacks is a box, and a name that is too long is cut.
        warnings.filterwarnings("ignore", "Glyph .* missing from|constrained_layout not applied")
        figure.savefig(temporary, format=output.suffix[1:].lower(), dpi=120)
    tell(f"drawn in {output}")


def _chosen_columns(stretch: BaseStretch, features: list[str] | None) -> list[int]:
    names = stretch._input_names
    if features is None and len(names) > _MOST_ROWS:
        raise ValueError(
            f"the map has {len(names)} columns, too many for one picture: choose some with --feature, "
            f"out of {shortened(names)}"
        )
    chosen = list(dict.fromkeys(names if features is None else features))
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise ValueError(f"the map has no columns {shortened(unknown)}; it has {shortened(names)}")
    return [names.index(name) for name in chosen]


def add_export(verbs: Verbs) -> None:
    """Add `tabstretch export`."""
    verb = verbs.add_parser(
        "export",
        help="take a map to SQL, ONNX or PyTorch",
        description="Write a map in a form that runs without tabstretch. sql: a SELECT statement. onnx: a "
        "model that takes the columns, in the order of the map, as a tensor X and gives a tensor stretched. "
        "torch: a program for torch.export.load, which takes such a tensor too. Files of onnx and torch "
        "carry the names of columns and outputs.",
    )
    add_map(verb)
    verb.add_argument("--to", required=True, choices=("sql", *_FILES), help="the form")
    verb.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the file (default: MAP.onnx or MAP.pt2 beside the map, and standard output for sql); "
        "one that exists is replaced",
    )
    sql = verb.add_argument_group("--to sql")
    sql.add_argument("--dialect", choices=tuple(DIALECTS), help="for which database (default: duckdb)")
    sql.add_argument(
        "--from",
        dest="table",
        metavar="TABLE",
        help="what to select from, written into the statement as it is (default: data)",
    )
    tensors = verb.add_argument_group("--to onnx and --to torch")
    tensors.add_argument("--dtype", choices=_DTYPES, help="of the tensor (default: float32)")
    verb.set_defaults(run=mended_by_user(partial(_export, verb)), interrupted="nothing was written")


def _export(verb: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    to_sql = chosen.to == "sql"
    if to_sql and chosen.dtype is not None:
        verb.error("--dtype is for --to onnx and torch")
    if not to_sql and (chosen.dialect is not None or chosen.table is not None):
        verb.error("--dialect and --from are for --to sql")
    estimator = read_map(chosen.map)
    output = chosen.output
    if not to_sql:
        output = output or chosen.map.with_suffix(_FILES[chosen.to])
        check_ending(output, (_FILES[chosen.to],))
    if output is not None:
        check_output(output, [chosen.map])
    if to_sql:
        statement = sql_statement(estimator, chosen.dialect or "duckdb", chosen.table or "data")
        content = statement.encode()
    else:
        make = onnx_model if chosen.to == "onnx" else torch_program
        content = make(fitted_stretch(estimator), chosen.dtype or "float32")
    if output is None:
        sys.stdout.write(statement)
        return
    with written_whole(output) as temporary:
        temporary.write_bytes(content)
    tell(f"{chosen.to} in {output}")


def sql_statement(estimator: Any, dialect: str, table: str) -> str:
    """Return a statement that selects all output columns."""
    speech = DIALECTS[dialect]
    expressions = estimator.to_sql(dialect).items()
    columns = [f"  {expression} AS {speech.identifier(name)}" for name, expression in expressions]
    return "SELECT\n" + ",\n".join(columns) + f"\nFROM {table}\n"


def onnx_model(stretch: BaseStretch, dtype: str) -> bytes:
    """Return an ONNX model with the names of its columns and outputs as metadata."""
    import tabstretch.onnx as converter

    types = converter.data_types
    kind = types.DoubleTensorType if dtype == "float64" else types.FloatTensorType
    model = converter.skl2onnx.to_onnx(
        stretch,
        initial_types=[("X", kind([None, stretch.n_features_in_]))],
        final_types=[("stretched", kind([None, len(stretch.maps_)]))],
    )
    for key, names in _names(stretch).items():
        model.metadata_props.add(key=key, value=json.dumps(names))
    return bytes(model.SerializeToString())


def torch_program(stretch: BaseStretch, dtype: str) -> bytes:
    """Return an exported program for any number of rows, with the names of its columns and outputs."""
    from tabstretch.torch import StretchLayer, torch

    rows = torch.zeros((2, stretch.n_features_in_), dtype=getattr(torch, dtype))
    layer = StretchLayer.from_estimator(stretch).eval()
    program = torch.export.export(layer, (rows,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    file = io.BytesIO()
    names = {f"{key}.json": json.dumps(names) for key, names in _names(stretch).items()}
    torch.export.save(program, file, extra_files=names)
    return file.getvalue()


def _names(stretch: BaseStretch) -> dict[str, list[str]]:
    return {"columns": stretch._input_names, "outputs": np.asarray(stretch.get_feature_names_out()).tolist()}
