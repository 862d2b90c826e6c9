"""Held-out cells, limits and draws: what they promise for each kind of row."""

import numpy as np
import pandas as pd
import pytest

import greyfill
from greyfill._grey.uncertainty import overimpute


def mixed_table(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A number and a category follow another number, all with holes; two classes follow it, too."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    table = {"a": x, "b": x + 0.5 * rng.normal(size=n), "c": np.where(x > 0, "u", "v")}
    labels = np.where(x + 0.5 * rng.normal(size=n) > 0, "ill", "well")
    return pd.DataFrame(table).mask(rng.random((n, 3)) < 0.2), labels


@pytest.mark.parametrize("has_classes", [True, False])
def test_held_out_cells_are_observed_ones_and_lie_within_their_limits(has_classes: bool) -> None:
    X, y = mixed_table()
    fitted = greyfill.GreyImputer(n_cells=120).fit(X, y if has_classes else None)._fitted
    for j in range(3):
        found = overimpute(fitted, j, level=0.8)
        table = fitted.donors.table
        assert len(found.rows) == len(np.unique(found.rows)) == 120
        assert not table.missing[found.rows, j].any()
        np.testing.assert_array_equal(found.truth, table.values[found.rows, j])
        if j == 2:
            inside = [code in held for code, held in zip(found.truth, found.sets, strict=True)]
            right = found.truth == found.predicted
            assert found.probabilities[right].min() >= 0.5 >= found.probabilities[~right].max()
        else:
            inside = (found.low <= found.truth) & (found.truth <= found.high)
            assert len(found.sets) == len(found.probabilities) == 0
        assert np.mean(inside) >= 0.78
        assert np.corrcoef(found.truth, found.predicted)[0, 1] > 0.6


def test_a_held_out_cell_is_predicted_without_its_own_row() -> None:
    X, y = mixed_table()
    fitted = greyfill.GreyImputer(n_cells=120).fit(X, y)._fitted
    before = overimpute(fitted, 0)
    fitted.donors.table.values[before.rows[0], 0] += 100.0
    after = overimpute(fitted, 0)
    assert after.truth[0] == before.truth[0] + 100.0
    assert after.predicted[0] == before.predicted[0]
