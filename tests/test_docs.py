"""Every example in the documentation runs, and prints what its page says.

A page is one story: its blocks share their names and a folder of their own. Python blocks are
executed, or checked as doctests where they have prompts. Console blocks are run command by command
and their output compared; ``…`` stands for anything, and times may differ.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path

import pytest
from printed import flat, pattern_of
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from typer.testing import CliRunner

from greyfill.cli import app

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page.name for page in DOCS.glob("*.md"))
PLAIN = re.compile(r"greyfill [\w .,=/-]+")
"""A command that needs nothing of the shell."""


def run_console(example: Example) -> None:
    """Run each ``$`` command of a block in the folder of its page."""
    for command, expected in split_commands(str(example.parsed)):
        printed = run_here(command) if PLAIN.fullmatch(command) else run_in_shell(command)
        where = f"{example.path}, line {example.line}: $ {command}"
        assert pattern_of(expected).fullmatch(flat(printed)), (
            f"{where}\nexpected:\n{expected}\ngot:\n{printed}"
        )


def run_here(command: str) -> str:
    """What greyfill prints in this process, which is quicker than one of its own."""
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def run_in_shell(command: str) -> str:
    return subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    ).stdout


def split_commands(block: str) -> list[tuple[str, str]]:
    """Commands of a block, each with the output below it; indented lines go on with a command."""
    found: list[tuple[str, str]] = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.rstrip("\n").split("\n")
        n = 1
        while n < len(lines) and lines[n - 1].endswith(("|", "\\")):
            n += 1
        found.append(("\n".join(lines[:n]), "\n".join(lines[n:])))
    return found


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("wrote a (0.1 s)", "wrote   a (12 s)\n", True),
        ("first\n…\nlast", "first\nmore\nlast", True),
        ("first\n…\nlast", "first\nmore", False),
        ("19", "20", False),
        ("", "a surprise", False),
    ],
)
def test_outputs_are_compared_in_earnest(expected: str, printed: str, same: bool) -> None:
    assert bool(pattern_of(expected).fullmatch(flat(printed))) == same


@pytest.mark.skipif(shutil.which("bash") is None, reason="console blocks need bash")
@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sybil = Sybil(
        parsers=[
            PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
            CodeBlockParser("console", run_console),
            SkipParser(),
        ]
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for name, value in {"NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    for example in sybil.parse(DOCS / page).examples():
        example.evaluate()
