"""``greyfill fit`` and ``greyfill apply``."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from greyfill import KNNIImputer, files, load
from greyfill.jobs import fill_job

ABOUT = (
    "--target", "outcome", "--ignore", "id", "--na-values", "?", "--method", "cgknn", "-k", "2",
)  # fmt: skip


@pytest.fixture
def model(greyfill):
    done = greyfill("fit", "table.csv", *ABOUT, "--save", "model")
    assert done.stdout == ""
    assert "wrote model (for greyfill apply model FILE)" in done.stderr
    return "model"


def test_a_saved_model_gives_the_same_as_impute(greyfill, folder, model):
    done = greyfill("apply", model, "new.csv")
    assert "new.csv: 2 rows, 3 holes in 3 of 4 columns" in done.stderr
    greyfill("impute", "table.csv", *ABOUT, "--test", "new.csv", "--force", "-o", "x.csv")
    direct = (folder / "new.filled.csv").read_bytes()
    greyfill("apply", model, "new.csv", "--force", "-q")
    assert (folder / "new.filled.csv").read_bytes() == direct


def test_words_for_missing_are_remembered(greyfill, folder, model):
    (folder / "marked.csv").write_bytes(b"dose,smear,size,age\n2.5,?,L,-1\n")
    done = greyfill("apply", model, "marked.csv", "-o", "-", "--na-values", "-1")
    row = done.stdout.splitlines()[1]
    assert row.startswith("2.5,pos,L,")
    assert not row.endswith("-1")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx", "t.sav"])
def test_words_of_one_column_are_remembered_whatever_the_format(greyfill, folder, name):
    pytest.importorskip("fastexcel")
    sav = pytest.importorskip("pyreadstat").write_sav
    table = pl.DataFrame({"a": [n % 7 for n in range(30)], "b": [n % 5 for n in range(29)] + [-9]})
    write = {
        "t.csv": table.write_csv,
        "t.parquet": table.write_parquet,
        "t.xlsx": table.write_excel,
    }
    write.get(name, lambda path: sav(table, path))(str(folder / name))
    greyfill("fit", name, "--na-values", "b=-9", "--save", "words", "--method", "knni", "-q")
    greyfill("apply", "words", name, "-o", f"out.{name}", "-q")
    assert files.read(folder / f"out.{name}").frame["b"].min() == 0
    assert files.read(folder / f"out.{name}").frame["b"][:29].equals(table["b"][:29])


def test_unknown_columns_are_left_alone(greyfill, folder, model):
    (folder / "more.csv").write_bytes(b"note,age,smear,size,dose\n,60,,L,2.5\n007,,pos,L,2.5\n")
    done = greyfill("apply", model, "more.csv", "-o", "-")
    first, second = (line.split(",") for line in done.stdout.splitlines()[1:])
    assert first == ["", "60", "pos", "L", "2.5"]
    assert second[:1] + second[2:] == ["007", "pos", "L", "2.5"]
    assert 58 <= int(second[1]) <= 66
    assert "left as they are, unknown to the imputer: note" in done.stderr


def test_several_files_and_formats_as_json(greyfill, folder, listing, model):
    frame = pl.read_csv("new.csv", schema_overrides={"age": pl.Float32})
    frame.write_parquet("new.parquet")
    done = greyfill("apply", model, "new.csv", "new.parquet", "--json")
    told = json.loads(done.stdout)["files"]
    assert [part["filled"] for part in told] == [3, 3]
    assert "new.filled.parquet" in listing()
    filled = pl.read_parquet("new.filled.parquet")
    assert filled.dtypes == frame.dtypes
    assert filled.null_count().sum_horizontal().item() == 0


def test_fit_as_json(greyfill, folder):
    done = greyfill("fit", "table.csv", *ABOUT, "--save", "model", "--json")
    told = json.loads(done.stdout)
    assert (told["model"], told["rows"], told["holes"]) == ("model", 7, 5)
    assert done.stderr == ""


def test_batches_change_nothing(greyfill, folder, model, monkeypatch):
    (folder / "long.csv").write_bytes(b"dose,smear,size,age\n" + b"2.5,,L,60\n,neg,,30\n" * 9)
    whole = greyfill("apply", model, "long.csv", "-o", "-").stdout
    monkeypatch.setattr(fill_job, "BATCH_ROWS", 4)
    assert greyfill("apply", model, "long.csv", "-o", "-").stdout == whole


def test_mistakes(fails, folder, model):
    (folder / "short.csv").write_bytes(b"dose,smear,Size,age\n2.5,,L,60\n")
    (folder / "lacking.csv").write_bytes(b"dose,smear,age,note\n2.5,,60,x\n")
    (folder / "stray.csv").write_bytes(b"dose,smear,size,age\n2.5,pos,L,old\n")
    KNNIImputer(n_neighbors=1).fit(np.array([[1.0, np.nan], [2.0, 3.0]])).save("array")
    for arguments, words in (
        (("nothing", "new.csv"), "nothing: no such file"),
        (("table.csv", "new.csv"), "not a file that greyfill saved"),
        (("new.csv", model), "new.csv: not a file that greyfill saved"),
        (("array", "new.csv"), "fitted on an array without column names"),
        ((model, "short.csv"), "no column 'size', which the imputer was fitted on. Did you mean"),
        ((model, "lacking.csv"), "'size', which the imputer was fitted on. It also has 'note'."),
        ((model, "stray.csv"), "stray.csv, line 2, column 'age'"),
        ((model, "new.csv", "short.csv", "-o", "one.csv"), "cannot be written to one"),
        ((model, "-", "--json"), "Only one thing can go to standard output"),
        ((model, "gone.csv"), "Cannot read gone.csv"),
    ):
        assert words in fails("apply", *arguments)
    assert "model: it exists already" in fails("fit", "table.csv", *ABOUT, "--save", "model")
    assert "name of a file" in fails("fit", "table.csv", *ABOUT, "--save", "-")


PEAK = """
import atexit
from greyfill.files.table_file import open_batches
open_batches.__wrapped__.__kwdefaults__["size"] = 1 << 17  # many batches
def tell():
    lines = open("/proc/self/status").read().splitlines()
    print(*(line.split()[1] for line in lines if line.startswith("VmHWM")))
atexit.register(tell)
"""


@pytest.mark.heavy
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of memory to read")
def test_memory_does_not_grow_with_the_file(command, folder, model):
    """Four times as many rows: what they would need in memory is not there."""
    rows, peaks = b"2.5,,L,60\n,neg,,30\n1.5,pos,S,\n", []
    for times in (15_000, 60_000):
        (folder / "long.csv").write_bytes(b"dose,smear,size,age\n" + rows * times)
        done = command("apply", model, "long.csv", "-q", "-f", "-j", "1", before=PEAK)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout) / 1024)
        filled = (folder / "long.filled.csv").read_bytes().splitlines()
        assert len(filled) == 3 * times + 1
        assert set(filled[1::3]) == {b"2.5,pos,L,60"}
    assert peaks[1] - peaks[0] < 24


TRAIN = b"""kind,n,share,seen,day,at
a,7,0.25,TRUE,2024-01-01,2024-01-01 10:30
a,9,0.75,TRUE,2024-01-02,2024-01-01 10:31
b,61,0.5,FALSE,2024-03-01,2024-03-01 10:30
b,62,0.13,FALSE,2024-03-04,2024-03-01 11:30
"""
HEAD, HOLES = b"kind,n,share,seen,day,at\n", b"b,,,,,\n"
NEIGHBORS = (
    b"",
    b"a,8.5,0.2,true,2024-01-01,2024-01-01T10:30:00.5\n",
    b"a,8,7,True,2024-01-01T10:30,2024-01-01\n",
    b"a,1e1,0.123456,FALSE,2024-01-01T10:30:01.5,2024-01-01 10:30\n",
)


@pytest.fixture(params=["csv", "parquet"])
def learned(request, greyfill, folder):
    """A model of many types that was learned from a file which shows decimals, or which does not.

    A step of the way from 61 to 62 is no whole number, so rounding shows.
    """
    (folder / "train.csv").write_bytes(TRAIN)
    name = "train." + request.param
    if request.param == "parquet":
        pl.read_csv("train.csv", try_parse_dates=True).write_parquet(name)
    greyfill("fit", name, "-m", "knni", "-k", "2", "--save", "types", "-q")
    return request.param


def test_a_sign_of_thousands_is_none_of_decimals_where_no_other_row_tells(greyfill, folder):
    rows = [f"{n}.{100 + n};{n},5;{n % 7},25" for n in range(1, 31)]
    (folder / "train.csv").write_text("\n".join(["y;x;z", *rows, ""]))
    greyfill("fit", "train.csv", "--save", "m.model", "--quiet")
    filled = []
    for name, more in (("one.csv", ""), ("two.csv", "4.104;4,5;4,25\n")):
        (folder / name).write_text(f"y;x;z\n20.120;;\n{more}")
        filled.append(
            greyfill("apply", "m.model", name, "-o", "-", "--quiet").stdout.splitlines()[1]
        )
    assert filled[0] == filled[1]
    assert "," in filled[0]


def test_a_fill_does_not_depend_on_the_rows_beside_it(greyfill, folder, learned):
    (folder / "new.csv").write_bytes(HEAD + HOLES)
    for neighbor in NEIGHBORS:
        (folder / "new.csv").write_bytes(HEAD + neighbor + HOLES)
        done = greyfill("apply", "types", "new.csv", "-o", "-", "-q")
        kind, n, share, seen, day, at = done.stdout.splitlines()[-1].split(",")
        assert (kind, n) == ("b", "62")  # 61.5, half to even
        assert share == "0.32"  # on the grid of the column, whoever wrote the file
        assert seen == ("FALSE" if learned == "csv" else "false")
        assert day == "2024-03-02"  # 2024-03-02 12:00, half to even: day 19784 of the epoch
        assert at == ("2024-03-01 11:00" if learned == "csv" else "2024-03-01T11:00:00")


def test_the_decimals_of_test_files_are_those_of_the_training_file(greyfill, folder):
    (folder / "train.csv").write_bytes(TRAIN)
    for neighbor in NEIGHBORS:
        (folder / "new.csv").write_bytes(HEAD + neighbor + HOLES)
        greyfill("impute", "train.csv", "-m", "knni", "-k", "2", "--test", "new.csv", "-f", "-q")
        last = (folder / "new.filled.csv").read_bytes().splitlines()[-1]
        assert last == b"b,62,0.32,FALSE,2024-03-02,2024-03-01 11:00"


@pytest.mark.parametrize("format", ["jsonl", "xlsx", "parquet"])
def test_other_formats_take_the_types_of_the_model(greyfill, folder, format):
    """A parquet file comes from a CSV file here, whose columns have no declared type either."""
    (folder / "train.csv").write_bytes(TRAIN)
    greyfill("fit", "train.csv", "-m", "knni", "-k", "2", "--save", "types", "-q")
    columns = ("kind", "n", "share", "seen", "day", "at")
    for n, share in ((8, 7), (8.5, 0.25)):
        first, hole = ("a", n, share, True, None, None), ("b",) + (None,) * 5
        frame = pl.DataFrame([first, hole], schema=columns, orient="row")
        if format == "parquet":
            frame.write_csv("new.csv")
        else:
            {"jsonl": frame.write_ndjson, "xlsx": frame.write_excel}[format]("new." + format)
        name = "new.csv" if format == "parquet" else "new." + format
        greyfill("apply", "types", name, "-o", "out." + format, "-q", "-f")
        readers = {"jsonl": pl.read_ndjson, "xlsx": pl.read_excel, "parquet": pl.read_parquet}
        filled = readers[format]("out." + format)
        assert filled["n"].to_list() == [n, 62]
        assert filled["share"].to_list() == [share, pytest.approx(0.32)]


def test_a_file_without_decimals_gets_the_mark_of_the_model(greyfill, folder):
    (folder / "train.csv").write_bytes(b"kind;n;x\na;1;0,25\na;2;0,5\nb;8;3,5\nb;9;4,5\n")
    greyfill("fit", "train.csv", "-m", "knni", "-k", "2", "--save", "commas", "-q")
    for before, cell in ((b"", "4,00"), (b"a;1;0,5\n", "4,00"), (b"a;1;0.5\n", "4.00")):
        (folder / "new.csv").write_bytes(b"kind;n;x\n" + before + b"b;8;\n")
        last = greyfill("apply", "commas", "new.csv", "-o", "-", "-q").stdout.splitlines()[-1]
        assert last == "b;8;" + cell


def test_only_words_given_anew_must_occur(greyfill, folder, model):
    """The model knows ?, of which new.csv has none."""
    pl.read_csv("new.csv").write_parquet("new.parquet")
    for name in ("new.csv", "new.parquet"):
        done = greyfill("apply", model, name, "--na-values", "N/A", "--na-values", "neg")
        (note,) = (line for line in done.stderr.splitlines() if line.startswith("note: "))
        assert "No cell is 'N/A'" in note
    tests = ("--test", "new.csv", "-f", "-o", "x.csv")
    assert "No cell is" not in greyfill("impute", "table.csv", *ABOUT, *tests).stderr


def test_stray_cells_of_new_rows(fails, greyfill, folder, model):
    (folder / "stray.csv").write_bytes(b"dose,smear,size,age\n2.5,pos,L,old\n2.5,pos,L,60\n")
    message = fails("apply", model, "stray.csv")
    assert "--na-values 'old'" in message
    assert "the imputer learned numbers from this column" in message
    assert "--categorical 'age' (greyfill fit)" in message
    (folder / "other.csv").write_bytes(b"dose,smear,size,age,x\n2.5,pos,L,60,1\n,pos,L,60,y\n")
    lines = greyfill("apply", model, "other.csv", "-o", "-").stdout.splitlines()
    assert [line.rpartition(",")[2] for line in lines] == ["x", "1", "y"]


def test_a_model_with_damaged_styles_is_refused(fails, greyfill, folder, model):
    for damaged in (("Fixed", "2", "."), ("Fixed", 10**9, "."), ("Fixed",), ("open", "x"), 7):
        imputer = load(model)
        imputer.cell_styles_["dose"] = damaged
        imputer.save("tampered")
        assert "tampered: the style of" in fails("apply", "tampered", "new.csv")
    imputer = load(model)
    imputer.cell_words_ = {"dose": 7}
    imputer.save("tampered")
    assert "tampered: the words for missing" in fails("apply", "tampered", "new.csv")


def test_styles_of_an_earlier_fit_do_not_count(greyfill, folder, model):
    """A model that was fitted again in Python learned from another table than the styles tell."""
    frame = pl.DataFrame({"dose": [1, 4], "smear": ["neg", "pos"], "age": [1.5, 2.25]})
    load(model).set_params(n_neighbors=1).fit(frame, ["well", "ill"]).save("again")
    (folder / "new.csv").write_bytes(b"dose,smear,age\n,pos,\n")
    done = greyfill("apply", "again", "new.csv", "-o", "-", "-q")
    assert done.stdout.splitlines()[-1] == "4,pos,2.25"


@pytest.mark.parametrize("missing", [-999, [-999], {-999}, np.array([-999])])
def test_values_for_missing_that_were_given_in_python(greyfill, folder, missing):
    frame = pl.DataFrame({"a": [1.5, 2.25, 3.0], "b": [1, 2, -999]})
    KNNIImputer(n_neighbors=1, missing_values=missing).fit(frame).save("plain")
    (folder / "new.csv").write_bytes(b"a,b\n2.0,-999\n-999,2\n")
    assert greyfill("apply", "plain", "new.csv", "-o", "-", "-q").stdout == "a,b\n2.0,2\n2.25,2\n"
