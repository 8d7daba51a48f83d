"""`tabstretch fit` and `tabstretch transform`, as a person meets them."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fitted import fitted_table
from numpy.testing import assert_allclose, assert_array_equal

import tabstretch
from tabstretch import StretchTransformer, SupervisedStretchTransformer, _csv
from tabstretch.cli import main

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 600
RNG = np.random.default_rng(0)
HOUSES = pd.DataFrame(
    {
        "price, net": RNG.lognormal(size=N).round(3),
        "city": RNG.choice(["Oslo", "Rome, IT", 'the "big" one', "two\nlines", "é"], N),
        "rooms": RNG.integers(1, 7, size=N),
        "sold": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 99, N), "D"),
        "post code": [f"{code:05d}" for code in RNG.integers(0, 99999, size=N)],
    }
)
HOUSES["y"] = np.tanh(3 * HOUSES["price, net"] - 3).round(4) + HOUSES["rooms"] ** 2 / 8
HOUSES.loc[::7, "price, net"] = np.nan
NUMBERS = ["price, net", "rooms"]
FIT = ["--target", "y", "--variation", "within_fold", "--n-bins", "8"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the same table as CSV and as Parquet, and maps of it."""
    monkeypatch.chdir(tmp_path)
    HOUSES.to_csv("houses.csv", index=False)
    pq.write_table(pa.Table.from_pandas(HOUSES), "houses.parquet", row_group_size=250)
    StretchTransformer(8).fit(HOUSES[NUMBERS]).to_json("map.json")
    StretchTransformer(8, output="views").fit(HOUSES[NUMBERS]).to_json("views.json")
    return tmp_path


def run(*arguments: str) -> None:
    assert main(list(arguments)) == 0


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is told of a command that fails: one line."""
    before = sorted(os.listdir())
    assert main(list(arguments)) == 1
    errors = capsys.readouterr().err
    assert re.fullmatch(r"tabstretch: .+\n", errors)
    assert sorted(os.listdir()) == before  # nothing was written
    return errors


@pytest.mark.parametrize("data", ["houses.csv", "houses.parquet", "*.csv", "."])
def test_the_map_is_that_of_the_estimator(
    data: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if data == ".":
        os.remove("houses.csv")
    run("fit", data, *FIT, "-o", "new.json")
    expected = SupervisedStretchTransformer(8, variation="within_fold").fit(HOUSES[NUMBERS], HOUSES["y"])
    loaded = tabstretch.load("new.json")
    assert loaded.feature_names_in_.tolist() == NUMBERS
    assert_allclose(loaded.transform(HOUSES[NUMBERS]), expected.transform(HOUSES[NUMBERS]), atol=0.01)
    printed = capsys.readouterr().out
    assert "2 columns stretched by y (continuous), 600 rows" in printed
    assert re.search(r"rooms +5 +6 distinct values allow only 5 of 8 bins", printed)
    assert "left alone: ['city', 'sold', 'post code']" in printed
    assert "map in new.json" in printed


def test_options_reach_the_estimator(folder: Path) -> None:
    options = ["--target-type", "continuous", "--rank-weight", "1", "--seed", "3", "--jobs", "2", "--views"]
    run("fit", "houses.parquet", *FIT, *options, "--out-of-range", "extrapolate", "-o", "new.json")
    found = tabstretch.load("new.json")
    assert (found.rank_weight, found.random_state, found.n_jobs, found.n_bins) == (1, 3, 2, 8)
    assert found.views_ == ("value", "rank", "target")
    assert found.out_of_range == "extrapolate"
    run("fit", "houses.csv", "--value-weight", "0", "--skip", "y", "-o", "new.json")
    found = tabstretch.load("new.json")
    assert isinstance(found, StretchTransformer)
    assert found.value_weight == 0
    assert found.feature_names_in_.tolist() == NUMBERS
    options = ["--column", "price, net", "--weight", "rooms", "--target", "city", *FIT[2:]]
    run("fit", "houses.csv", *options, "-o", "new.json")
    found = tabstretch.load("new.json")
    assert found.classes_.tolist() == sorted(set(HOUSES["city"]))
    assert found.feature_names_in_.tolist() == ["price, net"]


def test_several_targets(folder: Path) -> None:
    run("fit", "houses.csv", *FIT, "--target", "rooms", "--column", "price, net", "-o", "new.json")
    assert tabstretch.load("new.json").target_type_ == "continuous-multioutput"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("data", ["houses.csv", "houses.parquet"])
@pytest.mark.parametrize("map_", ["map.json", "views.json"])
def test_transform_and_back(data: str, ending: str, map_: str, folder: Path) -> None:
    run("transform", map_, data, "-o", f"out.{ending}")
    out = read(f"out.{ending}")
    stretch = tabstretch.load(map_)
    names = stretch.get_feature_names_out().tolist()
    n_views = len(stretch.views_)
    assert out.columns.tolist() == [*names[:n_views], "city", *names[n_views:], "sold", "post code", "y"]
    assert_allclose(out[names], stretch.transform(HOUSES[NUMBERS]), rtol=1e-12)
    pd.testing.assert_frame_equal(out[OTHERS], HOUSES[OTHERS], check_dtype=False)
    run("transform", map_, f"out.{ending}", "--inverse", "-o", "back.parquet")
    back = read("back.parquet")
    assert back.columns.tolist() == HOUSES.columns.tolist()
    assert_allclose(back[NUMBERS], HOUSES[NUMBERS], rtol=1e-9)


OTHERS = ["city", "sold", "post code", "y"]


def read(path: str) -> Any:
    if path.endswith(".parquet"):
        table = pd.read_parquet(path)
        assert pq.read_schema(path).field("y").type == pa.float64()
    else:
        table = pd.read_csv(path, dtype={"post code": str})
    return table.astype({"sold": "datetime64[ns]"})


def test_text_from_csv_to_csv_stays_as_it_is_written(folder: Path) -> None:
    rows = '1,007,"a ""quoted"", one"\nNA,1.50,NA\n2.5,0x1F,"two\nlines"\n 3 ,+1, x\n'
    Path("in.csv").write_text("rooms,code,note\n" + rows, encoding="utf-8")
    StretchTransformer(4, value_weight=0).fit(pd.DataFrame({"rooms": [1.0, 2.0, 3.0]})).to_json("m.json")
    run("transform", "m.json", "in.csv", "-o", "out.csv")
    expected = '0,007,"a ""quoted"", one"\n,1.50,NA\n0.75,0x1F,"two\nlines"\n1,+1, x\n'
    assert Path("out.csv").read_text(encoding="utf-8") == "rooms,code,note\n" + expected


def test_missing_stays_missing_and_float32_stays_float32(folder: Path) -> None:
    table = pa.table({"rooms": pa.array([1.0, None, 3.0], pa.float32()), "price, net": [1, None, 2]})
    pq.write_table(table, "in.parquet")
    run("transform", "map.json", "in.parquet", "-o", "out.parquet")
    out = pq.read_table("out.parquet")
    assert out.schema.types == [pa.float32(), pa.float64()]
    assert [column.null_count for column in out.columns] == [1, 1]
    assert out.column("rooms")[1].as_py() is None
    run("transform", "map.json", "in.parquet", "-o", "out.csv")
    assert Path("out.csv").read_text().splitlines()[2] == ","


def test_the_index_of_pandas_is_no_column(folder: Path) -> None:
    HOUSES[HOUSES["rooms"] > 2].to_parquet("part.parquet")
    run("fit", "part.parquet", *FIT, "-o", "new.json")
    assert tabstretch.load("new.json").feature_names_in_.tolist() == NUMBERS
    run("transform", "views.json", "part.parquet", "-o", "out.parquet")
    assert_array_equal(pd.read_parquet("out.parquet").index, HOUSES.index[HOUSES["rooms"] > 2])


def test_a_map_of_a_table(folder: Path) -> None:
    fitted_table().to_json("table.json")
    frame = pd.DataFrame({"ties": [0.0, 1.0], "city": ["Rome", "Oslo"], "normal": [0.5, np.nan]})
    frame.to_csv("in.csv", index=False)
    run("transform", "table.json", "in.csv", "-o", "out.csv")
    stretched = fitted_table().transform(frame[["normal", "city", "ties"]])
    out = pd.read_csv("out.csv")
    assert out.columns.tolist() == ["ties_value", "ties_rank", "city", "normal_value", "normal_rank"]
    pd.testing.assert_frame_equal(out, stretched[out.columns], check_dtype=False)


def test_types_hold_for_all_blocks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_csv, "_BLOCK_BYTES", 1024)
    rows = {
        "number": ["1"] * 400 + ["2.5"] + [""] * 199,
        "text": ["1"] * 500 + ["x"] * 100,
        "day": ["2020-01-01"] * 300 + ["2020-01-01 10:00:00"] * 300,
        "late": [""] * 590 + ["7"] * 10,
        "nothing": [""] * 600,
        "flag": ["true", "false"] * 300,
        "id": [str(2**53 + i) for i in range(600)],
    }
    pd.DataFrame(rows).to_csv("in.csv", index=False)
    StretchTransformer(2).fit(pd.DataFrame({"number": [1.0, 2.0]})).to_json("m.json")
    run("transform", "m.json", "in.csv", "-o", "out.parquet")
    out = pq.read_table("out.parquet")
    kinds = [pa.float64(), pa.string(), pa.timestamp("us"), pa.int64(), pa.null(), pa.bool_(), pa.int64()]
    assert out.schema.types == kinds
    assert out.column("id").to_pylist()[-1] == 2**53 + 599
    assert out.column("late").null_count == 590
    run("fit", "in.csv", "--skip", "id", "-o", "n.json")
    assert tabstretch.load("n.json").feature_names_in_.tolist() == ["number", "late"]
    run("fit", "in.csv", "--column", "flag", "-o", "n.json")
    assert tabstretch.load("n.json").bin_edges_[0].tolist() == [0, 1]


def test_other_separators_and_encodings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("in.csv").write_bytes("größe;é\n1;ü\n2;ß\n".encode("latin-1"))
    told = refused(capsys, "fit", "in.csv", "-o", "m.json")
    assert "in.csv is not written in utf-8: name its encoding" in told
    dialect = ("--encoding", "latin-1", "--delimiter", ";")
    run("fit", "in.csv", *dialect, "-o", "m.json")
    run("transform", "m.json", "in.csv", *dialect, "-o", "out.csv")
    assert Path("out.csv").read_text(encoding="utf-8") == "größe;é\n0;ü\n1;ß\n"
    run("transform", "m.json", "in.csv", "--encoding", "latin-1", "--delimiter", ";", "-o", "out.parquet")
    Path("in.tsv").write_text("größe\té\n1\t,\n", encoding="utf-8-sig")
    run("transform", "m.json", "in.tsv", "-o", "out.tsv")
    assert Path("out.tsv").read_text(encoding="utf-8") == "größe\té\n0\t,\n"


def test_several_files_become_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    HOUSES[:300].to_csv("a.csv", index=False)
    HOUSES[300:].to_csv("b.csv", index=False)
    run("transform", "map.json", "a.csv", "b.csv", "-o", "out.csv")
    run("transform", "map.json", "houses.csv", "-o", "all.csv")
    assert Path("out.csv").read_bytes() == Path("all.csv").read_bytes()
    HOUSES[300:].drop(columns="y").to_csv("b.csv", index=False)
    told = refused(capsys, "transform", "map.json", "a.csv", "b.csv", "-o", "new.csv")
    assert "b.csv and a.csv differ in the names, types or order of their columns" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit none.csv -o m.json", "no CSV or Parquet files at 'none.csv'"),
        ("fit houses.xlsx -o m.json", "houses.xlsx must end in .parquet, .pq, .csv or .tsv"),
        ("fit houses.csv houses.parquet -o m.json", "both CSV and Parquet files: give one kind"),
        (
            "fit houses.csv --target z -o m.json",
            r"houses.csv lacks the columns \['z'\]; it has \['price, net'",
        ),
        (
            "fit houses.csv --column city -o m.json",
            "column 'city' of houses.csv holds .* in row 1, not a number",
        ),
        ("fit houses.parquet --column city -o m.json", "column 'city' of houses.parquet holds .*string"),
        ("fit houses.csv --column y --target y -o m.json", r"each column has one part, got \['y'\]"),
        ("fit houses.csv --skip q -o m.json", r"lacks the columns \['q'\]"),
        ("fit words.csv -o m.json", r"words.csv has no columns of numbers to stretch, only \['word'\]"),
        ("fit other.csv -o m.json", r"no columns of numbers to stretch, only \['a;b'\].*--delimiter"),
        ("transform map.json other.csv -o o.csv", r"lacks the columns .* it has \['a;b'\].*--delimiter"),
        ("fit empty.csv -o m.json", "empty.csv cannot be read as CSV: Empty CSV file"),
        ("fit header.csv -o m.json", "header.csv has no rows to fit on"),
        ("fit commas.csv -o m.json", r"cannot be read as CSV: .*first line has more ;: try --delimiter ';'"),
        ("fit ragged.csv -o m.json", "ragged.csv cannot be read as CSV: .*Expected 2 columns, got 1"),
        ("fit twice.csv -o m.json", r"twice.csv has columns of the same name, \['a'\]"),
        ("fit infinite.csv -o m.json", "column 'a' holds inf in row 2"),
        ("fit broken.parquet -o m.json", "broken.parquet cannot be read as Parquet"),
        ("fit houses.csv -o no/m.json", "the directory of no/m.json does not exist"),
        ("fit houses.csv -o m.txt", "m.txt must end in .json"),
        ("fit gap.csv --target b -o m.json", "column 'b', the target, holds nothing in row 2: leave"),
        (
            "fit houses.csv --target city --target-type continuous -o m.json",
            "needs numbers, but y holds text",
        ),
        ("transform none.json houses.csv -o o.csv", "there is no map none.json: tabstretch fit DATA"),
        ("transform houses.csv map.json -o o.csv", "houses.csv is no map: the JSON file .* comes first"),
        ("transform newer.json houses.csv -o o.csv", "newer.json cannot be loaded: written by a newer"),
        ("transform other.json houses.csv -o o.csv", "other.json cannot be loaded: not a stretch"),
        ("transform map.json words.csv -o o.csv", r"words.csv lacks the columns \['price, net', 'rooms'\]"),
        ("transform map.json late.csv -o o.csv", "column 'rooms' of late.csv holds 'many' in row 3, not a"),
        ("transform map.json text.parquet -o o.csv", "column 'rooms' of text.parquet holds string"),
        ("transform map.json infinite.parquet -o o.csv", "column 'rooms' holds -inf in row 2"),
        (
            "transform map.json nested.parquet -o o.csv",
            "column 'tags' holds list<.*>, which CSV cannot hold: write to a .parquet file",
        ),
        (
            "transform views.json clash.csv -o o.csv",
            r"\['rooms_rank'\] have names that are needed for others",
        ),
        ("transform map.json houses.csv -o o.xls", "o.xls must end in .parquet, .pq, .csv or .tsv"),
        ("transform map.json houses.csv -o houses.csv", "houses.csv is read by this command"),
        ("transform map.json houses.csv -o no/o.csv", "the directory of no/o.csv does not exist"),
    ],
)
def test_errors(arguments: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        "words.csv": "word\nhello\n",
        "empty.csv": "",
        "other.csv": "a;b\n1;2\n",
        "header.csv": "a,b\n",
        "gap.csv": "a,b\n1,2\n3,\n4,5\n",
        "commas.csv": "a;b;c\n1,5;2,5;3\n",
        "ragged.csv": "a,b\n1,2\n3\n",
        "twice.csv": "a,a\n1,2\n",
        "infinite.csv": "a\n1\ninf\n",
        "late.csv": '"price, net",rooms\n1,2\n,3\n1,many\n',
        "clash.csv": '"price, net",rooms,rooms_rank\n1,2,3\n',
        "houses.xlsx": "",
        "broken.parquet": "PAR1, but no more",
        "other.json": "{}",
        "newer.json": '{"format": "tabstretch", "version": 99}',
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    numbers = {"price, net": [1.0, 2.0]}
    for name, columns in {
        "text": {"rooms": ["a", "b"]},
        "infinite": {"rooms": [1.0, -np.inf]},
        "nested": {"rooms": [1, 2], "tags": [["a"], ["b"]]},
    }.items():
        pq.write_table(pa.table({**numbers, **columns}), f"{name}.parquet")
    assert re.search(message, refused(capsys, *arguments.split()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit houses.csv", "the following arguments are required: -o/--output"),
        ("fit houses.csv -o m.json --seed 1", "are for a stretch with a --target"),
        ("fit houses.csv -o m.json --column a --skip b", "not allowed with argument"),
        ("fit houses.csv -o m.json --n-bins 0", "must be a whole number of at least 1, got '0'"),
        ("fit houses.csv -o m.json --value-weight -1", "must be a number of at least 0, got '-1'"),
        ("fit houses.csv -o m.json --delimiter ab", "must be one sign, such as ; or tab, got 'ab'"),
        ("fit houses.csv -o m.json --column -x", "a value that begins with - is written --column=-…"),
        ("fit houses.csv -o m.json --wieght x", "--wieght x (tabstretch fit --help lists the options)"),
        ("fit houses.csv -o m.json --encoding morse", "must be an encoding that Python knows"),
    ],
)
def test_misuse(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments.split())
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_an_output_that_exists_is_replaced_only_when_all_is_well(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out.csv").write_text("before")
    Path("late.csv").write_text('"price, net",rooms\n1,2\n,many\n')
    refused(capsys, "transform", "map.json", "late.csv", "-o", "out.csv")
    assert Path("out.csv").read_text() == "before"
    run("transform", "map.json", "houses.csv", "-o", "out.csv")
    assert len(pd.read_csv("out.csv")) == N


def test_an_interruption_leaves_nothing(folder: Path) -> None:
    code = (
        "import sys, time; from tabstretch import _rewriting, cli\n"
        "def slow(*_):\n    print('started', flush=True); time.sleep(60)\n"
        "_rewriting.rewritten = slow; sys.exit(cli.main(sys.argv[1:]))"
    )
    before = sorted(os.listdir())
    command = [sys.executable, "-c", code, "transform", "map.json", "houses.parquet", "-o", "out.parquet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.1)
        assert len(os.listdir()) == len(before) + 1  # its temporary file
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "\ninterrupted; nothing was written\n"
    assert sorted(os.listdir()) == before


def test_what_is_missing_is_named_with_its_extra(folder: Path) -> None:
    code = (
        "import sys; from tabstretch.cli import main; sys.modules[sys.argv[1]] = None; "
        "sys.exit(main(sys.argv[2:]))"
    )
    for library, extra, arguments in (
        ("pyarrow", "parquet", "fit houses.csv -o new.json"),
        ("matplotlib", "plot", "plot map.json"),
        ("torch", "torch", "export map.json --to torch"),
        ("skl2onnx", "onnx", "export map.json --to onnx"),
    ):
        command = [sys.executable, "-c", code, library, *arguments.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert re.fullmatch(
            rf"tabstretch: {library}\S* is needed for this: pip install 'tabstretch\[{extra}\]'\n",
            done.stderr,
        )


def test_verbs_of_maps_need_nothing_of_studies() -> None:
    code = (
        "import sys; import tabstretch.cli; "
        "print([name for name in ('tabstretch.study.plan', 'torch', 'onnx', 'matplotlib', 'optuna') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
