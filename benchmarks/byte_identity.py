"""Observed cells stay byte for byte: the tables of GREYFILL_DATA and generated CSV files.

Fills every table and every generated file by ``greyfill impute`` and ``greyfill apply``, cuts input
and output into raw cells with the slow reference tokenizer, and compares. The files hold words for
missing, numbers for missing, dates and amounts as people write them, so
that all guesses are made: a cell may change only if it is blank or such a word. Prints how many
files and cells were compared, and how many files had a guess; ends with 1 at the first difference.

    python benchmarks/byte_identity.py --files 2000
"""

import argparse
import os
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from greyfill import files
from greyfill.cli.apply_command import ApplyJob
from greyfill.cli.command import OutputOptions
from greyfill.cli.impute_command import ImputeJob
from greyfill.exceptions import InvalidDataError
from greyfill.files.vocabulary import MISSING_WORDS
from greyfill.jobs.options import MethodChoice, TableOptions

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from files.csv_reference import slow_content, slow_tokenize

HOLES = ("", '""', "  ", "?", '"?"', "NA", " n/a ", "k.A.", "-", '"NULL"', "none")
NUMBERS = ("1.50", "+3", "-0.25", "1e3", "12", ".5", "7.", " 4 ", '"2.0"')
WORDS = ("NA", "031162100", "a b", '"x, y"', '"say ""hi"""', "é", '"two\nlines"', "'", "0x1F")
DAYS = ("2024-02-29", "1999-12-31", "2001-01-01")
LOCAL_DAYS = ("31.12.2025", "01.02.2024", "17.5.1999")
AMOUNTS = ('"1,234.50 $"', "87.00 $", "12 $")
PERCENTAGES = ('"12,5 %"', "7 %", '"0,25 %"')
SENTINELS = ("1.5", "2", "3", "4", "5", "6", "7.25", "-999")
KINDS = (NUMBERS, WORDS, DAYS, LOCAL_DAYS, AMOUNTS, PERCENTAGES, SENTINELS)
MISSING = {b"", b"-999", *(word.encode() for word in MISSING_WORDS)}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1")


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


def generated(rng: random.Random) -> tuple[bytes, str]:
    """A CSV file with holes, and its encoding."""
    kinds = [rng.choice(KINDS) for _ in range(rng.randint(2, 6))]
    newline = rng.choice(("\n", "\r\n"))
    rows = [
        [*(_cell(kind, rng) for kind in kinds), rng.choice("uv")] for _ in range(rng.randint(6, 40))
    ]
    rows[0], rows[1] = ([*(rng.choice(kind) for kind in kinds), y] for y in "uv")
    names = [*(f"c{j}" for j in range(len(kinds))), "class"]
    lines = newline.join(",".join(cells) for cells in (names, *rows))
    encoding = rng.choice(ENCODINGS)
    return (lines + rng.choice((newline, ""))).encode(encoding), encoding


def _cell(kind: tuple[str, ...], rng: random.Random) -> str:
    return rng.choice(HOLES) if rng.random() < 0.2 else rng.choice(kind)


def cells(raw: bytes, encoding: str) -> list[list[bytes]]:
    return slow_tokenize(raw.decode(encoding).encode(), b",", b"\n")


def compare(path: Path, encoding: str, count: Count) -> None:
    """Fill a file in both ways and compare its raw cells."""
    out, model, applied = (
        path.with_name("out.csv"),
        path.with_name("model"),
        path.with_name("new.csv"),
    )
    printing = OutputOptions(force=True, quiet=True)
    job = ImputeJob(str(path), output=str(out), model=str(model))
    try:
        count.guessed += bool(files.read(path).guesses)
        job.run(TableOptions("class"), MethodChoice("cgknn", k="3"), printing)
    except InvalidDataError as problem:
        if "but this cell" not in str(problem):
            raise
        count.refused += 1
        return
    ApplyJob(str(model), [str(path)], output=str(applied)).run(TableOptions(), printing)
    before = cells(path.read_bytes(), encoding)
    for name in (out, applied):
        after = cells(name.read_bytes(), encoding)
        if [len(row) for row in before] != [len(row) for row in after]:
            raise SystemExit(f"{path}: rows or cells were added or lost in {name.name}")
        for old, new in (
            (o, n) for b, a in zip(before, after, strict=True) for o, n in zip(b, a, strict=True)
        ):
            is_hole = slow_content(old).strip(b" \t").lower() in MISSING
            if old != new and not is_hole:
                raise SystemExit(f"{path}: {old!r} became {new!r} in {name.name}")
            count.observed += not is_hole
            count.filled += old != new
    count.files += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1000, help="generated files (default 1000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        count = Count()
        for _ in range(options.files):
            raw, encoding = generated(rng)
            path.write_bytes(raw)
            compare(path, encoding, count)
        print(f"generated: {count}")
        given = os.environ.get("GREYFILL_DATA")
        if given is None:
            print("tables: GREYFILL_DATA names no folder")
            return
        count = Count()
        for table in sorted(Path(given).glob("*.csv")):
            if table.name != "SOURCES.csv":
                path.write_bytes(table.read_bytes())
                compare(path, "utf-8", count)
        print(f"tables: {count}")


if __name__ == "__main__":
    sys.exit(main())
