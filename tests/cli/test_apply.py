"""``greyfill fit`` and ``greyfill apply``."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from greyfill import KNNIImputer
from greyfill.cli import filling

ABOUT = ("--target", "outcome", "--ignore", "id", "--na-values", "?", "-k", "2")


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
    monkeypatch.setattr(filling, "BATCH_ROWS", 4)
    assert greyfill("apply", model, "long.csv", "-o", "-").stdout == whole


def test_mistakes(fails, folder, model):
    (folder / "short.csv").write_bytes(b"dose,smear,Size,age\n2.5,,L,60\n")
    (folder / "stray.csv").write_bytes(b"dose,smear,size,age\n2.5,pos,L,old\n")
    KNNIImputer(n_neighbors=1).fit(np.array([[1.0, np.nan], [2.0, 3.0]])).save("array")
    for arguments, words in (
        (("nothing", "new.csv"), "nothing: no such file"),
        (("table.csv", "new.csv"), "not a file that greyfill saved"),
        (("new.csv", model), "new.csv: not a file that greyfill saved"),
        (("array", "new.csv"), "fitted on an array without column names"),
        ((model, "short.csv"), "no column 'size', which the imputer was fitted on. Did you mean"),
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
from greyfill.files.batches import open_batches
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
