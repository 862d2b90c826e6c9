"""Shifted fills: small tables by hand, what a shift of nothing does, and the command's numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

from greyfill import CGKNNImputer, GreyImputer, MICEImputer, plots, pool, sensitivity
from greyfill.datasets import load, make_gaussian_classes
from greyfill.evaluation import honest_protocol
from greyfill.evaluation.estimate import interval_tipping_point, tipping_point
from greyfill.evaluation.sensitivity import find_level
from greyfill.evaluation.shift import FilledColumn, Shift, draw_scores, vote_scores, votes_of
from greyfill.exceptions import InvalidDataError, InvalidParameterError

NAN = np.nan
# Observed: 0, 1, 2 in class a and 2, 3, 4, 3 in class b; their deviation is √(76/7 / 6).
NUMBERS = np.array([[0.0], [1.0], [2.0], [NAN], [2.0], [3.0], [4.0], [3.0]])
CLASSES = np.repeat(["a", "b"], 4)
SD = (76 / 7 / 6) ** 0.5


def test_numbers_by_hand() -> None:
    found = sensitivity("class_mean", NUMBERS, CLASSES, "x0", [-1, 2], classifier=None)
    # the class mean 1 is filled: a has mean 1, b has 3; each shift adds δ·sd/4 to the mean of a
    assert found.table["delta"].to_list() == [-1.0, 0.0, 2.0]
    assert found.table["amount"].to_list() == pytest.approx([-SD, 0.0, 2 * SD])
    assert found.table["imputed"].to_list() == pytest.approx([1 - SD, 1.0, 1 + 2 * SD])
    expected = [2 + SD / 4, 2.0, 2 - SD / 2]
    assert found.table["estimate"].to_list() == pytest.approx(expected)
    assert found.table["accuracy"].null_count() == 3
    assert found.tipping_point is None
    assert (found.n_imputed, found.n_rows) == (1, 8)


def test_tipping_point_of_a_line_is_exact() -> None:
    found = sensitivity("class_mean", NUMBERS, CLASSES, 0, [-9, 9], threshold=1.5, classifier=None)
    assert found.tipping_point == pytest.approx(0.5 * 4 / SD)  # 2 − δ·sd/4 = 1.5


def test_only_one_class_is_shifted() -> None:
    X = np.vstack([NUMBERS, [[NAN]]])
    y = np.append(CLASSES, "b")
    both = sensitivity("class_mean", X, y, 0, [1], classifier=None)
    one = sensitivity("class_mean", X, y, 0, [1], within="b", classifier=None)
    # fills: 1 in a (of 4 rows), 3 in b (of 5)
    assert both.table["estimate"].to_list() == pytest.approx([2.0, 2 + SD / 5 - SD / 4])
    assert one.table["estimate"].to_list() == pytest.approx([2.0, 2 + SD / 5])
    assert (both.n_imputed, one.n_imputed, one.within) == (2, 1, "b")


def test_without_labels_the_estimate_is_the_mean_of_the_column() -> None:
    found = sensitivity("mean", NUMBERS, None, 0, [1])
    assert found.table["estimate"].to_list() == pytest.approx([15 / 7, 15 / 7 + SD / 8])
    assert found.target == "mean of x0"


def test_an_estimate_of_the_user_sees_his_own_table() -> None:
    frame = pd.DataFrame({"x": NUMBERS[:, 0], "z": np.arange(8.0)}, index=list("stuvwxyz"))

    def largest(filled: pd.DataFrame, y: np.ndarray) -> float:
        assert filled.index.tolist() == list("stuvwxyz")
        assert list(y) == list(CLASSES)
        return float(filled["x"].max())

    found = sensitivity("class_mean", frame, CLASSES, "x", [5], estimate=largest, classifier=None)
    assert found.table["estimate"].to_list() == pytest.approx([4.0, 1 + 5 * SD])
    assert found.target == "your estimate"


def test_ordered_levels_stay_levels() -> None:
    sizes = ["S", "M", "L", "M", "S", None, "L", "M"]
    frame = pl.DataFrame({"size": sizes})
    seen = []

    def keep(filled: pl.DataFrame, y: object) -> float:
        seen.append(filled["size"][5])
        return 0.0

    orders = {"size": ["S", "M", "L"]}
    sensitivity("mean", frame, None, "size", [-9, 9], estimate=keep, ordinal_features=orders)
    assert seen == ["S", "M", "L"]


def filled_levels(
    fills: list[float], trust: list[float], donors: int, usual: list[float]
) -> FilledColumn:
    n, values = len(fills), np.array(fills)
    scores = vote_scores(values, np.array(trust), donors, np.tile(usual, (n, 1)))
    return FilledColumn(values[:, np.newaxis], np.ones(n, dtype=bool), scores)


def test_odds_by_hand() -> None:
    """Fill 0 with 3 of 4 votes, both levels usual: shares (3 + ½)/5 and (1 + ½)/5, odds 7 to 3."""
    shift = Shift(column=0, level=1)
    filled = filled_levels([0.0], [0.75], 4, [0.5, 0.5])
    flip = np.log(7 / 3)
    assert shift.apply(filled, flip - 0.01)[0, 0] == 0.0
    assert shift.apply(filled, flip + 0.01)[0, 0] == 1.0
    assert shift.amount(flip) == pytest.approx(7 / 3)


def test_a_sure_fill_gives_way_to_a_strong_shift() -> None:
    """One donor that is sure, a level seen in a tenth of the cells: shares 0.95 and 0.05."""
    shift, filled = Shift(column=0, level=1), filled_levels([0.0], [1.0], 1, [0.9, 0.1])
    assert shift.apply(filled, np.log(18.9))[0, 0] == 0.0
    assert shift.apply(filled, np.log(19.1))[0, 0] == 1.0


def test_a_shift_of_one_level_leaves_the_order_of_the_others() -> None:
    """Away from level 0 a cell goes to what is more usual: level 2."""
    shift = Shift(column=0, level=0)
    filled = filled_levels([0.0, 1.0], [0.6, 0.9], 5, [0.2, 0.2, 0.6])
    assert shift.apply(filled, -9.0)[:, 0].tolist() == [2.0, 1.0]
    assert shift.apply(filled, 9.0)[:, 0].tolist() == [0.0, 0.0]


def test_drawn_levels_are_drawn_by_the_moved_odds() -> None:
    """A cell whose draws are 1 in a fifth: odds × 4 make it a half, × ¼ a seventeenth."""
    n_draws, n_cells = 50, 400
    draws = np.repeat((np.arange(n_draws) < 10).astype(float), n_cells).reshape(n_draws, n_cells)
    scores = draw_scores(draws, np.tile([0.8, 0.2], (n_cells, 1)), np.random.default_rng(0))
    everywhere, shift = np.ones(n_cells, dtype=bool), Shift(column=0, level=1)

    def moved(delta: float) -> np.ndarray:
        columns = [
            FilledColumn(cells[:, np.newaxis], everywhere, own)
            for cells, own in zip(draws, scores, strict=True)
        ]
        return np.array([shift.apply(column, delta)[:, 0] for column in columns])

    assert (moved(0.0) == draws).all()
    assert moved(np.log(4.0)).mean() == pytest.approx(1 / 2, abs=0.01)
    assert moved(-np.log(4.0)).mean() == pytest.approx(1 / 17, abs=0.005)
    assert (moved(1.0) >= moved(0.5)).all()


def test_a_shift_of_nothing_changes_nothing() -> None:
    """Even where the class as a whole speaks against the fill."""
    filled = filled_levels([0.0], [0.51], 2, [0.01, 0.99])
    assert Shift(column=0, level=1).apply(filled, 0.0)[0, 0] == 0.0
    votes = load("votes")
    column = "water-project-cost-sharing"
    imputer = CGKNNImputer(5)
    found = sensitivity(imputer, votes.X, votes.y, column, [0], classifier=None)
    full = CGKNNImputer(5).fit_transform(votes.X, votes.y)
    here = votes.y.to_numpy() == "republican"
    yes = full[column].to_numpy() == "y"
    assert found.table["estimate"][0] == pytest.approx(yes[here].mean() - yes[~here].mean())


def test_more_odds_never_mean_fewer_cells() -> None:
    votes = load("votes")
    column = votes.X.columns[1]
    shifts = [-4, -2, -1, -0.5, 0.5, 1, 2, 4]
    found = sensitivity(CGKNNImputer(5), votes.X, votes.y, column, shifts, level="n",
                        classifier=None)  # fmt: skip
    share = found.table["imputed"].to_numpy()
    assert (np.diff(share) >= 0.0).all()
    assert share[0] < 0.1
    assert share[-1] > 0.9
    assert found.level == "n"


def test_votes_of_a_neighbor_imputer() -> None:
    X = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 1.0], [0.0, NAN], [1.0, 1.0]])
    imputer = CGKNNImputer(3, labels="none", categorical_features=[1]).fit(X)
    trust, donors = votes_of(imputer, 5, 1)
    assert donors == 3
    told = imputer.donors_of(3, 1)
    for_zero = sum(w for w, v in zip(told["weights"], told["values"], strict=True) if v == 0)
    assert trust[3] == pytest.approx(max(for_zero, 1 - for_zero))
    assert votes_of(object(), 2, 0)[0].tolist() == [1.0, 1.0]


def test_predicted_probabilities_are_the_odds() -> None:
    """A level of probability p gives way at log p/(1 − p), though its class is even."""
    rng = np.random.default_rng(0)
    x = np.arange(80) % 2
    levels = np.where(rng.random(80) < 0.2, 1 - x, x).astype(float)  # a fifth disagrees
    levels[0] = NAN
    X = np.column_stack([x, levels])
    imputer = GreyImputer(categorical_features=[0, 1])
    trust = votes_of(imputer.fit(X), 80, 1)[0][0]
    flip = np.log(trust / (1 - trust))
    shifts = [flip - 0.1, flip + 0.1]
    found = sensitivity(imputer, X, None, 1, shifts, level=1.0, n_draws=1)
    assert 0.6 < trust < 0.95
    assert found.table["imputed"].to_list() == [0.0, 0.0, 1.0]


def test_accuracy_at_no_shift_is_the_honest_one() -> None:
    X, y = make_gaussian_classes(0, n_per_class=30, n_classes=3)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = NAN
    imputer = CGKNNImputer(5)
    found = sensitivity(imputer, X, y, 0, [50.0], n_splits=4)
    score = honest_protocol(X, y, imputer, n_splits=4)["naive_bayes"].accuracy
    assert found.table["accuracy"][0] == score
    # far away from everything, imputed cells tell the classifier where the holes were, not why
    assert found.table["accuracy"][1] < score


def test_a_shift_within_a_class_leaves_test_rows_alone() -> None:
    """Shifted training rows of one class widen it; test rows keep their fills, so it wins few."""
    X, y = make_gaussian_classes(1, n_per_class=40, n_classes=2)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = NAN
    here = sensitivity("mean", X, y, 0, [0.0, 3.0], within=2, n_splits=4)
    everywhere = sensitivity("mean", X, y, 0, [0.0, 3.0], n_splits=4)
    assert here.table["accuracy"][0] == everywhere.table["accuracy"][0]
    assert here.table["accuracy"][1] != everywhere.table["accuracy"][1]


def test_number_shift_moves_imputed_cells_only() -> None:
    values = np.array([[1.0, 5.0], [2.0, 6.0]])
    holes = np.array([True, False])
    filled = FilledColumn(values, holes, np.zeros((1, 0)))
    moved = Shift(column=0, unit=2.0).apply(filled, 1.5)
    assert moved.tolist() == [[4.0, 5.0], [2.0, 6.0]]
    assert values.tolist() == [[1.0, 5.0], [2.0, 6.0]]


@pytest.mark.parametrize(
    ("estimates", "expected"),
    [
        ([3.0, 1.0, -1.0], 0.5),
        ([-1.0, 1.0, -1.0], 0.5),  # as near on both sides: the crossing of the later step
        ([-3.0, 1.0, -1.0], -0.25),
        ([1.0, 0.0, -1.0], 0.0),
        ([3.0, 2.0, 1.0], None),
        ([2.0, 1.0, 0.0], 1.0),
    ],
)
def test_tipping_points(estimates: list[float], expected: float | None) -> None:
    found = tipping_point(np.array([-1.0, 0.0, 1.0]), np.array(estimates), 0.0)
    assert found == expected if expected is None else abs(found) == pytest.approx(abs(expected))


def drawn_table() -> tuple[np.ndarray, np.ndarray]:
    """Two classes 1.2 standard deviations apart, a third of the first column missing."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 3)) + 1.2 * y[:, np.newaxis]
    X[rng.random(120) < 0.33, 0] = NAN
    return X, y


def test_the_interval_is_that_of_pooled_draws_and_tips_first() -> None:
    X, y = drawn_table()
    found = sensitivity(
        GreyImputer(), X, y, 0, [-1, -0.5, 0.7], within=1, n_draws=8, confidence=0.9,
        classifier=None,
    )  # fmt: skip
    holes, unit = np.isnan(X[:, 0]) & (y == 1), np.nanstd(X[:, 0], ddof=1)
    estimates, variances = [], []
    for filled in GreyImputer().fit(X, y).draw(X, 8, y):
        filled[holes, 0] += 0.7 * unit
        well, ill = filled[y == 0, 0], filled[y == 1, 0]
        estimates.append(ill.mean() - well.mean())
        variances.append(ill.var(ddof=1) / len(ill) + well.var(ddof=1) / len(well))
    pooled = pool(estimates, variances, df_complete=118)
    last = found.table.row(-1, named=True)
    assert last["estimate"] == pytest.approx(pooled.estimate)
    assert (last["low"], last["high"]) == pytest.approx(pooled.interval(0.9))
    assert found.n_draws == 8
    assert found.tipping_point is None
    assert -1 < found.interval_tipping_point < 0
    assert "90 % interval of 8 draws reaches 0 at a shift of -0." in found.verdict
    assert "The estimate crosses 0 at no shift from -1 to 0.7." in found.verdict
    assert found.notes == ()


@pytest.mark.parametrize(
    ("estimates", "half", "threshold", "expected"),
    [
        ([5.0, 3.0, 1.0], 2.0, 0.0, 0.5),
        ([-5.0, -3.0, -1.0], 2.0, 0.0, 0.5),  # from below it is the upper limit that arrives
        ([1.0, 3.0, 5.0], 2.0, 0.0, -0.5),
        ([5.0, 3.0, 2.5], 2.0, 0.0, None),
        ([5.0, 1.0, -2.0], 2.0, 0.0, 0.0),
    ],
)
def test_where_an_interval_tips(
    estimates: list[float], half: float, threshold: float, expected: float | None
) -> None:
    figures = np.array(estimates)
    limits = {"delta": [-1.0, 0.0, 1.0], "low": figures - half, "high": figures + half}
    assert interval_tipping_point(pl.DataFrame(limits), threshold) == expected


def test_chained_draws_are_pooled_and_single_fills_say_what_they_are() -> None:
    X, y = drawn_table()
    chained = sensitivity(MICEImputer(n_iter=2), X, y, 0, [1], n_draws=4, classifier=None)
    assert chained.n_draws == 4
    assert chained.table["low"].null_count() == 0
    assert "without a look at y" in chained.notes[0]
    told = MICEImputer(n_iter=2, labels="predictor")
    assert sensitivity(told, X, y, 0, [1], n_draws=4, classifier=None).notes == ()
    once = sensitivity("class_mean", X, y, 0, [-5, 5], classifier=None)
    assert (once.n_draws, once.interval_tipping_point) == (1, None)
    assert once.table["low"].null_count() == 3
    assert "point estimate" in once.notes[0]
    assert "low" not in once.overview()[1][0]


def test_the_slope_of_a_continuous_y() -> None:
    """Fills 2 of the column's mean: x = 1, 2, 3, 2 and y = 1.5, 2.5, 3.5, 6 have the slope 1."""
    X, y = np.array([[1.0], [2.0], [3.0], [NAN]]), np.array([1.5, 2.5, 3.5, 6.0])
    found = sensitivity("mean", X, y, 0, [1])
    assert found.target == "slope of y on x0"
    # sd 1: x = 1, 2, 3, 3 with mean 2.25; Sxy = 4.625, Sxx = 2.75
    assert found.table["estimate"].to_list() == pytest.approx([1.0, 4.625 / 2.75])
    assert found.table["accuracy"].null_count() == 2
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    cells, response = np.column_stack([x, rng.normal(size=80)]), x + rng.normal(size=80)
    cells[:20, 0] = NAN
    drawn = sensitivity(GreyImputer(), cells, response, 0, [1], n_draws=5)
    zero = drawn.table.row(0, named=True)
    assert zero["low"] < 1.0 < zero["high"]
    assert zero["low"] > 0.3


def test_an_estimate_with_a_variance_has_an_interval() -> None:
    X, y = drawn_table()
    about = {"deltas": [1], "n_draws": 3, "classifier": None}
    bare = sensitivity(GreyImputer(), X, y, 0, estimate=lambda X, y: X[:, 0].mean(), **about)
    assert bare.table["low"].null_count() == 2
    both = sensitivity(
        GreyImputer(), X, y, 0, estimate=lambda X, y: (X[:, 0].mean(), 0.01), **about
    )
    assert both.table["estimate"].to_list() == bare.table["estimate"].to_list()
    width = (both.table["high"] - both.table["low"]).to_numpy()
    assert (width > 2 * 1.96 * 0.1).all()


def test_it_reads_and_draws() -> None:
    found = sensitivity("class_mean", NUMBERS, CLASSES, 0, [-9, 9], within="a", n_splits=2)
    assert "(class a)" in repr(found)
    assert "crosses 0 at a shift of" in repr(found)
    assert "<table>" in found._repr_html_()
    ax = Figure().add_subplot()
    assert found.plot(ax) is ax
    blue = next(line for line in ax.lines if len(line.get_xdata()) == 3)
    assert blue.get_ydata() == pytest.approx(found.table["estimate"].to_list())
    assert "estimate tips at δ" in ax.texts[0].get_text()
    X, y = drawn_table()
    drawn = sensitivity(GreyImputer(), X, y, 0, [-3, 3], within=1, n_draws=4, classifier=None)
    axes = drawn.plot()
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(drawn.table["high"].max())
    assert [text.get_text().split(" at")[0] for text in axes.texts] == [
        "estimate tips", "interval tips",
    ]  # fmt: skip
    quiet = sensitivity("class_mean", NUMBERS, CLASSES, 0, [0.1], classifier=None)
    assert "crosses 0 at no shift from 0 to 0.1." in repr(quiet)
    assert not quiet.plot().texts


def test_plots_of_other_things_are_refused() -> None:
    with pytest.raises(InvalidDataError, match=r"greyfill\.sensitivity"):
        plots.sensitivity(object())


def test_which_level() -> None:
    assert find_level(("no", "yes"), "c", None) == 1
    assert find_level((False, True), "c", "False") == 0
    assert find_level((1, 2, 3), "c", 3) == 2
    with pytest.raises(InvalidParameterError, match="3 levels"):
        find_level((1, 2, 3), "c", None)
    with pytest.raises(InvalidParameterError, match="no level 'x'"):
        find_level((1, 2, 3), "c", "x")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"column": "y"}, InvalidParameterError, "no column 'y'"),
        ({"column": 1}, InvalidDataError, "no missing cell"),
        ({"column": 2}, InvalidDataError, "no observed cell"),
        ({"column": 3}, InvalidDataError, "single observed value"),
        ({"X": NUMBERS * 4e307}, InvalidDataError, "'x0' has numbers as large as 1.6e"),
        ({"deltas": [NAN]}, InvalidParameterError, "finite"),
        ({"deltas": "abc"}, InvalidParameterError, "finite"),
        ({"within": "c"}, InvalidParameterError, "no class 'c'"),
        ({"classifier": "oracle"}, InvalidParameterError, "oracle"),
        (
            {"y": np.linspace(0.5, 4.1, 8), "imputer": "mean", "within": 1},
            InvalidParameterError,
            "continuous",
        ),
        ({"n_draws": 0}, InvalidParameterError, "n_draws"),
        ({"confidence": 95}, InvalidParameterError, "confidence"),
        ({"y": ["a"]}, InvalidDataError, "8 rows"),
    ],
)
def test_bad_input(change: dict, error: type[Exception], words: str) -> None:
    full = np.column_stack(
        [NUMBERS[:, 0], np.arange(8.0), np.full(8, NAN), [1.0, NAN, 1, 1, 1, 1, 1, 1]]
    )
    arguments = {"imputer": "class_mean", "X": full, "y": CLASSES, "column": 0} | change
    with pytest.raises(error, match=words):
        sensitivity(**arguments)
