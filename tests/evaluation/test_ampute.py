"""Holes on purpose, in every library."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from imputers.containers import CONTAINERS, Container

from greyfill.evaluation import ampute
from greyfill.exceptions import InvalidParameterError

every_container = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())


@every_container
@pytest.mark.parametrize("mechanism", ["mcar", "mar", "nmar"])
def test_hides_the_masked_cells_and_no_other(container: Container, mechanism: str) -> None:
    X = container.make()
    before, natural = container.texts(X), container.holes(X)
    amputed, mask = ampute(X, rate=0.25, mechanism=mechanism, random_state=0)
    assert type(amputed) is type(X)
    assert container.texts(X) == before
    assert not (mask & natural).any()
    assert np.array_equal(container.holes(amputed), natural | mask)
    assert mask.sum(axis=0).tolist() == [round(0.25 * n) for n in (~natural).sum(axis=0)]
    after, given = container.rows(amputed), container.rows(X)
    for i, j in zip(*np.nonzero(~mask & ~natural), strict=True):
        assert after[i][j] == given[i][j]


@every_container
def test_is_seeded(container: Container) -> None:
    masks = [ampute(container.make(), random_state=seed)[1] for seed in (1, 1, 2)]
    assert np.array_equal(masks[0], masks[1])
    assert not np.array_equal(masks[0], masks[2])


def test_dtypes_stay_where_they_can() -> None:
    frame = CONTAINERS["polars"].make()
    assert ampute(frame, random_state=0)[0].schema == frame.schema
    table = CONTAINERS["pyarrow"].make()
    assert ampute(table, random_state=0)[0].schema.types == table.schema.types
    pandas = CONTAINERS["pandas"].make()
    amputed = ampute(pandas, random_state=0)[0]
    changed = {name for name in pandas if pandas[name].dtype != amputed[name].dtype}
    assert changed == {"int"}
    assert amputed["int"].dtype == np.float64
    assert list(amputed.index) == list(pandas.index)


@pytest.mark.parametrize(
    ("array", "dtype", "hole"),
    [
        (np.arange(8).reshape(4, 2), np.float64, np.nan),
        (np.ones((4, 2), bool), object, None),
        (np.full((4, 2), "a"), object, None),
        (np.ones((4, 2), np.float32), np.float32, np.nan),
    ],
)
def test_arrays_without_room_for_a_hole_get_it(array: Any, dtype: Any, hole: Any) -> None:
    amputed, mask = ampute(array, rate=0.5, random_state=0)
    assert amputed.dtype == dtype
    assert mask.sum() == 4
    assert all(cell is hole or np.isnan(cell) for cell in amputed[mask])
    assert (amputed[~mask] == array[~mask]).all()


def test_dates_of_numpy() -> None:
    array = np.array([["2024-01-01"], ["2024-01-02"]], dtype="M8[D]")
    amputed, mask = ampute(array, rate=0.5, keep_one=False, random_state=0)
    assert np.array_equal(np.isnat(amputed), mask)


def test_columns_and_predictors() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 3)), columns=[10, 20, 30])
    amputed, mask = ampute(
        X, rate=0.3, mechanism="mar", columns=["20"], predictors=[0], strength=20, random_state=0
    )
    assert mask.sum(axis=0).tolist() == [0, 150, 0]
    hidden, shown = X[10][mask[:, 1]], X[10][~mask[:, 1]]
    assert min(abs(hidden.min() - shown.max()), abs(hidden.max() - shown.min())) < 1
    assert amputed[20].isna().sum() == 150


def test_sentinels_count_as_holes_already() -> None:
    X = pl.DataFrame({"a": ["?", "x", "y", "?", "x"], "b": [1, 2, 3, 4, 5]})
    amputed, mask = ampute(X, rate=0.34, columns=["a"], missing_values="?", random_state=0)
    assert mask[:, 0].sum() == 1
    assert amputed["a"].to_list().count("?") == 2


def test_nested_in_arrow_chunks() -> None:
    chunked = pa.table({"a": pa.chunked_array([[1, 2], [3, 4]])})
    amputed, mask = ampute(chunked, rate=0.5, keep_one=False, random_state=0)
    assert [x is None for x in amputed["a"].to_pylist()] == mask[:, 0].tolist()


@pytest.mark.parametrize("wrong", [{"mechanism": "mnar"}, {"predictors": [0]}, {"rate": 1.0}])
def test_refuses_what_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError):
        ampute(np.ones((4, 2)), **wrong)
