"""Types and spellings of columns."""

from datetime import UTC, date, datetime

import polars as pl
import pytest

from greyfill.exceptions import InvalidDataError
from greyfill.files.column_types import ColumnEvidence, ColumnType, StrayCellsError
from greyfill.files.csv_text import CsvOptions, read_csv
from greyfill.files.styles import (
    Amount,
    Calendar,
    Day,
    Fixed,
    Moment,
    Scientific,
    Text,
    Truth,
    Whole,
)
from greyfill.files.words import find_doubts, find_sentinels, notes_on_kept


def judge(cells: pl.Series, *, strict: bool = False, mark: str = ".") -> ColumnType:
    """The type of a column that is seen in parts of two cells."""
    evidence = ColumnEvidence(cells.name, ".,", strict=strict)
    parts = [cells[start : start + 2] for start in range(0, len(cells), 2)]
    for part in parts:
        evidence.add(part)
    if evidence.may_have_form(mark):
        for part in parts:
            evidence.look_again(part)
    return evidence.column_type(mark)


@pytest.mark.parametrize(
    ("cells", "dtype", "style"),
    [
        (["1", None, "-2", "+3", " 4 "], pl.Int64, Whole()),
        (["0", "-0", "10"], pl.Int64, Whole()),
        (["1.5", "2", ".25"], pl.Float64, Fixed(2)),
        (["1.", "2."], pl.Float64, Fixed(0)),
        (["1e5", "1.25E-3"], pl.Float64, Scientific(2)),
        (["1E5", "1.25E-3", "2"], pl.Float64, Scientific(2, is_capital=True)),
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
        (["2024-02-29T10:30:00+01:00"], pl.Datetime("us", "UTC"), Moment("T", end="+01:00")),
        (["DE", "NA", "FR"], pl.String, Text()),
        (["31.12.2025", "1.2.2024"], pl.Date, Calendar(is_padded=False)),
        (["31/12/2025", "01/02/2024"], pl.Date, Calendar("dmy", "/")),
        (["12/31/2025", "01/02/2024"], pl.Date, Calendar("mdy", "/")),
        (["17-08-1984", "01-02-1990"], pl.Date, Calendar("dmy", "-")),
        (["01/02/24", "03/04/35"], pl.Date, Calendar("dmy", "/", has_short_year=True)),
        (["2020/01/28", "2020/2/1"], pl.Date, Calendar("ymd", "/")),
        (["28.01.2020 10:30", "01.02.2020 9:05"], pl.Datetime("us"), Calendar(clock=1)),
        (["1.2.10", "1.3.12"], pl.String, Text()),
        (["30.02.2020", "01.02.2020"], pl.String, Text()),
        (["12,5 %", "7 %"], pl.Float64, Amount(1, ",", after=" %")),
        (["74%", "7.5%"], pl.Float64, Amount(1, after="%")),
        (["4.196,72 €", "12,00 €"], pl.Float64, Amount(2, ",", ".", after=" €")),
        (["1.234 €", "512 €"], pl.Float64, Amount(0, ",", ".", after=" €")),
        (["$1,234", "$87"], pl.Float64, Amount(0, ".", ",", "$")),
        (["1,234.50", "12.5"], pl.Float64, Amount(2, ".", ",")),
        (["12 mg", "3.5 mg"], pl.Float64, Amount(1, after=" mg")),
        (["12 mg", "3 g"], pl.String, Text()),
        (["123 456", "123 457"], pl.String, Text()),
        (["12A", "13B"], pl.String, Text()),
        (["08:15", "17:30"], pl.String, Text()),
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
    ("cells", "missing", "dtype"),
    [
        (["1", "2", "NA", " na "], ("NA", "na"), pl.Int64),
        (["1,5", "?", "k.A.", "unknown"], ("?", "k.A.", "unknown"), pl.Float64),
        (["2024-02-29", "n/a", "-"], ("n/a", "-"), pl.Date),
        (["true", "false", "#N/A"], ("#N/A",), pl.Boolean),
        (["31.12.2025", "."], (".",), pl.Date),
        (["5 %", "--"], ("--",), pl.Float64),
        (["1,5", "fehlt", "Non renseigné"], ("fehlt", "Non renseigné"), pl.Float64),
        (["M", "F", "NA", "?"], ("NA", "?"), pl.String),
        (["low", "none", "unknown", "-", "N/A"], ("N/A",), pl.String),
        (["DE", "US", "NA", "?"], ("?",), pl.String),
        (["A", "B", "C", "D", "AA", "T", "IBM", "MMM", "NA"], (), pl.String),
        (["Na", "Cl", "nil"], (), pl.String),
        (["NA", "NA"], ("NA",), pl.Null),
        (["007", "NA", "012"], ("NA",), pl.String),
    ],
)
def test_words_that_are_taken_as_missing(cells: list[str], missing: tuple[str], dtype) -> None:
    column = pl.Series("x", cells)
    verdict = judge(column, mark=",")
    observed = verdict.observed(column)
    assert sorted(verdict.missing) == sorted(missing)
    assert observed.null_count() == sum(cell.strip() in missing for cell in cells)
    assert verdict.parse(observed).dtype == dtype
    assert [guess.cells for guess in verdict.guesses if guess.kind == "missing"] == (
        [observed.null_count()] if missing else []
    )


def test_codes_are_told_by_the_name_of_their_column() -> None:
    for name, missing in (("region", ()), ("grade", ("NA",))):
        assert judge(pl.Series(name, ["EMEA", "APAC", "NA"])).missing == missing


@pytest.mark.parametrize(
    ("values", "told", "taken"),
    [
        ([-999, 1, 2, 3, 4, 5, -999], ["-999"], True),
        ([-999, 1, 2, 3, 4, 5], ["-999"], False),
        ([-9999.0, -20.5, 3.5, 8, 12, 20.25, -9999], ["-9999"], True),
        ([-999, -5000, 2, 3, 4, 50_000, -999], [], False),
        ([99, 1, 2, 3, 4, 5, 99], ["99"], False),
        ([9, 1, 2, 3, 4, 5, 9], ["9"], False),
        ([9, 10, 2, 3, 4, 5, 9], [], False),
        ([99, 98, 90, 20, 50, 70, 99], [], False),
        ([-9, 1, 2, 3, 4, 5], ["-9"], False),
        ([-999, 1, 1, 0, 1, 0, -999], ["-999"], False),
        ([-9, 1, 2, 3, 4], ["-9"], False),
        ([9, 1, 2, 1, 9], ["9"], False),
        ([99, 0, 1, 2, 99], ["99"], False),
        ([3, 6, 9, 3, 6, 9], [], False),
        ([0, 9, 9], [], False),
    ],
)
def test_numbers_for_missing(values: list[float], told: list[str], taken: bool) -> None:
    found = find_sentinels(pl.Series(values, dtype=pl.Float64))
    assert [sentinel.word for sentinel in found] == told
    assert any(sentinel.is_overwhelming for sentinel in found) == taken


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
        judge(column, strict=True)
    assert caught.value.row_in(column) == row
    words = caught.value.words_in(column, strict=True)
    assert next(iter(words)) == word
    message = str(caught.value.for_user("t.csv, line 7", "x", words))
    assert message.startswith("t.csv, line 7: ")
    assert repr(word) in message
    assert "--na-values" in message


def test_stray_word_names_file_line_and_column() -> None:
    data = b'a,b\n"x\ny",1\nz,2\nz,NULL\nz,4\n'
    with pytest.raises(InvalidDataError, match=r"^t\.csv, line 5, column 'b': .*'NULL'"):
        read_csv(data, "t.csv", CsvOptions(strict=True))
    data = data.replace(b"NULL", b"low") + b"z,high\n"
    with pytest.raises(InvalidDataError, match=r"and 1 more do not: 'low' \(also 'high'\)"):
        read_csv(data, "t.csv", CsvOptions())


def test_signs_of_thousands_are_no_decimal_marks_where_others_are_sure() -> None:
    rows = "".join(f"{n}00;1.{n}00;12.{n}50\n" for n in range(1, 9))
    data = f"x;y;z\n{rows}".replace("100;1.100", "100,5;1.100").encode()
    text = read_csv(data, "t.csv", CsvOptions())
    assert text.frame.row(0) == (100.5, 1100.0, 12150.0)
    alone = read_csv(b"a;b\n1;2.675\n2;3.125\n", "t.csv", CsvOptions())
    assert alone.frame["b"].to_list() == [2.675, 3.125]


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
    data = b"count,word\nx,NA\ny,NA\nz,b\n"
    (note,) = read_csv(data, "t.csv", CsvOptions()).notes
    assert note.startswith("Taken as missing: 'NA' in 'word' (2). If it is a value")
    text = read_csv(data, "t.csv", CsvOptions(strict=True))
    (note,) = (*text.notes, *notes_on_kept(find_doubts(text.frame)))
    assert note.startswith("Kept as a value, though it may mean missing: 'NA' in 'word' (2).")
    assert find_doubts(text.frame, sure=["word"]) == ()


@pytest.mark.parametrize(
    ("words", "doubted"),
    [
        (["a", "-", "none", "-"], {"-": True, "none": False}),
        (["-", "none", "none"], {"-": True}),
        (["-", "+", "++", "?"], {"-": False, "?": True}),
        (["none", "unknown"], {}),
        (["-", "?", None], {}),
    ],
)
def test_a_doubt_leaves_a_value_in_its_column(words, doubted) -> None:
    found = find_doubts(pl.DataFrame({"word": words}))
    assert {doubt.word: doubt.is_likely for doubt in found} == doubted
    told = [word for word, is_likely in doubted.items() if is_likely]
    kept = notes_on_kept(found)
    assert [note.kind for note in kept] == ["kept"] * bool(told)
    assert all(repr(word) in note for note in kept for word in told)


def test_identifiers_are_noted() -> None:
    text = read_csv(b"a,b,c\n01,0x,1\n2,01,2\n", "t.csv", CsvOptions())
    assert text.frame.dtypes == [pl.String, pl.String, pl.Int64]
    assert len(text.notes) == 1
    assert "'a' was taken as text" in text.notes[0]


def test_dots_are_no_decimals_where_commas_are() -> None:
    text = read_csv(b"a;b\n1,5;1.500\n2,5;2.500\n3,5;900\n", "t.csv", CsvOptions())
    assert text.frame.rows()[0] == (1.5, 1500.0)
    data = b"a;b\n1,5;1.500\n2,5;2.500\n3,5;900\n"
    text = read_csv(data, "t.csv", CsvOptions(strict=True))
    assert text.frame.dtypes == [pl.Float64, pl.String]


def test_the_order_of_days_is_told_by_another_column_or_by_the_user() -> None:
    data = b"a,b\n01/02/2020,01/13/2020\n03/04/2020,02/01/2020\n"
    text = read_csv(data, "t.csv", CsvOptions())
    assert text.frame["a"].to_list() == [date(2020, 1, 2), date(2020, 3, 4)]
    alone = data.replace(b"/13/", b"/12/")
    told = {}
    for order in (None, "mdy"):
        text = read_csv(alone, "t.csv", CsvOptions(date_order=order))
        told[order] = text.frame["a"][0]
        assert any("--date-order" in note for note in text.notes)
    assert told == {None: date(2020, 2, 1), "mdy": date(2020, 1, 2)}


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
        (Amount(2, ",", ".", after=" €"), -4196.719, "-4.196,72 €"),
        (Amount(0, ".", "'", "CHF "), 1234567.4, "CHF 1'234'567"),
        (Amount(1, after=" %"), -0.01, "0.0 %"),
        (Calendar("mdy", "/", False, True), date(2005, 2, 9), "2/9/05"),
        (Calendar(clock=1), datetime(2024, 2, 9, 23, 59, 31), "10.02.2024 00:00"),
        (Moment(end="+02:00"), datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T02:00:00+02:00"),
        (Moment(has_seconds=False), datetime(2024, 1, 1, 23, 59, 31), "2024-01-02T00:00"),
        (Moment(" ", decimals=3), datetime(999, 1, 1, 1, 2, 3, 4567), "0999-01-01 01:02:03.005"),
    ],
)
def test_spelling(style: object, value: object, text: str) -> None:
    assert style.spell(value) == text
