"""The text of a source, taken apart."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabstretch.study.datasets.sources import Source, parse_source


def test_each_kind() -> None:
    assert parse_source("sklearn:diabetes") == Source("sklearn", "diabetes")
    assert parse_source("talent:path/to/yeast") == Source("talent", "path/to/yeast")
    assert parse_source("openml:151") == Source("openml", "151")
    assert parse_source("openml:adult?target=age&task=regression") == Source(
        "openml", "adult", target="age", task="regression"
    )
    assert parse_source("file:a.csv?target=t&numeric=a,b&categorical=c&drop=d,e") == Source(
        "file", "a.csv", target="t", numeric=("a", "b"), categorical=("c",), drop=("d", "e")
    )


def test_drive_letters_and_further_separators() -> None:
    assert parse_source(r"file:C:\data\a.csv?target=x=y?z").location == r"C:\data\a.csv"
    assert parse_source("file:a.csv?target=x=y?z").target == "x=y?z"


def test_a_plus_is_a_plus() -> None:
    assert parse_source("file:a+b.csv?target=c+d") == Source("file", "a+b.csv", target="c+d")


names = st.text(min_size=1).filter(lambda name: not re.search("[\ud800-\udfff]", name))


@given(names, st.lists(names, min_size=1, unique=True))
def test_any_name_can_be_written_percent_encoded(path: str, columns: list[str]) -> None:
    text = f"file:{quote(path, safe='')}?drop={','.join(quote(name, safe='') for name in columns)}"
    assert parse_source(text) == Source("file", path, drop=tuple(columns))


def test_paths_are_relative_to_the_folder() -> None:
    assert parse_source("file:data/a.csv").path(Path("/plans")) == Path("/plans/data/a.csv")
    assert parse_source("file:/data/a.csv").path(Path("/plans")) == Path("/data/a.csv")
    assert parse_source("file:~nobody-at-all/a.csv").path(Path("/")) == Path("/~nobody-at-all/a.csv")
    assert parse_source("file:~/a.csv").path(Path("/plans")) == Path.home() / "a.csv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("houses.csv", "a source must be one of sklearn:…, talent:…, file:…, openml:…, got 'houses.csv'"),
        ("csv:houses.csv", "a table in a file is file:PATH?target=COLUMN"),
        ("file:", "nothing follows 'file:'; say which data set, for example file:houses.csv?target=price"),
        ("file:?target=a", "nothing follows 'file:'"),
        ("sklearn:iris?target=a", "unknown option 'target'; options of sklearn: none"),
        ("file:a.csv?tarjet=a", "unknown option 'tarjet'; options of file: target, task, numeric"),
        ("file:a.csv?target", "option 'target' has no value; write target=…"),
        ("file:a.csv?target=", "option 'target' has no value"),
        ("file:a.csv?target=a&target=b", "option 'target' is given twice"),
        ("file:a.csv?drop=a&drop=b", "option 'drop' is given twice; several columns are one list, drop=a,b"),
        ("file:a.csv?target=a&", "unknown option ''"),
        ("file:a.csv?task=ranking", "task must be regression or classification, got 'ranking'"),
        ("file:a.csv?drop=a,,b", "option 'drop' names an empty column in 'a,,b'; a comma in a name is %2C"),
        ("file:a.csv?target=%FF", "'%FF' must be percent-encoded UTF-8"),
        ("file:a.csv?target=a&drop=a", "column 'a' appears 2 times in the options"),
        ("file:a.csv?numeric=a&categorical=a", "it can be only one of target, numeric, categorical and drop"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_source(text)
