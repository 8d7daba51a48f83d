"""CSV and Parquet files: what each column is taken for, and what is refused."""

import re
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabstretch.study.datasets import Dataset, load_dataset

FRAME = pd.DataFrame(
    {
        "size": [1.5, 2.5, np.nan, 4.5, 5.5, 6.5, 7.5, 8.5],
        "rooms": [1, 2, 3, 1, 2, 3, 1, 2],
        "city": ["Bonn", "Köln", None, "Bonn", "Köln", "Bonn", "Köln", "Bonn"],
        "garden": [True, False, True, False, True, False, True, False],
        "price": [10.5, 20.5, 30.5, 40.5, 50.5, 60.5, 70.5, 80.5],
    }
)


def load(path: Path, options: str) -> Dataset:
    return load_dataset(f"file:{path.name}?{options}", path.parent)


def load_csv(folder: Path, content: str | bytes, options: str = "target=y") -> Dataset:
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load(path, options)


def rows(*values: Any, header: str = "a,y") -> str:
    """Return CSV: one column of these values, and a target that needs no thought."""
    return "\n".join([header, *(f"{value},{i}.5" for i, value in enumerate(values))]) + "\n"


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".CSV", ".parquet"])
def test_columns_are_told_apart(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"houses{suffix}"
    write(FRAME, path) if suffix != ".CSV" else FRAME.to_csv(path, index=False)
    dataset = load(path, "target=price")
    assert (dataset.name, dataset.task, dataset.classes) == ("houses", "regression", None)
    assert dataset.numeric_names == ("size", "rooms")
    assert dataset.categorical_names == ("city", "garden")
    assert dataset.missing == 1
    assert dataset.n_rows == {"train": 5, "val": 1, "test": 2}
    assert dataset.split is not None
    for part, numbers in dataset.split.items():
        np.testing.assert_array_equal(dataset.y[part], FRAME["price"].to_numpy()[numbers])
        np.testing.assert_array_equal(dataset.numeric[part][:, 1], FRAME["rooms"].to_numpy()[numbers])


def test_csv_and_parquet_are_the_same_data(tmp_path: Path) -> None:
    frame = FRAME.assign(third=[1 / (3 + i) for i in range(8)])
    typed = frame.astype({"city": "category", "rooms": "Int64", "garden": "boolean", "size": "Float64"})
    checksums = {
        load(write(frame, tmp_path / "a.csv"), "target=price").checksum,
        load(write(frame, tmp_path / "b.parquet"), "target=price").checksum,
        load(write(typed, tmp_path / "c.parquet"), "target=price").checksum,
    }
    assert len(checksums) == 1


def test_types_are_overridden(tmp_path: Path) -> None:
    path = write(FRAME.assign(code=["1", "x", "2", "1", "1", "2", "1", "2"]), tmp_path / "houses.csv")
    dataset = load(path, "target=price&categorical=rooms,size&numeric=garden&drop=city,code")
    assert dataset.numeric_names == ("garden",)
    assert dataset.categorical_names == ("size", "rooms")
    assert set(np.concatenate(list(dataset.numeric.values())).ravel()) == {0, 1}
    assert dataset.categories[1] == ("1", "2", "3")
    with pytest.raises(ValueError, match="column 'code' should be numbers but has 'x' in row 1"):
        load(path, "target=price&numeric=code")


def test_the_task(tmp_path: Path) -> None:
    n_rows = np.arange(120)
    frame = pd.DataFrame(
        {
            "a": n_rows,
            "text": np.where(n_rows % 2, "yes", "no"),
            "many": n_rows % 21,
            "few": n_rows % 20,
            "whole": (n_rows % 2).astype(float),
            "truth": n_rows % 2 == 0,
            "float": n_rows + 0.5,
        }
    )
    expected = {
        "text": "binclass",
        "many": "regression",
        "few": "multiclass",
        "whole": "regression",
        "truth": "binclass",
        "float": "regression",
    }
    for path in (write(frame, tmp_path / "a.csv"), write(frame, tmp_path / "a.parquet")):
        assert {target: load(path, f"target={target}").task for target in expected} == expected
        assert load(path, "target=few&task=regression").task == "regression"
        assert load(path, "target=whole&task=classification").classes == ("0", "1")
        assert load(path, "target=many&task=classification").classes == tuple(map(str, range(21)))
    with pytest.raises(ValueError, match="column 'text' should be numbers but has 'no' in row 0"):
        load(path, "target=text&task=regression")


def test_names_with_separators(tmp_path: Path) -> None:
    frame = FRAME.rename(columns={"size": "a,b", "city": "x=1&y", "price": "50% €"})
    dataset = load(write(frame, tmp_path / "h.csv"), "target=50%25%20%E2%82%AC&drop=a%2Cb,x%3D1%26y")
    assert dataset.numeric_names == ("rooms",)
    assert dataset.categorical_names == ("garden",)


TEXT = 'name,y\n"a\nb",1.5\n"a, b",2.5\nÄ,3.5\n"",4.5\n"a\nb",5.5\n"quote ""x""",6.5\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_quotes_and_empty_cells(encoding: str, tmp_path: Path) -> None:
    dataset = load_csv(tmp_path, TEXT.encode(encoding))
    assert dataset.categorical_names == ("name",)
    labels = ["a\nb", "a, b", "Ä", None, "a\nb", 'quote "x"']
    assert dataset.split is not None
    known = dataset.categories[0]
    assert set(known) == {labels[row] for row in dataset.split["train"]}
    for part, numbers in dataset.split.items():
        values = [labels[row] for row in numbers]
        codes = [known.index(value) if value in known else len(known) for value in values]
        assert dataset.categorical[part][:, 0].tolist() == codes


def test_encodings_cannot_be_guessed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"table\.csv cannot be read: it is not UTF-8 \(byte 0xc4\)"):
        load_csv(tmp_path, TEXT.encode("latin-1"))


def test_line_ends_and_blank_lines(tmp_path: Path) -> None:
    plain = load_csv(tmp_path, rows(1, 2, 3, 4))
    assert load_csv(tmp_path, rows(1, 2, 3, 4).replace("\n", "\r\n")).checksum == plain.checksum
    assert load_csv(tmp_path, rows(1, 2, 3, 4).replace("\n", "\n\n")).checksum == plain.checksum


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "table.csv cannot be read: it is empty"),
        ("\n\n", "table.csv cannot be read: No columns"),
        ("a,y\n", "it has no rows, only the columns 'a', 'y'"),
        ("a,b\n1,2\n", "there is no column 'y'; available: 'a', 'b'"),
        (
            "a;y\n1;2\n",
            "there is no column 'y'; available: 'a;y' (its first line has more semicolons than commas;",
        ),
        (
            "a\ty, z\ty\n1\t2\t3\n",
            "available: 'a\\ty', ' z\\ty' (its first line has more tabulators than commas; write the table",
        ),
        ("a;y\n0,5;1,5\n", "C error: Expected 1 fields in line 2, saw 3 (its first line has more semicolons"),
        ("a,y,a\n1,2,3\n", "more than one column is called 'a'"),
        ("y\n1\n2\n3\n", "no column is left beside the target 'y'"),
        ("a,y\n1,2\n3,4\n5,6,7\n", "table.csv cannot be read"),
        (
            "a,y\n0,2,3\n1,5,6\n",
            "table.csv cannot be read: Error tokenizing data. C error: Expected 2 fields",
        ),
        ("a,y\n1,1.5\n2,\n3,\n4,2.5\n", "the target 'y' has no value in row 1 (counting from 0; 2 such rows"),
        ("a,y\n1,yes\n2,no\n3,None\n4,no\n", "the target 'y' has no value in row 2"),
        ("a,y\n1,\n2,\n3,\n4,\n", "the target 'y' has no value in row 0"),
        ("a,y\n1,7.5\n2,7.5\n3,7.5\n", "the target 'y' is 7.5 in all 1 rows of the training part"),
        ("a,y\n1,no\n2,no\n3,no\n4,no\n", "the target 'y' is 'no' in all 2 rows of the training part"),
        ("a,y\n1,a\n2,b\n3,c\n", "there are 3 classes in 3 rows"),
        ("a,y\n1,1.5\n2,2.5\n", "training, validation and test need a row each, got 2 in all"),
        ("a,y\ninf,1.5\n2,2.5\n3,4.5\n", "column 'a' is inf in row 0"),
        ("a,y\n1,1.5\n2,inf\n3,4.5\n", "column 'y' is inf in row 1"),
        (
            "a,y\n2024-05-31,1.5\n2024-06-01,2.5\n,3.5\n",
            "column 'a' holds dates or times (such as '2024-05-31')",
        ),
        (
            "a,y\n31.5.24 10:00,1.5\n1.6.24,2.5\n",
            "leave it out with drop=a, or take it as it is with categorical=a",
        ),
        ("a,y\n1,2024-05-31\n2,2024-06-01\n", "column 'y' holds dates or times"),
        (
            "a,y\n1,2024-05-31\n2,2024-06-01\n",
            "a fixed date, or take each for a class with task=classification",
        ),
    ],
)
def test_what_is_refused(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load_csv(tmp_path, content)
    assert str(caught.value).startswith("file:table.csv?target=y: ")


@pytest.mark.parametrize("option", ["numeric", "categorical", "drop"])
def test_options_that_name_no_column(option: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no column 'b'; available: 'a', 'y'"):
        load_csv(tmp_path, rows(1, 2, 3), f"target=y&{option}=b")


def test_dates_that_are_wanted(tmp_path: Path) -> None:
    content = rows("2024-05-31", "2024-06-01", "2024-05-31", "2024-06-01")
    assert load_csv(tmp_path, content, "target=y&categorical=a").categorical_names == ("a",)
    assert load_csv(tmp_path, rows("2024-05-31", "never", "x", "y"), "target=y").categorical_names == ("a",)


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2024-01-01", None, "2024-01-03", "2024-01-04"]),
        pd.to_timedelta([1, 2, 3, 4], unit="D"),
        pd.to_datetime(["2024-01-01"] * 4, utc=True),
        [date(2024, 1, day) for day in range(1, 5)],
    ],
)
def test_dates_in_parquet(values: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": values, "b": range(4), "y": [0.5, 1.5, 2.5, 3.5]})
    path = write(frame, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="column 'a' holds dates or times"):
        load(path, "target=y")
    assert load(path, "target=y&drop=a").numeric_names == ("b",)
    assert load(path, "target=y&categorical=a").categorical_names == ("a",)


def test_dates_as_a_target(tmp_path: Path) -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-02"] * 5)
    path = write(pd.DataFrame({"a": range(10), "y": days}), tmp_path / "a.parquet")
    for options in ("target=y", "target=y&task=regression"):
        with pytest.raises(ValueError, match=r"column 'y' holds dates or times .*with task=classification"):
            load(path, options)
    assert load(path, "target=y&task=classification").n_outputs == 2
    categories = pd.Categorical(["2024-01-01", "2024-01-02"] * 5)
    path = write(pd.DataFrame({"a": range(10), "y": categories}), tmp_path / "b.parquet")
    assert load(path, "target=y").task == "binclass"


@pytest.mark.parametrize("values", [[[1, 2]] * 4, [{"x": 1}] * 4, [b"x"] * 4])
def test_cells_that_are_no_values(values: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": values, "b": range(4), "y": [0.5, 1.5, 2.5, 3.5]})
    path = write(frame, tmp_path / "a.parquet")
    for options in ("target=y", "target=y&categorical=a", "target=y&numeric=a", "target=a"):
        with pytest.raises(ValueError, match=r"column 'a' holds values of type .*, which are neither"):
            load(path, options)


def test_numbers_in_parquet_that_are_no_floats(tmp_path: Path) -> None:
    values = {"decimal": [Decimal("1.5"), Decimal("2.5"), None, Decimal("4")], "integer": [1, None, 3, 4]}
    frame = pd.DataFrame(values | {"y": pd.array([1, 2, 1, 2], dtype="Int64"), "z": [0.5, 1.5, 2.5, 3.5]})
    frame["integer"] = frame["integer"].astype("Int64")
    path = write(frame, tmp_path / "a.parquet")
    assert load(path, "target=z").numeric_names == ("decimal", "integer", "y")
    assert load(path, "target=z").missing == 2
    assert load(path, "target=y&drop=z").classes == ("1", "2")
    assert load(path, "target=z&categorical=integer&drop=y").n_categories == (3,)


def test_a_column_without_values(tmp_path: Path) -> None:
    dataset = load_csv(tmp_path, rows(",1", ",2", ",3", ",4", header="a,b,y"))
    assert dataset.numeric_names == ("a", "b")
    assert dataset.missing == 4
    assert not any(dataset.numeric[part][:, 0].any() for part in dataset.numeric)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"file:no\.csv\?target=y: .*no\.csv does not exist"):
        load(tmp_path / "no.csv", "target=y")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileNotFoundError, match=r"folder\.csv does not exist or is no file"):
        load(tmp_path / "folder.csv", "target=y")
    for name in ("a.xlsx", "a"):
        (tmp_path / name).write_text("a")
        with pytest.raises(ValueError, match=r"must end in \.csv or \.parquet"):
            load(tmp_path / name, "target=y")
    for content in (b"", b"a,y\n1,2\n", b"PAR1" + b"\0" * 50 + b"PAR1"):
        (tmp_path / "a.parquet").write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.parquet cannot be read"):
            load(tmp_path / "a.parquet", "target=y")


def test_the_target_must_be_said(tmp_path: Path) -> None:
    write(FRAME, tmp_path / "houses.csv")
    with pytest.raises(ValueError, match=r"\?target=COLUMN with one of 'size', 'rooms', 'city'"):
        load_dataset("file:houses.csv", tmp_path)


def test_long_lists_of_columns_are_cut(tmp_path: Path) -> None:
    content = ",".join(f"c{i}" for i in range(40)) + "\n" + ",".join("1" * 40) + "\n"
    with pytest.raises(ValueError, match="'c29' and 10 more"):
        load_csv(tmp_path, content)


def test_without_pandas_or_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(FRAME, tmp_path / "a.csv")
    write(FRAME, tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pyarrow is needed for this: pip install 'tabstretch\[study\]'"):
        load(tmp_path / "a.parquet", "target=price")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pandas is needed for this: pip install 'tabstretch\[study\]'"):
        load(tmp_path / "a.csv", "target=price")
