"""Scores of methods side by side: means, ranks, and tests of one method against all others."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill.evaluation.comparison import holm, mean_ranks, pair_tests

Case = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Board:
    """Scores of methods in cases with seeds: an array of cases × seeds × methods, NaN for none.

    Lower scores are better.

    A case is a table in a scenario (and a classifier). Seeds of one case are repetitions, so
    whatever is ranked or tested are means over the seeds that the compared methods share.
    """

    methods: list[str]
    cases: list[Case]
    scores: np.ndarray

    def of(self, method: str) -> np.ndarray:
        """Scores of one method, cases × seeds."""
        return np.asarray(self.scores[:, :, self.methods.index(method)])

    def means(self) -> np.ndarray:
        """Mean over the seeds that there are, cases × methods."""
        return _mean_over_seeds(self.scores)

    def only(self, methods: Iterable[str]) -> "Board":
        wanted = set(methods)
        kept = [name for name in self.methods if name in wanted]
        index = [self.methods.index(name) for name in kept]
        return Board(kept, self.cases, self.scores[:, :, index])

    def known_to(self, method: str) -> "Board":
        """Only the cases and seeds in which a method has a score."""
        known = ~np.isnan(self.of(method))
        cases = [case for case, yes in zip(self.cases, known.any(axis=1), strict=True) if yes]
        scores = np.where(known[:, :, None], self.scores, np.nan)
        return Board(self.methods, cases, scores[known.any(axis=1)])

    def complete(self) -> "Board":
        """Only the methods that have a score in every case, and the seeds that they share."""
        everywhere = ~np.isnan(self.means()).any(axis=0)
        board = self.only([m for m, yes in zip(self.methods, everywhere, strict=True) if yes])
        shared = ~np.isnan(board.scores).any(axis=2, keepdims=True)
        return Board(board.methods, board.cases, np.where(shared, board.scores, np.nan))

    def by_table(self) -> "Board":
        """A case for each table: its scenarios and seeds are all repetitions.

        Scenarios of a table are alike, so tests over them would count a table several times.
        """
        names = list(dict.fromkeys(case[0] for case in self.cases))
        blocks = [[i for i, case in enumerate(self.cases) if case[0] == name] for name in names]
        most, (_, seeds, methods) = max(map(len, blocks), default=0), self.scores.shape
        scores = np.full((len(names), most * seeds, methods), np.nan)
        for row, block in zip(scores, blocks, strict=True):
            row[: len(block) * seeds] = self.scores[block].reshape(len(block) * seeds, methods)
        return Board(self.methods, [(name,) for name in names], scores)

    def among(self, tables: Iterable[str]) -> "Board":
        """Only the cases of some tables."""
        wanted = set(tables)
        return self._where(case[0] in wanted for case in self.cases)

    def in_scenario(self, scenario: str) -> "Board":
        """Only the cases of one scenario."""
        return self._where(case[1] == scenario for case in self.cases)

    def _where(self, wanted: Iterable[bool]) -> "Board":
        here = [i for i, yes in enumerate(wanted) if yes]
        return Board(self.methods, [self.cases[i] for i in here], self.scores[here])

    def ranks(self) -> dict[str, float]:
        """Mean rank over the cases of each method of :meth:`complete`."""
        board = self.complete()
        means = board.means()
        means = means[~np.isnan(means).any(axis=1)]
        if not means.size:
            return {}
        return dict(zip(board.methods, mean_ranks(means).tolist(), strict=True))


@dataclass(frozen=True)
class Duel:
    """One method against another over the cases that both have.

    ``ratio`` is the geometric mean of ours / theirs, ``p_holm`` the p-value of Wilcoxon's
    signed-rank test of its logarithm (two-sided) after Holm's correction over all rivals.
    """

    rival: str
    n_cases: int
    wins: int
    ratio: float
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class Rival:
    """The name of a rival, our score and its score in one case."""

    name: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


def board(
    rows: Iterable[dict[str, Any]],
    seeds: Iterable[int],
    tables: Iterable[str],
    score: str = "nrmse",
    scenarios: Iterable[str] = ("mcar20", "mcar40", "mar20"),
) -> Board:
    """Lay out one score of all methods; labels are not looked at."""
    seed_of = {seed: i for i, seed in enumerate(seeds)}
    cases: list[Case] = [(table, scenario) for table in tables for scenario in scenarios]
    case_of = {case: i for i, case in enumerate(cases)}
    found: dict[str, np.ndarray] = {}
    for row in rows:
        case = row["table"], row["scenario"]
        if row["seed"] in seed_of and case in case_of and score in row:
            blank = np.full((len(cases), len(seed_of)), np.nan)
            found.setdefault(row["method"], blank)[case_of[case], seed_of[row["seed"]]] = row[score]
    scores = np.stack(list(found.values()), axis=2) if found else np.empty((len(cases), 1, 0))
    return Board(list(found), cases, scores)


def best_rivals(board: Board, method: str, rivals: Iterable[str]) -> list[Rival | None]:
    """In each case the rival that a method does worst against, on the seeds that the two share.

    Lower scores are better. None for a case in which no rival has a score.
    """
    found: list[Rival | None] = [None] * len(board.cases)
    for name in rivals:
        means = _shared_means(board, method, name)
        for i, (ours, theirs) in enumerate(means):
            best = found[i]
            if not np.isnan(ours) and (best is None or ours / theirs > best.ratio):
                found[i] = Rival(name, float(ours), float(theirs))
    return found


def duels(board: Board, method: str) -> list[Duel]:
    """A method against each other, on the seeds that the two share."""
    found = []
    for rival in board.methods:
        means = _shared_means(board, method, rival)
        means = means[~np.isnan(means).any(axis=1)]
        if rival != method and len(means):
            found.append((rival, *_against(means)))
    corrected = holm(np.array([duel[-1] for duel in found]))
    return [Duel(*duel, float(p)) for duel, p in zip(found, corrected, strict=True)]


def _shared_means(board: Board, first: str, second: str) -> np.ndarray:
    """Means of two methods over the seeds that both have, cases × 2."""
    pair = np.stack([board.of(first), board.of(second)], axis=2)
    shared = ~np.isnan(pair).any(axis=2, keepdims=True)
    return _mean_over_seeds(np.where(shared, pair, np.nan))


def _against(pair: np.ndarray) -> tuple[int, int, float, float]:
    """Number of cases, wins, ratio and p of the first column against the second."""
    ratio = float(np.exp(np.log(pair[:, 0] / pair[:, 1]).mean()))
    wins = int((pair[:, 0] < pair[:, 1]).sum())
    return len(pair), wins, ratio, pair_tests(np.log(pair))[0].p_value


def _mean_over_seeds(scores: np.ndarray) -> np.ndarray:
    """NaN only where no seed has a score."""
    known = ~np.isnan(scores)
    counts = known.sum(axis=1)
    sums = np.where(known, scores, 0.0).sum(axis=1)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))
