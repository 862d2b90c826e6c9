"""A file in batches of any size is the same, byte for byte, as the file as a whole."""

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from files.csv_tables import Example, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from greyfill import files
from greyfill.exceptions import FileProblemError, GreyfillError, InvalidDataError
from greyfill.files import polars_formats
from greyfill.files.atomic import writing as open_output
from greyfill.files.formats import compressing, layout_of

FRAME = pl.DataFrame(
    {
        "whole": [1, None, -(2**53) - 1, 4, None],
        "number": [0.1 + 0.2, None, 1e-300, 2.0, None],
        "text": ["031162100", "NA", None, "é,1", None],
        "truth": [True, None, False, None, True],
    }
)
NATIVE = FRAME.with_columns(
    pl.Series("day", [date(2024, 2, 29), None, date(1999, 1, 1), None, None]),
    pl.Series("small", [1, None, 3, 4, 5], dtype=pl.Int8),
    pl.Series("level", ["low", None, "high", "low", None], dtype=pl.Enum(["low", "high"])),
    pl.Series("word", ["a", None, "b", "c", None], dtype=pl.Categorical),
    pl.Series("nothing", [None] * 5, dtype=pl.Null),
)


def constants(frame: pl.DataFrame) -> pl.DataFrame:
    """Each hole filled with one value for the whole column, whatever part of it this is."""
    fills = {
        pl.Int64: 7, pl.Int8: 7, pl.Float64: 2.5, pl.String: "x, y", pl.Boolean: True,
        pl.Date: date(2020, 2, 2),
    }  # fmt: skip
    return frame.with_columns(
        column.fill_null(fills[column.dtype]) for column in frame if column.dtype in fills
    )


def in_batches(path: Path, out: Path, **options: object) -> int:
    with (
        files.open_batches(path, **options) as batches,
        batches.writing(out, force=True) as writer,
    ):
        rows = [_fill(writer, batch) for batch in batches]
        assert sum(rows) == batches.height
    return sum(n > 0 for n in rows)


def _fill(writer, batch: files.Batch) -> int:
    writer.write(batch, constants(batch.frame))
    return batch.frame.height


def at_once(path: Path, out: Path, **options: object) -> None:
    source = files.read(path, **options)
    source.write(constants(source.frame), out, force=True)


def outcome(work: Callable[..., object], path: Path, out: Path, **options: object) -> bytes | str:
    """The bytes of the output, or the message of the error."""
    try:
        work(path, out, **options)
    except GreyfillError as error:
        return f"{type(error).__name__}: {error}"
    return out.read_bytes()


@given(
    example=examples(),
    size=st.integers(1, 60),
    wrap=st.sampled_from(["", ".gz", ".zst", ".bz2", ".xz", ".zip"]),
)
def test_generated_csv_files(example: Example, size: int, wrap: str) -> None:
    options = {
        "na_values": ("?",), "text_columns": example.text_columns, "delimiter": example.delimiter,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        # a zip archive holds the name of its table, so both outputs have the same
        path, whole, parts = (Path(folder, where, f"t.csv{wrap}") for where in "iwp")
        for file in (path, whole, parts):
            file.parent.mkdir()
        compression = layout_of(path.name).compression
        with open_output(path) as stream, compressing(stream, compression) as sink:
            sink.write(example.data)
        told = [
            outcome(at_once, path, whole, **options),
            outcome(in_batches, path, parts, size=size, **options),
        ]
        assert told[0] == told[1]


@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
@given(
    body=st.text(st.sampled_from('a1-2.,;"\n\r é\x80?TZ:true\0'), max_size=80),
    head=st.sampled_from(["", "a,b\n", "a;b\r\n", "x\n", "\n\na\tb\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-16-le"]),
    size=st.integers(1, 30),
)
def test_any_text_is_read_or_refused_alike(body: str, head: str, encoding: str, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, whole, parts = (Path(folder, name) for name in ("t.csv", "w.csv", "p.csv"))
        path.write_bytes((head + body).encode(encoding))
        assert outcome(in_batches, path, parts, size=size) == outcome(at_once, path, whole)


@pytest.mark.parametrize("out", ["csv", "parquet", "arrow", "jsonl", "csv.gz", "parquet.zst"])
@pytest.mark.parametrize("name", ["parquet", "arrow", "jsonl", "csv", "parquet.gz", "arrow.zst"])
def test_every_format_to_every_format(
    name: str, out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polars_formats, "GROUP_ROWS", 2)
    frame = FRAME if "jsonl" in (name, out) else NATIVE
    path = tmp_path / f"odd [name]*.{name}"
    files.Source("-", files.Format.CSV, frame).write(frame, path)
    whole, parts = tmp_path / f"whole.{out}", tmp_path / f"parts.{out}"
    at_once(path, whole)
    for rows, size in ((1, 1), (2, 20), (3, 100), (5, 1000)):
        n_batches = in_batches(path, parts, rows=rows, size=size)
        assert n_batches > 1 or rows > 2
        assert parts.read_bytes() == whole.read_bytes()
    if name == out != "csv":
        assert_frame_equal(files.read(parts).frame, constants(frame))


def test_excel_is_one_batch(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    frame = FRAME.with_columns(whole=pl.Series([1, None, 3, 4, None]))
    files.Source("-", files.Format.CSV, frame).write(frame, tmp_path / "t.xlsx")
    sizes = {"rows": 1, "size": 1, "strict": True}
    assert in_batches(tmp_path / "t.xlsx", tmp_path / "out.xlsx", **sizes) == 1
    assert_frame_equal(files.read(tmp_path / "out.xlsx", strict=True).frame, constants(frame))


JSON_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(-2, 2), st.sampled_from(["a", "1", ""])
)


@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from("abc"), JSON_VALUES, min_size=1), min_size=1),
    size=st.integers(1, 40),
)
def test_json_lines_of_any_types(rows: list[dict], size: int) -> None:
    """Types are told from all lines, also where parts of the file disagree."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jsonl")
        path.write_text("\n".join(json.dumps(row) for row in rows))
        try:
            whole = files.read(path).frame
        except GreyfillError:
            with pytest.raises(GreyfillError), files.open_batches(path, size=size) as batches:
                list(batches)
            return
        with files.open_batches(path, size=size) as batches:
            assert_frame_equal(pl.concat([batch.frame for batch in batches]), whole)


@pytest.mark.parametrize("wrap", [lambda raw: raw, gzip.compress])
def test_standard_streams_and_pipes(wrap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"a,b\r\n1,\r\n,x\r\n"
    stdin = types.SimpleNamespace(buffer=io.BytesIO(wrap(data)))
    stdout = types.SimpleNamespace(buffer=io.BytesIO())
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", stdout)
    in_batches("-", "-", size=3)
    assert stdout.buffer.getvalue() == b'a,b\r\n1,"x, y"\r\n7,x\r\n'
    reading, write_end = os.pipe()
    os.write(write_end, wrap(data))
    os.close(write_end)
    in_batches(f"/dev/fd/{reading}", tmp_path / "out.csv", size=3)
    os.close(reading)
    assert (tmp_path / "out.csv").read_bytes() == stdout.buffer.getvalue()


def test_blank_lines_of_json_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n' + "\n" * 40 + '{"a": 2}\n')
    with files.open_batches(path, size=16) as batches:
        assert pl.concat(batch.frame for batch in batches)["a"].to_list() == [1, 2]
        assert batches.height == 2


def test_a_stray_cell_is_named_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 20 + "x,2\n" + "1,2\n" * 20)
    refused = pytest.raises(InvalidDataError, match=r"t\.csv, line 22.*'x'")
    with refused, files.open_batches(path, numeric_columns=["a"], size=8):
        pass


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for changed in (b"a,b\n1,2\n3,4\n5,6\n", b"a,c\n1,2\n3,4\n", b"a,b\n1,2\nx,4\n"):
        path.write_bytes(b"a,b\n1,2\n3,4\n")
        with files.open_batches(path) as batches:
            path.write_bytes(changed)
            with pytest.raises(InvalidDataError, match="changed while it was read"):
                list(batches)


def copy_meanwhile(path: Path, out: Path, change: Callable[[Path], None]) -> None:
    with files.open_batches(path, size=500, rows=500) as batches, batches.writing(out) as writer:
        for number, batch in enumerate(batches):
            if number == 1:
                change(path)
            writer.write(batch, batch.frame)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"7,8\n")


def exchange(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.replace(other, path)


@pytest.mark.parametrize("change", [cut, append, exchange, os.remove])
@pytest.mark.parametrize("extension", ["csv", "csv.gz", "parquet"])
def test_nothing_is_made_of_a_file_that_changes(
    extension: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    path, out = tmp_path / f"t.{extension}", tmp_path / f"out.{extension}"
    table = files.Source("", files.Format.PARQUET, pl.DataFrame({"a": [1, 2, None] * 3000}))
    table.write(table.frame, path)
    with pytest.raises(FileProblemError, match=rf"t\.{extension}: it changed while it was read"):
        copy_meanwhile(path, out, change)
    assert not out.exists()


@pytest.mark.parametrize("extension", ["csv", "parquet", "arrow", "jsonl", "csv.gz"])
def test_an_error_in_between_leaves_the_old_file(
    extension: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polars_formats, "GROUP_ROWS", 1)
    path, out = tmp_path / "t.csv", tmp_path / f"out.{extension}"
    path.write_bytes(b"a,b\n1,2\n3,4\n")
    out.write_bytes(b"old")

    def work(error: BaseException) -> None:
        with (
            files.open_batches(path, size=4) as batches,
            batches.writing(out, force=True) as writer,
        ):
            for batch in batches:
                writer.write(batch, batch.frame)
            raise error

    for error in (KeyboardInterrupt(), ValueError("no")):
        with pytest.raises(type(error)):
            work(error)
        assert out.read_bytes() == b"old"
        assert sorted(os.listdir(tmp_path)) == sorted(["t.csv", out.name])
    with (
        pytest.raises(ValueError, match="before the first batch"),
        files.open_batches(path) as batches,
        batches.writing(out, force=True),
    ):
        raise ValueError("before the first batch")
    assert out.read_bytes() == b"old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
@pytest.mark.parametrize("extension", ["csv", "parquet", "arrow", "jsonl", "csv.gz", "xlsx"])
def test_a_full_disk(extension: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = tmp_path / "t.csv", tmp_path / f"full.{extension}"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 5000)
    out.symlink_to("/dev/full")
    with pytest.raises(FileProblemError, match=rf"Cannot write .*full\.{extension}: the disk is"):
        in_batches(path, out)


MEASURE = """
import sys
from greyfill import files
def held():  # pages of the file that the system keeps mapped are not ours
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
peak = 0
with files.open_batches(sys.argv[1], size=1 << 18, rows=50_000) as batches:
    with batches.writing(sys.argv[2], force=True) as writer:
        for batch in batches:
            writer.write(batch, batch.frame.fill_null(1.5))
            peak = max(peak, held())
print(max(peak, held()))
"""


@pytest.mark.heavy  # besides, polars 1.32 on a busy machine keeps more than this in flight
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of memory to read")
@pytest.mark.parametrize(
    ("extension", "n_rows"),
    [
        ("csv", 250_000),
        ("csv.gz", 250_000),
        ("jsonl", 250_000),
        ("parquet", 1_500_000),  # beyond what polars keeps in flight
        ("arrow", 1_500_000),
    ],
)
def test_memory_does_not_grow_with_the_file(extension: str, n_rows: int, tmp_path: Path) -> None:
    """A file four times as long takes hardly more memory, and far less than its own cells."""
    lines = []
    for height in (n_rows, 4 * n_rows):
        frame = pl.DataFrame({"n": pl.int_range(height, eager=True)}).with_columns(
            x=pl.col("n") / 7,
            y=pl.when(pl.col("n") % 10 > 0).then(pl.col("n") * 0.125),
        )
        path = tmp_path / f"{height}.{extension}"
        files.Source("-", files.Format.CSV, frame).write(frame, path)
        out = tmp_path / f"out.{extension}"
        lines.append([sys.executable, "-c", MEASURE, str(path), str(out)])

    def peak(line: list[str]) -> float:
        return int(subprocess.run(line, capture_output=True, check=True).stdout) / 1024

    least = peak(lines[0])
    # polars at times keeps more in flight on a busy machine: then once more
    assert any(peak(lines[1]) - least < 40 for _ in range(2))
