"""The options of all commands: each is declared once, in groups that commands take as dataclasses.

An option for several values is repeated; names of columns may also have commas between them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from greyfill.checks import check_seconds
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.registry import DEFAULT, FILE_METHODS, METHODS, REGISTRY

if TYPE_CHECKING:
    from greyfill.cli.console import Console

COLUMNS, METHOD, OUTPUT, TEXT = "Columns", "Method", "Output", "Reading"
DEBUG = "greyfill.debug"
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


def _set_debug(ctx: typer.Context, wanted: bool) -> bool:
    ctx.meta[DEBUG] = wanted
    return wanted


def option(panel: str | None, metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value, in a panel of the help."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


def switch(help: str, *names: str, **more: Any) -> Any:
    """An option about the output that is given or not; the help shows no value behind it."""
    return option(OUTPUT, "", help, *names, **more)


FILE = (
    "CSV or alike, Excel, Parquet, Arrow, JSON, ARFF, SPSS, Stata or SAS, also .gz, .zst, .bz2, "
    ".xz and .zip; - for stdin."
)
File = Annotated[str, typer.Argument(metavar="FILE", help=FILE)]
JOBS = "Threads; by default all cores. The result is the same."
Jobs = Annotated[int | None, option(METHOD, "N", JOBS, "--jobs", "-j")]
Seed = Annotated[int, option(METHOD, "N", "Seed of all random draws.", "--seed", min=0)]
OUT = "Where to write; - for stdout. By default NAME.filled.EXT beside the input."
Output = Annotated[str | None, option(OUTPUT, "OUT", OUT, "--output", "-o")]
TARGET = "The class labels, or a measurement to predict; never imputed."
CATEGORICAL = "Numbers that are codes of categories."
NUMERIC = "Quantities that look like identifiers, such as 007."
ORDINAL = "Ordered values; COLUMN=low,mid,high gives the order."
IGNORED = "An identifier, or anything else to leave exactly as it is."
NA_VALUES = (
    "A word that means missing, such as '?' or -999, or COLUMN=WORD for one column. Empty cells "
    "always do. Repeatable."
)
STRICT = "Guess nothing: no words for missing, no forms of dates and amounts, no lack of a header."
HEADER = "Whether the first line has the names; else found out."
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
                f"{LABELS} must be one of {LABEL_USES}, not {self.labels!r}"
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


@dataclass(frozen=True)
class OutputOptions:
    """What is replaced, and what is printed."""

    force: Annotated[bool, switch("Replace existing files.", "--force", "-f")] = False
    json: Annotated[bool, switch("Print the numbers as JSON.", "--json")] = False
    quiet: Annotated[bool, switch("Print nothing but errors.", "--quiet", "-q")] = False
    debug: Annotated[
        bool,
        switch("Show the traceback of an error.", "--debug", callback=_set_debug, is_eager=True),
    ] = False

    def console(self) -> Console:
        """Where messages go: to stderr, or nowhere."""
        from greyfill.cli.console import Console
        from greyfill.progress import watch_compiling

        console = Console.on_stderr(self.quiet or self.json)
        watch_compiling(console.say_compiling)
        return console

    def print_json(self, numbers: Any) -> None:
        """JSON on stdout, for machines that want it."""
        if self.json:
            is_unicode = "utf" in (sys.stdout.encoding or "").lower()
            text = json.dumps(numbers, ensure_ascii=not is_unicode, allow_nan=False, indent=2)
            sys.stdout.write(text + "\n")


@dataclass(frozen=True)
class Without:
    """Fields of a group that a command has no use for; they keep their defaults."""

    names: tuple[str, ...]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Put the fields of a dataclass in the place of each parameter that has one for its type.

    typer sees one flat signature, ordered by panel, a command's own options first; the command
    gets instances. ``Annotated[Group, Without(...)]`` leaves out some fields.
    """
    own: list[Parameter] = []
    groups: dict[str, tuple[type, list[Parameter]]] = {}
    for parameter in signature(command, eval_str=True).parameters.values():
        group, *more = get_args(parameter.annotation) or (parameter.annotation,)
        if is_dataclass(group) and isinstance(group, type):
            omitted = more[0].names if more else ()
            parts = signature(group, eval_str=True).parameters.values()
            kept = [_for_typer(part) for part in parts if part.name not in omitted]
            groups[parameter.name] = group, kept
        else:
            own.append(_for_typer(parameter))
    flat = [*own, *(part for _, parts in groups.values() for part in parts)]

    several = [p.name for p in flat if get_args(p.annotation)[0] == list[str] | None]

    def run(**given: Any) -> None:
        given |= {name: given[name] or () for name in several}
        for name, (group, parts) in groups.items():
            given[name] = group(**{part.name: given.pop(part.name) for part in parts})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature(sorted(flat, key=_panel))  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _for_typer(parameter: Parameter) -> Parameter:
    """A keyword with a type that typer takes: a list for several values, or None."""
    kind, option = get_args(parameter.annotation)
    if get_origin(kind) is Sequence:
        several = Annotated[list[str] | None, option]
        parameter = parameter.replace(annotation=several, default=None)
    return parameter.replace(kind=Parameter.KEYWORD_ONLY)


def _panel(parameter: Parameter) -> int:
    panels = (None, COLUMNS, METHOD, OUTPUT, TEXT)
    return panels.index(get_args(parameter.annotation)[1].rich_help_panel)


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
