"""Any arguments of the command: done, or refused in one line; never a traceback.

    pip install atheris
    python benchmarks/fuzz_cli.py --seconds 120

An input is a list of arguments, separated by zero bytes. Commands that take minutes are left out,
and every run starts in a folder with the same small table.
"""

import os
import tempfile
from pathlib import Path

from fuzzing import fuzz, instrumented

instrumented()

from typer.testing import CliRunner

from greyfill.cli import app

TABLE = b"a,b,c\n1,x,p\n,y,q\n3,,p\n4,x,q\n5,y,\n"
SLOW = {"reproduce", "compare", "demo", "warmup"}
CODES = {0, 1, 2}
FOLDER = Path(tempfile.mkdtemp(prefix="greyfill-fuzz-"))
LINES = (
    "impute t.csv --target c", "impute t.csv --method knni -k 1 --json", "inspect t.csv --json",
    "impute t.csv -n --categorical a,b --ordinal b=x,y --ignore c", "fit t.csv --save m --target c",
    "apply m t.csv --force", "report t.csv t.filled.csv -o p.html", "datasets iris -o x.csv",
    "impute t.csv -o out.parquet --na-values ? --delimiter , --decimal . --encoding utf-8",
    "impute t.csv --test t.csv --report p.md --save m --seed 3 --jobs 1 --labels none --force",
)  # fmt: skip


def one_input(data: bytes) -> None:
    arguments = data.decode("utf-8", "surrogateescape").split("\0")
    if arguments[0] in SLOW or any("/" in a or ".." in a for a in arguments):
        return  # a fuzzer may not write all over the disk
    for path in FOLDER.iterdir():
        path.unlink()
    os.chdir(FOLDER)
    (FOLDER / "t.csv").write_bytes(TABLE)
    done = CliRunner().invoke(app, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in CODES, done.exit_code
    assert "Traceback" not in done.stderr
    assert (FOLDER / "t.csv").read_bytes() == TABLE or "--force" in arguments


if __name__ == "__main__":
    fuzz(__doc__, one_input, [line.replace(" ", "\0").encode() for line in LINES])
