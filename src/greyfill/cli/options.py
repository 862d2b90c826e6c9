"""The options of all commands: each is declared once, in groups that commands take as dataclasses.

An option for several values is repeated; names of columns may also have commas between them.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from greyfill.exceptions import InvalidParameterError

COLUMNS, METHOD, OUTPUT, TEXT = "Columns", "Method", "Output", "CSV files"
NO_VALUE = ""
"""What the help shows behind an option that is given or not."""

DEBUG = "greyfill.debug"
STREAM = "-"
MOST_NAMES = 12

LARGE = 10_000
"""From so many rows on, all cores work unless the user says otherwise."""

BY_ITSELF = ("auto", "cv", "masked")
LABEL_USES = ("donors", "weights", "predictor", "none")
"""Not every method takes each of them; it says so itself."""

K, LABELS, SAVE = "--k", "--labels", "--save"
_RECIPE = frozenset({K, LABELS, SAVE})
_NONE = frozenset[str]()
METHODS = {
    "cgknn": _RECIPE | {"donors", "weights"},
    "fwgknn": _RECIPE | {"donors"},
    "gknn": _RECIPE | {"donors"},
    "gbnn": _RECIPE,
    "miknn": _RECIPE | {"donors", "weights"},
    "iknn": _RECIPE,
    "sknn": _RECIPE,
    "knni": _RECIPE,
    "mice": frozenset({LABELS, SAVE, "predictor"}),
    "missforest": frozenset({SAVE}),
    "grey": frozenset({LABELS, SAVE}),
    "sklearn_knn": frozenset({K}),
    "sklearn_iterative": _NONE,
    "mean": _NONE,
    "mean_indicator": _NONE,
    "class_mean": frozenset({"donors"}),
    "hot_deck": _NONE,
    "native": _NONE,
    **({"miceforest": _NONE} if find_spec("miceforest") else {}),
}
"""The options that each method takes, and the uses of labels for which it needs classes.

The registry of imputers has all that too, but loads scikit-learn: a mistake is answered before.
"""

NOT_FOR_FILES = ("native", "mean_indicator")
"""Methods that leave holes, or add columns."""


def complete_method(incomplete: str) -> list[str]:
    """The methods that begin like this."""
    return [name for name in METHODS if name.startswith(incomplete) and name not in NOT_FOR_FILES]


def _set_debug(ctx: typer.Context, wanted: bool) -> bool:
    ctx.meta[DEBUG] = wanted
    return wanted


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, Arrow, JSON lines or Excel, also .gz and .zst; - for stdin.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N",
        help="Threads; -1 for all cores. By default all for large tables, one for small ones.",
        rich_help_panel=METHOD,
    ),
]  # fmt: skip
Seed = Annotated[
    int,
    typer.Option(
        "--seed", min=0, metavar="N", help="Seed of all random draws.", rich_help_panel=METHOD
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="OUT",
        help="Where to write; - for stdout. By default NAME.filled.EXT beside the input.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip


@dataclass(frozen=True)
class TableOptions:
    """What the user says about the columns of a table, and about a CSV file.

    Column options may hold several names with commas between them; a column whose own name has
    a comma is found too.
    """

    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="The class labels; never imputed.",
            rich_help_panel=COLUMNS,
        ),
    ] = None  # fmt: skip
    categorical: Annotated[
        Sequence[str],
        typer.Option(
            "--categorical", "-c", metavar="COLUMNS",
            help="Numbers that are codes of categories.",
            rich_help_panel=COLUMNS,
        ),
    ] = ()  # fmt: skip
    numeric: Annotated[
        Sequence[str],
        typer.Option(
            "--numeric", metavar="COLUMNS",
            help="Quantities that look like identifiers, such as 007.",
            rich_help_panel=COLUMNS,
        ),
    ] = ()  # fmt: skip
    ordinal: Annotated[
        Sequence[str],
        typer.Option(
            "--ordinal", metavar="COLUMNS",
            help="Ordered values; COLUMN=low,mid,high gives the order.",
            rich_help_panel=COLUMNS,
        ),
    ] = ()  # fmt: skip
    ignored: Annotated[
        Sequence[str],
        typer.Option(
            "--ignore", "--id", metavar="COLUMNS",
            help="An identifier, or anything else to leave exactly as it is.",
            rich_help_panel=COLUMNS,
        ),
    ] = ()  # fmt: skip
    na_values: Annotated[
        Sequence[str],
        typer.Option(
            "--na-values", metavar="WORD",
            help="A word that means missing, such as '?' or -999. Empty cells always do. "
            "Repeatable.",
            rich_help_panel=COLUMNS,
        ),
    ] = ()  # fmt: skip
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", metavar="CHAR", help="Else found out.", rich_help_panel=TEXT),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            "--decimal", metavar="CHAR", help="Decimal mark; else found out.", rich_help_panel=TEXT
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Else found out.", rich_help_panel=TEXT),
    ] = None


@dataclass(frozen=True)
class MethodChoice:
    """A method and its settings, as the user gave them."""

    method: Annotated[
        str,
        typer.Option(
            "--method", "-m", metavar="NAME", autocompletion=complete_method,
            help="grey, the recommended one, tunes itself and uses labels if there are any; cgknn, "
            "fwgknn, gknn, class_mean need them, miknn to weigh columns; gbnn, iknn, sknn, knni, "
            "mice, missforest, mean do without.",
            rich_help_panel=METHOD,
        ),
    ] = "cgknn"  # fmt: skip
    k: Annotated[
        str,
        typer.Option(
            "--k", "-k", metavar="auto|N", help="How many donors fill a hole.",
            rich_help_panel=METHOD,
        ),
    ] = "auto"  # fmt: skip
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels", metavar="USE",
            help="What labels may do: donors (all), weights (only weigh columns), predictor (one "
            "more column; mice and missforest), none.",
            rich_help_panel=METHOD,
        ),
    ] = None  # fmt: skip
    jobs: Jobs = None
    seed: Seed = 0

    def check(self) -> None:
        """Refuse what no table could make right."""
        check_method(self.method, "--method", [m for m in METHODS if m not in NOT_FOR_FILES])
        takes = METHODS[self.method]
        if self.n_neighbors != "auto" and K not in takes:
            raise InvalidParameterError(f"{K} has no meaning for the method {self.method}.")
        if self.labels is not None:
            if LABELS not in takes:
                raise InvalidParameterError(
                    f"{LABELS} has no meaning for the method {self.method}."
                )
            if self.labels not in LABEL_USES:
                raise InvalidParameterError(
                    f"{LABELS} must be one of {LABEL_USES}, not {self.labels!r}"
                )
        check_jobs_option(self.jobs)

    @property
    def n_neighbors(self) -> int | str:
        """How many donors fill a hole, or how that is found out."""
        if self.k in BY_ITSELF:
            return self.k
        if self.k.isdecimal() and int(self.k) > 0:
            return int(self.k)
        raise InvalidParameterError(f"--k must be a positive number or auto, not {self.k!r}.")

    @property
    def needs_classes(self) -> bool:
        """Whether the method cannot do without labels."""
        return (self.labels or "donors") in METHODS[self.method]

    def threads(self, n_rows: int) -> int:
        """How many threads work on a table of so many rows."""
        return self.jobs or (-1 if n_rows >= LARGE else 1)


@dataclass(frozen=True)
class OutputOptions:
    """What is replaced, and what is printed."""

    force: Annotated[
        bool,
        typer.Option(
            "--force", "-f", metavar=NO_VALUE, help="Replace existing files.",
            rich_help_panel=OUTPUT,
        ),
    ] = False  # fmt: skip
    json: Annotated[
        bool,
        typer.Option(
            "--json", metavar=NO_VALUE, help="Print the numbers as JSON.", rich_help_panel=OUTPUT
        ),
    ] = False
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", metavar=NO_VALUE, help="Print nothing but errors.",
            rich_help_panel=OUTPUT,
        ),
    ] = False  # fmt: skip
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", metavar=NO_VALUE, callback=_set_debug, is_eager=True,
            help="Show the traceback of an error.", rich_help_panel=OUTPUT,
        ),
    ] = False  # fmt: skip

    @property
    def silent(self) -> bool:
        """Whether nothing is said on stderr."""
        return self.quiet or self.json


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
            groups[parameter.name] = (
                group,
                [
                    _for_typer(part)
                    for part in signature(group, eval_str=True).parameters.values()
                    if part.name not in omitted
                ],
            )
        else:
            own.append(_for_typer(parameter))
    flat = [*own, *(part for _, parts in groups.values() for part in parts)]

    def run(**given: Any) -> None:
        for parameter in flat:
            if given[parameter.name] is None and _is_several(parameter):
                given[parameter.name] = ()
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


def _is_several(parameter: Parameter) -> bool:
    return bool(get_args(parameter.annotation)[0] == list[str] | None)


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
    >>> beside("-", "filled"), beside("votes", "filled")
    ('-', 'votes-filled')
    """
    from greyfill.files.formats import COMPRESSIONS, FORMATS

    path, outer = Path(name), ""
    if name == STREAM or not path.name:
        return name
    if path.suffix.lower() in COMPRESSIONS:
        path, outer = path.with_suffix(""), path.suffix
    inner = path.suffix if path.suffix.lower() in FORMATS else ""
    ending = inner + outer if extension is None else extension
    if not ending:  # a dot would make the word an extension, and an unknown one
        return os.fspath(path.with_name(f"{path.name}-{word}"))
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
