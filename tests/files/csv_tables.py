"""Random CSV files whose every raw cell is known, so that the filled file is known too."""

import csv
import io
from dataclasses import dataclass

import polars as pl
from hypothesis import strategies as st

LETTERS = st.text(
    st.one_of(st.sampled_from('ab é"\'€'), st.sampled_from(",;\t|\n\r"), st.characters(
        exclude_categories=("Cs",), exclude_characters="\0")),
    max_size=8,
)  # fmt: skip
WHOLE = st.builds("{}{}".format, st.sampled_from(["", "", "+", "-", " "]), st.integers(1, 10**6))
DECIMAL = st.builds(
    "{}{}.{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 999),
    st.from_regex(r"\A[0-9]{1,4}\Z"),
)
DAY = st.dates().map(lambda day: day.isoformat().rjust(10, "0"))
KINDS = {"whole": WHOLE, "decimal": DECIMAL, "day": DAY, "text": LETTERS}
HOLES = ("", '""', "  ", "?", '"?"')


@dataclass
class Example:
    """A file, and what it must be when each hole gets the first observed value of its column."""

    data: bytes
    expected: bytes
    delimiter: str
    text_columns: tuple[str, ...]
    n_rows: int
    n_holes: int


@st.composite
def examples(draw: st.DrawFn) -> Example:
    delimiter = draw(st.sampled_from(",;\t|"))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    kinds = ["text", *draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=2))]
    n_rows = draw(st.integers(1, 5))
    columns = [draw(_column(kind, delimiter, n_rows)) for kind in kinds]
    names = [f"c{j}" for j in range(len(kinds))]
    last = draw(st.sampled_from([newline, ""]))
    before, after = ([names, *zip(*(c[side] for c in columns), strict=True)] for side in (0, 1))
    lines = [(newline.join(delimiter.join(r) for r in rows) + last) for rows in (before, after)]
    mark = draw(st.sampled_from(["", "\ufeff"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-16-le"])) if mark else "utf-8"
    data, expected = ((mark + text).encode(encoding) for text in lines)
    texts = tuple(name for name, kind in zip(names, kinds, strict=True) if kind == "text")
    return Example(data, expected, delimiter, texts, n_rows, sum(c[2] for c in columns))


@st.composite
def _column(draw: st.DrawFn, kind: str, delimiter: str, n_rows: int):
    """Raw cells before, raw cells after, and the number of holes."""
    observed = KINDS[kind].filter(_is_observed)
    values = draw(st.lists(observed, min_size=n_rows, max_size=n_rows))
    flags = draw(st.lists(st.booleans(), min_size=2 * n_rows, max_size=2 * n_rows))
    cells = [_raw(v, delimiter, quoted) for v, quoted in zip(values, flags[:n_rows], strict=True)]
    is_hole = [False, *flags[n_rows + 1 :]]
    holes = draw(st.lists(st.sampled_from(HOLES), min_size=n_rows, max_size=n_rows))
    before = [h if is_h else c for c, h, is_h in zip(cells, holes, is_hole, strict=True)]
    fill = values[0] if kind in ("text", "day") else _number(kind, values, is_hole)
    seen = [c for c, h in zip(cells, is_hole, strict=True) if not h]
    always = all(c.startswith('"') for c in seen)
    after = [
        _raw(fill, delimiter, always or old.startswith('"')) if h else c
        for c, h, old in zip(cells, is_hole, before, strict=True)
    ]
    return before, after, sum(is_hole)


def _is_observed(value: str) -> bool:
    return value.strip(" \t") not in ("", "?")


def _number(kind: str, values: list[str], is_hole: list[bool]) -> str:
    if kind == "whole":
        return str(int(values[0]))
    seen = [v for v, hole in zip(values, is_hole, strict=True) if not hole]
    decimals = max(len(value.partition(".")[2]) for value in seen)
    text = values[0].removeprefix("+")
    text += "0" * (decimals - len(text.partition(".")[2]))
    return text.removeprefix("-") if not float(text) else text


def _raw(value: str, delimiter: str, quoted: bool) -> str:
    """The cell as Python's own csv module writes it."""
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")
    writer.writerow([value, "x"])
    end = '"x"' if quoted else "x"
    return out.getvalue()[: -len(delimiter + end + "\r\n")]


def first_values(frame: pl.DataFrame) -> pl.DataFrame:
    """Each hole filled with the first observed value of its column."""
    return frame.with_columns(
        column.fill_null(column.drop_nulls()[0]) for column in frame if column.count()
    )
