"""Every byte of a CSV file but those of imputed cells stays as it was."""

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from corpus.exports import book
from files.csv_reference import slow_tokenize
from files.csv_tables import Example, examples, first_values
from hypothesis import given, settings

from greyfill import files
from greyfill.exceptions import InvalidDataError
from greyfill.files.csv_text import CsvOptions, read_csv
from greyfill.text import kind_of

TABLES = [
    "bank-marketing", "credit-approval", "german-credit", "glass", "hepatitis", "horse-colic",
    "iris", "mammographic", "penguins", "soybean", "voting",
]  # fmt: skip


def round_trip(data: bytes, fill: pl.DataFrame | None = None, **options: object) -> bytes:
    text = read_csv(data, "table.csv", CsvOptions(**options))
    return b"".join(text.filled(first_values(text.frame) if fill is None else fill))


@settings(max_examples=max(150, settings.default.max_examples))
@given(example=examples())
def test_generated_files(example: Example) -> None:
    options = CsvOptions(
        ("?",), text_columns=example.text_columns, delimiter=example.delimiter, decimal="."
    )
    text = read_csv(example.data, "table.csv", options)
    assert text.frame.height == example.n_rows
    assert sum(text.frame.null_count().row(0)) == example.n_holes
    assert b"".join(text.filled(text.frame)) == example.data
    assert b"".join(text.filled(first_values(text.frame))) == example.expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            b"id,ticker,price,change,day\n031162100,NA,1.50,+3,2024-02-29\n7,T,,,\n",
            b"id,ticker,price,change,day\n031162100,NA,1.50,+3,2024-02-29\n7,T,1.50,3,2024-02-29\n",
            id="identifiers, tickers, decimals, signs, dates",
        ),
        pytest.param(b"a,b\n1,x\n,\n,\n", b"a,b\n1,x\n1,x\n1,x\n", id="holes side by side"),
        pytest.param(b"a,b\r\n1,x\r\n,\r\n", b"a,b\r\n1,x\r\n1,x\r\n", id="CRLF"),
        pytest.param(b"a,b\r1,x\r,\r", b"a,b\r1,x\r1,x\r", id="CR"),
        pytest.param(b"a,b\n1,x\r\n,\n", b"a,b\n1,x\r\n1,x\n", id="mixed line ends"),
        pytest.param(b"a,b\n1,x\n,", b"a,b\n1,x\n1,x", id="no last line end"),
        pytest.param(
            b"\xef\xbb\xbfa,b\n1,x\n,y\n", b"\xef\xbb\xbfa,b\n1,x\n1,y\n", id="byte order mark"
        ),
        pytest.param(
            "a,b\n1,na\xefve\n2,\n".encode("latin-1"),
            "a,b\n1,na\xefve\n2,na\xefve\n".encode("latin-1"),
            id="Latin-1",
        ),
        pytest.param(
            "\ufeffa\tb\n1\t€\n\t\n".encode("utf-16-be"),
            "\ufeffa\tb\n1\t€\n1\t€\n".encode("utf-16-be"),
            id="UTF-16",
        ),
        pytest.param(b"a;b\n1,50;x\n;y\n2,5;", b"a;b\n1,50;x\n1,50;y\n2,5;x", id="decimal comma"),
        pytest.param(
            b'a,b\n"x, ""y""\nz",1\n,2\n"",3\n',
            b'a,b\n"x, ""y""\nz",1\n"x, ""y""\nz",2\n"x, ""y""\nz",3\n',
            id="quoted delimiters, quotes and line ends",
        ),
        pytest.param(b'a,b\nx,1\n"",\n', b'a,b\nx,1\n"x",1\n', id="a hole in quotes keeps them"),
        pytest.param(b'"a","b"\n"1","2"\n"",\n', b'"a","b"\n"1","2"\n"1","2"\n', id="all quoted"),
        pytest.param(b"a,b\n\n1,2\n\n , \n\n", b"a,b\n\n1,2\n\n1,2\n\n", id="blank lines, blanks"),
        pytest.param(b"\na\n1\n\n3\n", b"\na\n1\n1\n3\n", id="one column: an empty line is a hole"),
        pytest.param(b"a|b\nTRUE|x\nTRUE|y\n|z\n", b"a|b\nTRUE|x\nTRUE|y\nTRUE|z\n", id="truth"),
        pytest.param(b",a\n0,1\n,\n", b",a\n0,1\n0,1\n", id="a column without a name"),
        pytest.param(b"a,b\n1,x\nNA,\n", b"a,b\n1,x\n1,x\n", id="a word for missing"),
        pytest.param(b'a,b\n1," x"\n\t? ,?\n', b'a,b\n1," x"\n1," x"\n', id="words with blanks"),
        pytest.param(b"a,b\n1,x\n4,y\n\n2\n,\n", b"a,b\n1,x\n4,y\n\n2,x\n1,x\n", id="a short row"),
        pytest.param(
            b"a,b,c\n1,x,7\n4,y,8\n2\r\n3", b"a,b,c\n1,x,7\n4,y,8\n2,x,7\r\n3,x,7", id="short rows"
        ),
        pytest.param(b"a,b\nr1,1,x\nr2,,y\n", b"a,b\nr1,1,x\nr2,1,y\n", id="names of rows"),
        pytest.param(b"a,a\n1,2\n,\n", b"a,a\n1,2\n1,2\n", id="a name twice"),
        pytest.param(b"5.1,x\n4.9,y\n,x\n?,y\n", b"5.1,x\n4.9,y\n5.1,x\n5.1,y\n", id="no header"),
        pytest.param(
            b" 1.5  a\t'b'\n 2.5  ?  \"b c\"\n3.5 a b\n",
            b" 1.5  a\t'b'\n 2.5  a  \"b c\"\n3.5 a b\n",
            id="blanks between cells",
        ),
        pytest.param(
            b'a,b\n"1,234.50",5 %\n,\n', b'a,b\n"1,234.50",5 %\n"1,234.50",5 %\n', id="amounts"
        ),
        pytest.param(
            b"a,b\n31.12.2025,2024-01-01T10:00+01:00\n,\n",
            b"a,b\n31.12.2025,2024-01-01T10:00+01:00\n31.12.2025,2024-01-01T10:00+01:00\n",
            id="dates of people, and with a zone",
        ),
        pytest.param(b"a,b\n1,\n2,\n", b"a,b\n1,\n2,\n", id="a column without a value"),
        pytest.param(
            b"t,u\n2024-02-29 10:00,2024-02-29T10:00:00.5Z\n,\n",
            b"t,u\n2024-02-29 10:00,2024-02-29T10:00:00.5Z\n"
            b"2024-02-29 10:00,2024-02-29T10:00:00.5Z\n",
            id="moments",
        ),
    ],
)
def test_golden(data: bytes, expected: bytes) -> None:
    assert round_trip(data) == expected


def test_a_null_leaves_the_hole_and_changed_observed_cells_do_not_matter() -> None:
    text = read_csv(b"a,b\n1,?\n,x\n", "t.csv", CsvOptions(na_values=("?",)))
    filled = pl.DataFrame({"a": [99, 2], "b": [None, "changed"]})
    assert b"".join(text.filled(filled)) == b"a,b\n1,?\n2,x\n"


def test_fills_of_another_type() -> None:
    text = read_csv(b"a,b,c\n1,1.50,\n,,\n", "t.csv", CsvOptions())
    filled = pl.DataFrame({"a": [1.0, 2.6], "b": [1.5, float("nan")], "c": ["x, y", "z"]})
    assert b"".join(text.filled(filled)) == b'a,b,c\n1,1.50,"x, y"\n3,,z\n'
    assert b"".join(text.filled(pl.DataFrame({"a": ["1", "07"]}))) == b"a,b,c\n1,1.50,\n07,,\n"


def test_sentinels_are_words_and_numbers() -> None:
    text = read_csv(b"a,b\n-999,NA\n-999.00,x\n1.5,NA\n", "t.csv", CsvOptions(("-999", "NA")))
    assert text.frame.to_dict(as_series=False) == {"a": [None, None, 1.5], "b": [None, "x", None]}


def raw_cells(data: bytes) -> list[list[bytes]]:
    return slow_tokenize(data, b",", b"\n")


@pytest.mark.skipif("GREYFILL_DATA" not in os.environ, reason="GREYFILL_DATA names no folder")
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_the_paper(name: str, tmp_path: Path) -> None:
    path = Path(os.environ["GREYFILL_DATA"]) / f"{name}.csv"
    source = files.read(path)
    out = tmp_path / path.name
    source.write(first_values(source.frame), out)
    before, after = raw_cells(path.read_bytes()), raw_cells(out.read_bytes())
    assert [len(row) for row in before] == [len(row) for row in after]
    pairs = [p for b, a in zip(before, after, strict=True) for p in zip(b, a, strict=True)]
    assert all(old == new for old, new in pairs if old)
    n_holes = sum(not old for old, _ in pairs)
    assert n_holes == sum(source.frame.null_count().row(0))
    source.write(source.frame, out, force=True)
    assert out.read_bytes() == path.read_bytes()


def test_streams_of_any_size(tmp_path: Path) -> None:
    rows = b"".join(b"%d,%d.25,word%d\n" % (i, i, i % 7) for i in range(60_000))
    data = b"a,b,c\n" + rows.replace(b"word3", b"")
    path = tmp_path / "large.csv"
    path.write_bytes(data)
    source = files.read(path)
    source.write(source.frame.fill_null("word3"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b"a,b,c\n" + rows


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'a;b\r\n"1";\r\n\r\n;"x;y"', b'a;b;is_b\r\n"1";x;y;1\r\n\r\n;"x;y";0'),
        (b"a,b\n1\n2,x\n", b"a,b,is_b\n1,x;y,1\n2,x,0\n"),
        (b"a,b,c\n1,\n2,x,3\n", b"a,b,c,is_b\n1,x;y,,1\n2,x,3,0\n"),
        (b"a b\n1 NA  \n2 x\n", b'a b is_b\n1 x;y 1  \n2 x 0\n'),
        ("ä,b\n1,\n2,é\n".encode("latin-1"), "ä,b,is_b\n1,x;y,1\n2,é,0\n".encode("latin-1")),
    ],
)  # fmt: skip
def test_indicators_are_behind_the_cells(data: bytes, expected: bytes) -> None:
    frame = read_csv(data, "table.csv", CsvOptions(na_values=("NA",) * (b"NA" in data))).frame
    assert frame["b"].null_count() == 1
    fill = frame.select("b").fill_null("x;y").with_columns(is_b=frame["b"].is_null())
    expected = expected.replace(b"x;y;1", b'"x;y";1')
    assert round_trip(data, fill, na_values=("NA",) * (b"NA" in data)) == expected


def test_fills_of_a_short_row_are_in_order() -> None:
    text = read_csv(b"a,b,c\n1,\n2,5,7\n", "table.csv", CsvOptions())
    assert b"".join(text.filled(text.frame.fill_null(6))) == b"a,b,c\n1,6,6\n2,5,7\n"


def test_indicators_of_a_file_in_parts_and_of_other_formats(tmp_path: Path) -> None:
    path, rows = tmp_path / "t.csv", [(n, n if n % 3 else "") for n in range(200)]
    path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    out = tmp_path / "out.csv"
    with files.open_batches(path, size=300) as batches, batches.writing(out) as writer:
        for batch in batches:
            new = batch.frame.with_columns(is_b=batch.frame["b"].is_null())
            writer.write(batch, new.with_columns(pl.col("b").fill_null(0)))
    expected = "".join(f"{a},{b or 0},{int(b == '')}\n" for a, b in rows)
    assert (tmp_path / "out.csv").read_text() == "a,b,is_b\n" + expected
    (tmp_path / "t.arff").write_text("@relation r\n@attribute a real\n@data\n?\n1\n")
    source = files.read(tmp_path / "t.arff")
    with pytest.raises(InvalidDataError, match=r"an output that ends in \.csv"):
        source.write(source.frame.with_columns(is_a=pl.col("a").is_null()), tmp_path / "out.arff")
    source.frame.write_excel(tmp_path / "t.xlsx")
    book = files.read(tmp_path / "t.xlsx")
    book.write(book.frame.with_columns(is_a=pl.lit(True)), tmp_path / "out.xlsx")
    assert files.read(tmp_path / "out.xlsx").frame["is_a"].to_list() == [True]


ZEROS = b"a,b\r\n1,\0\r\n2\0,x\r\n,\0y\r\n4,x\r\n\0\0\0"
RAGGED = b"a,b,c\n1,2,u\n,3,v,w\n5,,u, ,\n7,8\n"


def both_ways(raw: bytes, folder: Path, **options: Any) -> list[bytes]:
    """A file filled with first values, read at once and in parts."""
    path, out = folder / "t.csv", folder / "out.csv"
    path.write_bytes(raw)
    source = files.read(path, **options)
    source.write(first_values(source.frame), out)
    written = [out.read_bytes()]
    with (
        files.open_batches(path, size=5, **options) as batches,
        batches.writing(out, force=True) as writer,
    ):
        firsts = {c.name: c.drop_nulls()[0] for c in source.frame if c.count()}
        for batch in batches:
            filled = [pl.col(name).fill_null(value) for name, value in firsts.items()]
            writer.write(batch, batch.frame.with_columns(filled))
    return [*written, out.read_bytes()]


def test_zero_bytes_are_blanks_and_stay(tmp_path: Path) -> None:
    filled = b"a,b\r\n1,x\r\n2\0,x\r\n1,\0y\r\n4,x\r\n\0\0\0"
    assert both_ways(ZEROS, tmp_path) == [filled, filled]
    source = files.read(tmp_path / "t.csv")
    assert source.frame.rows() == [(1, None), (2, "x"), (None, "\0y"), (4, "x")]
    assert source.notes[0].startswith("Zero bytes in line 2 and 3 more lines: taken as blanks")
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,x\n" + b"\0" * 9)
    with pytest.raises(InvalidDataError, match="zero byte in line 3, so it is no text"):
        files.read(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,\xe9\0\xe8\n")
    with pytest.raises(InvalidDataError, match="zero byte in line 2, so it is no text"):
        files.read(tmp_path / "t.csv")


def test_a_carriage_return_alone_is_a_letter_and_told(tmp_path: Path) -> None:
    text = b'a,b\n1,x\rz\n2,\n3,"x\ry"\n,x\rz\n'
    filled = b'a,b\n1,x\rz\n2,"x\rz"\n3,"x\ry"\n1,x\rz\n'
    assert both_ways(text, tmp_path) == [filled, filled]
    source = files.read(tmp_path / "t.csv")
    assert source.frame["b"].to_list() == ["x\rz", None, "x\ry", "x\rz"]
    (note,) = [note for note in source.notes if "carriage" in note]
    assert note.startswith("A carriage return alone in line 2 and 1 more line: taken as a letter.")
    with pytest.raises(InvalidDataError, match="line 2: a carriage return alone may end a row"):
        files.read(tmp_path / "t.csv", strict=True)


def test_many_cells_with_zero_bytes(tmp_path: Path) -> None:
    """Enough for the quick way of cutting cells."""
    rows = [(str(n), "x\0y" if n % 3 else '"a ""b"""') for n in range(5000)]
    raw = b"n,w\n" + "".join(f"{a},{b}\n" for a, b in rows).encode()
    (tmp_path / "t.csv").write_bytes(raw)
    told = files.read(tmp_path / "t.csv").frame["w"].to_list()
    assert told == [b if n % 3 else 'a "b"' for n, (_, b) in enumerate(rows)]


def test_rows_with_too_many_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(RAGGED)
    with pytest.raises(InvalidDataError, match=r"line 3: expected 3 cells .* found 4.*--ragged"):
        files.read(tmp_path / "t.csv")
    filled = b"a,b,c\n1,2,u\n1,3,v,w\n5,2,u, ,\n7,8,u\n"
    assert both_ways(RAGGED, tmp_path, ragged=True) == [filled, filled]
    source = files.read(tmp_path / "t.csv", ragged=True)
    assert source.frame.rows() == [(1, 2, "u"), (None, 3, "v"), (5, None, "u"), (7, 8, None)]
    told = " ".join(source.notes)
    assert "1 row has empty cells behind the last column" in told
    assert "Line 3 has 4 cells under 3 names: those behind the last name are kept" in told
    flagged = source.frame.with_columns(was_missing=pl.Series([False, True, True, True]))
    source.write(flagged, tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").read_bytes().splitlines()[2] == b",3,v,1,w"


def test_names_that_a_header_lacks(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b,c\n1,2,3,4\n1,2\n5,6,7,\n")
    assert files.read(path).frame.columns == ["column_1", "a", "b", "c"]
    path.write_bytes(b"a,b\nu,v,3,4\nw,x,5,6\n")
    source = files.read(path)
    assert source.frame.columns == ["column_1", "column_2", "a", "b"]
    assert "The header lacks 2 names" in source.notes[0]
    path.write_bytes(b"a,b\n1,2,\n3,4,\n")
    assert files.read(path).frame.rows() == [(1, 2), (3, 4)]


def test_a_name_that_is_there_once_keeps_its_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,a,a_2,a\n1,2,3,4\n5,6,7,8\n")
    source = files.read(tmp_path / "t.csv")
    assert source.frame.columns == ["a", "a_3", "a_2", "a_4"]
    assert "Names that appear twice were told apart: 'a_3', 'a_4'." in source.notes[0]


def test_titles_that_a_spreadsheet_pads(tmp_path: Path) -> None:
    """Excel writes as many delimiters in the lines of a title as in those of the table."""
    title, rows = b"Ward 7;;\r\n;;\r\n", b"id;age;kg\r\n1;;60,5\r\n2;41;\r\n"
    path = tmp_path / "t.csv"
    path.write_bytes(title + rows)
    source = files.read(path)
    assert source.frame.rows() == [(1, None, 60.5), (2, 41, None)]
    assert "2 lines before the table kept as found" in source.notes[0]
    source.write(source.frame.fill_null(50.0), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes().startswith(title + b"id;age;kg\r\n1;50;60,5\r\n")
    assert files.read(path, header=True, lenient=True).frame.columns == [
        "Ward 7",
        "column_2",
        "column_3",
    ]
    for few_names in (b"id;;\n1;a;b\n2;c;d\n", b"id;;\nu;a;b\nv;c;d\n", b"id;;\nu;;b\n1;2;3\n"):
        path.write_bytes(few_names)
        assert files.read(path).frame.columns[0] == "id"


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_rows_that_are_perhaps_none_of_the_table_are_told(tmp_path: Path, kind: str) -> None:
    def told(*below: list[str]) -> list[str]:
        rows = [["id", "kg", "cm"], ["p1", "61.5", "160"], ["p2", "", "170"], ["p3", "70.5", ""]]
        path = tmp_path / f"t.{kind}"
        if kind == "csv":
            path.write_text("".join(",".join(row) + "\n" for row in [*rows, *below]))
        else:
            path.write_bytes(book(("Data", [[c or None for c in row] for row in [*rows, *below]])))
        return [note for note in files.read(path).notes if kind_of(note) == "doubtful rows"]

    where = "line" if kind == "csv" else "row"
    assert told() == told(["p4", "", "165"]) == told(["p4", "", ""], ["p5", "60.5", "165"]) == []
    (note,) = told(["* at home", "", ""])
    assert note.startswith("1 row at the end holds only '* at home' (")
    assert f"{where} 5). If it is none of the table, delete it" in note
    notes = told(["", "", ""], ["", "", ""], ["Source: X", "", ""], ["* at home", "", ""])
    assert "2 rows at the end hold only 'Source: X', '* at home' (" in notes[-1]
    assert len(notes) == 2 - (kind == "xlsx")  # of a sheet, empty rows are no rows
    if kind == "csv":
        assert "2 rows hold nothing at all (the first: " in notes[0]
        assert "line 5). If they are none of the table, delete them" in notes[0]


def test_commas_in_quotes_are_no_title(tmp_path: Path) -> None:
    """With commas as delimiters, all lines but the first two would have two cells."""
    rows = ['"0,25 %"\t7 %\tu', *['"12,5 %"\t"12,5 %"\tv'] * 9]
    (tmp_path / "t.txt").write_text("\n".join(["c0\tc1\tclass", *rows]))
    assert files.read(tmp_path / "t.txt").frame.columns == ["c0", "c1", "class"]
