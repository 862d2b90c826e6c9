"""The command: what it prints, where, and its exit codes."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from greyfill import __version__
from greyfill.cli import app
from greyfill.evaluation.reproduction import Plan


def greyfill(*arguments):
    command = [sys.executable, "-m", "greyfill", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_version():
    done = greyfill("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"greyfill {__version__}\n", "")


def test_help_names_the_options():
    done = greyfill("reproduce", "--help")
    assert done.returncode == 0
    for option in ("--quick", "--seeds", "--out", "--jobs"):
        assert option in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["--nonsense"], ["nonsense"], ["reproduce", "--jobs", "0"], ["reproduce", "--seeds", "0"]],
)
def test_wrong_usage_is_2(arguments):
    done = greyfill(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_failure_is_1_and_comes_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    done = greyfill("reproduce", "--out", tmp_path / "file" / "below")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("greyfill: ")
    assert "Traceback" not in done.stderr


def test_reproduce_tells_on_stderr_what_it_wrote(tmp_path, monkeypatch):
    tiny = Plan(("iris",), (0.10,), range(1), ("class_mean",), passes=0, repeats=1)
    monkeypatch.setattr(Plan, "quick", lambda seeds: tiny)
    done = CliRunner().invoke(app, ["reproduce", "--quick", "--out", str(tmp_path), "--jobs", "1"])
    assert done.exit_code == 0
    assert done.stdout == ""
    assert f"wrote {tmp_path / 'reproduction.md'}" in done.stderr
    assert "not measured" in done.stderr
