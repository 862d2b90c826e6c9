"""The examination says what its figures say: on made-up figures of tables that do not exist."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from greyfill.evaluation.trials import Data
from greyfill.table import Column, Kind, Table

HOME = Path(__file__).parents[2] / "benchmarks"
NAMES = [f"exam:t{i}" for i in range(6)]
SCENARIOS = ("mcar20", "mcar40", "mar20")


@pytest.fixture(scope="module")
def examination(load_program: Callable[[str], ModuleType]) -> ModuleType:
    return load_program("examination")


@pytest.fixture
def made(examination: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table has one number, the first two a category beside."""

    def load(name: str) -> Data:
        kinds = [Kind.NUMERIC, *[Kind.CATEGORICAL] * (name in NAMES[:2])]
        columns = tuple(Column(kind.value, kind, 2 * (j > 0)) for j, kind in enumerate(kinds))
        cells = np.zeros((4, len(columns)))
        return Data(name, Table(cells, np.zeros(cells.shape, dtype=bool), columns), np.arange(4))

    monkeypatch.setattr(examination.tables, "load", load)
    monkeypatch.setattr(examination.tables, "source", lambda name: f"{name} (7)")


def rows(method: str, error: float, seconds: float, **of_table: float) -> list[dict[str, object]]:
    return [
        {
            "task": "cells",
            "method": method,
            "label": "",
            "table": name,
            "scenario": scenario,
            "seed": seed,
            "nrmse": of_table.get(name.removeprefix("exam:"), error),
            "seconds": seconds,
            "commit": "abc1234" if method == "GreyImputer" else "of another day",
        }
        for name in NAMES
        for scenario in SCENARIOS
        for seed in (0, 1)
    ]


def test_the_page_of_made_up_figures(examination: ModuleType, made: None) -> None:
    found = [
        *rows("GreyImputer", 0.1, 2.0, t0=0.5),
        *rows("R missRanger+y", 0.2, 30.0, t0=0.4),
        *rows("sklearn KNN", 0.3, 0.1, t0=0.6),
    ]
    broken = {k: v for k, v in found[-1].items() if k not in ("nrmse", "seconds")}
    found[-1] = broken | {"error": "Error: no room"}
    page = examination.write(found, NAMES, (0, 1))
    assert "on the commit abc1234, by" in page
    # numeric tables are t2 to t5; of six tables one is lost, p = 2 · 2 / 2^6 and Holm over two
    assert "mean rank of 3 | numeric (4) | with categories (2)" in page
    assert "| GreyImputer | 1.17 | 1.00 | 1.50 |" in page
    ratio = (1.25 * 0.5**5) ** (1 / 6)
    assert f"| R missRanger+y | 1.83 | 2.00 | 1.50 | 6 | 5 | {ratio:.3f} | 0.0625 |" in page
    assert "GreyImputer errs more than it on 1 of 6 tables: t0 (1.250)" in page
    assert "* sklearn KNN, one run (t5): Error: no room" in page
    assert "Not run: GreyImputer without y, CGKNN, sklearn Iterative+y" in page
    assert "| t0 | 4 × 2 | 2.0 | 0.1 | 30.0 |" in page
    assert "| GreyImputer | **0.1000** | **0.1000** | **0.1000** |" in page
    assert "t0: exam:t0 (7); t1: exam:t1 (7)" in page


def test_tables_are_those_of_the_folder(
    examination: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b.schema.json", "b.csv", "a.schema.json", "README.md"):
        (tmp_path / name).touch()
    monkeypatch.setenv("GREYFILL_EXAM", str(tmp_path))
    assert examination.tables.of_examination() == ["exam:a", "exam:b"]


def test_a_failure_of_ours_is_a_result(
    examination: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = examination.run

    def fail(*_: object) -> None:
        raise ValueError("the sky fell")

    monkeypatch.setattr(run.cases, "make", fail)
    key = dict(zip(run.KEY, ("cells", "GreyImputer", "", "exam:t0", "mcar20", 0), strict=True))
    (row,) = run.run_ours([key], {})
    assert row["error"] == "ValueError: the sky fell"


def test_the_section_on_classifiers_has_one_name(
    examination: ModuleType, load_program: Callable[[str], ModuleType]
) -> None:
    assert f"## {examination.CLASSIFIERS}" == load_program("classifiers").HEADING
