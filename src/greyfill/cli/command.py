"""How a command takes its options: groups as dataclasses, its file, and what it prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from greyfill.jobs.options import COLUMNS, METHOD, OUTPUT, TEXT, option, switch

if TYPE_CHECKING:
    from greyfill.cli.console import Console

DEBUG = "greyfill.debug"


def _set_debug(ctx: typer.Context, wanted: bool) -> bool:
    ctx.meta[DEBUG] = wanted
    return wanted


FILE = (
    "CSV or alike, Excel, Parquet, Arrow, JSON, ARFF, SPSS, Stata or SAS, also .gz, .zst, .bz2, "
    ".xz and .zip; - for stdin."
)
File = Annotated[str, typer.Argument(metavar="FILE", help=FILE)]
OUT = "Where to write; - for stdout. By default NAME.filled.EXT beside the input."
Output = Annotated[str | None, option(OUTPUT, "OUT", OUT, "--output", "-o")]


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
