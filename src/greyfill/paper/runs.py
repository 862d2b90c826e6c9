"""The five settings of the paper, and the single runs: one method on one incomplete table."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from greyfill import datasets, frames, targets
from greyfill.evaluation.protocols import cross_validate, fit_fill, honest_protocol, prepare
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.registry import METHODS as REGISTERED
from greyfill.imputers.registry import make
from greyfill.metrics import ImputationErrors, imputation_errors
from greyfill.missingness import hide, mar, mcar
from greyfill.paper.printed import METHODS, NO_IMPUTATION, TABLES
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table

REFERENCES = ("class_mean", "mean")
NEIGHBORS = ("iknn", "miknn", "gknn", "fwgknn", "cgknn")  # their k is chosen by the paper's rule
CURVES = ("cgknn", "fwgknn", "gknn")
ERRORS = ("rmse", "nrmse", "nrmse_all_cells", "wrong_share")
FULL_SEEDS, QUICK_SEEDS = 20, 3
SLOW = ("missforest", "mice")
ACCURACY_ROWS = (NO_IMPUTATION, "complete")
ALL_ROWS = (NO_IMPUTATION, *METHODS, *REFERENCES, "complete")
DROPPED_VOTE = "export-administration-act-south-africa"

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Case:
    """One incomplete table: what a method gets, and the truth behind the holes that were made.

    ``table`` has natural and made holes; ``mask`` marks only the latter.
    """

    table: Table
    labels: Ints
    truth: Table
    mask: Bools

    def errors(self, filled: Floats) -> ImputationErrors:
        """Compare the made holes of a filled table with the truth."""
        return imputation_errors(self.truth, filled, self.mask)

    def accuracy(self, filled: Floats, seed: int) -> float:
        """Percentage of right classes in ten-fold cross-validation on a filled table."""
        scores = cross_validate(filled, self.table.columns, self.labels, random_state=seed)
        return 100 * scores["naive_bayes"].accuracy

    def honest_accuracy(self, method: Any, seed: int) -> float:
        """Percentage of right classes when test rows are filled without labels, in each fold."""
        scores = honest_protocol(self.table, self.labels, method, random_state=seed)
        return 100 * scores["naive_bayes"].accuracy


@dataclass(frozen=True)
class Scenario:
    """One setting: how its table is drawn, where holes are made, and how the RMSE is read.

    ``convention`` is the field of ImputationErrors that stands beside the printed figures, and
    ``second`` one that is shown besides.
    """

    title: str
    mechanism: str
    convention: str
    draw: Callable[[int], tuple[Table, Ints]] = field(repr=False)
    holes: Callable[[Table, float, np.random.Generator], Bools] = field(repr=False)
    second: str | None = None

    def case(self, rate: float, seed: int) -> Case:
        """Draw the table with ``seed`` and make holes at ``rate`` with (``seed``, 100 · ``rate``).

        >>> case = SCENARIOS["iris"].case(rate=0.10, seed=0)
        >>> case.table.missing.sum(axis=0), int(case.mask.sum())
        (array([15, 15, 15, 15]), 60)
        """
        truth, labels = self.draw(seed)
        mask = self.holes(truth, rate, np.random.default_rng([seed, round(100 * rate)]))
        return Case(hide(truth, mask), labels, truth, mask)


def _numbers(made: tuple[Floats, Ints]) -> tuple[Table, Ints]:
    cells, labels = made
    columns = tuple(Column(f"x{j + 1}", Kind.NUMERIC) for j in range(cells.shape[1]))
    return Table(cells, np.zeros(cells.shape, dtype=bool), columns), labels - 1


def _bundled(name: str, title: str, more: str = "", second: str | None = None) -> Scenario:
    """A bundled table as the paper describes it: Voting has 15 of its 16 votes."""

    def draw(seed: int) -> tuple[Table, Ints]:
        data = datasets.load(name)
        kept = data.X.drop(DROPPED_VOTE) if name == "votes" else data.X
        return frames.encode(kept)[0], targets.encode_labels(data.y)[0]

    return Scenario(
        title,
        f"at random (MAR) in every column, by a logistic model on cells that stay observed{more}",
        "nrmse",
        draw,
        lambda table, rate, rng: mar(table, rate, random_state=rng),
        second,
    )


_NATURAL = ", on top of natural holes, which are never counted as truth"

SCENARIOS = {
    "cubes": Scenario(
        "Simulation 1: four cubes in twenty columns of noise",
        "completely at random (MCAR) in x1",
        "rmse",
        lambda seed: _numbers(datasets.make_cubes(seed)),
        lambda table, rate, rng: mcar(table, rate, ["x1"], random_state=rng),
    ),
    "gaussian": Scenario(
        "Simulation 2: four normal classes",
        "at random (MAR) in x4 and x5, by a logistic model on x1, x2 and x3 whose "
        "coefficients are drawn anew for each seed (the paper does not print its own)",
        "nrmse",
        lambda seed: _numbers(datasets.make_gaussian_classes(seed)),
        lambda table, rate, rng: mar(
            table, rate, ["x4", "x5"], ["x1", "x2", "x3"], random_state=rng
        ),
    ),
    "iris": _bundled("iris", "Iris"),
    "voting": _bundled("votes", "Voting", _NATURAL, "nrmse_all_cells"),
    "hepatitis": _bundled("hepatitis", "Hepatitis", _NATURAL, "nrmse_all_cells"),
}


@dataclass(frozen=True)
class FillRun:
    """Fill one table by one method: errors of the cells and, where wanted, accuracies."""

    scenario: str
    rate: float
    seed: int
    method: str
    accuracy: bool

    def run(self) -> list[Record]:
        """One record for each metric, or a single one that holds the error."""
        about = {name: getattr(self, name) for name in ("scenario", "rate", "seed", "method")}
        try:
            figures = list(self._measure(SCENARIOS[self.scenario].case(self.rate, self.seed)))
        except Exception as error:  # a failing method is a row, not the end of the run
            reason = f"{type(error).__name__}: {error}"
            return [{**about, "metric": "nrmse", "value": None, "error": reason}]
        return [{**about, "metric": m, "value": v, "error": None} for m, v in figures]

    def _measure(self, case: Case) -> Iterator[tuple[str, float]]:
        if self.method == "complete":
            yield "accuracy_paper", case.accuracy(case.truth.values, self.seed)
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
            yield "accuracy_paper", case.accuracy(filled, self.seed)
            yield "accuracy_honest", case.honest_accuracy(paper_settings(self.method), self.seed)


@dataclass(frozen=True)
class PassesRun:
    """Accuracy on Iris after each number of passes of one method (Figure 7)."""

    rate: float
    seed: int
    method: str
    most: int

    def run(self) -> list[Record]:
        """One record for each protocol and number of passes; 0 is the start fill."""
        about = {name: getattr(self, name) for name in ("rate", "seed", "method")}
        figures = self._measure(SCENARIOS["iris"].case(self.rate, self.seed))
        return [{**about, "protocol": p, "passes": n, "accuracy": v} for p, n, v in figures]

    def _measure(self, case: Case) -> Iterator[tuple[str, int, float]]:
        start = fit_fill(prepare(paper_settings("class_mean"), case.table), case.table, case.labels)
        yield "paper", 0, case.accuracy(start, self.seed)
        for passes in range(1, self.most + 1):
            method = paper_settings(self.method).set_params(max_iter=passes)
            imputer = prepare(method, case.table, self.seed)
            filled = fit_fill(imputer, case.table, case.labels)
            yield "paper", passes, case.accuracy(filled, self.seed)
            yield "honest", passes, case.honest_accuracy(method, self.seed)


Run = FillRun | PassesRun


def execute(run: Run) -> tuple[Run, list[Record]]:
    """Carry out a run in a worker process, whose warnings nobody reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run, run.run()


def paper_settings(method: str) -> Any:
    """Make the imputer with the settings of the paper: k by ten-fold classification, no grid.

    >>> paper_settings("cgknn")
    CGKNNImputer(n_neighbors='cv', round_to_grid=False)
    """
    if method == NO_IMPUTATION:
        return make("native")
    imputer = make(method, n_neighbors="cv") if method in NEIGHBORS else make(method)
    imputer.round_to_grid = False
    return imputer


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
        if unknown := [name for name in self.scenarios if name not in SCENARIOS]:
            raise InvalidParameterError(
                f"scenario {unknown[0]!r} is not one of {', '.join(SCENARIOS)}"
            )
        known = {*REGISTERED, *ACCURACY_ROWS}
        if unknown := [method for method in self.methods if method not in known]:
            raise InvalidParameterError(f"no method is called {unknown[0]!r}")

    @classmethod
    def full(cls, seeds: int | None = None) -> "ReproductionPlan":
        """Every table and figure at every rate."""
        n = FULL_SEEDS if seeds is None else seeds
        return cls(tuple(SCENARIOS), (0.05, 0.10, 0.20), range(n), ALL_ROWS, passes=8, repeats=7)

    @classmethod
    def quick(cls, seeds: int | None = None) -> "ReproductionPlan":
        """Every table and figure at 10 %, with few seeds and passes."""
        n = QUICK_SEEDS if seeds is None else seeds
        return cls(tuple(SCENARIOS), (0.10,), range(n), ALL_ROWS, passes=4, repeats=3)

    def runs(self) -> list[Run]:
        """All single runs, slow ones first, so that no worker is left with one at the end."""
        place = {method: number for number, method in enumerate(SLOW)}
        return sorted(
            [*self._fills(), *self._curves()],
            key=lambda run: (place.get(run.method, len(SLOW)), getattr(run, "scenario", "")),
        )

    def _fills(self) -> Iterator[FillRun]:
        """Runs of every RMSE table at its rates; accuracies where the paper has a table of them."""
        accurate = {table.scenario for table in TABLES.values() if table.measure == "accuracy"}
        for table in TABLES.values():
            name = table.scenario
            if table.measure != "rmse" or name not in self.scenarios:
                continue
            rates = [rate for rate in table.rates if rate in self.rates]
            for rate, seed, method in product(rates, self.seeds, self.methods):
                if name in accurate or method not in ACCURACY_ROWS:
                    yield FillRun(name, rate, seed, method, name in accurate)

    def _curves(self) -> Iterator[PassesRun]:
        if "iris" in self.scenarios and self.passes >= 1:
            for rate, seed, method in product(self.rates, self.seeds, CURVES):
                if method in self.methods:
                    yield PassesRun(rate, seed, method, self.passes)
