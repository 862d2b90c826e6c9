"""A table that becomes a workbook: no observed cell is lost or changed, else it is refused."""

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
pytest.importorskip("xlsxwriter")


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


@WAYS
def test_the_cells_are_a_table_where_its_names_differ(tmp_path: Path, convert) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,1.5\n,\n3,2.5\n")
    convert(tmp_path / "t.csv", tmp_path / "out.xlsx")
    (table,) = openpyxl.load_workbook(tmp_path / "out.xlsx").active.tables.values()
    assert (table.ref, table.column_names) == ("A1:B4", ["a", "b"])


@pytest.mark.parametrize(("height", "width"), [(1_048_576, 1), (1, 16_385)])
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
