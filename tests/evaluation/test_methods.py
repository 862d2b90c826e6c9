"""The registry of methods, and how methods are run on a Table."""

import numpy as np
import pytest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from greyfill import CGKNNImputer
from greyfill.evaluation import METHODS, EncodedImputer, make
from greyfill.evaluation.protocols import fill, fit_fill, prepare
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Column, Kind, Table

COLUMNS = (
    Column("number", Kind.NUMERIC),
    Column("color", Kind.CATEGORICAL, 3),
    Column("size", Kind.ORDINAL, 4),
)
LABELS = np.arange(40) % 2


def mixed_table() -> Table:
    rng = np.random.default_rng(0)
    values = np.column_stack(
        [rng.normal(size=40) + LABELS, rng.integers(0, 3, 40), rng.integers(0, 4, 40)]
    )
    missing = rng.random(values.shape) < 0.2
    return Table(np.where(missing, 0.0, values), missing, COLUMNS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(set(METHODS) - {"native", "missforest"}))
def test_every_method_fills_a_mixed_table(name: str) -> None:
    table = mixed_table()
    imputer = prepare(name, table, random_state=0)
    for filled in (fit_fill(imputer, table, LABELS), fill(imputer, table)):
        assert np.isfinite(filled).all()
        assert np.array_equal(filled[:, :3][~table.missing], table.values[~table.missing])
        assert set(np.unique(filled[:, 1])) <= {0.0, 1.0, 2.0}
        assert set(np.unique(filled[:, 2])) <= {0.0, 1.0, 2.0, 3.0}


def test_native_fills_nothing_and_mean_indicator_adds_columns() -> None:
    table = mixed_table()
    native = fit_fill(prepare("native", table), table, None)
    assert np.array_equal(np.isnan(native), table.missing)
    flagged = fit_fill(prepare("mean_indicator", table), table, None)
    assert np.array_equal(flagged[:, 3:], table.missing)


def test_unknown_name_lists_the_names() -> None:
    with pytest.raises(InvalidParameterError, match=r"'median'; there are grey, cgknn, .*native"):
        make("median")


def test_make_passes_parameters() -> None:
    assert make("cgknn", n_neighbors=4).n_neighbors == 4
    assert make("sklearn_knn", n_neighbors=4).estimator.n_neighbors == 4
    assert make("sklearn_iterative", max_iter=2).estimator.max_iter == 2


def test_prepare_clones_seeds_and_tells_the_kinds() -> None:
    table = mixed_table()
    given = CGKNNImputer(3, categorical_features=["of another table"])
    ready = prepare(given, table, random_state=7)
    assert ready is not given
    assert given.categorical_features == ["of another table"]
    assert ready.n_neighbors == 3
    assert ready.random_state == 7
    assert ready.categorical_features == [False, True, False]
    assert ready.ordinal_features == {2: (0, 1, 2, 3)}
    nested = prepare(make_pipeline(make("sklearn_iterative")), table, random_state=7)
    assert nested[0].categorical_features == [False, True, False]
    assert nested[0].estimator.random_state == 7


def test_codes_of_a_foreign_transformer_are_rounded() -> None:
    table = mixed_table()
    filled = fit_fill(prepare(KNNImputer(n_neighbors=2), table), table, None)
    assert np.array_equal(filled[:, 1:], np.rint(filled[:, 1:]))


def test_a_method_may_not_touch_observed_cells() -> None:
    table = mixed_table()
    scaling = make_pipeline(StandardScaler(), SimpleImputer())
    with pytest.raises(InvalidDataError, match=r"changed observed cells.*EncodedImputer"):
        fit_fill(prepare(scaling, table), table, None)


def test_columns_without_a_value_in_a_fold_are_kept() -> None:
    table = mixed_table()
    missing = table.missing.copy()
    missing[:20, 0] = True
    holes = Table(np.where(missing, 0.0, table.values), missing, COLUMNS)
    for method in ("cgknn", "mean", "sklearn_knn", SimpleImputer(), EncodedImputer(KNNImputer())):
        imputer = prepare(method, holes)
        assert fit_fill(imputer, holes.rows(np.arange(20)), LABELS[:20]).shape == (20, 3)
        assert fill(imputer, holes.rows(np.arange(20, 40))).shape == (20, 3)
