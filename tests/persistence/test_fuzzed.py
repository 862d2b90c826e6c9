"""Saved models with changed contents and fitting checksums: refused, or complete answers."""

import os
import subprocess
import sys
from pathlib import Path

import greyfill

ROOT = Path(__file__).parents[2]


def fuzzed(*options: str) -> subprocess.CompletedProcess[str]:
    """A run of the fuzzer in processes of its own, which may crash."""
    source = str(Path(greyfill.__file__).parents[1])
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "fuzz_models.py"), "--workers", "1", *options],
        env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip


def test_changed_models_are_refused_or_answer_in_full() -> None:
    names = ("CGKNNImputer", "MissForestImputer", "GreyClassifier", "C45Imputer", "EMBImputer",
             "OptTreeImputer")  # fmt: skip
    chosen = [part for name in names for part in ("--estimator", name)]
    run = fuzzed("--mutations", "200", "--seed", "0", *chosen)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "\n200 mutations of seed 0" in run.stdout
