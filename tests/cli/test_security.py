"""Hostile names, cells and places: nothing is written elsewhere, followed, introduced or obeyed."""

import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from greyfill import files
from greyfill.exceptions import FileProblemError
from greyfill.files import atomic

WATCHED = """
import json, os, sys
written = set()
def watch(event, args):
    if event == "open" and isinstance(args[0], str):
        mode, flags = args[1], args[2] or 0
        if (mode and set(mode) & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR):
            written.add(os.path.abspath(args[0]))
    elif event in ("os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.truncate", "shutil.move"):
        written.add(os.path.abspath(os.fsdecode(args[0])))
sys.addaudithook(watch)
from greyfill.cli import app
try:
    app(sys.argv[1:])
finally:
    print(json.dumps(sorted(written)))
"""
FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3+cmd()", "@SUM(A1)", "\t=1", "=HYPERLINK(1)"]


@pytest.mark.heavy
def test_nothing_is_written_outside_the_named_outputs(folder: Path, tmp_path: Path) -> None:
    """Only in the folder of the outputs, and in the caches that numba and matplotlib are given."""
    caches = tmp_path / "caches"
    caches.mkdir()
    environment = {
        **os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(caches),
        "TMPDIR": str(caches),
    }  # fmt: skip
    line = [sys.executable, "-c", WATCHED, "impute", "table.csv", "--target", "outcome",
            "--ignore", "id", "--na-values", "?", "-m", "cgknn", "-k", "2", "-q", "--report",
            "page.html", "--save", "model"]  # fmt: skip
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    written = [Path(name) for name in json.loads(done.stdout)]
    assert written
    for path in written:
        is_cache = path.suffix in (".nbi", ".nbc") or "__pycache__" in path.parts
        assert path.is_relative_to(folder) or is_cache or path == Path("/dev/null"), path
    made = {p.name for p in folder.iterdir()} - {"caches", "table.csv", "new.csv"}
    assert made == {"table.filled.csv", "page.html", "model"}


@pytest.mark.parametrize("kind", ["unnamed", "named"])
def test_a_link_in_the_place_of_a_draft_is_not_followed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who guesses the name of a draft cannot make us write to another file."""
    if kind == "named":
        monkeypatch.setattr(atomic, "_UNNAMED", 0)
    monkeypatch.setattr(atomic, "_temporary_name", lambda: "guessed")
    victim, out = tmp_path / "victim", tmp_path / "out.csv"
    victim.write_bytes(b"mine")
    out.write_bytes(b"old")
    (tmp_path / "guessed").symlink_to(victim)
    with pytest.raises(FileProblemError):
        files.put(out, [b"new"], force=True)
    assert victim.read_bytes() == b"mine"
    assert out.read_bytes() == b"old"


def test_links_that_are_named_lead_where_they_point(greyfill: Any, folder: Path) -> None:
    """Table, model, folder and output may be links; the output stays one and needs --force."""
    (folder / "there").mkdir()
    (folder / "place").symlink_to("there")
    (folder / "in.csv").symlink_to("new.csv")
    greyfill("fit", "in.csv", "--method", "knni", "-k", "1", "--save", "place/model")
    (folder / "model").symlink_to("there/model")
    greyfill("apply", "model", "in.csv", "-o", "place/out.csv")
    made = (folder / "there" / "out.csv").read_bytes()
    (folder / "out.csv").symlink_to("there/other.csv")
    greyfill("apply", "model", "in.csv", "-o", "out.csv", exit_code=2)
    assert not (folder / "there" / "other.csv").exists()
    greyfill("apply", "model", "in.csv", "-o", "out.csv", "--force")
    assert (folder / "out.csv").is_symlink()
    assert (folder / "there" / "other.csv").read_bytes() == made
    assert {p.name for p in (folder / "there").iterdir()} == {"model", "out.csv", "other.csv"}


def test_names_of_drafts_cannot_be_guessed() -> None:
    names = {atomic._temporary_name() for _ in range(100)}
    assert len(names) == 100
    assert all(len(name) >= 24 for name in names)


def test_outputs_keep_their_permissions(greyfill: Any, folder: Path) -> None:
    outputs = ("table.filled.csv", "page.html", "model")
    for name in outputs:
        (folder / name).touch()
        (folder / name).chmod(0o600)
    greyfill("impute", "table.csv", "--target", "outcome", "--ignore", "id", "--na-values", "?",
             "-m", "cgknn", "-k", "2", "--report", "page.html", "--save", "model",
             "--force")  # fmt: skip
    for name in outputs:
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        assert (folder / name).stat().st_size > 0


def table_of_formulas(folder: Path) -> list[bytes]:
    """One column of formulas and one of words, each with holes."""
    lines = [b"note,word,x"]
    for i, formula in enumerate(FORMULAS * 3):
        word = b"" if i % 4 == 0 else (b"yes", b"no")[i % 2]
        lines.append(b'"' + formula.encode() + b'",' + word + b"," + str(i).encode())
    (folder / "formulas.csv").write_bytes(b"\n".join(lines) + b"\n")
    return lines


def test_formulas_pass_untouched_and_none_is_introduced(greyfill: Any, folder: Path) -> None:
    before = table_of_formulas(folder)
    greyfill("impute", "formulas.csv", "--method", "knni", "-k", "2")
    after = (folder / "formulas.filled.csv").read_bytes().splitlines()
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        note, word, number = new.rsplit(b",", 2)
        old_note, old_word, old_number = old.rsplit(b",", 2)
        assert (note, number) == (old_note, old_number)
        assert word == old_word or (not old_word and word in (b"yes", b"no"))


def test_a_filled_text_is_one_that_its_column_holds(greyfill: Any, folder: Path) -> None:
    rows = "".join(f"{text},{i}\n" for i, text in enumerate(["=1+1", "", "plain", "", "=1+1"]))
    (folder / "t.csv").write_text("a,b\n" + rows)
    greyfill("impute", "t.csv", "--method", "knni", "-k", "1")
    filled = pl.read_csv(folder / "t.filled.csv")["a"].to_list()
    assert set(filled) == {"=1+1", "plain"}


def test_formulas_are_text_in_a_workbook(greyfill: Any, folder: Path) -> None:
    pytest.importorskip("xlsxwriter")
    table_of_formulas(folder)
    about = ("--method", "knni", "-k", "2", "--save", "model")
    greyfill("impute", "formulas.csv", *about, "-o", "out.xlsx")
    greyfill("apply", "model", "formulas.csv", "-o", "applied.xlsx")
    for name in ("out.xlsx", "applied.xlsx"):
        with zipfile.ZipFile(folder / name) as book:
            sheet = book.read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in sheet
        assert b"<hyperlink" not in sheet


STEER = "\x1b[2J\x1b]0;title\x07"


def test_names_cannot_steer_a_terminal(greyfill: Any, folder: Path) -> None:
    """Names of files and columns reach a terminal without their control characters."""
    name = f"a{STEER}.csv"
    (folder / name).write_text(f"x{STEER},y\n1,\n2,3\n4,5\n")
    level = f"b{STEER}"
    cells = "".join(f"{i % 2},{'a' if i % 3 else level}\n" for i in range(60))
    (folder / "levels.csv").write_text(f"x{STEER},y{STEER}\n{cells},a\n")
    said = [
        greyfill("inspect", "levels.csv", "--target", f"y{STEER}").stdout,
        greyfill("impute", name, "--method", "knni", "-k", "1").stderr,
        greyfill("impute", "levels.csv", "--dry-run", "--method", "knni").stderr,
        greyfill("impute", f"gone{STEER}.csv", exit_code=2).stderr,
        greyfill("impute", name, "--dry-run", "--force", "--method", "knni").stderr,
        greyfill("impute", name, "--target", f"z{STEER}", exit_code=2).stderr,
        greyfill("inspect", name).stdout,
    ]
    for text in said:
        assert text
        assert "\x1b" not in text
        assert "\x07" not in text


@pytest.mark.parametrize(
    "name", ["-dash.csv", "a b.csv", "..table.csv", "ü\u202e.csv", "%s{0}.csv"]
)
def test_odd_names_of_files_are_only_names(greyfill: Any, folder: Path, name: str) -> None:
    (folder / name).write_bytes((folder / "new.csv").read_bytes())
    names = {path.name for path in folder.iterdir()}
    greyfill("impute", "--method", "knni", "-k", "1", "--", name)
    (made,) = {path.name for path in folder.iterdir()} - names
    assert made == name.removesuffix(".csv") + ".filled.csv"
