"""Files of a folder, as a new user would try them: ``inspect`` and ``impute --dry-run`` of each.

Prints a line for each file: whether it was read, what was guessed and what is left alone; then how
many were read. The command that ``inspect`` ends with is the one that is tried. Ends with 1 if
a file that polars or pandas reads was refused by ``inspect``.

    python tests/corpus/exports.py /tmp/corpus
    python benchmarks/messy_files.py /tmp/corpus
"""

import argparse
import json
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from greyfill.cli import app


def call(*arguments: str) -> tuple[dict[str, Any] | None, str]:
    """The numbers of a command, or the line that it ends with."""
    done = CliRunner().invoke(app, [*arguments, "--json"])
    if done.exit_code:
        return None, (done.stderr.strip().splitlines() or [repr(done.exception)])[-1]
    return json.loads(done.stdout), ""


def is_readable(path: Path) -> bool:
    """Whether polars or pandas makes a table of a file, each with its defaults."""
    import pandas as pd
    import polars as pl

    readers = {
        ".parquet": (pl.read_parquet,), ".arrow": (pl.read_ipc,), ".feather": (pl.read_ipc,),
        ".json": (pl.read_json, pd.read_json), ".jsonl": (pl.read_ndjson,),
        ".xlsx": (pl.read_excel,), ".xls": (pl.read_excel,), ".ods": (pl.read_ods,),
        ".sav": (pd.read_spss,), ".dta": (pd.read_stata,), ".sas7bdat": (pd.read_sas,),
    }  # fmt: skip
    for read in readers.get(path.suffix.lower(), (pl.read_csv, pd.read_csv)):
        try:
            read(path)
            return True
        except (Exception, pl.exceptions.PanicException):  # each reader has its own errors
            continue
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    counts: Counter[str] = Counter()
    for path in sorted(p for p in parser.parse_args().folder.rglob("*") if p.is_file()):
        counts["files"] += 1
        seen, problem = call("inspect", str(path))
        if seen is None:
            is_ours = is_readable(path)
            counts["refused, though polars or pandas reads it"] += is_ours
            print(f"{path.name}: refused{', though readable' * is_ours}: {problem}")
            continue
        counts["inspected"] += 1
        guesses = [f"{g['kind']} {g['column'] or ''}".strip() for g in seen.get("guesses", ())]
        command = shlex.split(seen.get("command", ""))[2:]
        planned, problem = call("impute", *command, "--dry-run") if command else (None, "no rows")
        counts["planned"] += planned is not None
        counts["guesses"] += len(guesses)
        counts["columns left alone"] += len(seen.get("left_alone", ()))
        fills = f"would fill {planned['to_fill']:,} cells" if planned else f"not planned: {problem}"
        print(f"{path.name}: {fills}; guessed: {', '.join(guesses) or 'nothing'}; "
              f"left alone: {', '.join(seen.get('left_alone', ())) or 'nothing'}")  # fmt: skip
    print(", ".join(f"{n:,} {what}" for what, n in counts.items()))
    return int(counts["refused, though polars or pandas reads it"] > 0)


if __name__ == "__main__":
    sys.exit(main())
