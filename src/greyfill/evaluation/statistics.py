"""Ranks and paired tests of methods over runs: arrays of runs × methods in, figures out."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from greyfill.table import Floats


@dataclass(frozen=True)
class PairTest:
    """The Wilcoxon signed-rank test of two methods, by position.

    ``difference`` is the mean of first − second, ``p_holm`` the p-value after Holm's correction
    over all pairs.
    """

    first: int
    second: int
    difference: float
    statistic: float
    p_value: float
    p_holm: float


def mean_ranks(scores: Floats, higher_is_better: bool = False) -> Floats:
    """Mean over runs of the rank of each method, 1 for the best; ties share their mean rank.

    >>> mean_ranks(np.array([[0.1, 0.2, 0.2], [0.3, 0.4, 0.5]]))
    array([1.  , 2.25, 2.75])
    """
    signed = -scores if higher_is_better else scores
    return np.asarray(rankdata(signed, axis=1).mean(axis=0))


def friedman(scores: Floats) -> tuple[float, float]:
    """χ² statistic and p-value of Friedman's test that all methods rank alike.

    NaN with fewer than three methods or two runs, for which there is no such test.

    >>> friedman(np.array([[1.0, 2.0, 3.0]] * 4))[0]
    8.0
    """
    n_runs, n_methods = scores.shape
    if n_methods < 3 or n_runs < 2:
        return float("nan"), float("nan")
    if (scores == scores[:, :1]).all():
        return 0.0, 1.0
    result = friedmanchisquare(*scores.T)
    return float(result.statistic), float(result.pvalue)


def critical_difference(n_methods: int, n_runs: int, alpha: float = 0.05) -> float:
    """Nemenyi: two methods differ if their mean ranks differ by more than this.

    CD = q_α √(k (k + 1) / (6 N)), q_α the quantile of the studentized range over √2.

    >>> round(critical_difference(5, 30), 3)
    1.114
    """
    if n_methods < 2 or n_runs < 1:
        return float("nan")
    q = studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_runs)))


def pair_tests(scores: Floats) -> list[PairTest]:
    """Wilcoxon's signed-rank test of each pair of methods, corrected by Holm.

    >>> scores = np.column_stack([np.arange(6.0), np.arange(6.0) + 1, np.arange(6.0)])
    >>> [(t.first, t.second, t.p_value, t.p_holm) for t in pair_tests(scores)]
    [(0, 1, 0.03125, 0.09375), (0, 2, 1.0, 1.0), (1, 2, 0.03125, 0.09375)]
    """
    pairs = list(combinations(range(scores.shape[1]), 2))
    tests = [_signed_rank(scores[:, a] - scores[:, b]) for a, b in pairs]
    corrected = holm(np.array([p for _, p in tests]))
    return [
        PairTest(a, b, float((scores[:, a] - scores[:, b]).mean()), statistic, p, float(p_holm))
        for (a, b), (statistic, p), p_holm in zip(pairs, tests, corrected, strict=True)
    ]


def holm(p_values: Floats) -> Floats:
    """Holm's correction: p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)).

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(np.minimum(factors * p_values[order], 1.0))
    return corrected


def _signed_rank(differences: Floats) -> tuple[float, float]:
    """Statistic and p-value, exact for few runs without ties; 1 where nothing differs."""
    rounded = np.round(differences, 12)  # the same result, summed in another order, is a tie
    nonzero = rounded[rounded != 0]
    if len(nonzero) == 0:
        return 0.0, 1.0
    result = wilcoxon(nonzero)
    return float(result.statistic), float(result.pvalue)
