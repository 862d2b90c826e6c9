"""A golden table through the command in every format: observed cells stay, holes get their type."""

import gzip
import io
import json
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from greyfill.files import new_books
from greyfill.jobs.fill_job import FillJob

CSV = b"""id;day;n;dose;smear;ok;outcome\r
007;2024-02-29;12;1,50;neg;true;well\r
008;2024-03-01;;+2,5;pos;;ill\r
009;;10;;"neg";true;well\r
010;2024-03-01;20;2,40;;false;ill\r
011;2024-02-29;12;1,50;neg;true;well\r
012;2024-03-01;20;2,50;pos;false;ill\r
"""
# With one donor, each hole takes the value of the row of its class that agrees in all other cells.
FILLED = b"""id;day;n;dose;smear;ok;outcome\r
007;2024-02-29;12;1,50;neg;true;well\r
008;2024-03-01;20;+2,5;pos;false;ill\r
009;2024-02-29;10;1,50;"neg";true;well\r
010;2024-03-01;20;2,40;pos;false;ill\r
011;2024-02-29;12;1,50;neg;true;well\r
012;2024-03-01;20;2,50;pos;false;ill\r
"""
DAYS = [date(2024, 2, 29), date(2024, 3, 1)]
FRAME = pl.DataFrame(
    {
        "id": ["007", "008", "009", "010", "011", "012"],
        "day": [DAYS[0], DAYS[1], None, DAYS[1], DAYS[0], DAYS[1]],
        "n": [12, None, 10, 20, 12, 20],
        "dose": [1.5, 2.5, None, 2.4, 1.5, 2.5],
        "smear": ["neg", "pos", "neg", None, "neg", "pos"],
        "ok": [True, None, True, False, True, False],
        "outcome": ["well", "ill", "well", "ill", "well", "ill"],
    }
)
FULL = FRAME.with_columns(
    day=pl.Series([DAYS[0], DAYS[1], DAYS[0], DAYS[1], DAYS[0], DAYS[1]]),
    n=pl.Series([12, 20, 10, 20, 12, 20]),
    dose=pl.Series([1.5, 2.5, 1.5, 2.4, 1.5, 2.5]),
    smear=pl.Series(["neg", "pos", "neg", "pos", "neg", "pos"]),
    ok=pl.Series([True, False, True, False, True, False]),
)
ABOUT = ("--target", "outcome", "--ignore", "id", "-m", "cgknn", "-k", "1", "-q")


def zstd(raw: bytes) -> bytes:
    return pytest.importorskip("zstandard").compress(raw)


def unzstd(raw: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdDecompressor().decompressobj().decompress(raw)


def plain(raw: bytes) -> bytes:
    return raw


@pytest.mark.parametrize(
    ("ending", "wrap", "unwrap"),
    [
        ("csv", plain, plain),
        ("csv.gz", gzip.compress, gzip.decompress),
        ("csv.zst", zstd, unzstd),
    ],
)
@pytest.mark.parametrize("command", ["impute", "apply"])
def test_text(greyfill, folder: Path, command: str, ending: str, wrap, unwrap) -> None:
    (folder / f"t.{ending}").write_bytes(wrap(CSV))
    run(greyfill, command, f"t.{ending}")
    assert unwrap((folder / f"t.filled.{ending}").read_bytes()) == FILLED


def write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".jsonl":
        frame.with_columns(pl.col("day").cast(str)).write_ndjson(path)
    elif path.suffix == ".xlsx":
        frame.write_excel(path)
    elif path.suffix == ".zst":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        path.write_bytes(zstd(buffer.getvalue()))
    else:
        {".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[path.suffix](path)


def read(path: Path) -> pl.DataFrame:
    if path.suffix == ".jsonl":
        return pl.read_ndjson(path).with_columns(pl.col("day").str.to_date())
    if path.suffix == ".zst":
        return pl.read_parquet(io.BytesIO(unzstd(path.read_bytes())))
    readers = {".parquet": pl.read_parquet, ".arrow": pl.read_ipc, ".xlsx": pl.read_excel}
    return readers[path.suffix](path)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "xlsx", "parquet.zst"])
@pytest.mark.parametrize("command", ["impute", "apply"])
def test_typed(greyfill, folder: Path, command: str, ending: str) -> None:
    if ending == "xlsx":
        pytest.importorskip("fastexcel")
        pytest.importorskip("xlsxwriter")
    write(FRAME, folder / f"t.{ending}")
    run(greyfill, command, f"t.{ending}")
    assert_frame_equal(read(folder / f"t.filled.{ending}"), FULL)


def run(greyfill, command: str, name: str) -> None:
    if command == "impute":
        greyfill("impute", name, *ABOUT)
    else:
        greyfill("fit", name, *ABOUT, "--save", "model")
        greyfill("apply", "model", name, "-q")


def test_filled_cells_of_a_workbook_have_comments(greyfill, folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows = [(i % 7 + 1, 1.5 * (i % 7), "neg" if i % 7 < 4 else "pos") for i in range(40)]
    rows[5], rows[9], rows[12] = (None, 7.5, "pos"), (3, None, "neg"), (6, 7.5, None)
    pl.DataFrame(rows, schema=["n", "dose", "smear"], orient="row").write_excel(folder / "t.xlsx")
    greyfill("impute", "t.xlsx", "-q", "--time", "2")
    sheet = openpyxl.load_workbook(folder / "t.filled.xlsx").active
    said = {c.coordinate: c.comment.text for row in sheet for c in row if c.comment}
    assert set(said) == {"A7", "B11", "C14"}
    assert all(
        text.startswith("Filled by greyfill, grey. With probability 0.9") for text in said.values()
    )
    assert " between " in said["A7"]
    assert " one of: " in said["C14"]


@pytest.mark.parametrize("option", ["-o", "--mask"])
def test_more_rows_than_a_sheet_holds_are_refused_before_the_fill(
    fails, folder: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(new_books, "MOST_ROWS", 2)
    monkeypatch.setattr(FillJob, "run", lambda *_: pytest.fail("too late"))
    (folder / "t.csv").write_bytes(CSV)
    assert "A sheet of Excel holds 2 rows" in fails("impute", "t.csv", *ABOUT, option, "out.xlsx")


@pytest.mark.parametrize("command", ["impute", "apply", "copy"])
def test_columns_that_become_text_in_a_workbook_are_told(greyfill, folder: Path, command) -> None:
    rows = [f"{10**17 + i},{i % 3},{i % 3}\n" for i in range(9)]
    last = "" if command == "copy" else f"{10**17 + 9},1,\n"
    (folder / "t.csv").write_text("id,a,b\n" + "".join(rows) + last)
    about = ("t.csv", "-m", "knni", "-k", "1")
    if command == "apply":
        greyfill("fit", *about, "--save", "model")
        about = ("model", "t.csv")
    run = ("apply" if command == "apply" else "impute", *about, "-o", "out.xlsx")
    told = "Written as text, since Excel would change some of the values: 'id'."
    assert told in " ".join(greyfill(*run).stderr.split())
    numbers = json.loads(greyfill(*run, "--force", "--json").stdout)
    assert told in (numbers["files"][0] if command == "apply" else numbers)["notes"]
    assert pl.read_excel(folder / "out.xlsx")["id"].to_list()[1] == str(10**17 + 1)


def test_a_cell_that_no_workbook_holds_is_refused_before_the_fill(
    fails, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FillJob, "run", lambda *_: pytest.fail("too late"))
    (folder / "t.csv").write_bytes(CSV + b"x" * 40_000 + b";;;;;;well\r\n")
    said = fails("impute", "t.csv", *ABOUT, "-o", "out.xlsx")
    assert "t.csv, line 8, column 'id': a cell of Excel holds 32,767 characters" in said
