"""What a user may say about a table and a method: each option is declared once, with its flag.

They stand in groups, dataclasses that a command takes as its options and the page as its choices.
An option for several values is repeated; names of columns may also have commas between them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from greyfill.checks import check_seconds
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.registry import DEFAULT, FILE_METHODS, METHODS, REGISTRY

COLUMNS, METHOD, OUTPUT, TEXT = "Columns", "Method", "Output", "Reading"
STREAM = "-"
MOST_NAMES = 12

LARGE = 10_000
"""From so many rows on, a method that works in processes has more to do than to start them."""

BY_ITSELF = ("auto", "cv", "cv_smallest", "masked")
LABEL_USES = ("cross", "own", "donors", "weights", "predictor", "none")
"""Not every method takes each of them; the registry has those that it does."""

FILLERS = [REGISTRY[name] for name in FILE_METHODS]
K, LABELS, SAVE = "--k", "--labels", "--save"
CHUNKED, TIME = "--chunked", "--time"


def complete_method(incomplete: str) -> list[str]:
    """The methods that begin like this."""
    return [name for name in FILE_METHODS if name.startswith(incomplete)]


def option(panel: str | None, metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value, in a panel of the help."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


def switch(help: str, *names: str, **more: Any) -> Any:
    """An option about the output that is given or not; the help shows no value behind it."""
    return option(OUTPUT, "", help, *names, **more)


JOBS = "Threads; by default all cores. The result is the same."
Jobs = Annotated[int | None, option(METHOD, "N", JOBS, "--jobs", "-j")]
Seed = Annotated[int, option(METHOD, "N", "Seed of all random draws.", "--seed", min=0)]
TARGET = "The class labels, or a measurement to predict; never imputed."
CATEGORICAL = "Numbers that are codes of categories."
NUMERIC = "Quantities that look like identifiers or missing, such as 007 or -999."
FOLDED = "Take levels as one that differ only by blanks around them or by capitals."
ORDINAL = "Ordered values; COLUMN=low,mid,high gives the order."
IGNORED = "An identifier, or anything else to leave exactly as it is."
NA_VALUES = (
    "A word that means missing, such as '?' or -999, or COLUMN=WORD for one column. Empty cells "
    "always do. Repeatable."
)
STRICT = "Guess nothing: no words for missing, no forms of dates and amounts, no lack of a header."
HEADER = "Whether the first line has the names, with no title before it; else found out."
SHEET = "The sheet of a workbook, by name or number; else the first that holds a table."
RAGGED = "Of rows with more cells than names, read the first and keep the rest as it is."
DATE_ORDER = "Day first (dmy) or month first (mdy), where no cell tells."
ABOUT_METHODS = (
    "grey, unless you name another, tunes itself and uses labels if there are any; cgknn (the "
    "paper's), fwgknn, gknn, class_mean need them, miknn to weigh columns; gbnn, iknn, sknn, knni, "
    "mice, missforest, mean do without."
)
ABOUT_LABELS = (
    "What labels may do: cross (teach, but no row is filled by its own; grey, unless you choose), "
    "own or donors (a row's own too), weights (only weigh columns; not in grey), predictor (one "
    "more column; mice), none."
)
ABOUT_TIME = "Tune about so long; what had no time is told. Else as long as it takes."
ABOUT_K = "How many donors fill a hole; grey finds them itself."


@dataclass(frozen=True)
class TableOptions:
    """What the user says about the columns of a table, and about a CSV file.

    Column options may hold several names with commas between them; a column whose own name has
    a comma is found too.
    """

    target: Annotated[str | None, option(COLUMNS, "COLUMN", TARGET, "--target", "-t")] = None
    categorical: Annotated[
        Sequence[str], option(COLUMNS, "COLUMNS", CATEGORICAL, "--categorical", "-c")
    ] = ()
    numeric: Annotated[Sequence[str], option(COLUMNS, "COLUMNS", NUMERIC, "--numeric")] = ()
    ordinal: Annotated[Sequence[str], option(COLUMNS, "COLUMNS", ORDINAL, "--ordinal")] = ()
    ignored: Annotated[Sequence[str], option(COLUMNS, "COLUMNS", IGNORED, "--ignore", "--id")] = ()
    folded: Annotated[Sequence[str], option(COLUMNS, "COLUMNS", FOLDED, "--fold")] = ()
    na_values: Annotated[Sequence[str], option(COLUMNS, "WORD", NA_VALUES, "--na-values")] = ()
    delimiter: Annotated[str | None, option(TEXT, "CHAR", "Else found out.", "--delimiter")] = None
    decimal: Annotated[
        str | None, option(TEXT, "CHAR", "Decimal mark; else found out.", "--decimal")
    ] = None
    encoding: Annotated[str | None, option(TEXT, "NAME", "Else found out.", "--encoding")] = None
    date_order: Annotated[str | None, option(TEXT, "dmy|mdy", DATE_ORDER, "--date-order")] = None
    header: Annotated[bool | None, option(TEXT, "", HEADER, "--header/--no-header")] = None
    sheet: Annotated[str | None, option(TEXT, "SHEET", SHEET, "--sheet")] = None
    ragged: Annotated[bool, option(TEXT, "", RAGGED, "--ragged")] = False
    strict: Annotated[bool, option(TEXT, "", STRICT, "--strict")] = False

    @property
    def of_text(self) -> dict[str, Any]:
        """What is said about cells and a file, as the readers of files take it."""
        names = ("delimiter", "decimal", "encoding", "date_order", "header", "sheet", "ragged")
        return {name: getattr(self, name) for name in ("na_values", *names, "strict")}


@dataclass(frozen=True)
class MethodChoice:
    """A method and its settings, as the user gave them."""

    method: Annotated[
        str,
        option(METHOD, "NAME", ABOUT_METHODS, "--method", "-m", autocompletion=complete_method),
    ] = DEFAULT
    k: Annotated[str, option(METHOD, "auto|N", ABOUT_K, "--k", "-k")] = "auto"
    labels: Annotated[str | None, option(METHOD, "USE", ABOUT_LABELS, "--labels")] = None
    time: Annotated[float | None, option(METHOD, "SECONDS", ABOUT_TIME, "--time")] = None
    jobs: Jobs = None
    seed: Seed = 0

    def check(self, *, saved: bool = False, chunked: bool = False, draws: int = 0) -> None:
        """Refuse what no table could make right."""
        check_method(self.method, "--method", [m for m in METHODS if REGISTRY[m].for_files])
        given = {
            K: self.n_neighbors != "auto", LABELS: self.labels is not None,
            SAVE: saved, CHUNKED: chunked, TIME: self.time is not None,
        }  # fmt: skip
        for name in (name for name, is_given in given.items() if is_given):
            _refuse_unless(name, self.method, [m.name for m in FILLERS if name in m.options])
        if draws:
            _refuse_unless("--draws", self.method, [m.name for m in FILLERS if m.draws])
        if self.labels not in (None, *LABEL_USES):
            raise InvalidParameterError(
                f"{LABELS} must be one of {', '.join(LABEL_USES)}, not {self.labels!r}."
            )
        if use := self.labels:
            takers = [m.name for m in FILLERS if use in m.label_uses]
            _refuse_unless(f"{LABELS} {use}", self.method, takers)
        check_seconds(TIME, self.time)
        check_jobs_option(self.jobs)

    @property
    def n_neighbors(self) -> int | str:
        """How many donors fill a hole, or how that is found out."""
        if self.k not in BY_ITSELF and not (self.k.isdecimal() and int(self.k) > 0):
            raise InvalidParameterError(f"--k must be a positive number or auto, not {self.k!r}.")
        return self.k if self.k in BY_ITSELF else int(self.k)

    def n_jobs(self, n_rows: int) -> int:
        """How many threads, or processes of chained methods, work on a table of so many rows."""
        is_quick = REGISTRY[self.method].engine == "chained" and n_rows < LARGE
        return self.jobs or (1 if is_quick else -1)

    @property
    def needs_classes(self) -> bool:
        """Whether the method cannot do without labels."""
        return (self.labels or "donors") in REGISTRY[self.method].class_uses


def _refuse_unless(option: str, method: str, takers: list[str]) -> None:
    """Refuse an option of which a method is none of the takers, and name these."""
    if method not in takers:
        unnamed = ", which is taken if none is named" if method == DEFAULT else ""
        raise InvalidParameterError(
            f"{option} has no meaning for the method {method}{unnamed}. Leave it away, or name a "
            f"method that takes it (--method): {', '.join(takers)}."
        )


def check_method(name: str, option: str, known: Iterable[str]) -> None:
    """Refuse a method that is none of those known."""
    if name not in known:
        raise InvalidParameterError(
            f"No method is called {name!r} ({option}). "
            + did_you_mean(name, known, "There are", most=99).replace("'", "")
        )


def check_jobs_option(jobs: int | None) -> None:
    """Refuse a number of threads or processes that means nothing."""
    if jobs == 0:
        raise InvalidParameterError("--jobs 0 cannot work; give a number, or -1 for all cores.")


def beside(name: str, word: str, extension: str | None = None) -> str:
    """The name of a file beside another one; the standard stream has no beside.

    >>> beside("data/votes.csv.gz", "filled"), beside("votes.csv", "report", ".html")
    ('data/votes.filled.csv.gz', 'votes.report.html')
    >>> beside("-", "filled"), beside("votes.zip", "filled"), beside("votes.xls", "filled")
    ('-', 'votes-filled.zip', 'votes.filled.xlsx')
    """
    from greyfill.files.formats import layout_of

    path = Path(name)
    if name == STREAM or not path.name:
        return name
    layout = layout_of(name)
    outer = path.suffix if layout.compression else ""
    path = path.with_suffix("") if outer else path
    inner = new = path.suffix
    if layout.format is not None and layout.format.written_as is not layout.format:
        new = layout.format.written_as.extensions[0]
    ending = new + outer if extension is None else extension
    if ending == outer:  # a dot would make the word an extension, and an unknown one
        return os.fspath(path.with_name(f"{path.name}-{word}{outer}"))
    return os.fspath(path.with_name(f"{path.name.removesuffix(inner)}.{word}{ending}"))


def did_you_mean(
    word: str, known: Iterable[str], what: str = "It has", most: int = MOST_NAMES
) -> str:
    """A guess at what was meant, and what there is.

    >>> did_you_mean("clas", ["age", "class"])
    "Did you mean 'class'? It has 'age', 'class'."
    >>> did_you_mean("x", ["age"])
    "It has 'age'."
    """
    names = list(known)
    folded = {name.casefold(): name for name in reversed(names)}
    near = get_close_matches(word.casefold(), list(folded), n=3, cutoff=0.6)
    guess = " or ".join(repr(folded[name]) for name in near)
    shown = ", ".join(map(repr, names[:most]))
    end = ", …" if len(names) > most else "."
    return (f"Did you mean {guess}? " if guess else "") + f"{what} {shown}{end}"
