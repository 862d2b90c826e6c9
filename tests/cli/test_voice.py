"""Signs of life in a terminal, and errors that no part of greyfill has words for."""

import errno
import io
import sys
from typing import Any

import pytest
from rich.console import Console as RichConsole

from greyfill.cli import jobs
from greyfill.cli.voice import Console

ABOUT = ("--target", "outcome", "--ignore", "id", "--na-values", "?", "-k", "2")


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> tuple[Console, io.StringIO]:
    """A voice in a terminal, and what it shows there."""
    monkeypatch.setenv("TERM", "xterm-256color")
    heard = io.StringIO()
    voice = Console()
    voice.console = RichConsole(file=heard, force_terminal=True, width=200, highlight=False)
    return voice, heard


def test_work_is_shown_with_what_others_print_beside_it(spoken: Any) -> None:
    voice, heard = spoken
    with voice.working("filling t.csv"):
        sys.stderr.write("[CGKNNImputer] pass 3\n")
    assert "filling t.csv: pass 3" in heard.getvalue()


def test_no_name_steers_the_terminal_while_work_is_shown(spoken: Any) -> None:
    voice, heard = spoken
    with voice.working("writing \x1b]0;title\x07.csv"):
        sys.stderr.write("column \x1b[2Jcleared\n")
    assert "\x1b]0;" not in heard.getvalue()
    assert "\x1b[2J" not in heard.getvalue()
    assert "cleared" in heard.getvalue()


def test_a_bar_moves_on(spoken: Any) -> None:
    voice, heard = spoken
    with voice.counting("measuring", total=4) as advance:
        advance(4)
    assert "measuring" in heard.getvalue()
    assert "━" in heard.getvalue()


def test_names_in_a_bar_are_shown_as_they_are(spoken: Any) -> None:
    voice, heard = spoken
    with voice.counting("filling a[/b] [red]\x1b[2J.csv", total=4) as advance:
        advance(4)
    assert "filling a[/b] [red]" in heard.getvalue()
    assert "\x1b[2J" not in heard.getvalue()


def test_nothing_is_shown_outside_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Console().working("filling"), Console().counting("measuring", 2) as advance:
        advance(1)
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

    monkeypatch.setattr(jobs.ImputeJob, "run", fail)
    assert fails("impute", "table.csv", *ABOUT).startswith(words)
