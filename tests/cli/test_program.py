"""The program in a process of its own: start, pipes, signals, exit codes."""

import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from greyfill import __version__

ABOUT = (
    "--target", "outcome", "--ignore", "id", "--na-values", "?", "--method", "cgknn", "-k", "2",
)  # fmt: skip
OVER = ("-o", "table.csv", "--force")


def test_version(greyfill):
    assert greyfill("--version").stdout == f"greyfill {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nonsense",), ("nonsense",), ("impute",), ("impute", "a.csv", "--seed", "x"),
        ("reproduce", "--jobs", "0"), ("reproduce", "--seeds", "0"), ("fit", "a.csv"),
        ("datasets", "-o", "x.csv"),
    ],
)  # fmt: skip
def test_wrong_usage_is_2(greyfill, arguments):
    done = greyfill(*arguments, exit_code=2)
    assert done.stdout == ""
    assert done.stderr


def test_help_names_commands_and_options(greyfill):
    listed = greyfill("--help").stdout
    names = ("impute", "fit", "apply", "inspect", "report", "compare", "demo", "datasets")
    assert all(name in listed for name in names)
    assert "--install-completion" in listed
    options = greyfill("reproduce", "--help").stdout
    assert all(option in options for option in ("--quick", "--seeds", "--out", "--jobs"))


def test_help_shows_no_value_behind_a_switch(greyfill):
    for command in ("impute", "reproduce"):
        lines = greyfill(command, "--help").stdout.splitlines()
        switches = [line for line in lines if "--quiet" in line or "--quick" in line]
        assert switches
        assert not any("<bool>" in line or "BOOL" in line for line in switches)


def test_brackets_in_help_are_no_markup(greyfill):
    words = greyfill("impute", "--help").stdout.replace("│", " ").split()
    assert "Needs the extra [dask]." in " ".join(words)


def test_a_terminal_that_lacks_letters(folder):
    (folder / "warm.csv").write_text("°C,mood\n20,☺\n,☺\n30,☹\n", encoding="utf-8")
    line = [sys.executable, "-m", "greyfill", "inspect", "warm.csv"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(line, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\\xb0C" in done.stdout


def test_a_pipe_in_a_real_shell(command, folder):
    table = (folder / "table.csv").read_bytes()
    done = command("impute", "-", *ABOUT, stdin=table)
    assert done.returncode == 0
    assert done.stdout.startswith(b"id,age,smear,size,dose,outcome\r\n007,34,neg,S,1.50,well\r\n")
    assert b"standard input: 7 rows, 5 holes" in done.stderr
    assert b"\x1b" not in done.stderr


def test_the_command_can_be_called_from_a_thread(greyfill, folder):
    """Only the main thread may listen for signals; others do without."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(greyfill, "impute", "new.csv", "--method", "knni", "-k", "1").result()
    assert "3 holes in 3 of 4 columns" in done.stderr
    assert (folder / "new.filled.csv").exists()


def test_interrupted_in_the_middle_of_writing(command, folder, listing):
    before, names = (folder / "table.csv").read_bytes(), listing()
    stop = (
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job ignores it
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGINT)"
    )
    done = command("impute", "table.csv", *ABOUT, *OVER, before=stop)
    assert done.returncode == 130
    assert b"greyfill: interrupted" in done.stderr
    assert b"Traceback" not in done.stderr
    assert (folder / "table.csv").read_bytes() == before
    assert listing() == names


def test_a_reader_that_goes_away(folder):
    line = [sys.executable, "-m", "greyfill", "datasets", "votes"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(line, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("no_color", [True, False])
def test_a_terminal_gets_colors_unless_it_says_no(folder, monkeypatch, no_color):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "greyfill", "impute", "gone.csv", "--target", "y"]
    done = subprocess.run(line, stderr=theirs, stdout=subprocess.PIPE, check=False)
    os.close(theirs)
    said = os.read(ours, 100_000)
    os.close(ours)
    assert done.returncode == 2
    assert b"Cannot read gone.csv" in said
    assert (b"\x1b[31m" in said) is not no_color


CLOSE = "os.close({0}); sys.std{1} = None"
"""What a shell does with >&-, as Python finds it."""


@pytest.mark.parametrize(
    ("arguments", "closed", "words"),
    [
        (("--version",), (1, "out"), b"the stream is closed"),
        (("datasets", "iris"), (1, "out"), b"Cannot write to standard output: the stream is cl"),
        (("inspect", "-"), (0, "in"), b"Cannot read standard input: the stream is closed"),
    ],
)
def test_streams_that_are_closed(command, arguments, closed, words):
    done = command(*arguments, before=CLOSE.format(*closed))
    assert done.returncode == 2
    assert done.stderr.startswith(b"greyfill: ")
    assert words in done.stderr
    assert b"Traceback" not in done.stderr


def test_messages_never_go_into_the_table(command, folder):
    """Not even if nobody listens to them."""
    done = command("impute", "new.csv", "-m", "knni", "-o", "-", before=CLOSE.format(2, "err"))
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_what_is_printed_finds_no_room(command, argument):
    full = "sys.stdout = open('/dev/full', 'w'); os.dup2(sys.stdout.fileno(), 1)"
    done = command(argument, before=full)
    assert done.returncode == 2
    assert done.stderr == b"greyfill: the disk is full; free some space and try again\n"
