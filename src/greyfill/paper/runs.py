"""Single runs of the reproduction: each is one method on one incomplete table."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from greyfill.evaluation.protocols import cross_validate, fit_fill, honest_protocol, prepare
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.registry import METHODS as REGISTERED
from greyfill.imputers.registry import make
from greyfill.paper.printed import METHODS, NO_IMPUTATION, tables
from greyfill.paper.scenarios import Case, scenario, scenario_names
from greyfill.table import Floats

REFERENCES = ("class_mean", "mean")
NEIGHBORS = ("iknn", "miknn", "gknn", "fwgknn", "cgknn")
CURVES = ("cgknn", "fwgknn", "gknn")
ERRORS = ("rmse", "nrmse", "nrmse_all_cells", "wrong_share")

Record = dict[str, Any]


@dataclass(frozen=True)
class FillRun:
    """Fill one table by one method: errors of the cells and, where wanted, accuracies."""

    scenario: str
    rate: float
    seed: int
    method: str
    accuracy: bool

    def run(self) -> list[Record]:
        """One record for each metric, or a single one that tells the error."""
        about: Record = {
            "scenario": self.scenario,
            "rate": self.rate,
            "seed": self.seed,
            "method": self.method,
        }
        try:
            figures = list(self._measure(scenario(self.scenario).case(self.rate, self.seed)))
        except Exception as error:  # a failing method is a row, not the end of the run
            reason = f"{type(error).__name__}: {error}"
            return [{**about, "metric": "nrmse", "value": None, "error": reason}]
        return [{**about, "metric": m, "value": v, "error": None} for m, v in figures]

    def _measure(self, case: Case) -> Iterator[tuple[str, float]]:
        if self.method == "complete":
            yield "accuracy_paper", accuracy(case, case.truth.values, self.seed)
            return
        imputer = prepare(paper_settings(self.method), case.table, self.seed)
        filled = fit_fill(imputer, case.table, case.labels)
        if self.method != NO_IMPUTATION:
            errors = case.errors(filled)
            yield from ((metric, float(getattr(errors, metric))) for metric in ERRORS)
        for attribute in ("n_neighbors_", "n_iter_", "converged_"):
            if hasattr(imputer, attribute):
                yield attribute.rstrip("_"), float(getattr(imputer, attribute))
        if self.accuracy:
            yield "accuracy_paper", accuracy(case, filled, self.seed)
            yield "accuracy_honest", honest_accuracy(case, paper_settings(self.method), self.seed)


@dataclass(frozen=True)
class PassesRun:
    """Accuracy on Iris after each number of passes of one method (Figure 7)."""

    rate: float
    seed: int
    method: str
    most: int

    def run(self) -> list[Record]:
        """One record for each protocol and number of passes; 0 is the start fill."""
        case = scenario("iris").case(self.rate, self.seed)
        return [
            {
                "rate": self.rate,
                "seed": self.seed,
                "method": self.method,
                "protocol": protocol,
                "passes": passes,
                "accuracy": value,
            }
            for protocol, passes, value in self._measure(case)
        ]

    def _measure(self, case: Case) -> Iterator[tuple[str, int, float]]:
        start = fit_fill(prepare("class_mean", case.table), case.table, case.labels)
        yield "paper", 0, accuracy(case, start, self.seed)
        for passes in range(1, self.most + 1):
            method = make(self.method, n_neighbors="cv", max_iter=passes)
            imputer = prepare(method, case.table, self.seed)
            filled = fit_fill(imputer, case.table, case.labels)
            yield "paper", passes, accuracy(case, filled, self.seed)
            yield "honest", passes, honest_accuracy(case, method, self.seed)


Run = FillRun | PassesRun


def execute(run: Run) -> tuple[Run, list[Record]]:
    """Carry out a run in a worker process, which has nobody to warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run, run.run()


def paper_settings(method: str) -> Any:
    """Make the imputer with the settings of the paper: k by ten-fold classification.

    >>> paper_settings("cgknn")
    CGKNNImputer(n_neighbors='cv')
    """
    if method == NO_IMPUTATION:
        return make("native")
    return make(method, n_neighbors="cv") if method in NEIGHBORS else make(method)


def accuracy(case: Case, filled: Floats, seed: int) -> float:
    """Percentage of right classes in ten-fold cross-validation on a filled table."""
    scores = cross_validate(filled, case.table.columns, case.labels, random_state=seed)
    return 100 * scores["naive_bayes"].accuracy


def honest_accuracy(case: Case, method: Any, seed: int) -> float:
    """Percentage of right classes when test rows are filled without labels, by training rows."""
    scores = honest_protocol(case.table, case.labels, method, random_state=seed)
    return 100 * scores["naive_bayes"].accuracy


FULL_SEEDS, QUICK_SEEDS = 20, 3
SLOW = ("missforest", "mice")
ACCURACY_ROWS = (NO_IMPUTATION, "complete")
ALL_ROWS = (NO_IMPUTATION, *METHODS, *REFERENCES, "complete")


@dataclass(frozen=True)
class ReproductionPlan:
    """What to run; ``full`` and ``quick`` are the two that the command offers.

    >>> ReproductionPlan.quick().rates, len(ReproductionPlan.full().seeds)
    ((0.1,), 20)
    """

    scenarios: tuple[str, ...]
    rates: tuple[float, ...]
    seeds: range
    methods: tuple[str, ...]
    passes: int
    repeats: int

    def __post_init__(self) -> None:
        if len(self.seeds) < 1:
            raise InvalidParameterError("a reproduction needs at least one seed")
        for name in self.scenarios:
            scenario(name)
        known = {*REGISTERED, *ACCURACY_ROWS}
        unknown = [method for method in self.methods if method not in known]
        if unknown:
            raise InvalidParameterError(f"no method is called {unknown[0]!r}")

    @classmethod
    def full(cls, seeds: int | None = None) -> "ReproductionPlan":
        """Every table and figure at every rate."""
        n = FULL_SEEDS if seeds is None else seeds
        return cls(scenario_names(), (0.05, 0.10, 0.20), range(n), ALL_ROWS, passes=8, repeats=7)

    @classmethod
    def quick(cls, seeds: int | None = None) -> "ReproductionPlan":
        """Every table and figure at 10 %, with few seeds and passes."""
        n = QUICK_SEEDS if seeds is None else seeds
        return cls(scenario_names(), (0.10,), range(n), ALL_ROWS, passes=4, repeats=3)

    def runs(self) -> list[Run]:
        """All single runs, slow ones first, so that no worker is left with one at the end."""
        return sorted([*self._fills(), *self._curves()], key=_rank)

    def _fills(self) -> list[FillRun]:
        """Runs of every RMSE table at its rates; accuracies where the paper has a table of them."""
        found: list[FillRun] = []
        judged = {table.scenario for table in tables().values() if table.measure == "accuracy"}
        for table in tables().values():
            if table.measure == "rmse" and table.scenario in self.scenarios:
                accurate = table.scenario in judged
                found += [
                    FillRun(table.scenario, rate, seed, method, accurate)
                    for rate in table.rates
                    if rate in self.rates
                    for seed in self.seeds
                    for method in self.methods
                    if accurate or method not in ACCURACY_ROWS
                ]
        return found

    def _curves(self) -> list[PassesRun]:
        if "iris" not in self.scenarios or self.passes < 1:
            return []
        return [
            PassesRun(rate, seed, method, self.passes)
            for rate in self.rates
            for seed in self.seeds
            for method in CURVES
            if method in self.methods
        ]


def _rank(run: Run) -> tuple[int, str]:
    slow = SLOW.index(run.method) if run.method in SLOW else len(SLOW)
    return slow, run.scenario if isinstance(run, FillRun) else ""
