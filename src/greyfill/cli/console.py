"""What a command prints: messages, notes, tables, and signs of life in a terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from rich.box import SIMPLE_HEAD
from rich.console import Console as RichConsole
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from greyfill.jobs.options import STREAM
from greyfill.progress import Meter, Progress, rich_bar
from greyfill.text import clean, count, error_in, explained_in, plural

MOST_CHARACTERS = 8_000
MOST_COLUMNS, MOST_TRUSTED = 30, 8

ONCE = "compiling what was not needed before, once on this machine; takes some seconds"
EVERY_TIME = (
    "compiling, for this run only: no folder for compiled code can be written. Name one in the "
    "variable NUMBA_CACHE_DIR"
)

Numbers = dict[str, Any]
Update = Callable[[Progress | str], None]


class Console:
    """Prints lines and tables in which no name of a file or a column steers the terminal."""

    def __init__(self, console: RichConsole) -> None:
        self.console = console

    @classmethod
    def on_stderr(cls, quiet: bool = False) -> Self:
        """Messages, or none at all."""
        return cls(RichConsole(file=sys.stderr, quiet=quiet, highlight=False))

    @property
    def in_terminal(self) -> bool:
        """Whether a bar would be seen."""
        return self.console.is_terminal and not self.console.quiet

    def say(self, message: str, style: str = "") -> None:
        """A message: one line, however long, which a terminal gets wrapped between words."""
        text = Text(clean(message, most=MOST_CHARACTERS), style)
        self.console.print(text, soft_wrap=not self.console.is_terminal)

    def say_compiling(self, is_kept: bool) -> None:
        """The reason for a first run that takes long."""
        self.say(ONCE if is_kept else EVERY_TIME)

    def show(self, table: Table) -> None:
        """A table."""
        self.console.print(table)

    def show_notes(self, notes: Iterable[str]) -> None:
        """What the user should know about a table or a run."""
        for note in notes:
            text = Text.assemble(("note: ", "yellow"), clean(note, most=1000))
            # A terminal cuts a long line anywhere; a log keeps it, to be searched.
            self.console.print(text, soft_wrap=not self.console.is_terminal)

    def show_columns(self, numbers: Numbers, *counts: str) -> None:
        """The table of the columns with holes, under a line about the file."""
        chosen = [c for c in numbers["columns"] if c["holes"]]
        self.say(
            f"{source_of(numbers)}: {plural(numbers['rows'], 'row')}, "
            f"{plural(numbers['holes'], 'hole')} in {len(chosen)} of "
            f"{plural(len(numbers['columns']), 'column')}",
            "bold",
        )
        if not chosen:
            return
        table = grid("column", "kind", *counts, words=2)
        for column in chosen[:MOST_COLUMNS]:
            cells = [count(column[key]) for key in counts]
            table.add_row(name_of(column["name"]), column["kind"], *cells)
        self.show(table)
        if len(chosen) > MOST_COLUMNS:
            self.say(f"… and {plural(len(chosen) - MOST_COLUMNS, 'more column')}")

    def show_trust(self, trust: Numbers | None) -> None:
        """How far the fills can be trusted: sentences, then the worst columns."""
        if not trust or not trust["columns"]:
            return
        for sentence in trust["sentences"]:
            self.console.print(Text(sentence), soft_wrap=not self.in_terminal)
        table = grid("column", "fills", "explains", "usual error", "holes", words=2)
        for c in trust["columns"][:MOST_TRUSTED]:
            figures = explained_in(c["explained"]), error_in(c["error"], c["unit"])
            table.add_row(name_of(c["column"]), c["word"], *figures, count(c["holes"]))
        self.show(table)
        rest = len(trust["columns"]) - MOST_TRUSTED
        if rest > 0:
            self.say(f"… and {plural(rest, 'more column')}")

    def show_written(self, name: str, what: str = "") -> None:
        """The last line about a file; what went to stdout needs none."""
        if name == STREAM:
            return
        about = f" ({what})" if what else ""
        self.console.print(
            Text.assemble(("wrote ", "green"), clean(name, most=4000), about), soft_wrap=True
        )

    @contextmanager
    def working(self, message: str) -> Iterator[Update | None]:
        """Show that something is going on; what this yields, if anything, shows how far it is.

        It takes a message, or `Progress`, which moves the bar.
        """
        if not self.in_terminal:
            yield None
            return
        with rich_bar(message, self.console) as show:
            yield show

    @contextmanager
    def counting(self, message: str, total: int) -> Iterator[Callable[[int], None]]:
        """A bar of rows that is moved on by what it yields."""
        if not self.in_terminal:
            yield lambda done: None
            return
        with rich_bar(message, self.console) as show:
            meter = Meter(show)
            meter.begin("rows", total)
            yield meter.advance

    @contextmanager
    def board(self) -> Iterator["Board"]:
        """A table whose rows are shown as they are finished."""
        if not self.in_terminal:
            yield Board(self, None)
            return
        with Live(console=self.console, transient=True, auto_refresh=False) as live:
            yield Board(self, live)


class Board:
    """A table that grows by rows, and how far the work on it is."""

    def __init__(self, console: Console, live: Live | None) -> None:
        self._console, self._live = console, live
        self._table: RenderableType = Text()
        self._progress = Text()

    def add(self, rows: list[list[str]], new: str) -> None:
        """Show a table with its heads; outside a terminal, only the row that begins like this."""
        if self._live is not None:
            self._table = overview_grid(rows, words=1)
            self._draw()
            return
        cells = next(row for row in rows[1:] if row[0] == new)
        parts = [f"{head} {cell}" for head, cell in zip(rows[0][1:], cells[1:], strict=True)]
        self._console.say(f"{new}: {'; '.join(parts)}")

    def move(self, progress: Progress) -> None:
        """Show how far it is, in a terminal."""
        self._progress = Text(str(progress))
        self._draw()

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(Group(self._table, self._progress), refresh=True)


def page() -> Console:
    """Where a result goes that was asked for: stdout, no narrower than a page of a log."""
    console = RichConsole(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console = RichConsole(file=sys.stdout, highlight=False, width=110)
    return Console(console)


def print_overview(
    title: str, rows: list[list[str]], remarks: Iterable[str], words: int = 0, style: str = ""
) -> None:
    """A result for a person: a title, a table whose first row has the heads, and remarks."""
    console = page()
    console.say(clean(title, most=500), "bold")
    console.show(overview_grid(rows, words))
    for remark in remarks:
        console.say(clean(remark, most=500), style)


def overview_grid(rows: list[list[str]], words: int) -> Table:
    """A table of rows, the first of which has the heads."""
    table = grid(*rows[0], words=words)
    for column in table.columns:
        column.no_wrap = words == 0  # names may be long, numbers are not
    for first, *others in rows[1:]:
        table.add_row(_cell(first, "cyan" if words else ""), *map(_cell, others))
    return table


def grid(*heads: str, words: int = 1) -> Table:
    """A plain table; the first columns hold words, the others numbers to the right."""
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for place, head in enumerate(heads):
        side = "left" if place < words else "right"
        table.add_column(_cell(head), justify=side, overflow="fold", no_wrap=place >= words)  # type: ignore[arg-type]
    return table


def _cell(text: str, style: str = "") -> Text:
    """A cell whose words are no markup, safe in a terminal."""
    return Text(clean(text) if text else "", style)


def name_of(column: str) -> Text:
    """A name from a file, safe in a terminal."""
    return Text(clean(column, most=60), "cyan")


def source_of(numbers: Numbers) -> str:
    """The file that numbers are about, safe in a terminal."""
    return "standard input" if numbers["input"] == STREAM else clean(numbers["input"], most=4000)


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
