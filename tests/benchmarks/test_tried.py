"""The page on what did not pay is of the kept figures, and no member sees the cell it predicts."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from greyfill._grey.donor_table import donor_table
from greyfill.table import Column, Kind, Table

HOME = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    """A program of the folder, which is no package."""
    for folder in (HOME / "accuracy", HOME):
        monkeypatch.syspath_prepend(folder)
    spec = importlib.util.spec_from_file_location(request.param, HOME / f"{request.param}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("program", ["tried"], indirect=True)
def test_figures_on_the_page_are_those_that_were_kept(program: ModuleType) -> None:
    from store import Store

    page = program.PAGE.read_text(encoding="utf-8")
    for section in program.figures(list(Store(program.STORE))):
        assert "\n".join(section) in page, "run python benchmarks/tried.py --page"


@pytest.mark.parametrize("program", ["members"], indirect=True)
def test_latent_classes_leave_the_cell_out(program: ModuleType) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(40, 3)).astype(float)
    codes[:, 1] = np.where(rng.random(40) < 0.8, codes[:, 0], codes[:, 1])
    missing = rng.random(codes.shape) < 0.2
    columns = tuple(Column(name, Kind.CATEGORICAL, 3) for name in "abc")
    donors = donor_table(Table(codes, missing, columns), np.zeros(40, dtype=np.intp), None)
    latent = program.Latent(donors, rng)
    seen = donors.observed_rows(1)
    _, left_out = latent.predict(1, np.flatnonzero(missing[:, 1]), seen)
    np.testing.assert_allclose(left_out.sum(axis=1), 1.0)
    row, own = seen[0], int(codes[seen[0], 1])
    expected = np.zeros(3)
    for counts, logs, shares in latent.models:
        here = counts[:, latent.places[1]]
        classes = np.exp(logs[row] - np.log(here[:, own] / here.sum(axis=1)))
        for number, chance in enumerate(classes / classes.sum()):
            others = here[number].copy()
            others[own] -= shares[row, number]
            expected += chance * others / others.sum() / len(latent.models)
    np.testing.assert_allclose(left_out[0], expected)
