"""Signs of life in a terminal, and errors that no part of greyfill has words for."""

import errno
import io
from typing import Any

import pytest
from rich.console import Console as RichConsole

from greyfill.cli import impute_command
from greyfill.cli.console import Console
from greyfill.jobs.fill_job import FillJob
from greyfill.jobs.options import MethodChoice, TableOptions
from greyfill.jobs.sheet import read_sheet
from greyfill.progress import Progress

ABOUT = (
    "--target", "outcome", "--ignore", "id", "--na-values", "?", "--method", "cgknn", "-k", "2",
)  # fmt: skip


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> tuple[Console, io.StringIO]:
    """A console in a terminal, and what it shows there."""
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = io.StringIO()
    return Console(RichConsole(file=shown, force_terminal=True, width=200, highlight=False)), shown


def test_work_is_shown_with_how_far_it_is(terminal: Any) -> None:
    console, shown = terminal
    with console.working("filling t.csv") as progress:
        progress("pass 3")
    assert "filling t.csv: pass 3" in shown.getvalue()


def test_a_bar_is_moved_by_progress(terminal: Any) -> None:
    console, shown = terminal
    with console.working("filling t.csv") as show:
        show(Progress("pass 2 of 4", 3, 12, 1.0, 3.0))
    assert "filling t.csv: pass 2 of 4" in shown.getvalue()
    assert "about 3 s left" in shown.getvalue()


def test_an_imputer_tells_how_far_it_is_and_prints_nothing(
    terminal: Any, folder: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    console, shown = terminal
    choice = MethodChoice("mice")
    sheet = read_sheet("table.csv", TableOptions("outcome", ignored=("id",)), console, choice)
    filled = FillJob(sheet, choice).run(console)
    assert "filling table.csv by mice: " in shown.getvalue()
    assert capsys.readouterr() == ("", "")
    assert "_progress" not in vars(filled.imputer)


def test_no_name_steers_the_terminal_while_work_is_shown(terminal: Any) -> None:
    console, shown = terminal
    with console.working("writing \x1b]0;title\x07.csv") as progress:
        progress("column \x1b[2Jcleared")
    assert "\x1b]0;" not in shown.getvalue()
    assert "\x1b[2J" not in shown.getvalue()
    assert "cleared" in shown.getvalue()


def test_a_bar_moves_on(terminal: Any) -> None:
    console, shown = terminal
    with console.counting("measuring", total=4) as advance:
        advance(4)
    assert "measuring" in shown.getvalue()
    assert "━" in shown.getvalue()


def test_names_in_a_bar_are_shown_as_they_are(terminal: Any) -> None:
    console, shown = terminal
    with console.counting("filling a[/b] [red]\x1b[2J.csv", total=4) as advance:
        advance(4)
    assert "filling a[/b] [red]" in shown.getvalue()
    assert "\x1b[2J" not in shown.getvalue()


def test_nothing_is_shown_outside_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console.on_stderr()
    with console.working("filling") as progress, console.counting("measuring", 2) as advance:
        advance(1)
    assert progress is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "greyfill: not enough memory. Give fewer rows"),
        (OSError(errno.EIO, "Input/output error", "t.csv"), "greyfill: t.csv: Input/output error"),
        (OSError("the disk went away"), "greyfill: the disk went away"),
    ],
)
def test_errors_of_the_system_end_with_one_line(
    fails: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(impute_command.ImputeJob, "run", fail)
    assert fails("impute", "table.csv", *ABOUT).startswith(words)
