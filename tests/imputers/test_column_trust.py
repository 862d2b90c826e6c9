"""trust_: what the fills of a column are worth, by cells that were held out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from greyfill import GreyImputer, load
from greyfill.imputers.column_trust import ColumnTrust, Trust, skill, word_for


def table_of_all_kinds(n: int = 240, seed: int = 0) -> pd.DataFrame:
    """Columns that follow a first one closely, loosely or not at all; a tenth of each missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    days = pd.to_timedelta(np.rint(100 * x + 5 * rng.normal(size=n)), "D")
    frame = pd.DataFrame(
        {
            "x": x,
            "close": 10 * x + rng.normal(size=n),
            "loose": x + 1.5 * rng.normal(size=n),
            "noise": rng.normal(size=n),
            "word": np.where(x + 0.2 * rng.normal(size=n) > 0, "yes", "no"),
            "coin": rng.choice(["a", "b", "c"], n),
            "when": pd.Timestamp("2024-01-01") + days,
        }
    )
    holes = rng.random(frame.shape) < 0.1
    holes[:, 0] = False
    return frame.mask(holes)


@pytest.fixture(scope="module")
def fitted() -> GreyImputer:
    return GreyImputer().fit(table_of_all_kinds())


def test_words_come_worst_first(fitted: GreyImputer) -> None:
    words = {name: trust.word for name, trust in fitted.trust_.items()}
    assert words == {
        "noise": "no better than a guess",
        "coin": "no better than a guess",
        "loose": "fair",
        "close": "good",
        "word": "good",
        "when": "good",
    }
    order = list(words)
    assert set(order[:2]) == {"noise", "coin"}
    assert order[2] == "loose"
    shares = [fitted.trust_[name].explained for name in order[3:]]
    assert shares == sorted(shares)


def test_figures_are_those_of_the_noise_in_the_units_of_the_column(fitted: GreyImputer) -> None:
    trust = fitted.trust_
    assert trust["close"].explained == pytest.approx(1 - 1 / 101, abs=0.01)
    assert trust["close"].error == pytest.approx(1.0, rel=0.25)
    assert (trust["close"].unit, trust["when"].unit) == ("units of the column", "days")
    assert trust["when"].error == pytest.approx(5.0, rel=0.5)
    # the best of a column with noise of 1.5 explains 1 / 3.25 of its spread
    assert trust["loose"].explained == pytest.approx(1 / 3.25, abs=2.5 * trust["loose"].std_error)
    assert trust["loose"].std_error == pytest.approx(0.08, abs=0.04)
    assert trust["word"].unit == "share of wrong fills"
    assert trust["word"].error < 0.15
    assert trust["coin"].error == pytest.approx(2 / 3, abs=0.15)
    assert abs(trust["noise"].explained) < 0.15


def test_holes_and_held_out_cells_are_counted(fitted: GreyImputer) -> None:
    holes = table_of_all_kinds().isna().sum()
    for name, trust in fitted.trust_.items():
        assert trust.holes == holes[name]
        assert 80 <= trust.cells <= 100
    assert "x" not in fitted.trust_


def test_it_is_computed_when_it_is_read_and_once() -> None:
    imputer = GreyImputer(n_cells=40).fit(table_of_all_kinds(80))
    assert not imputer._fitted._held
    assert imputer.trust_ is imputer.trust_
    before = imputer.trust_
    imputer.fit(table_of_all_kinds(80, seed=1))
    assert imputer.trust_["noise"].explained != before["noise"].explained


def test_a_loaded_imputer_answers_alike(fitted: GreyImputer, tmp_path) -> None:
    fitted.save(tmp_path / "imputer")
    assert load(tmp_path / "imputer").trust_.rows == fitted.trust_.rows


def test_a_label_is_given_only_where_its_own_row_is_filled_by_it() -> None:
    """A column that follows the class, which nothing else tells."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([y + 0.2 * rng.normal(size=200), rng.normal(size=(200, 2))])
    X[rng.random(200) < 0.2, 0] = np.nan
    assert GreyImputer(labels="donors").fit(X, y).trust_["x0"].word == "good"
    blind = GreyImputer(labels="none").fit(X, y).trust_["x0"]
    assert blind.word == "no better than a guess"


def test_rows_with_holes_lack_more_than_others_and_so_do_held_out_ones() -> None:
    """Twice x is known exactly from x, but whoever lacks it lacks x, too."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = np.column_stack([x, 2 * x, rng.normal(size=200)])
    X[:40, :2] = np.nan
    assert GreyImputer().fit(X).trust_["x1"].word == "no better than a guess"
    X[:40, 0] = x[:40]
    assert GreyImputer().fit(X).trust_["x1"].explained > 0.99


def test_odd_tables() -> None:
    empty = np.full((6, 1), np.nan)
    with pytest.warns(UserWarning, match="without any observed value"):
        assert GreyImputer().fit(empty).trust_ == {}
    few = np.column_stack([np.arange(12.0), np.arange(12.0)])
    few[:4, 1] = np.nan
    found = GreyImputer().fit(few).trust_["x1"]
    assert (found.word, found.cells) == ("not judged", 8)
    assert GreyImputer().fit(few).trust_.sentences(12) == []
    same = np.column_stack([np.arange(40.0), np.ones(40)])
    same[:4, 1] = np.nan
    assert GreyImputer().fit(same).trust_["x1"].error == 0.0
    assert GreyImputer().fit(np.arange(20.0)[:, None]).trust_ == {}


def test_ordered_levels_are_judged_in_ranks() -> None:
    x = np.arange(150) / 150
    sizes = pd.Categorical.from_codes((5 * x).astype(int), list("abcde"), ordered=True)
    X = pd.DataFrame({"x": x, "size": sizes})
    X.loc[::7, "size"] = None
    found = GreyImputer().fit(X).trust_["size"]
    assert (found.unit, found.word) == ("ranks", "good")
    assert 0 < found.error < 0.5


def test_skill_and_its_error_by_hand() -> None:
    usual = np.array([4.0, 4.0, 1.0, 1.0])
    assert skill(usual / 4, usual) == (0.75, 0.0)
    rng = np.random.default_rng(0)
    lost, base = rng.exponential(size=400), rng.exponential(2.0, size=400)
    explained, std_error = skill(lost, base)
    again = rng.integers(400, size=(4000, 400))
    spread = np.std(1 - lost[again].sum(axis=1) / base[again].sum(axis=1))
    assert explained == 1 - lost.sum() / base.sum()
    assert std_error == pytest.approx(spread, rel=0.1)
    assert skill(np.array([0.0, 1.0]), np.zeros(2)) == (0.0, 0.0)
    assert skill(np.zeros(2), np.zeros(2)) == (0.0, 0.0)


def test_a_rare_level_that_no_held_out_cell_has_earns_no_trust() -> None:
    rng = np.random.default_rng(0)
    vip = (rng.random(1500) < 0.005).astype(object)
    vip[::20] = None
    X = pd.DataFrame({"x": rng.normal(size=1500), "vip": vip})
    assert GreyImputer().fit(X).trust_["vip"].word == "no better than a guess"


@pytest.mark.parametrize(
    ("explained", "std_error", "n_cells", "word"),
    [
        (0.5, 0.1, 60, "good"),
        (0.49, 0.1, 60, "fair"),
        (0.1, 0.01, 60, "fair"),
        (0.09, 0.01, 60, "no better than a guess"),  # surely above zero, and too little to see
        (0.2, 0.13, 60, "no better than a guess"),  # chance could have done it
        (0.2, 0.11, 60, "fair"),
        (-0.3, 0.1, 60, "no better than a guess"),
        (0.9, 0.01, 9, "not judged"),
        (0.9, 0.01, 10, "good"),
    ],
)
def test_words(explained: float, std_error: float, n_cells: int, word: str) -> None:
    assert word_for(explained, std_error, n_cells) == word


def judged(column: str, word: str, explained: float, holes: int, unit: str = "") -> ColumnTrust:
    return ColumnTrust(column, word, explained, 0.1, 0.2, unit, 50, holes)


def test_sentences() -> None:
    trust = Trust(
        [
            judged("a", "good", 0.8, 10),
            judged("b", "fair", 0.3, 30),
            judged("c", "no better than a guess", 0.05, 20),
            judged("d\n", "no better than a guess", -0.2, 40, "share of wrong fills"),
        ]
    )
    assert list(trust) == ["d\n", "c", "b", "a"]
    worst, best, whole = trust.sentences(200)
    assert worst == (
        "“d” is missing in 20.0 % of the rows, and its fills are no better than its commonest "
        "value: treat them as guesses. The same holds for “c”."
    )
    assert (
        best == "The best fills are those of “a”: they explain 80 % of its spread; usual error 0.2."
    )
    assert whole.endswith("10.0 % good, 30.0 % fair, 60.0 % no better than a guess.")
    fine = Trust([judged("a", "good", 0.8, 10, "share of wrong fills")]).sentences(20)
    assert fine[0].startswith("No column's fills are a mere guess")
    assert "avoid 80 % of the errors that its commonest value makes; 20.0 % are wrong" in fine[1]
    guesses = Trust([judged("a", "no better than a guess", 0.6, 1)]).sentences(10)
    assert not any("best fills" in sentence for sentence in guesses)


def test_it_prints_and_becomes_a_frame(fitted: GreyImputer) -> None:
    frame = pl.DataFrame(fitted.trust_.rows)
    assert frame["column"].to_list() == list(fitted.trust_)
    assert frame.columns == [
        "column", "word", "explained", "std_error", "error", "unit", "cells", "holes",
    ]  # fmt: skip
    lines = repr(fitted.trust_).splitlines()
    assert lines[0] == "how far the fills of 6 columns can be trusted"
    assert len(lines) == 8
    assert "no better than a guess" in lines[2]
    assert "<td>good</td>" in fitted.trust_._repr_html_()
