"""A table that becomes a workbook: no observed cell is lost or changed, else it is refused."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from files.csv_tables import first_values

from greyfill import files
from greyfill.exceptions import InvalidDataError
from greyfill.files import new_books

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("fastexcel")
worksheet = pytest.importorskip("xlsxwriter.worksheet")


def in_batches(path: Path, out: Path) -> None:
    with files.open_batches(path) as batches, batches.writing(out) as writer:
        for batch in batches:
            writer.write(batch, first_values(batch.frame))


def at_once(path: Path, out: Path) -> None:
    source = files.read(path)
    source.write(first_values(source.frame), out)


WAYS = pytest.mark.parametrize("convert", [at_once, in_batches])


def cells(path: Path) -> list[tuple[Any, ...]]:
    return list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))


@WAYS
@pytest.mark.parametrize("names", [("Age", "age"), ("Straße", "STRASSE"), ("a", "b" * 300)])
def test_names_that_no_table_of_excel_can_have_lose_no_cell(tmp_path: Path, convert, names) -> None:
    (tmp_path / "t.csv").write_text(f"{names[0]},{names[1]}\n1,1.5\n,\n3,2.5\n")
    convert(tmp_path / "t.csv", tmp_path / "out.xlsx")
    assert cells(tmp_path / "out.xlsx") == [names, (1, 1.5), (1, 1.5), (3, 2.5)]
    assert not openpyxl.load_workbook(tmp_path / "out.xlsx").active.tables


@pytest.mark.parametrize("name", ["a\x00b", "a\nb", "\x01", "_x0041_", "\ufffe"])
def test_names_with_control_characters_break_no_workbook(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({name: [1.5, None]})
    files.Source("t.csv", files.Format.CSV, frame).write(frame, tmp_path / "out.xlsx")
    assert not openpyxl.load_workbook(tmp_path / "out.xlsx").active.tables
    assert files.read(tmp_path / "out.xlsx").frame.to_series().to_list() == [1.5]


@WAYS
def test_the_cells_are_a_table_where_its_names_differ(tmp_path: Path, convert) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,1.5\n,\n3,2.5\n")
    convert(tmp_path / "t.csv", tmp_path / "out.xlsx")
    (table,) = openpyxl.load_workbook(tmp_path / "out.xlsx").active.tables.values()
    assert (table.ref, table.column_names) == ("A1:B4", ["a", "b"])


@pytest.mark.parametrize(("height", "width"), [(1_048_576, 2), (2, 16_385)])
def test_more_than_a_sheet_holds_is_refused(tmp_path: Path, height: int, width: int) -> None:
    column = pl.Series([1], dtype=pl.Int8).new_from_index(0, height)
    frame = pl.DataFrame({f"c{i}": column for i in range(width)})
    said = rf"has {height:,} rows and {width:,} columns\. .* ends in \.csv or \.parquet"
    with pytest.raises(InvalidDataError, match=said):
        files.Source("t.csv", files.Format.CSV, frame).write(frame, tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()


def test_batches_that_no_sheet_holds_are_refused_before_any_is_filled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(new_books, "MOST_ROWS", 2)
    (tmp_path / "t.csv").write_text("a,b\n1,1.5\n,\n3,2.5\n")
    with (
        files.open_batches(tmp_path / "t.csv") as batches,
        pytest.raises(InvalidDataError, match="has 3 rows"),
        batches.writing(tmp_path / "out.xlsx"),
    ):
        pytest.fail("too late")
    assert not (tmp_path / "out.xlsx").exists()


CHANGED = {
    "digits": (pl.Series([123456789012345678, None, -5]), ["123456789012345678", "-5"]),
    "unsigned": (pl.Series([2**64 - 1, None], dtype=pl.UInt64), ["18446744073709551615"]),
    "decimal": (pl.Series([Decimal("1234567890.12345678"), None]), ["1234567890.12345678"]),
    "old": (pl.Series([date(1850, 1, 31), None, date(2024, 2, 29)]), ["1850-01-31", "2024-02-29"]),
    "february": (pl.Series([date(1900, 2, 28), None]), ["1900-02-28"]),
    "far": (pl.Series([2_932_897, None], dtype=pl.Int32).cast(pl.Date), ["+10000-01-01"]),
    "fine": (pl.Series([datetime(2024, 1, 1, 5, 6, 7, 8), None]), ["2024-01-01 05:06:07.000008"]),
    "clock": (pl.Series([time(5, 6, 7, 8), None]), ["05:06:07.000008"]),
    "span": (pl.Series([timedelta(microseconds=1500), None]), ["PT0.0015S"]),
    "zone": (
        pl.Series([datetime(2024, 1, 1, tzinfo=UTC), None]).dt.convert_time_zone("Europe/Berlin"),
        ["2024-01-01 01:00:00.000000+01:00"],
    ),
}
HELD = {
    "digits": pl.Series([999_999_999_999_999, None, -5]),
    "number": pl.Series([0.1 + 0.2, None, 1e-300]),
    "decimal": pl.Series([Decimal("12345.67890"), None]),
    "march": pl.Series([date(1900, 3, 1), None, date(9999, 12, 31)]),
    "moment": pl.Series([datetime(2024, 1, 1, 5, 6, 7, 8000), None]),
    "clock": pl.Series([time(5, 6, 7, 8000), None]),
    "span": pl.Series([timedelta(days=2, microseconds=8000), None, timedelta(hours=-3)]),
    "long": pl.Series(["a" * 32_767, "", "é" * 32_767]),
}


def written(column: pl.Series, folder: Path) -> tuple[list[Any], list[str]]:
    """The observed cells of a column in a new workbook, and the notes about it."""
    frame = pl.DataFrame({"x": column, "n": pl.arange(len(column), eager=True)})
    source = files.Source("t.parquet", files.Format.PARQUET, frame)
    notes = source.write_all({str(folder / "out.xlsx"): frame})
    rows = cells(folder / "out.xlsx")[1:]
    return [row[0] for row in rows if row[0] is not None], notes


@pytest.mark.parametrize(("column", "texts"), CHANGED.values(), ids=CHANGED)
def test_what_excel_would_change_is_text_and_told(tmp_path: Path, column, texts) -> None:
    told = ["Written as text, since Excel would change some of the values: 'x'."]
    assert written(column, tmp_path) == (texts, told)


@pytest.mark.parametrize("column", HELD.values(), ids=HELD)
def test_what_excel_holds_stays_what_it_is(tmp_path: Path, column: pl.Series) -> None:
    found, notes = written(column, tmp_path)
    is_day = column.dtype == pl.Date
    plain = [cell.date() for cell in found] if is_day else found
    values = column.drop_nulls().to_list()
    assert plain == [float(v) if isinstance(v, Decimal) else v for v in values]
    assert notes == []


def test_batches_tell_what_became_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x\n123456789012345678,1.5\n123456789012345679,\n")
    with files.open_batches(tmp_path / "t.csv") as batches:
        with batches.writing(tmp_path / "out.xlsx") as writer:
            for batch in batches:
                writer.write(batch, batch.frame)
        assert "'id'" in writer.notes[0]
    assert cells(tmp_path / "out.xlsx")[2] == ("123456789012345679", None)


FILLED = {
    "moment": [datetime(2024, 1, 1, 0, 0, 0, n) for n in (5000, 1234, 1000)],
    "clock": [time(1, 2, 3, n) for n in (5000, 1234, 1000)],
    "span": [timedelta(1, 2, n) for n in (5000, 1234, 1000)],
}


@pytest.mark.parametrize(("observed", "filled", "kept"), FILLED.values(), ids=FILLED)
def test_a_filled_moment_does_not_make_its_column_text(
    tmp_path: Path, observed: Any, filled: Any, kept: Any
) -> None:
    frame = pl.DataFrame({"when": [observed, None]})
    source = files.Source("t.parquet", files.Format.PARQUET, frame)
    source.write(pl.DataFrame({"when": [observed, filled]}), tmp_path / "out.xlsx")
    assert cells(tmp_path / "out.xlsx")[1:] == [(observed,), (kept,)]


@WAYS
@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (float("inf"), "cannot hold inf"),
        (float("-inf"), "cannot hold -inf"),
        ("a" * 32_768, "holds 32,767 characters, not 32,768"),
        ("\N{GRINNING FACE}" * 16_384, "holds 32,767 characters, not 32,768"),
    ],
)
def test_cells_that_excel_cannot_hold_are_refused(tmp_path: Path, convert, cell, said) -> None:
    first = 1.0 if isinstance(cell, float) else "b"
    pl.DataFrame({"x": [first, cell, None]}).write_parquet(tmp_path / "t.parquet")
    where = r"t\.parquet, row 2, column 'x': a cell of Excel"
    with pytest.raises(InvalidDataError, match=rf"{where} {said}\. .* ends in \.csv"):
        convert(tmp_path / "t.parquet", tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()


def test_a_cell_that_is_left_out_by_the_library_is_no_loss_in_silence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(worksheet.Worksheet, "_write_number", lambda *_: -1)
    frame = pl.DataFrame({"x": [1.5]})
    with pytest.raises(InvalidDataError, match=r"row 1, column 'x': Excel cannot hold it\."):
        files.Source("t.csv", files.Format.CSV, frame).write(frame, tmp_path / "out.xlsx")


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x" * 40_000: [1.5]})
    with pytest.raises(InvalidDataError, match="The name of column 1: Excel cannot hold it"):
        files.Source("t.csv", files.Format.CSV, frame).write(frame, tmp_path / "out.xlsx")
