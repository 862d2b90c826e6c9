"""What must be true of each system, whatever its figures: small cases by hand, laws, gradients."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import greyfill
from greyfill._neighbors import descent
from greyfill._neighbors.descent import best_fills, choices, objective
from greyfill._neighbors.links import Links
from greyfill._systems.column_models import GreyRidge
from greyfill._systems.layout import FeatureLayout, times
from greyfill._systems.network import NetWeights, Network, Task, loss_and_gradient
from greyfill._systems.prototypes import (
    PrototypeCost,
    Prototypes,
    column_shares,
    fit_clusters,
    memberships,
    partial_squares,
    train_prototypes,
)
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Column, Kind, Table

HOLE = np.nan


def mixed(n: int = 60, seed: int = 0, rate: float = 0.2) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "u": rng.normal(size=n) + y,
            "v": rng.normal(size=n) - y,
            "letter": rng.choice(list("abc"), n),
            "flag": np.where(rng.random(n) < 0.2 + 0.6 * y, "yes", "no"),
        }
    )
    return frame.mask(rng.random(frame.shape) < rate), y


def table(n: int = 40, seed: int = 0, rate: float = 0.2) -> Table:
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.random((n, 3)), rng.integers(0, 3, n)])
    missing = rng.random(values.shape) < rate
    missing[:3] = False
    numbers = [Column(name, Kind.NUMERIC) for name in "abc"]
    columns = (*numbers, Column("d", Kind.CATEGORICAL, 3))
    return Table(np.where(missing, 0.0, values), missing, columns)


# ---------------------------------------------------------------------------- decks


@pytest.mark.parametrize("cells", [None, "class", ["flag"]])
def test_a_cold_deck_of_the_table_itself_is_the_nearest_hot_deck(cells: Any) -> None:
    X, y = mixed()
    hot = greyfill.HotDeckImputer("nearest", cells=cells)
    own = greyfill.ColdDeckImputer(cells=cells)
    given = greyfill.ColdDeckImputer(X, reference_labels=y, cells=cells)
    expected = hot.fit_transform(X, y)
    pd.testing.assert_frame_equal(own.fit_transform(X, y), expected)
    pd.testing.assert_frame_equal(given.fit_transform(X, y), expected)
    assert not expected.equals(greyfill.HotDeckImputer(cells=cells).fit_transform(X, y))


def test_a_hot_deck_takes_all_from_one_donor_of_the_cell() -> None:
    X, y = mixed(rate=0.0)
    X.loc[::5, ["u", "letter"]] = None
    for donor in ("random", "nearest"):
        filled = greyfill.HotDeckImputer(donor, cells="class").fit_transform(X, y)
        for row in range(0, 60, 5):
            same = (X["u"] == filled["u"][row]) & (X["letter"] == filled["letter"][row])
            assert (same & (y == y[row])).any()


def test_a_hot_deck_draws_by_seed_and_content() -> None:
    X = pd.DataFrame({"a": [1.0, 2, 3, 4, None, None], "b": [1.0, 2, 3, 4, 9, 9]})
    first, other = (greyfill.HotDeckImputer(random_state=s, leave_alone=[]) for s in (0, 3))
    filled = first.fit_transform(X)
    assert filled["a"][4] == filled["a"][5]
    wide = pd.DataFrame({"a": [1.0, 2, 3, 4] + [None] * 40, "b": np.arange(44.0)})
    assert not first.fit_transform(wide).equals(other.fit_transform(wide))
    counts = first.fit_transform(wide)["a"][4:].value_counts()
    assert set(counts.index) == {1.0, 2.0, 3.0, 4.0}


def test_cells_are_asked_first_and_others_counted() -> None:
    X = pd.DataFrame(
        {"g": ["s", "s", "t", "t"], "a": [1.0, None, 9.0, 9.0], "b": [None, None, 5, 6]}
    )
    imputer = greyfill.HotDeckImputer(cells=["g"])
    filled = imputer.fit_transform(X)
    assert filled["a"].tolist() == [1.0, 1.0, 9.0, 9.0]
    assert imputer.fallback_counts_ == {"other_cell": 2}
    with pytest.raises(InvalidParameterError, match="cells must be None, 'class' or a list"):
        greyfill.HotDeckImputer(cells="g").fit(X)
    with pytest.raises(InvalidDataError, match="requires y"):
        greyfill.HotDeckImputer(cells="class").fit(X)


def test_what_means_missing_is_missing_in_a_reference_too() -> None:
    X = np.array([[1.0, np.nan], [2.0, 5.0], [9.0, -9.0]])
    reference = np.array([[1.0, -9.0], [3.0, 4.0]])
    imputer = greyfill.ColdDeckImputer(reference, missing_values=-9)
    assert imputer.fit_transform(X)[:, 1].tolist() == [4.0, 5.0, 4.0]


def test_a_reference_may_have_other_columns_and_scales_by_its_own_ranges() -> None:
    X = pd.DataFrame({"a": [10.0, 11.0], "b": [None, None], "c": [1.0, None], "k": ["u", "v"]})
    X["b"] = [0.0, None]
    reference = pd.DataFrame({"b": [5.0, 6.0], "more": [0, 0], "a": [0.0, 12.0]})
    imputer = greyfill.ColdDeckImputer(reference)
    filled = imputer.fit_transform(X)
    assert filled["b"].tolist() == [0.0, 6.0]
    assert filled["c"].tolist() == [1.0, 1.0]
    assert imputer.fallback_counts_ == {"other_cell": 1, "no_donor": 1}
    with pytest.raises(InvalidDataError, match="no column of X"):
        greyfill.ColdDeckImputer(reference[["more"]]).fit(X)
    with pytest.raises(InvalidDataError, match="the reference has 2 columns, but X has 3"):
        greyfill.ColdDeckImputer(np.zeros((2, 2))).fit(np.ones((3, 3)))


@pytest.mark.parametrize("seed", range(5))
def test_a_shell_in_one_column_is_the_two_bracketing_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random(30), rng.random(30)
    at = rng.uniform(x.min(), x.max())
    order = np.argsort(x)
    place = np.searchsorted(x[order], at)
    expected = y[order][place - 1 : place + 1].mean()
    X = np.vstack([np.column_stack([x, y]), [at, HOLE]])
    for k in (10, 30):
        found = greyfill.ShellImputer(n_neighbors=k, round_to_grid=False).fit_transform(X)[-1, 1]
        assert found == pytest.approx(expected)


def test_a_shell_has_the_nearest_of_the_same_level() -> None:
    X = pd.DataFrame({"k": ["a", "a", "b", "b"], "x": [0.0, 1.0, 0.4, 0.5], "t": [1.0, 2, 30, 40]})
    X.loc[4] = ["a", 0.45, None]
    filled = greyfill.ShellImputer(n_neighbors=4, round_to_grid=False).fit_transform(X)
    # x: 0.4 and 0.5 on both sides; k: the nearer of the two "a"
    assert filled["t"][4] == pytest.approx((30 + 40 + 1) / 3)
    assert greyfill.ShellImputer().fit(mixed()[0]).n_neighbors_ >= 12


# ---------------------------------------------------------------------------- clusters


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fuzziness", [1.1, 1.5, 3.0])
def test_the_objective_of_fuzzy_clusters_never_rises(seed: int, fuzziness: float) -> None:
    rows, rng = table(seed=seed, rate=0.3), np.random.default_rng(seed)
    layout = FeatureLayout.learn(rows)
    fitted, history = fit_clusters(rows, 4, fuzziness, rng, n_init=1, tol=0.0, max_iter=60)
    assert len(history) > 5
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    x, shares = layout.encode(rows), column_shares(layout, rows)
    by_hand = [
        [
            4 / max((~rows.missing[i]).sum(), 1)
            * sum(((x - center)[i, layout.owners == j] ** 2).sum() for j in np.flatnonzero(~m))
            for center in fitted.centers
        ]
        for i, m in enumerate(rows.missing)
    ]  # fmt: skip
    np.testing.assert_allclose(partial_squares(x, shares, fitted.centers), by_hand, atol=1e-12)
    u = memberships(np.array(by_hand), fuzziness)
    np.testing.assert_allclose(u.sum(axis=1), 1.0)
    i, d = 7, np.sqrt(by_hand[7])
    np.testing.assert_allclose(
        u[i], d ** (-2 / (fuzziness - 1)) / (d ** (-2 / (fuzziness - 1))).sum()
    )


def test_grey_memberships_are_those_of_the_grades() -> None:
    x, centers = np.array([[0.2, 0.9]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    gaps = np.abs(x - centers)
    grades = ((gaps.min() + 0.5 * gaps.max()) / (gaps + 0.5 * gaps.max())).mean(axis=1)
    expected = (1 - grades) ** -4.0
    found = GreyRidge(fuzziness=1.5, rho=0.5).memberships(x, centers, np.arange(2))
    np.testing.assert_allclose(found[0], expected / expected.sum())


def test_one_cluster_is_a_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((50, 3))
    y = x @ [1.0, -2.0, 0.5] + 0.1
    model = GreyRidge(n_clusters=1, ridge=1e-9).fit(x, y, False, np.arange(3))
    np.testing.assert_allclose(model(x), y, atol=1e-6)
    wide = rng.random((5, 9))
    centered = wide - wide.mean(axis=0)
    slopes = np.linalg.solve(centered.T @ centered + 0.3 * np.eye(9), centered.T @ y[:5])
    model = GreyRidge(n_clusters=1, ridge=0.3).fit(wide, y[:5], False, np.arange(9))
    expected = np.clip(y[:5].mean() + centered @ slopes, y[:5].min(), y[:5].max())
    np.testing.assert_allclose(model(wide), expected, atol=1e-9)


# ---------------------------------------------------------------------------- opt.impute


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 4])
def test_the_objective_of_opt_knn_falls_at_every_step(seed: int, k: int) -> None:
    X, _ = mixed(seed=seed, rate=0.3)
    history = greyfill.OptKNNImputer(n_neighbors=k, tol=0.0).fit(X).history_
    assert len(history) > 1
    assert (np.diff(history) <= 1e-9 * history[0]).all()


def links_of(values: Any, k: int, incomplete: Any) -> Links:
    gaps = ((values[:, None] - values) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    donors = np.argsort(gaps[incomplete], axis=1, kind="stable")[:, :k]
    nothing = np.zeros(0, dtype=np.intp)
    weights = np.full(donors.shape, 1.0 / k)
    return Links(incomplete, nothing, nothing, donors, weights, weights, weights)


@pytest.mark.parametrize("seed", range(3))
def test_the_fills_of_opt_knn_are_those_of_its_equation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.random((20, 2)), rng.integers(0, 3, 20)])
    missing = rng.random(values.shape) < 0.3
    is_categorical = np.array([False, False, True])
    incomplete = np.flatnonzero(missing.any(axis=1))
    chosen = choices([links_of(values, 3, incomplete)], 20)
    z = chosen.toarray()
    fresh = best_fills(chosen, values, missing, is_categorical, 3)
    for i, d in zip(*np.nonzero(missing[:, :2]), strict=True):
        expected = (z[i] + z[:, i]) @ fresh[:, d] / (z[i].sum() + z[:, i].sum())
        assert fresh[i, d] == pytest.approx(expected, abs=1e-6)
    assert (fresh == values)[~missing].all()
    assert objective(chosen, fresh, is_categorical) <= objective(chosen, values, is_categorical)
    by_hand = sum(
        ((values[i, :2] - values[j, :2]) ** 2).sum() + (values[i, 2] != values[j, 2])
        for i, j in np.argwhere(z > 0)
    )
    assert objective(chosen, values, is_categorical) == pytest.approx(by_hand)


def test_without_those_that_chose_a_row_opt_knn_is_iknn() -> None:
    """The pass of the recipe engine: plain mean and mode of the row's own neighbors."""
    rng = np.random.default_rng(1)
    values = np.column_stack([rng.random((15, 2)), rng.integers(0, 2, 15)])
    missing = rng.random(values.shape) < 0.3
    incomplete = np.flatnonzero(missing.any(axis=1))
    links = links_of(values, 3, incomplete)
    slots, columns = np.nonzero(missing[incomplete])
    full = Links(incomplete, slots, columns, links.donors, *[links.distances] * 3)
    iknn = full.values(values, np.array([False, False, True]), 2)
    one_way = best_fills(
        choices([links], 15), values, missing, np.array([False, False, True]), 2, both_ways=False
    )
    np.testing.assert_allclose(one_way[incomplete[slots], columns], iknn, atol=1e-12)
    both = best_fills(choices([links], 15), values, missing, np.array([False, False, True]), 2)
    assert np.abs(both - one_way).max() > 1e-3


@pytest.mark.parametrize("in_turn", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_compiled_votes_are_those_of_the_plain_loop(seed: int, in_turn: bool) -> None:
    rng = np.random.default_rng(seed)
    chosen = sparse.csr_array((rng.random((30, 30)) < 0.2).astype(float))
    holes, codes = np.arange(0, 30, 2), rng.integers(0, 4, 30).astype(float)
    both = codes.copy(), codes.copy()
    for vote, found in zip((descent.vote_along, descent.vote_along.py_func), both, strict=True):
        vote(chosen.indptr, chosen.indices, chosen.data, holes, found, 4, in_turn)
    np.testing.assert_array_equal(*both)
    assert (both[0] != codes).any()
    assert (both[0] == codes)[1::2].all()


def test_votes_go_in_turn_and_ties_stay() -> None:
    chosen = sparse.csr_array(np.array([[0.0, 1, 1], [1, 0, 0], [0, 0, 0]]))
    values = np.array([[1.0], [0.0], [1.0]])
    missing = np.array([[True], [True], [False]])
    fresh = best_fills(chosen, values, missing, np.array([True]), 2)
    # row 0 hears row 1 twice (each chose the other) and row 2 once; then row 1 hears row 0 twice
    assert fresh.ravel().tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", [greyfill.OptSVMImputer, greyfill.OptTreeImputer])
def test_models_find_a_curve_and_the_loss_falls(kind: Any) -> None:
    x = np.linspace(0, 1, 80)
    X = pd.DataFrame({"x": x, "y": np.sin(4 * x), "side": np.where(x < 0.5, "low", "high")})
    X.iloc[::7, 1] = None
    X.iloc[3::9, 2] = None
    imputer = kind(round_to_grid=False)
    filled = imputer.fit_transform(X)
    assert np.abs(filled["y"] - np.sin(4 * x)).max() < 0.3
    assert (filled["side"] == np.where(x < 0.5, "low", "high")).mean() > 0.97
    assert min(imputer.history_) <= imputer.history_[0]


def test_opt_cv_takes_the_candidate_of_least_error() -> None:
    X, _ = mixed()
    imputer = greyfill.OptImputer(max_iter=2).fit(X)
    assert set(imputer.errors_) == {"knn", "svm", "tree"}
    assert imputer.errors_[imputer.method_] == min(imputer.errors_.values())


# ---------------------------------------------------------------------------- networks


def task(seed: int = 0) -> tuple[NetWeights, Task, FeatureLayout]:
    rows, rng = table(n=12, seed=seed, rate=0.3), np.random.default_rng(seed)
    layout = FeatureLayout.learn(rows)
    x = rng.random((12, int(layout.edges[-1])))
    labels = rng.integers(-1, 3, 12)
    seen = ~layout.spread(rows.missing)
    return (
        NetWeights.draw(x.shape[1], 4, 3, rng),
        Task(x, layout.encode(rows), seen, layout.edges, labels, 2.0, 0.1),
        layout,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_of_the_net_is_that_of_finite_differences(seed: int) -> None:
    weights, what, _ = task(seed)
    _, gradient = loss_and_gradient(weights, what)
    rng = np.random.default_rng(seed)
    for part, slope in zip(weights.parts, gradient.parts, strict=True):
        for _ in range(6):
            place = tuple(rng.integers(size) for size in part.shape)
            kept, step = part[place], 1e-6
            part[place] = kept + step
            up, _ = loss_and_gradient(weights, what)
            part[place] = kept - step
            down, _ = loss_and_gradient(weights, what)
            part[place] = kept
            assert slope[place] == pytest.approx((up - down) / (2 * step), abs=1e-6)


def test_the_output_of_a_column_does_not_see_its_own_input() -> None:
    weights, what, layout = task()
    net = Network(layout, weights, np.zeros(what.x.shape[1]))
    before = net.outputs(what.x, what.labels)
    for j in range(4):
        own = layout.owners == j
        moved = what.x.copy()
        moved[:, own] += 0.7
        after = net.outputs(moved, what.labels)
        np.testing.assert_allclose(after[:, own], before[:, own], atol=1e-12)
        assert np.abs(after[:, ~own] - before[:, ~own]).min() > 1e-6


def test_the_class_helps_columns_and_never_itself() -> None:
    weights, what, layout = task()
    net = Network(layout, weights, np.zeros(what.x.shape[1]))
    known = what.labels >= 0
    gap = np.abs(net.outputs(what.x, what.labels) - net.outputs(what.x)).max(axis=1)
    assert (gap[known] > 1e-6).all()
    assert (gap[~known] == 0.0).all()
    flipped = Task(what.x, what.targets, what.seen, what.edges, what.labels, 0.0)
    weights.by_class[:] += 1.0
    assert (loss_and_gradient(weights, flipped)[1].by_class[:, 0] != 0).any()  # the penalty alone
    a = what.x @ weights.inner + weights.bias
    np.testing.assert_allclose(times(what.x, weights.inner) + weights.bias, a)


# ---------------------------------------------------------------------------- prototypes


def test_a_distance_with_a_hole_worked_by_hand() -> None:
    columns = tuple(Column(name, Kind.NUMERIC) for name in "abc")
    corners = Table(np.array([[0.0, 0, 0], [1, 1, 1]]), np.zeros((2, 3), bool), columns)
    layout = FeatureLayout.learn(corners)
    centers = np.array([[0.5, 0.25, 0.0], [1.0, 1.0, 1.0]])
    relevance = np.array([0.5, 0.3, 0.2])
    model = Prototypes(layout, centers, np.array([0, 1]), relevance, centers)
    row = Table(np.array([[0.1, 0.75, 0.0]]), np.array([[False, False, True]]), columns)
    # (0.5·0.4² + 0.3·0.5²) / 0.8 and (0.5·0.9² + 0.3·0.25²) / 0.8
    np.testing.assert_allclose(model.squares(row), [[0.155 / 0.8, 0.42375 / 0.8]])
    assert model.fill(row)[0].tolist() == [0.1, 0.75, 0.0]
    assert model.fill(row, np.array([1]))[0, 2] == 1.0
    soft = np.exp(-np.array([0.155, 0.42375]) / 0.8 / 0.1)
    assert model.fill(row, softness=0.1)[0, 2] == pytest.approx(soft[1] / soft.sum())


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_of_prototypes_is_that_of_finite_differences(seed: int) -> None:
    rows, rng = table(n=14, seed=seed, rate=0.3), np.random.default_rng(seed)
    layout = FeatureLayout.learn(rows)
    seen = (~layout.spread(rows.missing)).astype(float)
    owners = np.array([0, 0, 1, 2])
    cost = PrototypeCost(
        layout.encode(rows), seen, rng.integers(0, 3, 14), owners, layout.owners, 4
    )
    at = rng.random(4 * seen.shape[1] + 4)
    _, gradient = cost.at(at)
    for place in rng.choice(len(at), 15, replace=False):
        step = np.zeros(len(at))
        step[place] = 1e-6
        slope = (cost.at(at + step)[0] - cost.at(at - step)[0]) / 2e-6
        assert gradient[place] == pytest.approx(slope, abs=1e-6)


def test_prototypes_learn_which_column_matters() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = np.column_stack([y + 0.3 * rng.normal(size=80), rng.normal(size=80)])
    X[rng.random(X.shape) < 0.1] = HOLE
    imputer = greyfill.LVQImputer(n_prototypes=1).fit(X, y)
    assert imputer.relevances_[0] > 0.6
    assert imputer.relevances_.sum() == pytest.approx(1.0)
    assert imputer.history_[-1] < imputer.history_[0]


@pytest.mark.parametrize("kind", [greyfill.MultiTaskMLPClassifier, greyfill.LVQClassifier])
def test_classifiers_read_holes(kind: Any, tmp_path: Any) -> None:
    X, y = mixed(n=200, rate=0.15)
    names = np.where(y == 1, "one", "zero")
    model = kind().fit(X[:120], names[:120])
    assert model.score(X[120:], names[120:]) > 0.7
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0.0).all()
    np.testing.assert_array_equal(model.predict_proba(X[7:8]), shares[7:8])
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(greyfill.load(tmp_path / "model").predict_proba(X), shares)
    order = np.random.default_rng(0).permutation(120)
    again = kind().fit(X.iloc[order], names[:120][order])
    np.testing.assert_allclose(again.predict_proba(X), shares, atol=1e-6)
    with pytest.raises(InvalidDataError, match=f"{kind.__name__} needs classes"):
        kind().fit(X, np.linspace(0, 1, 200) ** 2)


def test_one_class_leaves_clusters() -> None:
    rows = table()
    fitted, history = train_prototypes(
        rows, np.zeros(40, dtype=np.intp), 3, 10, np.random.default_rng(0)
    )
    assert history == []
    np.testing.assert_allclose(fitted.relevance, 0.25)


@pytest.mark.parametrize("seed", range(3))
def test_products_are_those_of_matrices_and_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, matrix = rng.normal(size=(40, 33)), rng.normal(size=(33, 11))
    found = times(x, matrix)
    np.testing.assert_allclose(found, x @ matrix, atol=1e-12)
    for row in range(0, 40, 7):
        assert times(x[[row]], matrix).tobytes() == found[[row]].tobytes()


def test_features_of_a_layout_and_back() -> None:
    columns = (Column("a", Kind.NUMERIC), Column("b", Kind.CATEGORICAL, 2))
    rows = Table(np.array([[2.0, 0.0], [4.0, 1.0]]), np.zeros((2, 2), dtype=bool), columns)
    layout = FeatureLayout.learn(rows)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(layout.encode(rows), [[0, half, 0], [1, 0, half]])
    assert layout.decode(np.array([[0.5, 0.2, 0.3]])).tolist() == [[3.0, 1.0]]


@pytest.mark.parametrize("labels", [[1, 0], [1.0, 0.0], ["1", "0"], pd.Series([1, 0, None])[:2]])
def test_labels_of_the_reference_are_those_of_y_whatever_their_type(labels):
    X, y = np.array([[1.0, np.nan], [1.2, 5.0], [9.0, 7.0]]), np.array([0, 0, 1])
    reference = np.array([[1.0, 10.0], [1.1, 20.0]])
    imputer = greyfill.ColdDeckImputer(reference, reference_labels=labels, cells="class")
    assert imputer.fit_transform(X, y)[0, 1] == 20.0


def test_more_clusters_than_rows_are_as_many_as_rows():
    X = np.array([[1.0, 1.0], [1.0, np.nan], [9.0, 9.0], [9.0, 9.1]])
    for k in (4, 5):
        imputer = greyfill.FuzzyKMeansImputer(k, fuzziness=1.2).fit(X)
        assert imputer.n_clusters_ == 4
