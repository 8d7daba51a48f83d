"""`tabstretch suggest`, as a person meets it."""

from pathlib import Path

import numpy as np
import pytest

from tabstretch import suggest
from tabstretch.cli import main

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

N = 2500
RNG = np.random.default_rng(1)
HOUSES = pd.DataFrame(
    {
        "city, or town": RNG.choice(["Oslo", "Rome"], N),
        "area": RNG.uniform(20, 200, N).round(3),
        "income": RNG.lognormal(sigma=2, size=N),
        "rooms": RNG.integers(1, 7, N),
    }
)
HOUSES["price"] = np.tanh((HOUSES["area"] - 90) / 5) + 0.2 * RNG.normal(size=N)
HOUSES["kind"] = np.where(HOUSES["area"] > 90, "large", "small")
INPUTS = ["city, or town", "area", "income", "rooms"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    HOUSES.to_csv("houses.csv", index=False)
    HOUSES.to_parquet("houses.parquet", row_group_size=700)
    return tmp_path


@pytest.mark.parametrize("data", ["houses.csv", "houses.parquet"])
@pytest.mark.parametrize("limit", [20000, 600])
def test_it_prints_what_the_function_returns(
    data: str, limit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--target", "price", "--skip", "kind", "--max-rows", str(limit), "--seed", "3", "--jobs", "2"]
    assert main(["suggest", data, *options]) == 0
    expected = suggest(HOUSES[INPUTS], HOUSES["price"], max_rows=limit, random_state=3)
    assert capsys.readouterr().out == f"{expected}\n"
    assert [row.suggestion for row in expected.columns] == [
        "SupervisedStretchTransformer",
        "StretchTransformer",
        "standardise",
    ]


def test_classes_several_targets_and_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", "houses.csv", "--target", "kind", "--skip", "price"]) == 0
    assert capsys.readouterr().out == f"{suggest(HOUSES[INPUTS], HOUSES['kind'])}\n"
    assert main(["suggest", "houses.csv", "--target", "price", "--target", "rooms", "--skip", "kind"]) == 0
    assert capsys.readouterr().out == f"{suggest(HOUSES[INPUTS[:3]], HOUSES[['price', 'rooms']])}\n"
    whole = ["--target", "rooms", "--target-type", "continuous", "--skip", "kind", "--skip", "price"]
    assert main(["suggest", "houses.parquet", *whole]) == 0
    expected = suggest(HOUSES[INPUTS[:3]], HOUSES["rooms"], target_type="continuous")
    assert capsys.readouterr().out == f"{expected}\n"
    assert main(["suggest", "houses.csv"]) == 0
    assert capsys.readouterr().out == f"{suggest(HOUSES)}\n"


def test_mistakes_are_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = HOUSES.assign(area=np.where(np.arange(N) == 5, np.inf, HOUSES["area"]))
    wrong.to_parquet("wrong.parquet")
    HOUSES.assign(price=np.where(np.arange(N) == 1800, np.nan, HOUSES["price"])).to_parquet("gap.parquet")
    HOUSES[:0].to_parquet("empty.parquet")
    HOUSES[["kind"]].to_csv("text.csv", index=False)
    cases = {
        ("houses.csv", "--target", "prize"): "lacks the columns ['prize']",
        ("wrong.parquet", "--target", "price"): "column 'area' holds inf in row 6",
        ("gap.parquet", "--target", "price"): "column 'price', the target, holds nothing in row 1801",
        ("text.csv",): "has no columns of numbers to stretch, only ['kind']",
        ("empty.parquet",): "has no rows to look at",
        ("nowhere.csv",): "no CSV or Parquet files",
    }
    for arguments, told in cases.items():
        assert main(["suggest", *arguments]) == 1
        errors = capsys.readouterr().err
        assert told in errors
        assert errors.count("\n") == 1


@pytest.mark.parametrize("options", [["--target-type", "binary"], ["--max-rows", "1"]])
def test_misuse(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["suggest", "houses.csv", *options])
    assert stopped.value.code == 2
    assert options[0] in capsys.readouterr().err
