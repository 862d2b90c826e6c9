"""Numbers → tables and sentences in a terminal."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from greyfill.cli.names import STREAM, called
from greyfill.cli.voice import Console
from greyfill.text import clean, count, plural

MOST_COLUMNS = 30

Numbers = dict[str, Any]


def grid(*heads: str, words: int = 1) -> Table:
    """A plain table; the first columns hold words, the others numbers to the right."""
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for place, head in enumerate(heads):
        side = "left" if place < words else "right"
        table.add_column(head, justify=side, overflow="fold", no_wrap=place >= words)  # type: ignore[arg-type]
    return table


def name_of(column: str) -> Text:
    """A name from a file, safe in a terminal."""
    return Text(clean(column, most=60), "cyan")


def columns_table(columns: list[Numbers], *, counts: tuple[str, ...]) -> tuple[Table, int]:
    """The columns with holes, and how many of them there was no room for."""
    table = grid("column", "kind", *counts, words=2)
    chosen = [c for c in columns if c["holes"]]
    for column in chosen[:MOST_COLUMNS]:
        cells = [count(column[key]) for key in counts]
        table.add_row(name_of(column["name"]), column["kind"], *cells)
    return table, max(0, len(chosen) - MOST_COLUMNS)


def tell_columns(voice: Console, numbers: Numbers, *counts: str) -> None:
    """The table of the columns with holes, under a line about the file."""
    with_holes = sum(1 for c in numbers["columns"] if c["holes"])
    voice.say(
        f"{_file(numbers)}: {plural(numbers['rows'], 'row')}, "
        f"{plural(numbers['holes'], 'hole')} in {with_holes} of "
        f"{plural(len(numbers['columns']), 'column')}",
        "bold",
    )
    if with_holes:
        table, left_out = columns_table(numbers["columns"], counts=counts)
        voice.show(table)
        if left_out:
            voice.say(f"… and {plural(left_out, 'more column')}")


def tell_filled(voice: Console, numbers: Numbers) -> None:
    """What was filled, how, and what to know about it."""
    tell_columns(voice, numbers, "holes", "filled")
    voice.say(how(numbers))
    for fallback in numbers["fallbacks"]:
        voice.say(f"fall-back: {fallback['text']}")
    tell_notes(voice, numbers)


def tell_notes(voice: Console, numbers: Numbers) -> None:
    """The notes of a run."""
    for note in numbers["notes"]:
        voice.note(clean(note, most=500))


def tell_written(voice: Console, name: str, what: str = "") -> None:
    """The last line about a file; what went to stdout speaks for itself."""
    if name == STREAM:
        return
    about = f" ({what})" if what else ""
    voice.console.print(
        Text.assemble(("wrote ", "green"), clean(name, most=4000), about), soft_wrap=True
    )


def how(numbers: Numbers) -> str:
    """The method, k, passes and time in one line.

    >>> how({"method": "cgknn", "k": 7, "k_tried": 12, "passes": 4, "stable": True, "seconds": 2})
    'cgknn: k = 7, the best of 12 tried; stable after 4 passes; 2.0 s'
    """
    parts = []
    if numbers["k"] is not None:
        tried = numbers["k_tried"]
        best = f", the best of {tried} tried" if tried > 1 else ""
        parts.append(f"k = {numbers['k']}{best}")
    if numbers["passes"] is not None:
        passes = plural(numbers["passes"], "pass", "passes")
        state = {True: "stable after ", False: "not stable after "}.get(numbers["stable"], "")
        parts.append(state + passes)
    parts.append(f"{numbers['seconds']:.1f} s")
    return f"{numbers['method']}: {'; '.join(parts)}"


def bar(share: float, width: int = 12) -> RenderableType:
    """A share as a bar.

    >>> bar(0.5, 4)
    <text '██' [] 'cyan'>
    """
    eighths = round(8 * width * min(max(share, 0.0), 1.0))
    whole, rest = divmod(eighths, 8)
    return Text("█" * whole + " ▏▎▍▌▋▊▉"[rest].strip(), "cyan")


def _file(numbers: Numbers) -> str:
    return clean(called(numbers["input"]), most=4000)
