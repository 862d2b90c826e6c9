"""The walk through greyfill is counted as the program's first lines say."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "walk.py"


def test_functions_count_and_imports_do_not(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b,y\n1,2,u\n,3,v\n2,5,u\n")
    arguments = ("impute", str(table), "--target", "y", "--method", "mean", "--quiet")
    line = [sys.executable, str(PROGRAM), "--inside", *arguments]
    found = json.loads(subprocess.run(line, check=True, capture_output=True).stdout)
    entered = found["entered"]
    assert entered[0] == "cli.program"
    assert entered.index("files.table_file") < entered.index("frames.encoder")
    assert "exceptions" not in entered  # only imported
    assert len(entered) == len(set(entered)) < found["loaded"]
    assert found["encoded"] == 1
