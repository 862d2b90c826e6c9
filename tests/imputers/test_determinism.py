"""The same table and seed give the same bytes: on any threads, in any blocks, library or chunks."""

import inspect
import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from imputers.family import THOROUGH as IMPUTERS
from imputers.family import quick

from greyfill._neighbors import links
from greyfill.imputers.registry import REGISTRY, Method

N_ROWS = 90

family = pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)


def table(seed: int = 0) -> tuple[pl.DataFrame, Any]:
    """Numbers, whole numbers, texts and truths that know the class, with holes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N_ROWS)
    frame = pl.DataFrame(
        {
            "u": rng.normal(size=N_ROWS) + y,
            "v": rng.normal(size=N_ROWS) * 1e-9 + 1.0,
            "n": rng.integers(-50, 50, N_ROWS) + 30 * y,
            "word": rng.choice(["a", "b", "c"], N_ROWS),
            "flag": rng.random(N_ROWS) < 0.2 + 0.3 * y,
        }
    )
    holes = rng.random(frame.shape) < 0.15
    return frame.with_columns(
        [column.set(pl.Series(holes[:, j]), None) for j, column in enumerate(frame)]
    ), y


def fitted(imputer: Any, X: Any, y: Any, **params: Any) -> tuple[Any, Any]:
    known = {k: v for k, v in params.items() if k in inspect.signature(imputer).parameters}
    model = quick(imputer, **known)
    return model.fit_transform(X, y), model


def rows(filled: Any) -> list[tuple[str, ...]]:
    """Every cell spelled out, whatever the library."""
    if isinstance(filled, pd.DataFrame):
        filled = pl.DataFrame({name: filled[name].tolist() for name in filled.columns})
    frame = filled if isinstance(filled, pl.DataFrame) else pl.DataFrame(filled)
    return [tuple(map(repr, row)) for row in frame.iter_rows()]


@cache
def usual(imputer: Any) -> tuple[Any, Any, Any]:
    """The table filled in `fit` and by `transform` with the usual settings, and the model."""
    X, y = table()
    filled, model = fitted(imputer, X, y)
    return rows(filled), rows(model.transform(X)), model


@family
def test_number_of_threads(imputer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    monkeypatch.setattr(links, "BLOCK_ROWS", 7)  # so that there is something to share out
    alone, one = fitted(imputer, X, y, n_jobs=1)
    together, two = fitted(imputer, X, y, n_jobs=2)
    assert rows(alone) == rows(together)
    assert rows(one.transform(X)) == rows(two.transform(X))


@pytest.mark.parametrize("method", [m for m in REGISTRY.values() if m.draws], ids=lambda m: m.name)
def test_draws_of_several_processes(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    monkeypatch.setattr(links, "BLOCK_ROWS", 7)
    models = [fitted(method.resolve(), X, y, n_jobs=n)[1] for n in (1, 2)]
    alone, together = (m.draws_ if hasattr(m, "draws_") else m.draw(X, 2, y) for m in models)
    for one, two in zip(alone, together, strict=True):
        assert rows(one) == rows(two)


@family
@pytest.mark.parametrize("block", [1, 13, 64])
def test_size_of_blocks(imputer: Any, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    expected = usual(imputer)[:2]
    monkeypatch.setattr(links, "BLOCK_ROWS", block)
    again, model = fitted(imputer, X, y)
    assert (rows(again), rows(model.transform(X))) == expected


@family
def test_library_of_the_table(imputer: Any) -> None:
    X, y = table()
    nullable = {"v": "Float64", "n": "Int64", "word": "string", "flag": "boolean"}
    frame = pd.DataFrame({name: pd.array(X[name].to_list(), dtype=nullable.get(name, "float64"))
                          for name in X.columns})  # fmt: skip
    results = [fitted(imputer, same, y)[0] for same in (X, X.to_arrow(), frame)]
    assert isinstance(results[1], pa.Table)
    assert rows(results[0]) == rows(results[1]) == rows(results[2])


@family
@pytest.mark.parametrize("size", [1, 7, 30])
def test_chunks_of_new_rows(imputer: Any, size: int) -> None:
    model, new = usual(imputer)[2], table(seed=1)[0][:40]
    whole = rows(model.transform(new))
    chunks = [model.transform(new[i : i + size]) for i in range(0, len(new), size)]
    assert [row for chunk in chunks for row in rows(chunk)] == whole


@family
def test_saved_files_are_equal(imputer: Any, tmp_path: Any) -> None:
    used = quick(imputer).fit(np.array([[1.0], [2.0], [np.nan]]), [0, 1, 1])
    for name, model in (("one", quick(imputer)), ("two", used)):
        model.fit(*table()).save(tmp_path / name)
    is_same = (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert is_same  # pytest would take minutes to show where megabytes differ
    with zipfile.ZipFile(tmp_path / "one") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


SAVE = """
import sys
from greyfill import KNNIImputer
X = [[1.0, "a"], [2.0, "?"], [3.0, "none"], [None, "b"]]
words = {"?", "none", "unknown", "n/a", -9, -99.5}
KNNIImputer(n_neighbors=1, missing_values=words).fit(X).save(sys.argv[1])
"""


def test_saved_files_of_other_processes_are_equal(tmp_path: Path) -> None:
    """The order of a set is another one in each process."""
    for seed in ("1", "2"):
        line = [sys.executable, "-c", SAVE, str(tmp_path / seed)]
        subprocess.run(line, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@family
def test_late_models(imputer: Any) -> None:
    """What is learned only when a new row asks for it does not depend on who asked before."""
    X, y = table()
    complete = X.drop_nulls()
    y = y[~X.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()]
    holed = [
        complete[:1].with_columns(pl.lit(None, X[name].dtype).alias(name)) for name in X.columns
    ]
    one, two = (fitted(imputer, complete, y)[1] for _ in range(2))
    there = [rows(one.transform(row)) for row in holed]
    back = [rows(two.transform(row)) for row in reversed(holed)]
    assert there == back[::-1]
