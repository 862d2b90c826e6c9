"""The contract on a table whose text differs in nearly all rows, for the whole family."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from imputers.family import IMPUTERS, quick

import greyfill

pytestmark = pytest.mark.filterwarnings("ignore::greyfill.exceptions.IdentifierWarning")

N_ROWS, N_LEVELS = 1_200, 1_000


def table() -> pd.DataFrame:
    """Names of 1 000 levels, a number, a rank of it and a letter; every tenth cell is missing."""
    rng = np.random.default_rng(0)
    code = rng.permutation(np.arange(N_ROWS) % N_LEVELS)
    X = pd.DataFrame(
        {
            "name": [f"n{c}" for c in code],
            "x": code + rng.normal(size=N_ROWS),
            "letter": rng.choice(list("ab"), N_ROWS),
            "z": rng.normal(size=N_ROWS),
        }
    )
    X = X.mask(rng.random(X.shape) < 0.1)
    return X.assign(z=X["z"].fillna(0.0))  # no row is empty


LABELS = np.arange(N_ROWS) % 2


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
def test_the_contract_holds(imputer: Any, tmp_path: Path) -> None:
    X = table()
    model = quick(imputer)
    filled = model.fit_transform(X, LABELS)
    assert not filled.isna().any().any()
    pd.testing.assert_frame_equal(filled.where(X.notna()), X.where(X.notna()))
    assert set(filled["name"]) <= set(X["name"].dropna())
    new = X[X.isna().any(axis=1)][:8]
    batch = model.transform(new)
    alone = pd.concat([model.transform(new[i : i + 1]) for i in range(8)])
    pd.testing.assert_frame_equal(alone, batch)
    model.save(tmp_path / "model.greyfill")
    pd.testing.assert_frame_equal(greyfill.load(tmp_path / "model.greyfill").transform(new), batch)


def test_threads_change_nothing() -> None:
    one, two = (quick(greyfill.GreyImputer, n_jobs=n).fit(table()) for n in (1, 2))
    pd.testing.assert_frame_equal(one.transform(table()[:50]), two.transform(table()[:50]))
    np.testing.assert_array_equal(one.cell_spreads_[2], two.cell_spreads_[2])


@pytest.mark.parametrize("y", [None, LABELS], ids=["no classes", "classes"])
def test_answers_beside_the_fills(y: Any) -> None:
    X = table()
    model = quick(greyfill.GreyImputer).fit(X, y)
    new = X[X["name"].isna()][:20]
    drawn = model.draw(new, 3)
    assert not any(part.isna().any().any() for part in drawn)
    assert any((drawn[0]["name"] != part["name"]).any() for part in drawn[1:])
    again = model.draw(new, 3)
    pd.testing.assert_frame_equal(drawn[2], again[2])
    cells = model._interval_lists(new)
    filled = model.transform(new)
    sets = [s for s, c in zip(cells["levels"], cells["columns"], strict=True) if c == "name"]
    assert len(sets) == len(new)
    assert all(value in inside for value, inside in zip(filled["name"], sets, strict=True))
    row = int(np.flatnonzero(X["name"].isna())[0])
    why = model.explain(row, "name")
    assert why.value in set(X["name"].dropna())
    assert sum(why.weights) + why.others == pytest.approx(1.0)
    spreads = model.cell_spreads_[2]
    assert ((spreads >= 0.0) & (spreads <= 1.0)).all()


def test_a_set_of_everything_is_written_once() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"name": [f"n{i}" for i in range(300)], "x": rng.normal(size=300)})
    X.loc[::10, "name"] = None
    cells = quick(greyfill.GreyImputer).fit(X)._interval_lists(X)
    assert {len(inside) for inside in cells["levels"]} == {270}
    assert len({id(inside) for inside in cells["levels"]}) == 1


def test_a_level_that_was_never_seen_tells_nothing() -> None:
    X = table()
    model = quick(greyfill.GreyImputer).fit(X)
    new = X[X["letter"].isna()][:5].assign(name="never seen")
    hole = new.assign(name=None)
    filled = model.transform(new)
    assert (filled["name"] == "never seen").all()
    pd.testing.assert_series_equal(filled["letter"], model.transform(hole)["letter"])
