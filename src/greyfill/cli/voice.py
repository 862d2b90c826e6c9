"""What the user hears on stderr: messages, notes, tables, and signs of life in a terminal."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

from rich.console import Console as RichConsole
from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from greyfill.text import clean

MOST_CHARACTERS = 8_000

Update = Callable[[str], None]


class Console:
    """Speaks on stderr, or not at all."""

    def __init__(self, quiet: bool = False) -> None:
        self.console = RichConsole(file=sys.stderr, quiet=quiet, highlight=False)

    def say(self, message: str, style: str = "") -> None:
        """One line, in which no name of a file or a column steers the terminal."""
        self.console.print(Text(clean(message, most=MOST_CHARACTERS), style), soft_wrap=True)

    def note(self, message: str) -> None:
        """Something that the user should know."""
        self.console.print(Text.assemble(("note: ", "yellow"), message), soft_wrap=True)

    def show(self, table: RenderableType) -> None:
        """A table."""
        self.console.print(table)

    @contextmanager
    def working(self, message: str) -> Iterator[None]:
        """Show that something is going on; what others print to stderr is shown beside it."""
        if not self._is_heard():
            yield
            return
        shown = clean(message)
        with (
            self.console.status(Text(shown)) as status,
            redirect_stderr(_Lines(lambda line: status.update(Text(f"{shown}: {clean(line)}")))),
        ):
            yield

    @contextmanager
    def counting(self, message: str, total: int) -> Iterator[Callable[[int], None]]:
        """A bar that is moved on by what it yields."""
        if not self._is_heard():
            yield lambda done: None
            return
        name = TextColumn("{task.description}", markup=False)  # a name may hold brackets
        columns = (name, BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self.console, transient=True) as bar:
            task = bar.add_task(clean(message), total=total)
            yield lambda done: bar.advance(task, done)

    @property
    def in_terminal(self) -> bool:
        """Whether a bar would be seen."""
        return self._is_heard()

    def _is_heard(self) -> bool:
        return self.console.is_terminal and not self.console.quiet


class _Lines(io.TextIOBase):
    """A stream that hands on each line."""

    def __init__(self, update: Update) -> None:
        self._update = update

    def write(self, text: str) -> int:
        line = text.strip().rpartition("] ")[2]
        if line:
            self._update(line)
        return len(text)


def print_json(numbers: Any) -> None:
    """JSON on stdout, for machines."""
    is_unicode = "utf" in (sys.stdout.encoding or "").lower()
    text = json.dumps(numbers, ensure_ascii=not is_unicode, allow_nan=False, indent=2)
    sys.stdout.write(text + "\n")


def page() -> RichConsole:
    """Where tables go that were asked for: stdout, and no narrower than a page of a log."""
    console = RichConsole(file=sys.stdout, highlight=False)
    return (
        console if console.is_terminal else RichConsole(file=sys.stdout, highlight=False, width=110)
    )
