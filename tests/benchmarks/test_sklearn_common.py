"""scikit-learn's own tests of imputers, a few of them: the program that runs them all works."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "sklearn_common.py"


def program() -> ModuleType:
    """The program as a module, under a name that nothing else has."""
    spec = importlib.util.spec_from_file_location("benchmark_sklearn_common", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    loaded = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


common = program()


@pytest.mark.skipif(not common.TESTS.exists(), reason="scikit-learn is installed without its tests")
def test_indicators() -> None:
    chosen = ["--only", "KNNIImputer", "MeanImputer", "--keyword", "indicator"]
    done = subprocess.run(
        [sys.executable, PROGRAM, "--skip-checks", *chosen],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("KNNIImputer", "MeanImputer"):
        row = next(line for line in done.stdout.splitlines() if f"| {name} " in line)
        run, passed, skipped, deviating = map(int, row.split("|")[3:7])
        assert passed >= 5  # three markers of a hole, two tables to fill
        assert (run, skipped) == (passed + deviating, 0)


def test_both_sides_of_the_list_are_held() -> None:
    """A failure that the list does not have counts, and so does a pass in spite of it."""
    listed = next(iter(common.DEVIATIONS))
    outcomes = {
        (test, status): common.Outcome(common.COMMON, test, "MeanImputer", status, "")
        for test in (listed, "test_of_tomorrow")
        for status in ("passed", "failed", "skipped")
    }
    found = common.against_the_list(outcomes.values())
    assert found == [outcomes[listed, "passed"], outcomes["test_of_tomorrow", "failed"]]
    told = "\n".join(common.summary(list(outcomes.values())))
    assert "UNEXPECTED: test_of_tomorrow of MeanImputer" in told
    assert f"NO LONGER DEVIATING: {listed}" in told
