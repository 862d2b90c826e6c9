"""Small files that imitate real exports, each with its trap, and what must become of each.

``EXPORTS`` has the bytes of each file, made from fixed random numbers, and what must be told of it:
the guesses by kind, the columns that are left alone, and the kinds of some columns. To look at
them, or to run `benchmarks/messy_files.py` over them:

    python tests/corpus/exports.py FOLDER
"""

import bz2
import gzip
import io
import json
import random
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

N = 60
"""Rows of most files: enough to tell an identifier."""


@dataclass(frozen=True)
class Export:
    """A file, its trap, and what must be told of it."""

    name: str
    make: Callable[[], bytes]
    trap: str
    guesses: dict[str, str] = field(default_factory=dict)
    alone: str = ""
    kinds: dict[str, str] = field(default_factory=dict)
    told: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def draws(*columns: list[str] | str, seed: int = 1, n: int = N) -> list[list[str]]:
    """Rows; a column is drawn from words, or made of the number of its row by a format."""
    rng = random.Random(seed)
    return [
        [c.format(i=i, j=i * i * 37 % 1009, u=rng.random()) if isinstance(c, str) else rng.choice(c)
         for c in columns]
        for i in range(n)
    ]  # fmt: skip


def text(
    header: str, *columns: list[str] | str, mark: str = ",", end: str = "\n", **options: int
) -> str:
    rows = [mark.join(row) for row in draws(*columns, **options)]
    return end.join([*([header] if header else []), *rows]) + end


def numbers(low: int, high: int, *words: str, step: float = 1, form: str = "{:g}") -> list[str]:
    """Numbers in a range, each word for missing as often as five of them."""
    made = [form.format(low + step * k) for k in range(int((high - low) / step))]
    return made * (1 + 2 * len(words) // 3) + list(words) * max(1, len(made) // 5)


def csv(*arguments: Any, encoding: str = "utf-8", **options: Any) -> Callable[[], bytes]:
    return lambda: text(*arguments, **options).encode(encoding)


AGE, DOSE = numbers(20, 80), numbers(0, 9, step=0.5, form="{:.1f}")
YES = ["yes", "no"]
SEX = ["female", "male"]


def frame() -> pl.DataFrame:
    rows = draws(AGE, DOSE, SEX)
    made = pl.DataFrame(rows, schema=["age", "dose", "sex"], orient="row")
    made = made.with_columns(pl.col("age").cast(pl.Int64), pl.col("dose").cast(pl.Float64))
    hidden = pl.int_range(pl.len()) % 7
    return made.with_columns(
        age=pl.when(hidden == 3).then(None).otherwise("age"),
        sex=pl.when(hidden == 5).then(None).otherwise("sex"),
    )


def written(method: str, change: Callable[[pl.DataFrame], pl.DataFrame] = lambda f: f) -> bytes:
    buffer = io.BytesIO()
    getattr(change(frame()), method)(buffer)
    return buffer.getvalue()


def book(*sheets: tuple[str, list[list[Any]]], shift: int = 0) -> bytes:
    import openpyxl

    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets:
        sheet = made.create_sheet(title)
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                sheet.cell(i + 1 + shift, j + 1 + shift, value)
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def cells(*extra: list[str] | str) -> list[list[Any]]:
    """Rows of a sheet, numbers as numbers."""
    rows = draws(AGE, DOSE, SEX, *extra)
    return [[int(a), float(b), *more] for a, b, *more in rows]


def ods() -> bytes:
    def cell(value: Any) -> str:
        if isinstance(value, str):
            words = f"<text:p>{value}</text:p>"
            return f'<table:table-cell office:value-type="string">{words}</table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    rows = [["age", "dose", "sex"], *cells()]
    rows[3][2] = "?"
    body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    names = " ".join(
        f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"'
        for n in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content {names} office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="Data">{body}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("content.xml", content)
        package.writestr("META-INF/manifest.xml", "<manifest/>")
    return buffer.getvalue()


def coded(ending: str) -> bytes:
    import tempfile

    import pyreadstat

    made = pl.DataFrame(
        {
            "sex": [1.0, 2.0, 9.0, 2.0, None, 1.0] * 10,
            "age": [float(i % 47 + 20) for i in range(60)],
        }
    )
    labels = {"sex": {1.0: "male", 2.0: "female", 9.0: "no answer"}}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/t.{ending}"
        if ending == "sav":
            more = {"missing_ranges": {"sex": [9.0]}, "variable_value_labels": labels}
            pyreadstat.write_sav(made, path, **more)
        elif ending == "xpt":
            pyreadstat.write_xport(made, path)
        else:
            labels["sex"] = {int(code): label for code, label in labels["sex"].items()}  # type: ignore[misc]
            pyreadstat.write_dta(made, path, variable_value_labels=labels)
        return Path(path).read_bytes()


def block() -> bytes:
    rows = draws(AGE, *[DOSE] * 4, YES)
    for i in range(0, N, 3):
        rows[i][1:5] = [""] * 4
    return "\n".join(["age,t1,t2,t3,t4,outcome", *map(",".join, rows)]).encode() + b"\n"


def holes(raw: bytes, every: int = 9, mark: bytes = b",", word: bytes = b"") -> bytes:
    """The same rows with a word in the second cell of some."""
    lines = raw.split(b"\n")
    for i in range(2, len(lines) - 1, every):
        row = lines[i].split(mark)
        row[1] = word
        lines[i] = mark.join(row)
    return b"\n".join(lines)


def xls() -> bytes:
    """A workbook of the years before 2007: records in a compound file, by hand."""
    from struct import pack

    def record(kind: int, data: bytes) -> bytes:
        return pack("<HH", kind, len(data)) + data

    def start(kind: int) -> bytes:
        return record(0x809, pack("<HHHHII", 0x600, kind, 0x0DBB, 1996, 0, 6))

    def label(row: int, column: int, word: str) -> bytes:
        raw = word.encode("latin-1")
        return record(0x204, pack("<HHHHB", row, column, 0, len(raw), 0) + raw)

    rows = [["age", "dose", "sex"], *cells()]
    sheet = start(0x10) + record(0x200, pack("<IIHHH", 0, len(rows), 0, 3, 0))
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if isinstance(value, str):
                sheet += label(i, j, "?" if i == 4 and j == 2 else value)
            else:
                sheet += record(0x203, pack("<HHHd", i, j, 0, value))
    sheet += record(0x0A, b"")
    head = start(5) + record(0x42, pack("<H", 1200))
    bound = record(0x85, pack("<IBBBB", 0, 0, 0, 4, 0) + b"Data")
    place = len(head) + len(bound) + 4
    bound = record(0x85, pack("<IBBBB", place, 0, 0, 4, 0) + b"Data")
    stream = head + bound + record(0x0A, b"") + sheet
    stream += b"\0" * (-len(stream) % 512 + 4096 * (len(stream) < 4096))
    n = len(stream) // 512
    fat = [0xFFFFFFFD, 0xFFFFFFFE, *(k + 3 for k in range(n - 1)), 0xFFFFFFFE]
    fat += [0xFFFFFFFF] * (128 - len(fat))

    def entry(name: str, kind: int, child: int, first: int, size: int) -> bytes:
        raw = (name + "\0").encode("utf-16-le")
        tail = pack("<HBBIII", len(raw) if name else 0, kind, 1, *[0xFFFFFFFF] * 2, child)
        return raw.ljust(64, b"\0")[:64] + tail + b"\0" * 36 + pack("<IQ", first, size)

    directory = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry(
        "Workbook", 2, 0xFFFFFFFF, 2, len(stream)
    )
    directory += entry("", 0, 0xFFFFFFFF, 0, 0) * 2
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    header += pack(
        "<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0
    )
    header += pack("<I", 0) + pack("<I", 0xFFFFFFFF) * 108
    return header + pack("<128I", *fat) + directory + stream


def arff() -> bytes:
    head = "% made up\n@RELATION doses\n@attribute age integer\n@attribute 'the dose' real\n"
    head += "@attribute sex {female, male}\n\n@DATA\n"
    return (head + text("", numbers(20, 80, "?"), DOSE, [*SEX, "?"])).encode()


def zipped(made: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("export/table.csv"), made)
    return buffer.getvalue()


def lab() -> bytes:
    rows = draws(AGE, DOSE, YES)
    rows[7][1], rows[9][1], rows[11][1] = "<0.5", "<0.5", "NA"
    return "\n".join(["age,crp,outcome", *map(",".join, rows)]).encode() + b"\n"


def nested(made: pl.DataFrame) -> pl.DataFrame:
    return made.with_columns(tags=pl.concat_list("age", "age"))


MISSING, DATES, AMOUNTS = "missing", "dates", "amounts"
WORDS_16 = [
    f"{a} {b}" for a in ("old", "new", "big", "small") for b in ("one", "two", "three", "four")
]

EXPORTS = [
    Export(
        "kidney.csv",
        csv(
            "age,bp,rbc,dm,class",
            numbers(20, 80, "?", "\t?"),
            numbers(50, 90, "?"),
            ["normal", "abnormal", "?"],
            ["yes", "no", "\tno", " yes"],
            ["ckd", "ckd\t", "notckd"],
        ),
        "question marks, with tabs; levels that differ by blanks",
        {MISSING: "age bp rbc"},
        kinds={"age": "numeric", "rbc": "categorical"},
        told="class: levels that differ only by blanks",
    ),
    Export(
        "from_r.csv",
        csv('"","age","sex"', '"{i}"', numbers(20, 80, "NA"), ['"f"', '"m"', "NA"]),
        "names of rows in quotes without a name, NA without quotes",
        {MISSING: "age sex"},
        alone="column_1",
    ),
    Export(
        "from_r_table.txt",
        csv("age dose sex", '"{i}"', numbers(20, 80, "NA"), DOSE, ['"f"', '"m"', "NA"], mark=" "),
        "blanks between cells; the header lacks the name of the first column",
        {MISSING: "age sex", "header": ""},
        alone="column_1",
    ),
    Export(
        "iris.data",
        csv(
            "",
            DOSE,
            DOSE,
            numbers(0, 7, "?", step=0.5, form="{:.1f}"),
            ["Iris-setosa", "Iris-virginica"],
        ),
        "no header, and an extension that says nothing",
        {"header": "", MISSING: "column_3"},
        kinds={"column_1": "numeric", "column_4": "categorical"},
    ),
    Export(
        "adult.data",
        csv("", AGE, ["State-gov", "Private", "?"], "{j}7", ["<=50K", ">50K"], mark=", "),
        "no header, a blank behind each comma, question marks in text",
        {"header": "", MISSING: "column_2"},
        kinds={"column_2": "categorical"},
        alone="column_3",
    ),
    Export(
        "votes.data",
        csv("", ["republican", "democrat"], *[["y", "n", "?"]] * 5),
        "no header and no number",
        {"header": "", MISSING: "column_2 column_3 column_4 column_5 column_6"},
    ),
    Export(
        "auto-mpg.data",
        csv(
            "",
            numbers(10, 40, step=0.5, form="{:.1f}"),
            ["4", "6", "8"],
            numbers(46, 200, "?", form="{:.1f}"),
            '\t"car {i}"',
            mark="   ",
        ),
        "several blanks and tabs between cells",
        {"header": "", MISSING: "column_3"},
        alone="column_4",
    ),
    Export(
        "klinik.csv",
        csv(
            "Fall;Größe;Aufnahme;Befund",
            "F{j:05d}",
            numbers(150, 190, "k.A.", step=0.5, form="{:.1f}".replace(".", ".")),
            ["31.12.2025", "01.02.2024", "17.05.2024", ""],
            ["positiv", "negativ", "k.A."],
            mark=";",
            encoding="cp1252",
        ),
        "German words and dates in an encoding of Windows",
        {MISSING: "Größe Befund", DATES: "Aufnahme"},
        alone="Fall",
        kinds={"Aufnahme": "date"},
    ),
    Export(
        "rechnung.csv",
        csv(
            "Betrag;Rabatt;Kunde",
            ['"4.196,72 €"', '"12,00 €"', '"1.050,10 €"', ""],
            ["12,5 %", "7 %", "0 %", "-"],
            WORDS_16,
            mark=";",
        ),
        "German amounts and percentages",
        {AMOUNTS: "Betrag Rabatt", MISSING: "Rabatt"},
        kinds={"Betrag": "numeric", "Rabatt": "numeric"},
    ),
    Export(
        "sales.csv",
        csv(
            "when,amount,share,shop",
            ["12/31/2024", "01/05/2024", "2/7/2024"],
            ['"$1,234.50"', "$87.00", '"$12,000.00"', ""],
            ["5%", "7.5%", "n/a"],
            WORDS_16,
        ),
        "American dates, amounts in dollars",
        {DATES: "when", AMOUNTS: "amount share", MISSING: "share"},
        kinds={"when": "date", "amount": "numeric"},
    ),
    Export(
        "ambiguous.csv",
        csv("when,age", ["06/04/2025", "01/02/2024", "11/12/2023"], [*AGE, ""]),
        "dates that can be read in two ways",
        {DATES: "when"},
        told="--date-order mdy",
    ),
    Export(
        "births.csv",
        csv("born,age", ["17-08-1984", "01-02-1990", "30-11-1977", ""], AGE),
        "dates with hyphens, the day first",
        {DATES: "born"},
        kinds={"born": "date"},
    ),
    Export(
        "visits.csv",
        csv("at,age", ["28.01.2020 10:30", "01.02.2020 9:05", ""], AGE),
        "dates with times",
        {DATES: "at"},
        kinds={"at": "datetime"},
    ),
    Export(
        "zones.csv",
        csv("at,age", ["2024-01-05T10:30:00+01:00", "2024-07-05T10:30:00+02:00", ""], AGE),
        "moments with an offset from UTC",
        kinds={"at": "datetime"},
    ),
    Export(
        "clock.csv",
        csv("at,age", ["08:15", "17:30", "9:05"], [*AGE, ""]),
        "times of day, which stay categories",
        kinds={"at": "categorical"},
        told="times of day",
    ),
    Export(
        "tickers.csv",
        csv("ticker,price", ["NA", "T", "A", "IBM"], [*DOSE, ""]),
        "a ticker that is called NA",
        kinds={"ticker": "categorical"},
        told="'NA'",
    ),
    Export(
        "countries.csv",
        csv("iso,pop", ["DE", "NA", "FR", "US"], numbers(1, 90, "NA")),
        "Namibia among countries, NA among numbers",
        {MISSING: "pop"},
    ),
    Export(
        "regions.csv", csv("region,sales", ["EMEA", "APAC", "NA"], [*DOSE, ""]), "North America"
    ),
    Export(
        "houses.csv",
        csv("Alley,LotArea,Fence", ["NA", "Grvl", "Pave"], [*AGE, ""], ["MnPrv", "NA", "GdWo"]),
        "NA that may mean 'none'",
        {MISSING: "Alley Fence"},
    ),
    Export(
        "elements.csv",
        csv("element,mass", ["Na", "Cl", "K", "Mg"], [*DOSE, "?"]),
        "sodium",
        {MISSING: "mass"},
    ),
    Export(
        "weather.csv",
        csv("temp,rain", numbers(-20, 35, "-999"), numbers(0, 50, "-9999", form="{:.1f}")),
        "numbers that can only mean missing",
        {"sentinel": "temp rain"},
        kinds={"temp": "numeric"},
    ),
    Export(
        "survey.csv",
        csv(
            "q1,q2,kids",
            ["1", "2", "3", "4", "5", "9"],
            numbers(18, 70, "99", "999"),
            ["0", "1", "2", "3", "4", "-9"],
        ),
        "numbers that may mean missing, which are told but not taken",
        {},
        told="--na-values=q1=9",
    ),
    Export(
        "sas.csv",
        csv("sbp,dbp,arm", numbers(100, 160, "."), numbers(60, 90, "."), ["A", "B"]),
        "dots for missing",
        {MISSING: "sbp dbp"},
        kinds={"sbp": "numeric"},
    ),
    Export(
        "sheet_errors.csv",
        csv(
            "ratio,count,kind",
            ["0.5", "0.25", "#DIV/0!", "#N/A"],
            numbers(0, 50, "#REF!"),
            ["a", "b", "#N/A"],
        ),
        "errors of a spreadsheet",
        {MISSING: "ratio count kind"},
    ),
    Export(
        "python.csv",
        csv("score,level", numbers(0, 9, "None", "nan"), ["none", "some", "None", "nan"]),
        "None in numbers is missing, in words it may be a level",
        {MISSING: "score level"},
        told="'none'",
    ),
    Export(
        "dump.tsv",
        csv("id\tage\tname", "{i}", numbers(20, 80, "NULL", "\\N"), ["x", "y", "\\N"], mark="\t"),
        "words of databases",
        {MISSING: "age name"},
        alone="id",
    ),
    Export(
        "titanic.csv",
        csv(
            "PassengerId,Survived,Name,Age,Ticket,Cabin,Embarked",
            "{i}",
            ["0", "1"],
            '"Smith, Mr. No {i}"',
            [*AGE, ""],
            "A/5 {j}",
            ["", "", "", "C85", "E46", "G6"],
            ["S", "C", "Q", ""],
        ),
        "identifiers and names with holes",
        alone="PassengerId Name Ticket",
        kinds={"Age": "numeric"},
    ),
    Export(
        "zips.csv",
        csv("zip,age", ["01234", "90210", "00501"], [*AGE, ""]),
        "numbers with leading zeros stay text",
        kinds={"zip": "categorical"},
        told="leading zeros",
    ),
    Export(
        "cases.csv",
        csv("case_no,age,result", "{j}{i}", [*AGE, ""], YES),
        "numbers of cases",
        alone="case_no",
    ),
    Export(
        "comments.csv",
        csv("age,comment", [*AGE, ""], "the bird number {i} was seen near the lake at {u}"),
        "free text",
        alone="comment",
    ),
    Export(
        "constant.csv",
        csv("site,age", ["Bern", ""], [*AGE, ""]),
        "a constant with holes",
        alone="site",
    ),
    Export(
        "years.csv",
        csv("country,2019,2020,2021", WORDS_16, numbers(1, 50, ".."), AGE, AGE),
        "names that are numbers",
        kinds={"2020": "numeric"},
        told="'..'",
    ),
    Export(
        "titled.csv",
        lambda: (
            b"Cases of 2024\nmade up\n\n"
            + holes(text("id;age;sex", "{i}", AGE, SEX, mark=";").encode(), mark=b";")
        ),
        "a title above the table",
        {"title": ""},
        alone="id",
    ),
    Export(
        "sep.csv",
        lambda: b"sep=;\r\n" + holes(text("sex;age", SEX, AGE, mark=";").encode(), mark=b";"),
        "a line for spreadsheets",
    ),
    Export(
        "unicode.txt",
        csv("größe\tsex", numbers(150, 190, "?"), ["f", "m", ""], mark="\t", encoding="utf-16"),
        "UTF-16 with tabs",
        {MISSING: "größe"},
    ),
    Export(
        "bom.csv",
        csv("alter;sex", numbers(20, 80, "k.A."), ["f", "m", ""], mark=";", encoding="utf-8-sig"),
        "a byte order mark",
        {MISSING: "alter"},
        kinds={"alter": "numeric"},
    ),
    Export(
        "mac.csv",
        csv("age,sex", numbers(20, 80, "?"), SEX, end="\r"),
        "lines that end with CR",
        {MISSING: "age"},
    ),
    Export(
        "pipes.txt",
        csv("age|name", numbers(20, 80, "?"), WORDS_16, mark="|"),
        "bars between cells",
        {MISSING: "age"},
    ),
    Export(
        "short.csv",
        lambda: text("age,dose,sex", AGE, DOSE, [*SEX, ""]).replace(",\n", "\n").encode(),
        "rows that lack their last cells",
        {"rows": ""},
    ),
    Export(
        "twice.csv",
        csv("value,value,unit", [*AGE, ""], DOSE, ["kg", "lb"]),
        "a name that appears twice",
        {"names": ""},
    ),
    Export(
        "trailing.csv",
        csv("age,sex,", numbers(20, 80, "?"), SEX, [""]),
        "a delimiter at the end of each line",
        {MISSING: "age"},
        kinds={"column_3": "empty"},
    ),
    Export(
        "fake.xls",
        csv("age\tsex", numbers(20, 80, "NA"), SEX, mark="\t"),
        "text that calls itself Excel",
        {MISSING: "age"},
    ),
    Export(
        "swiss.csv",
        csv("chf,age", ["1'234.50", "12'000.00", "87.25", ""], AGE),
        "apostrophes for thousands",
        {AMOUNTS: "chf"},
    ),
    Export(
        "french.csv",
        csv("prix;age", ["1\u00a0234,50", "87,00", "12\u00a0000,25", ""], AGE, mark=";"),
        "blanks that do not break, for thousands",
        {AMOUNTS: "prix"},
        kinds={"prix": "numeric"},
    ),
    Export(
        "thousands.csv",
        csv("people,age", ['"9,819"', '"12,512"', '"400"', ""], AGE),
        "commas for thousands",
        {AMOUNTS: "people"},
    ),
    Export(
        "quoted.csv",
        lambda: holes(
            text('"age","sex"', ['"21"', '"34"', '"50"'], ['"f"', '"m"']).encode(), word=b'""'
        ),
        "all cells in quotes",
        kinds={"age": "numeric"},
    ),
    Export(
        "flags.csv",
        csv("ok,age", ["TRUE", "FALSE", "NA"], AGE),
        "true and false with NA",
        {MISSING: "ok"},
        kinds={"ok": "categorical"},
    ),
    Export(
        "lab.csv",
        lab,
        "values below a limit among numbers",
        {MISSING: "crp"},
        told="'--na-values=crp=<0.5'",
    ),
    Export(
        "block.csv",
        block,
        "columns that are missing together",
        told="lack these 4 columns together",
    ),
    Export(
        "codes.csv",
        csv("sex,age", ["1", "2"], [*AGE, ""]),
        "codes of categories",
        told="--categorical=sex",
    ),
    Export(
        "stored.csv",
        csv("grade,age", ["1", "2", "3", "4", "4+", "3-", "2+", "1-"], [*AGE, ""]),
        "numbers among words",
        told="are numbers",
    ),
    Export(
        "single.txt",
        lambda: b"12.5\n13\n?\n15.25\n11\n12\n",
        "one column of numbers",
        {"header": "", MISSING: "column_1"},
    ),
    Export(
        "packed.names.gz",
        lambda: gzip.compress(text("age,sex", numbers(20, 80, "?"), SEX).encode(), mtime=0),
        "compressed, with an extension that says nothing",
        {MISSING: "age"},
    ),
    Export(
        "book.xlsx",
        lambda: book(
            ("Notes", [["made up"]]),
            ("Data", [["age", "dose", "sex"], *cells()[:20], [None, 1.5, "?"]]),
            shift=2,
        ),
        "notes in the first sheet, a table that does not begin in A1",
        {"sheet": "", MISSING: "sex"},
        kinds={"age": "numeric"},
    ),
    Export(
        "words.xlsx",
        lambda: book(
            (
                "Data",
                [
                    ["age", "dose", "sex", "n"],
                    *cells(numbers(1, 50, "NA")),
                    ["?", 1.5, "male", "7"],
                ],
            )
        ),
        "numbers stored as text, words among numbers",
        {MISSING: "age n"},
        kinds={"age": "numeric", "n": "numeric"},
    ),
    Export(
        "old.xls",
        xls,
        "a workbook of the years before 2007",
        {MISSING: "sex"},
        kinds={"age": "numeric"},
    ),
    Export(
        "logger.csv",
        lambda: holes(text("age,dose,sex", AGE, DOSE, SEX).encode(), word=b"\0") + b"\0" * 40,
        "zero bytes in cells, and behind the last line, which was cut off",
        {"zeros": ""},
        kinds={"dose": "numeric", "sex": "categorical"},
        told="Zero bytes in line",
    ),
    Export(
        "old_mac.csv",
        lambda: holes(text("age,dose,sex", AGE, DOSE, SEX).encode()).replace(
            b"male\n", b"ma\rle\n", 1
        ),
        "a carriage return alone in a cell of a text whose lines end otherwise",
        {"returns": ""},
        told="A carriage return alone in line",
    ),
    Export(
        "remarks.csv",
        csv("age,dose,note", numbers(20, 80, ""), DOSE, ["fine", "ill", "ill, again"]),
        "a comma in cells without quotes: rows of 4 cells under 3 names",
        kinds={"age": "numeric"},
        told="cells under 3 names",
    ),
    Export(
        "row_ends.csv",
        csv("age,dose,sex", numbers(20, 80, ""), DOSE, SEX, [""]),
        "a delimiter at the end of each row, none at that of the header",
        {"rows": ""},
        kinds={"age": "numeric", "sex": "categorical"},
    ),
    Export(
        "uneven.csv",
        lambda: text("age,dose", "r{i}", numbers(20, 80, ""), DOSE).encode() + b"r90,31\n",
        "names of rows without a name, and a row that is too short",
        {"header": "", "rows": ""},
        alone="column_1",
        kinds={"age": "numeric"},
    ),
    Export(
        "mainframe.txt",
        csv("age^dose^sex", numbers(20, 80, ""), DOSE, SEX, mark="^"),
        "a rare delimiter",
        kinds={"age": "numeric", "sex": "categorical"},
    ),
    Export(
        "archive.zip",
        lambda: zipped(text("age,sex", numbers(20, 80, "?"), SEX)),
        "a text in a zip file",
        {MISSING: "age"},
        kinds={"age": "numeric"},
    ),
    Export(
        "packed.csv.bz2",
        lambda: bz2.compress(text("age,sex", numbers(20, 80, "?"), SEX).encode()),
        "a text in a bzip2 file",
        {MISSING: "age"},
        kinds={"age": "numeric"},
    ),
    Export(
        "free.ods", ods, "a workbook of LibreOffice", {MISSING: "sex"}, kinds={"age": "numeric"}
    ),
    Export(
        "doses.arff", arff, "the format of Weka", kinds={"age": "numeric", "sex": "categorical"}
    ),
    Export(
        "study.sav",
        lambda: coded("sav"),
        "SPSS with labels and a code for missing",
        {"labels": "sex", MISSING: "sex"},
        kinds={"sex": "categorical", "age": "numeric"},
    ),
    Export(
        "study.dta",
        lambda: coded("dta"),
        "Stata with labels",
        {"labels": "sex"},
        kinds={"sex": "categorical"},
    ),
    Export(
        "study.xpt",
        lambda: coded("xpt"),
        "the transport format of SAS",
        kinds={"sex": "numeric", "age": "numeric"},
        told="written as .csv",
    ),
    Export(
        "records.json",
        lambda: json.dumps(frame().to_dicts()).encode(),
        "an array of records",
        kinds={"age": "numeric"},
    ),
    Export("lines.jsonl", lambda: written("write_ndjson"), "JSON lines", kinds={"age": "numeric"}),
    Export(
        "table.parquet", lambda: written("write_parquet"), "Parquet", kinds={"sex": "categorical"}
    ),
    Export(
        "nested.parquet",
        lambda: written("write_parquet", nested),
        "lists in cells",
        kinds={"age": "numeric"},
    ),
    Export(
        "blob.parquet",
        lambda: written("write_parquet", lambda f: f.with_columns(blob=pl.lit(b"\0\1"))),
        "bytes in cells",
        kinds={"age": "numeric"},
    ),
    Export(
        "columns.json",
        lambda: json.dumps(frame().to_dict(as_series=False)).encode(),
        "an object of columns",
        kinds={"age": "numeric"},
        told="written as an array of records",
    ),
    Export("table.feather", lambda: written("write_ipc"), "Arrow", kinds={"sex": "categorical"}),
]


def write(folder: Path) -> None:
    """All files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for export in EXPORTS:
        (folder / export.name).write_bytes(export.make())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    print(f"wrote {len(EXPORTS)} files into {sys.argv[1]}")
