"""`tabstretch plot` and `tabstretch export`: what comes out is the estimator, elsewhere."""

import io
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fitted import FRAME, fitted, fitted_table, probes
from numpy.testing import assert_allclose, assert_array_equal

from tabstretch import StretchTransformer
from tabstretch._map_display import draw_maps, map_picture
from tabstretch.cli import main

KINDS = ("supervised", "views")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with maps."""
    monkeypatch.chdir(tmp_path)
    for kind in KINDS:
        fitted(kind).to_json(f"{kind}.json")
    return tmp_path


def run(*arguments: str) -> None:
    assert main(list(arguments)) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_onnx(kind: str, dtype: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    run("export", f"{kind}.json", "--to", "onnx", "--dtype", dtype)
    assert f"onnx in {kind}.onnx" in capsys.readouterr().out
    session = onnxruntime.InferenceSession(f"{kind}.onnx", providers=["CPUExecutionProvider"])
    X = probes(fitted(kind), dtype=np.dtype(dtype))
    (found,) = session.run(["stretched"], {"X": X})
    assert_same(found, kind, X, 1e-12 if dtype == "float64" else 1e-6)
    names = session.get_modelmeta().custom_metadata_map
    assert json.loads(names["columns"]) == FRAME.columns.tolist()
    assert json.loads(names["outputs"]) == fitted(kind).get_feature_names_out().tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_torch(kind: str, folder: Path) -> None:
    torch = pytest.importorskip("torch")
    run("export", f"{kind}.json", "--to", "torch", "--dtype", "float64", "-o", "new.pt2")
    names = {"columns.json": "", "outputs.json": ""}
    program = torch.export.load("new.pt2", extra_files=names).module()
    X = probes(fitted(kind))
    assert_same(program(torch.from_numpy(X)).detach().numpy(), kind, X, 1e-12)
    assert program(torch.from_numpy(X[:1])).shape == (1, len(fitted(kind).maps_))
    assert json.loads(names["columns.json"]) == FRAME.columns.tolist()
    assert zipfile.is_zipfile("new.pt2")


def test_torch_takes_float32_by_default(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    run("export", "views.json", "--to", "torch")
    X = probes(fitted("views"), dtype=np.float32)
    found = torch.export.load("views.pt2").module()(torch.from_numpy(X)).detach().numpy()
    assert found.dtype == np.float32
    assert_same(found, "views", X, 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_sql(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    X = probes(fitted(kind))
    names = ", ".join(f'"{name}" DOUBLE' for name in FRAME)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE houses ({names})")
        places = ", ".join("?" * X.shape[1])
        connection.executemany(f"INSERT INTO houses VALUES ({places})", X.tolist())
        run("export", f"{kind}.json", "--to", "sql", "--from", "houses")
        statement = capsys.readouterr().out
        found = connection.execute(statement).fetchnumpy()
    assert list(found) == fitted(kind).get_feature_names_out().tolist()
    columns = [np.ma.filled(column.astype(float), np.nan) for column in found.values()]
    assert_same(np.column_stack(columns), kind, X, 1e-12)
    run("export", f"{kind}.json", "--to", "sql", "--from", "houses", "-o", "map.sql")
    assert Path("map.sql").read_text() == statement


def test_sql_for_postgres_and_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fitted_table().to_json("table.json")
    run("export", "table.json", "--to", "sql", "--dialect", "postgres")
    printed = capsys.readouterr().out
    assert 'CAST("normal" AS double precision)' in printed
    assert '\n  "city" AS "city",\n' in printed
    assert printed.endswith("\nFROM data\n")


def assert_same(found: Any, kind: str, X: Any, tolerance: float) -> None:
    expected = fitted(kind)._stretched(X)
    assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    assert_array_equal(np.isnan(found), np.isnan(expected))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot(ending: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    run("plot", "supervised.json", "--feature", "normal", "-o", f"map.{ending}")
    assert f"drawn in map.{ending}" in capsys.readouterr().out
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert Path(f"map.{ending}").read_bytes().startswith(starts[ending])


def test_a_map_with_a_name_in_capitals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.rename("views.json", "VIEWS.JSON")
    run("export", "VIEWS.JSON", "--to", "sql")
    assert capsys.readouterr().out.startswith("SELECT")


def test_plot_draws_all_columns_beside_the_map(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    os.mkdir("maps")
    fitted("views").to_json("maps/views.json")
    run("plot", "maps/views.json")
    assert sorted(os.listdir("maps")) == ["views.json", "views.png"]


def test_a_picture_shows_maps_ranks_and_variation() -> None:
    pytest.importorskip("matplotlib")
    stretch = fitted("conditional")
    picture = map_picture(stretch, 0)
    assert picture.name == "normal"
    assert_array_equal(picture.by_rank["blend"], stretch.output_edges_[0])
    assert_allclose(picture.ranks[[0, -1]], [0, 1])
    edges = stretch.bin_edges_[0]
    assert_allclose(picture.by_rank["min-max"], (edges - edges[0]) / (edges[-1] - edges[0]), atol=1e-12)
    assert list(picture.variations) == ["marginal", "conditional"]
    constant = map_picture(stretch, FRAME.columns.get_loc("constant"))
    assert constant.note == "one distinct value"
    figure = draw_maps([picture, constant, map_picture(stretch, FRAME.columns.get_loc("empty"))])
    labels = [axis.get_xlabel() for axis in figure.axes]
    assert labels[:3] == ["normal", "share of rows with smaller normal", "normal, by rank"]


def test_names_are_no_formulas() -> None:
    pytest.importorskip("matplotlib")
    pd = pytest.importorskip("pandas")
    stretch = StretchTransformer(3).fit(pd.DataFrame({"$price_{$": [1.0, 2.0, 5.0]}))
    figure = draw_maps([map_picture(stretch, 0)])
    figure.savefig(io.BytesIO(), format="svg")
    assert figure.axes[0].get_xlabel() == r"\$price_{\$"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("plot none.json", "there is no map none.json"),
        ("plot views.json --feature prise", r"the map has no columns \['prise'\]; it has \['normal', "),
        ("plot views.json -o map.jpeg", "map.jpeg must end in .png, .svg or .pdf"),
        ("plot many.json", r"the map has 30 columns, .* --feature, out of \['c0'.*'c11', … 30 in all\]"),
        ("plot damaged.json", "damaged.json cannot be loaded: not JSON"),
        ("export views.json --to onnx -o map.pt2", "map.pt2 must end in .onnx"),
        ("export views.json --to sql -o views.json", "views.json is read by this command"),
        ("export nameless.json --to sql", "a column of a database cannot have the name ''"),
    ],
)
def test_errors(arguments: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd = pytest.importorskip("pandas")
    many = pd.DataFrame({f"c{j}": [0.0, 1.0] for j in range(30)})
    StretchTransformer(2).fit(many).to_json("many.json")
    StretchTransformer(2).fit(pd.DataFrame({"": [0.0, 1.0]})).to_json("nameless.json")
    Path("damaged.json").write_text("{")
    assert main(arguments.split()) == 1
    errors = capsys.readouterr().err
    assert re.fullmatch(r"tabstretch: .+\n", errors)
    assert re.search(message, errors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("export views.json", "the following arguments are required: --to"),
        ("export views.json --to excel", "invalid choice: 'excel'"),
        ("export views.json --to sql --dtype float32", "--dtype is for --to onnx and torch"),
        ("export views.json --to onnx --from x", "--dialect and --from are for --to sql"),
    ],
)
def test_misuse(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments.split())
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
