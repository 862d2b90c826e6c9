"""Observed cells stay byte for byte: the corpus, generated CSV files, the tables of GREYFILL_DATA.

Fills every file by ``greyfill impute``, generated ones by ``greyfill apply`` too, cuts input and
output into raw cells with the slow reference tokenizer, and compares. The files hold words for
missing, numbers for missing, dates and amounts as people write them, so that all guesses are made:
a cell may change only if it is blank, such a word, or named by the command that ``inspect`` ends
with. Workbooks and other files that are no text are compared by their values. Prints how many
files and cells were compared, and how many files had a guess; ends with 1 at the first difference.

    python benchmarks/byte_identity.py --files 2000
    python benchmarks/byte_identity.py --files 2000 --start 600     goes on where a run was cut off
"""

import argparse
import json
import os
import random
import shlex
import sys
import tempfile
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

os.environ["POLARS_MAX_THREADS"] = "1"  # small files: threads only wait for each other
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/corpus"))

from exports import EXPORTS
from files.csv_reference import raw_cells, slow_content
from typer.testing import CliRunner

from greyfill import files
from greyfill.cli import app
from greyfill.files.formats import layout_of
from greyfill.files.inputs import Input
from greyfill.files.vocabulary import MISSING_WORDS

HOLES = ("", '""', "  ", "?", '"?"', "NA", " n/a ", "k.A.", "-", '"NULL"', "none")
NUMBERS = ("1.50", "+3", "-0.25", "1e3", "12", ".5", "7.", " 4 ", '"2.0"')
WORDS = ("NA", "031162100", "a b", '"x, y"', '"say ""hi"""', "é", '"two\nlines"', "'", "0x1F")
DAYS = ("2024-02-29", "1999-12-31", "2001-01-01")
LOCAL_DAYS = ("31.12.2025", "01.02.2024", "17.5.1999")
AMOUNTS = ('"1,234.50 $"', "87.00 $", "12 $")
PERCENTAGES = ('"12,5 %"', "7 %", '"0,25 %"')
SENTINELS = ("1.5", "2", "3", "4", "5", "6", "7.25", "-999")
KINDS = (NUMBERS, WORDS, DAYS, LOCAL_DAYS, AMOUNTS, PERCENTAGES, SENTINELS)
MISSING = {b"", *(word.encode() for word in MISSING_WORDS)}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1")
TOLD_EVERY = 100


@dataclass
class Count:
    files: int = 0
    observed: int = 0
    filled: int = 0
    guessed: int = 0
    refused: int = 0

    def __str__(self) -> str:
        kept = f"{self.observed:,} observed cells kept"
        about = f"{self.guessed:,} with guesses, {self.refused:,} refused for words among numbers"
        return f"{self.files:,} files ({about}), {kept}, {self.filled:,} cells filled"


def generated(rng: random.Random) -> bytes:
    """A CSV file with holes."""
    kinds = [rng.choice(KINDS) for _ in range(rng.randint(2, 6))]
    newline, delimiter = rng.choice(("\n", "\r\n")), rng.choice(",,;\t|")
    rows = [
        [*(_cell(kind, rng) for kind in kinds), rng.choice("uv")] for _ in range(rng.randint(6, 40))
    ]
    rows[0], rows[1] = ([*(rng.choice(kind) for kind in kinds), y] for y in "uv")
    names = [*(f"c{j}" for j in range(len(kinds))), "class"]
    lines = newline.join(delimiter.join(cells) for cells in (names, *rows))
    return (lines + rng.choice((newline, ""))).encode(rng.choice(ENCODINGS))


def _cell(kind: tuple[str, ...], rng: random.Random) -> str:
    return rng.choice(HOLES) if rng.random() < 0.2 else rng.choice(kind)


def call(*arguments: str | Path) -> dict[str, Any]:
    """The numbers that a command prints, or its error."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    if done.exit_code:
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        raise RuntimeError(done.stderr.strip())
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(path: Path, count: Count, *options: str) -> None:
    """Fill a file, if it has classes also by the saved imputer, and compare its cells."""
    out, model, applied = (path.with_name(name) for name in ("out", "model", "new"))
    has_classes = "--target=class" in options
    saving = ("-m", "cgknn", "-k", "3", "--save", str(model)) if has_classes else ("-m", "mean")
    try:
        told = call("impute", path, *options, *saving, "-o", out, "--force")
    except RuntimeError as problem:
        if "but this cell" not in str(problem):
            raise
        count.refused += 1
        return
    count.guessed += bool(told["guesses"])
    written = [out]
    if has_classes:
        call("apply", model, path, "-o", applied, "--force")
        written.append(applied)
    guessed = [guess["detail"] for guess in told["guesses"] if guess["kind"] == "sentinel"]
    named = [option.split("=")[-1] for option in options if option.startswith("--na-values")]
    missing = MISSING | {word.strip().lower().encode() for word in (*guessed, *named)}
    source = files.read(path, lenient=True)
    for name in written:
        compare_cells(path, name, source, missing, count)
    count.files += 1


def plain(path: Path) -> bytes:
    """The bytes of a file, decompressed."""
    with Input(str(path), layout_of(path.name).compression) as source:
        return b"".join(source.blocks())


def compare_cells(
    path: Path, out: Path, source: files.Source, missing: set[bytes], count: Count
) -> None:
    """Compare two files cell by cell: by their bytes, or, if they are no text, by their values."""
    if source.csv is not None:
        before, after = (raw_cells(plain(name), source.csv.reader) for name in (path, out))
        width = len(source.csv.reader.columns)
    else:
        again = files.read(out, format=source.format.written_as)
        before, after = ([*map(list, s.frame.iter_rows())] for s in (source, again))
        width = source.frame.width
    if len(before) != len(after):
        raise SystemExit(f"{path}: rows were added or lost in {out.name}")
    for old_row, new_row in zip(before, after, strict=True):
        if not len(old_row) <= len(new_row) <= max(width, len(old_row)):
            raise SystemExit(f"{path}: cells were added or lost in {out.name}")
        for old, new in zip_longest(old_row, new_row):
            text = (
                slow_content(old)
                if isinstance(old, bytes)
                else str("" if old is None else old).encode()
            )
            is_hole = text.strip(b" \t\0").lower() in missing  # zero bytes are blanks
            if old != new and not is_hole:
                raise SystemExit(f"{path}: {old!r} became {new!r} in {out.name}")
            count.observed += not is_hole
            count.filled += old != new


def compare_corpus(folder: Path) -> Count:
    """Each file of the corpus, filled by the command that ``inspect`` ends with."""
    count = Count()
    for export in EXPORTS:
        path = folder / export.name
        path.write_bytes(export.make())
        told = call("inspect", path)
        compare(path, count, *shlex.split(told["command"])[3:])
        path.unlink()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1000, help="generated files (default 1000)")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, count = folder / "table.csv", Count()
        if not options.start:
            print(f"corpus: {compare_corpus(folder)}", flush=True)
        for number in range(options.start, options.files):
            path.write_bytes(generated(random.Random(f"{options.seed}/{number}")))
            compare(path, count, "--target=class")
            if (number + 1) % TOLD_EVERY == 0:
                print(f"up to file {number + 1:,}: {count}", flush=True)
        print(f"generated: {count}")
        given = os.environ.get("GREYFILL_DATA")
        if given is None:
            print("tables: GREYFILL_DATA names no folder")
            return
        count = Count()
        for table in sorted(Path(given).glob("*.csv")):
            if table.name != "SOURCES.csv":
                path.write_bytes(table.read_bytes())
                compare(path, count, "--target=class")
        print(f"tables: {count}")


if __name__ == "__main__":
    sys.exit(main())
