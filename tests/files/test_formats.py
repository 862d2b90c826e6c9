"""Every format, compressed or not, from files and from standard input."""

import bz2
import gzip
import io
import json
import lzma
import sys
import types
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from files.csv_tables import first_values
from polars.testing import assert_frame_equal

from greyfill import files
from greyfill.exceptions import FileProblemError, InvalidDataError, InvalidParameterError
from greyfill.files import formats, polars_formats

CSV = b"name;size\r\n\xc3\xa9,1;1,50\r\n;\r\n"
FILLED = b"name;size\r\n\xc3\xa9,1;1,50\r\n\xc3\xa9,1;1,50\r\n"
FRAME = pl.DataFrame(
    {
        "whole": [1, None, -(2**53) - 1],
        "number": [0.1 + 0.2, None, 1e-300],
        "text": ["031162100", "NA", None],
        "truth": [True, None, False],
        "day": [date(2024, 2, 29), None, date(1999, 1, 1)],
    }
)
NATIVE = FRAME.with_columns(
    pl.Series("small", [1, None, 3], dtype=pl.Int8),
    pl.Series("single", [0.1, None, 2.0], dtype=pl.Float32),
    pl.Series("level", ["low", None, "high"], dtype=pl.Enum(["low", "high"])),
    pl.Series("moment", [datetime(2024, 2, 29, 1, 2, 3, 4), None, None], dtype=pl.Datetime("ns")),
)


def write_frame(frame: pl.DataFrame, path: Path) -> Path:
    files.Source("-", files.Format.CSV, frame).write(frame, path)
    return path


@pytest.mark.parametrize("extension", ["parquet", "pq", "arrow", "feather", "ipc"])
def test_typed_formats_keep_values_and_dtypes(extension: str, tmp_path: Path) -> None:
    path = write_frame(NATIVE, tmp_path / f"table.{extension}")
    source = files.read(path)
    assert_frame_equal(source.frame, NATIVE)
    filled = first_values(source.frame)
    source.write(filled, tmp_path / f"out.{extension}")
    assert_frame_equal(files.read(tmp_path / f"out.{extension}").frame, filled)


@pytest.mark.parametrize("extension", ["jsonl", "ndjson", "jsonl.gz"])
def test_json_lines(extension: str, tmp_path: Path) -> None:
    frame = FRAME.drop("day")
    path = tmp_path / f"table.{extension}"
    files.Source("-", files.Format.JSON_LINES, frame).write(frame, path)
    source = files.read(path)
    assert_frame_equal(source.frame, frame)
    source.write(first_values(frame), path, force=True)
    assert_frame_equal(files.read(path).frame, first_values(frame))


def test_excel(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    frame = FRAME.with_columns(
        whole=pl.Series([1, None, 3]), number=pl.Series([0.25, None, 1e-300]),
        text=pl.Series(["031162100", "=1+1", "http://x.y"]),
    )  # fmt: skip
    path = write_frame(frame, tmp_path / "table.xlsx")
    source = files.read(path)
    assert_frame_equal(source.frame, frame)
    assert source.notes == ()
    source.write(first_values(frame), path, force=True)
    assert_frame_equal(files.read(path).frame, first_values(frame))


def test_excel_without_its_engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(polars_formats, "find_spec", lambda name: None)
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(FileProblemError, match=r"greyfill\[excel\]"):
        files.read(path)
    with pytest.raises(FileProblemError, match=r"greyfill\[excel\]"):
        files.Source("-", files.Format.CSV, FRAME).write(FRAME, tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()


def test_doubtful_values_of_typed_formats_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"sex": ["m", "w", "-"] * 4, "dose": [99, 99, *range(10)]})
    frame.write_parquet(path)
    source = files.read(path)
    assert {(d.column, d.word): d.count for d in source.doubts} == {
        ("sex", "-"): 4,
        ("dose", "99"): 2,
    }
    assert "'-' in 'sex' (4); 99 in 'dose' (2)" in source.notes[0]


@pytest.mark.parametrize(
    ("ending", "cell", "dtype"),
    [
        (".csv", [1], pl.List(pl.Int64)),
        (".csv", b"a", pl.Binary()),
        (".csv", timedelta(hours=1), pl.Duration("us")),
        (".jsonl", b"a", pl.Binary()),
        (".json", b"a", pl.Binary()),
        (".xlsx", b"a", pl.Binary()),
    ],
)
def test_columns_that_a_format_cannot_hold_are_named(
    ending: str, cell: Any, dtype: pl.DataType, tmp_path: Path
) -> None:
    path, out = tmp_path / "t.parquet", tmp_path / f"out{ending}"
    frame = pl.DataFrame({"x": [1.0, None], "odd": pl.Series([cell, None], dtype=dtype)})
    frame.write_parquet(path)
    with pytest.raises(InvalidDataError, match=r"Column 'odd' holds .* cannot hold\. Name"):
        files.read(path).write(frame, out)
    assert not out.exists()


@pytest.mark.parametrize("name", ["export.xls", "export.csv", "export"])
@pytest.mark.parametrize(
    "start",
    [b"<!DOCTYPE html>\n<html>\n", b"\n <TABLE border=1>\n", b'\xef\xbb\xbf<?xml version="1"?>\n'],
)
def test_pages_and_xml_are_refused(start: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(start + b"<tr><td>1</td></tr>\n" * 3)
    with pytest.raises(FileProblemError, match=f"{name} is a web page or XML, not a table"):
        files.read(path)


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_a_word_for_one_column_that_no_cell_is_is_told(extension: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, -9, 41], "a b": ["x", "-9", "y"]})
    write = frame.write_csv if extension == "csv" else frame.write_parquet
    write(tmp_path / f"t.{extension}")
    words = ["age=-9", "age=-8", "a b=-9,x", "-9"]
    (first, second) = files.read(tmp_path / f"t.{extension}", na_values=words).notes
    assert first.startswith("No cell of the column 'age' is '-8' (--na-values), so it changed")
    assert second.endswith("--na-values 'a b=-9' --na-values 'a b=x'.")


def test_na_values_in_typed_formats(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, -999, 3], "b": ["x", "?", "y"], "c": [-999.0, 2.5, None]})
    source = files.read(write_frame(frame, tmp_path / "t.parquet"), na_values=["?", "-999"])
    assert source.frame.rows() == [(1, "x", None), (None, None, 2.5), (3, "y", None)]
    assert source.frame.schema == frame.schema


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_whole_numbers_for_missing_are_compared_digit_by_digit(
    extension: str, tmp_path: Path
) -> None:
    code = 99_999_999_999_999_999  # as a float, one with the number after it
    frame = pl.DataFrame({"a": [code, code + 1, code - 4, 7], "b": [1.5, -9.0, 2.5, 3.5]})
    path = write_frame(frame, tmp_path / f"t.{extension}")
    source = files.read(path, na_values=[str(code), "-9"])
    assert source.frame["a"].to_list() == [None, code + 1, code - 4, 7]
    assert source.frame["b"].to_list() == [1.5, None, 2.5, 3.5]


@pytest.mark.parametrize(
    "extension",
    ["csv", "csv.gz", "csv.zst", "csv.bz2", "csv.xz", "csv.zip", "zip", "txt", "CSV", "txt.BZ2"],
)
def test_csv_in_any_wrapping(extension: str, tmp_path: Path) -> None:
    if extension.endswith("zst"):
        pytest.importorskip("zstandard")
    plain = tmp_path / "plain.csv"
    plain.write_bytes(CSV)
    wrapped, out = tmp_path / f"wrapped.{extension}", tmp_path / "out.csv"
    source = files.read(plain)
    source.write(source.frame, wrapped)
    source = files.read(wrapped)
    source.write(first_values(source.frame), out)
    assert out.read_bytes() == FILLED


def test_several_zstandard_frames_and_a_cut_one(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "t.csv.zst"
    frames = b"".join(map(zstandard.compress, (b"a,b\n1,2\n", b"", b"3,4\n")))
    path.write_bytes(frames)
    assert files.read(path).frame.rows() == [(1, 2), (3, 4)]
    path.write_bytes(frames[:-3])
    with pytest.raises(InvalidDataError, match="cut off zstd"):
        files.read(path)


def test_zstandard_without_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(name: str) -> types.ModuleType:
        raise ImportError(name)

    monkeypatch.setattr(formats, "import_module", refuse)
    path = tmp_path / "t.csv.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd....")
    with pytest.raises(FileProblemError, match=r"greyfill\[zstd\]"):
        files.read(path)


@pytest.mark.parametrize(
    ("ending", "wrap", "name"),
    [
        ("gz", gzip.compress, "gzip"),
        ("bz2", bz2.compress, "bzip2"),
        ("xz", lzma.compress, "xz"),
        ("zip", lambda raw: zipped({"t.csv": raw}), "zip"),
    ],
)
def test_damaged_wrapping(ending: str, wrap: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.csv.{ending}"
    path.write_bytes(wrap(CSV)[:-5])
    with pytest.raises(InvalidDataError, match=rf"t\.csv\.{ending} is a damaged or cut off {name}"):
        files.read(path)
    path.write_bytes(b"BZ" + wrap(CSV)[:4] + b"?" * 40)
    with pytest.raises(InvalidDataError, match=f"no {name} file, though its name says so"):
        files.read(path)


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as book:
        for name, raw in members.items():
            book.writestr(name, raw)
    return buffer.getvalue()


def test_zip_files_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    path.write_bytes(zipped({"data/": b"", "data/t.csv": CSV, "__MACOSX/t.csv": b"x"}))
    assert files.read(path).frame.rows() == [("é,1", 1.5), (None, None)]
    path.write_bytes(zipped({"a.csv": CSV, "b.csv": CSV}))
    with pytest.raises(InvalidDataError, match=r"t\.zip.*holds 2 files: 'a\.csv', 'b\.csv'"):
        files.read(path)


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip"])
def test_equal_content_gives_equal_files(ending: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(CSV)
    source = files.read(tmp_path / "t.csv")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        source.write(source.frame, tmp_path / folder / f"t.csv.{ending}")
    written = [(tmp_path / folder / f"t.csv.{ending}").read_bytes() for folder in "ab"]
    assert written[0] == written[1]


@pytest.mark.parametrize("cells", [list, lambda column: dict(zip("uvw", column, strict=True))])
def test_json_of_columns(cells: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"a": cells([1, None, 3]), "b": cells(["x", "y", None])}))
    source = files.read(path)
    assert source.frame.rows() == [(1, "x"), (None, "y"), (3, None)]
    assert "written as an array of records" in source.notes[0]
    path.write_text('{"a": 1, "b": [2]}')
    assert files.read(path).frame.rows() == [(1, [2])]


def test_from_csv_to_parquet_and_back(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"id,x\n007,1.50\n8,\n")
    source = files.read(tmp_path / "t.csv")
    source.write(source.frame, tmp_path / "t.parquet")
    typed_source = files.read(tmp_path / "t.parquet")
    assert_frame_equal(typed_source.frame, source.frame)
    typed_source.write(typed_source.frame, tmp_path / "back.csv")
    assert (tmp_path / "back.csv").read_bytes() == b"id,x\n007,1.5\n8,\n"


@pytest.mark.parametrize("wrap", [lambda raw: raw, gzip.compress])
def test_standard_streams(wrap, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin, stdout = (types.SimpleNamespace(buffer=b) for b in (io.BytesIO(wrap(CSV)), io.BytesIO()))
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", stdout)
    source = files.read("-")
    source.write(first_values(source.frame), "-")
    assert stdout.buffer.getvalue() == FILLED


def test_formats_are_told_by_first_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frame = FRAME.drop("day")
    for extension in ("parquet", "arrow", "jsonl"):
        raw = write_frame(frame, tmp_path / f"t.{extension}").read_bytes()
        (tmp_path / "nameless").write_bytes(raw)
        assert_frame_equal(files.read(tmp_path / "nameless").frame, frame)


def test_the_format_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "t.dat").write_bytes(b"a,b\n1,2\n")
    source = files.read(tmp_path / "t.dat", format=files.Format.CSV)
    assert source.frame.shape == (1, 2)
    with pytest.raises(InvalidParameterError, match=r"'\.odd' is unknown.*\.csv"):
        source.write(source.frame, tmp_path / "t.odd")


@pytest.mark.parametrize("extension", ["parquet", "arrow"])
def test_typed_files_without_rows(extension: str, tmp_path: Path) -> None:
    path = write_frame(pl.DataFrame({"a": []}, schema={"a": pl.Int64}), tmp_path / f"t.{extension}")
    with pytest.raises(InvalidDataError, match=rf"t\.{extension} has no rows"):
        files.read(path)
    refused = pytest.raises(InvalidDataError, match=rf"t\.{extension} has no rows")
    with refused, files.open_batches(path):
        pass
    path.write_bytes(b"")
    refused = pytest.raises(InvalidDataError, match=rf"t\.{extension} is empty")
    with refused, files.open_batches(path):
        pass


@pytest.mark.parametrize("extension", ["parquet", "arrow", "jsonl", "xlsx"])
def test_broken_typed_files(extension: str, tmp_path: Path) -> None:
    if extension == "xlsx":
        pytest.importorskip("fastexcel")
    path = tmp_path / f"t.{extension}"
    path.write_bytes(b"{no such thing")
    with pytest.raises(InvalidDataError, match=rf"t\.{extension} cannot be read as"):
        files.read(path)
    path.write_bytes(b"")
    with pytest.raises(InvalidDataError, match=rf"t\.{extension} is empty"):
        files.read(path)
