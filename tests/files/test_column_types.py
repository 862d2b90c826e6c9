"""Types and spellings of columns."""

from datetime import date, datetime

import polars as pl
import pytest

from greyfill.exceptions import InvalidDataError
from greyfill.files.column_types import ColumnEvidence, ColumnType, StrayCellsError
from greyfill.files.csv_text import CsvOptions, read_csv
from greyfill.files.styles import Day, Fixed, Moment, Scientific, Text, Truth, Whole


def judge(cells: pl.Series) -> ColumnType:
    """The type of a column that is seen in parts of two cells."""
    evidence = ColumnEvidence(cells.name)
    for start in range(0, len(cells), 2):
        evidence.add(cells[start : start + 2])
    return evidence.column_type()


@pytest.mark.parametrize(
    ("cells", "dtype", "style"),
    [
        (["1", None, "-2", "+3", " 4 "], pl.Int64, Whole()),
        (["0", "-0", "10"], pl.Int64, Whole()),
        (["1.5", "2", ".25"], pl.Float64, Fixed(2)),
        (["1.", "2."], pl.Float64, Fixed(0)),
        (["1e5", "1.25E-3"], pl.Float64, Scientific(2)),
        (["01", "2"], pl.String, Text()),
        (["00202", "7"], pl.String, Text()),
        (["00202", "NA", "7"], pl.String, Text()),
        (["1234567890123456789", "1"], pl.String, Text()),
        (["123456789012345678", "1"], pl.Int64, Whole()),
        (["True", "False", "True"], pl.Boolean, Truth("True", "False")),
        (["TRUE", None], pl.Boolean, Truth("TRUE", "FALSE")),
        (["yes", "no"], pl.String, Text()),
        (["t", "f"], pl.String, Text()),
        (["2024-02-29"], pl.Date, Day()),
        (["2023-02-29", "x"], pl.String, Text()),
        (["2024-02-29T10:30"], pl.Datetime("us"), Moment("T", has_seconds=False)),
        (["2024-02-29 10:30:00.125"], pl.Datetime("us"), Moment(" ", decimals=3)),
        (["2024-02-29T10:30:00Z"], pl.Datetime("us", "UTC"), Moment("T", end="Z")),
        (["2024-02-29T10:30:00+01:00"], pl.String, Text()),
        (["NA", "T", "A"], pl.String, Text()),
        (["A/5 21171", "113803", "PC 17599", "373450", "C.A. 9"], pl.String, Text()),
        (["nan-ny", "infinity"], pl.String, Text()),
        ([None, None], pl.Null, Text()),
        (["١٢", "٣"], pl.String, Text()),
    ],
)
def test_types(cells: list[str | None], dtype: pl.DataType, style: object) -> None:
    column = pl.Series("x", cells, dtype=pl.String)
    verdict = judge(column)
    typed = verdict.parse(column)
    assert typed.dtype == dtype
    assert verdict.style == style
    assert typed.name == "x"
    assert typed.is_null().to_list() == [cell is None for cell in cells]


@pytest.mark.parametrize(
    ("cells", "row", "word"),
    [
        (["1", "2", "NA"], 2, "NA"),
        (["1.5", "?", "?", "?"], 1, "?"),
        (["1", "x", "3", "4"], 1, "x"),
        (["1", "nan", "3"], 1, "nan"),
        (["1", "inf", "3"], 1, "inf"),
        (["1.0", "1e999", "3"], 1, "1e999"),
        (["2024-02-29", "2023-02-29", "2022-01-01"], 1, "2023-02-29"),
        (["2024-02-29", "n/a"], 1, "n/a"),
        (["true", "false", "-"], 2, "-"),
        ([str(i) for i in range(100)] + ["a", "b", "c", "d"], 100, "a"),
    ],
)
def test_stray_words_are_shown(cells: list[str], row: int, word: str) -> None:
    column = pl.Series("x", cells)
    with pytest.raises(StrayCellsError) as caught:
        judge(column)
    assert caught.value.row_in(column) == row
    message = str(caught.value.for_user("t.csv, line 7", "x", word))
    assert message.startswith("t.csv, line 7: ")
    assert repr(word) in message
    assert "--na-values" in message


def test_stray_word_names_file_line_and_column() -> None:
    data = b'a,b\n"x\ny",1\nz,2\nz,NULL\nz,4\n'
    with pytest.raises(InvalidDataError, match=r"^t\.csv, line 5, column 'b': .*'NULL'"):
        read_csv(data, "t.csv", CsvOptions())


def test_given_types_decide() -> None:
    data = b"a,b,c\n1,007,1\n?,1,2\n3,,x\n"
    text = read_csv(data, "t.csv", CsvOptions((), ("a", "c"), ("b",)))
    assert text.frame.to_dict(as_series=False) == {
        "a": ["1", "?", "3"],
        "b": [7, 1, None],
        "c": ["1", "2", "x"],
    }
    with pytest.raises(InvalidDataError, match="line 4, column 'c'"):
        read_csv(data, "t.csv", CsvOptions(("?",), (), ("c",)))


def test_usual_words_for_missing_are_noted() -> None:
    text = read_csv(b"count,word\nx,NA\ny,NA\nz,b\n", "t.csv", CsvOptions())
    assert [note for note in text.notes if "'NA' (2 cells)" in note and "'word'" in note]
    assert len(text.notes) == 1


def test_identifiers_are_noted() -> None:
    text = read_csv(b"a,b,c\n01,0x,1\n2,01,2\n", "t.csv", CsvOptions())
    assert text.frame.dtypes == [pl.String, pl.String, pl.Int64]
    assert len(text.notes) == 1
    assert "'a' was taken as text" in text.notes[0]


def test_dots_are_no_decimals_where_commas_are() -> None:
    text = read_csv(b"a;b\n1,5;1.500\n2,5;2.500\n3,5;900\n", "t.csv", CsvOptions())
    assert text.frame.dtypes == [pl.Float64, pl.String]


@pytest.mark.parametrize(
    ("style", "value", "text"),
    [
        (Whole(), 2.5000001, "3"),
        (Whole(), 10**17, "1" + "0" * 17),
        (Fixed(0), 2.4, "2"),
        (Fixed(2), -0.001, "0.00"),
        (Fixed(1, ","), 1234.56, "1234,6"),
        (Scientific(1), 123456.0, "1.2e+05"),
        (Truth("T!", "F!"), False, "F!"),
        (Day(), date(2024, 2, 9), "2024-02-09"),
        (Moment(has_seconds=False), datetime(2024, 1, 1, 23, 59, 31), "2024-01-02T00:00"),
        (Moment(" ", decimals=3), datetime(999, 1, 1, 1, 2, 3, 4567), "0999-01-01 01:02:03.005"),
    ],
)
def test_spelling(style: object, value: object, text: str) -> None:
    assert style.spell(value) == text
