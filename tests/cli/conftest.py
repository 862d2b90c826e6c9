"""Small tables, and the command in this process or in one of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from greyfill.cli import app

TABLE = b"""id,age,smear,size,dose,outcome\r
007,34,neg,S,1.50,well\r
008,61,pos,L,+2.5,ill\r
009,,"neg",S,1.40,well\r
010,58,?,L,2.40,ill\r
011,29,neg,M,,well\r
012,66,pos,,2.60,ill\r
013,63,?,L,2.50,\r
"""
NEW = b"dose,smear,size,age\n2.5,,L,60\n,neg,,30\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own with table.csv and new.csv, and no colors or sizes from outside."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "table.csv").write_bytes(TABLE)
    (tmp_path / "new.csv").write_bytes(NEW)
    return tmp_path


@pytest.fixture
def greyfill(folder):
    """The command in this process."""

    def run(*arguments, stdin=b"", exit_code=0):
        done = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
        unexpected = done.exception is not None and not isinstance(done.exception, SystemExit)
        if unexpected:
            raise done.exception
        assert done.exit_code == exit_code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def fails(greyfill):
    """The one line that a mistake of the user ends with."""

    def run(*arguments, stdin=b""):
        done = greyfill(*arguments, stdin=stdin, exit_code=2)
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("greyfill: ")
        return lines[0]

    return run


@pytest.fixture
def command(folder):
    """The installed command in a process of its own; ``before`` is Python to run first."""
    script = Path(sys.executable).with_name("greyfill")
    installed = [str(script)] if script.exists() else [sys.executable, "-m", "greyfill"]

    def run(*arguments, stdin=b"", before=""):
        line = [*installed, *arguments]
        if before:
            code = (
                f"import os, signal, sys\n{before}\nfrom greyfill.cli import app\napp(sys.argv[1:])"
            )
            line = [sys.executable, "-c", code, *arguments]
        return subprocess.run(line, input=stdin, capture_output=True, check=False, env=os.environ)

    return run


@pytest.fixture
def listing(folder):
    """What is in the folder, hidden files included."""
    return lambda: sorted(path.name for path in folder.iterdir())
