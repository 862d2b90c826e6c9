"""Rulings of the method page that a figure stands behind."""

from dataclasses import dataclass, replace
from inspect import signature

import numpy as np
import pytest

from greyfill import Grey, IKNNImputer, KNNIImputer, NeighborImputer, WeightedFill, datasets, load
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.family import NeighborFamily
from greyfill.paper.runs import SCENARIOS, Reading, paper_settings
from greyfill.table import range_sizes


@dataclass(frozen=True)
class GreyOverAll(Grey):
    """Δmin and Δmax over all rows but the query, as (32) is printed, not over its class."""

    rows: tuple = ()

    def search(self, pool, queries, missing, own_rows, weights, k, extremes=None):
        rows = np.array(self.rows)
        gaps = np.abs(np.where(missing, np.nan, queries)[:, None] - rows[None])
        same = np.all((gaps == 0) | np.isnan(gaps), axis=2)
        own = np.array([np.flatnonzero(found)[0] for found in same])
        gaps[np.arange(len(own)), own] = np.nan
        extremes = np.stack([np.nanmin(gaps, axis=(1, 2)), np.nanmax(gaps, axis=(1, 2))], axis=1)
        return super().search(pool, queries, missing, own_rows, weights, k, extremes)


def test_the_range_of_delta_moves_nearly_every_fill_a_little_and_the_error_hardly():
    moved, errors = [], []
    for seed in range(5):
        case = SCENARIOS["iris"].case(0.20, seed)
        cells = np.where(case.table.missing, np.nan, case.table.values)
        low, high = np.nanmin(cells, axis=0), np.nanmax(cells, axis=0)
        scaled = (cells - low) / (high - low)
        rows = tuple(map(tuple, scaled))
        fills = [
            NeighborImputer(10, distance=part, round_to_grid=False).fit_transform(
                cells, case.labels
            )
            for part in (Grey(), GreyOverAll(rows=rows))
        ]
        steps = np.abs(fills[0] - fills[1]) / range_sizes(case.truth)
        moved.append(steps[case.mask])
        errors.append([case.errors(fill)["range-hidden"] for fill in fills])
    assert np.mean(np.concatenate(moved) > 0) > 0.9
    assert np.max(np.concatenate(moved)) < 0.1
    ours, printed = np.mean(errors, axis=0)
    assert ours != printed
    assert ours == pytest.approx(printed, abs=0.001)


def test_the_tie_rule_decides_the_first_table():
    case = SCENARIOS["cubes"].case(0.10, seed=0)
    cells = np.where(case.table.missing, np.nan, case.table.values)
    fitted = {
        ties: paper_settings("cgknn", Reading(ties)).fit(cells, case.labels)
        for ties in ("largest", "smallest")
    }
    scores = fitted["largest"].k_scores_
    assert scores == fitted["smallest"].k_scores_
    tied = [k for k, score in scores.items() if score == min(scores.values())]
    assert len(tied) > 40
    assert fitted["largest"].n_neighbors_ == max(tied)
    assert fitted["smallest"].n_neighbors_ == min(tied)


def test_smallest_of_tied_k_needs_classes_too():
    X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2]])
    with pytest.raises(InvalidParameterError, match="'cv_smallest' chooses k by classifying y"):
        IKNNImputer("cv_smallest").fit(X)


def test_knni_by_weighted_mean(tmp_path):
    X = np.array([[0.0, 0.0], [0.1, np.nan], [0.2, 1.0], [0.5, 4.0], [1.0, 9.0]])
    # rows 0 and 2 are equally far; row 3 is farther by (0.4² + 1)/(0.1² + 1) in d²
    near, far = 1 / (0.1**2 + 1), 1 / (0.4**2 + 1)
    expected = (near * (0.0 + 1.0) + far * 4.0) / (2 * near + far)
    imputer = KNNIImputer(3, fill="weighted")
    assert imputer.fit_transform(X)[1, 1] == pytest.approx(expected, rel=1e-9)
    assert KNNIImputer(3).fit_transform(X)[1, 1] == pytest.approx(5 / 3)
    assert KNNIImputer(3, fill=WeightedFill()).fit_transform(X)[1, 1] == pytest.approx(expected)
    imputer.save(tmp_path / "knni.greyfill")
    assert load(tmp_path / "knni.greyfill").fill == "weighted"
    with pytest.raises(InvalidParameterError, match="fill must be a part or one of"):
        KNNIImputer(3, fill="median").fit(X)


def test_methods_with_own_parameters_take_the_shared_ones():
    votes = datasets.load("iris")
    for kind in (KNNIImputer, NeighborImputer):
        given = kind(3, labels="none", tol=0.5, verbose=0, random_state=7).get_params()
        assert set(signature(NeighborFamily).parameters) <= set(given)
        assert (given["tol"], given["labels"], given["random_state"]) == (0.5, "none", 7)
    assert KNNIImputer(max_donors=9).set_params(fill="weighted").fit(votes.X).max_donors == 9


def test_a_reading_can_be_replaced():
    assert replace(Reading(), holes="filled").is_filled("cgknn")
    assert not Reading(holes="sources").is_filled("cgknn")
