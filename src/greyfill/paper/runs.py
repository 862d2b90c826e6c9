"""The five settings of the paper, and the single runs: one method on one incomplete table."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any

import numpy as np

from greyfill import NeighborImputer, datasets, frames, targets
from greyfill.checks import check_choice
from greyfill.evaluation.protocols import cross_validate, fit_fill, honest_protocol, prepare
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.registry import METHODS as REGISTERED
from greyfill.imputers.registry import REGISTRY, make
from greyfill.missingness import hide, mar, mcar
from greyfill.paper.printed import METHODS, NO_IMPUTATION, TABLES
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table, range_sizes

REFERENCES = ("class_mean", "mean")
NEIGHBORS = ("iknn", "miknn", "gknn", "fwgknn", "cgknn")  # their k is chosen by the paper's rule
FILLED_BY_SOURCE = ("iknn", "miknn", "gknn")  # their sources treat imputed cells as observed
CURVES = ("cgknn", "fwgknn", "gknn")
FULL_SEEDS, QUICK_SEEDS = 20, 3
TREES, QUICK_TREES = 100, 20
SLOW = ("missforest", "mice")
ACCURACY_ROWS = (NO_IMPUTATION, "complete")
ALL_RATES = (0.05, 0.10, 0.20)
ALL_ROWS = (NO_IMPUTATION, *METHODS, *REFERENCES, "complete")
DROPPED_VOTE = "export-administration-act-south-africa"

SYSTEMS = tuple(
    m.name for m in REGISTRY.values() if m.for_files and not m.package and m.engine != "sklearn"
)
"""The methods of an extended reproduction; scikit-learn's own do without our settings."""

SCALES = {
    "units": "in original units",
    "range": "on the [0, 1] scale",
    "sd": "in standard deviations of the column",
}
DIVISORS = {
    "hidden": "over hidden cells",
    "table": "divided by all cells of the table",
    "columns": "divided by all cells of the columns with holes",
}
CONVENTIONS = {
    f"{scale}-{divisor}": f"root mean square error {unit} {cells}"
    for divisor, cells in DIVISORS.items()
    for scale, unit in SCALES.items()
}
"""Ways to read the paper's RMSE, whose units it does not state; a wrong category counts 1."""

TIES = ("largest", "smallest")
HOLES = ("mask", "filled", "sources")

Record = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """How two gaps of the paper are read: which of tied k is taken, what a hole is to distances.

    ``holes`` is "mask" (a hole never matches), "filled" (its fill counts like an observed value),
    or "sources": filled for the rivals whose own sources say so, by mask for the others.

    >>> Reading(holes="sources").key("gknn"), Reading().key("mice")
    ('largest/filled', '')
    """

    ties: str = "largest"
    holes: str = "mask"

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, TIES)
        check_choice("holes", self.holes, HOLES)

    def is_filled(self, method: str) -> bool:
        """Whether a method compares fills like observed values."""
        return self.holes == "filled" or (self.holes == "sources" and method in FILLED_BY_SOURCE)

    def key(self, method: str) -> str:
        """What it comes to for a method, by which results are kept; all is one to the others."""
        holes = "filled" if self.is_filled(method) else "mask"
        return f"{self.ties}/{holes}" if method in NEIGHBORS else ""


PANEL = (Reading(), Reading("smallest"), Reading(holes="filled"))
"""The readings in which the neighbor methods fill every RMSE table."""


@dataclass(frozen=True, eq=False)
class Case:
    """One incomplete table: what a method gets, and the truth behind the holes that were made.

    ``table`` has natural and made holes; ``mask`` marks only the latter.
    """

    table: Table
    labels: Ints
    truth: Table
    mask: Bools

    def errors(self, filled: Floats) -> dict[str, float]:
        """Errors of the made holes of a filled table by every convention.

        >>> case = SCENARIOS["iris"].case(rate=0.10, seed=0)
        >>> errors = case.errors(case.truth.values + 0.5 * case.mask)
        >>> round(errors["units-hidden"], 3), round(errors["units-table"], 3)
        (0.5, 0.158)
        """
        truth, mask, votes = self.truth, self.mask, self.truth.is_categorical
        wrong = np.rint(filled) != truth.values
        gaps = np.where(mask, np.where(votes, wrong, filled - truth.values), 0.0)
        spread = np.nanstd(np.where(truth.missing, np.nan, truth.values), axis=0)
        sizes = {
            "units": np.ones_like(spread),
            "range": range_sizes(truth),
            "sd": np.where(spread > 0, spread, 1.0),
        }
        holed = len(mask) * int(mask.any(axis=0).sum())
        counts = {"hidden": int(mask.sum()), "columns": holed, "table": mask.size}
        sums = {s: float(np.sum((gaps / np.where(votes, 1.0, sizes[s])) ** 2)) for s in SCALES}
        return {f"{s}-{d}": float(np.sqrt(sums[s] / counts[d])) for s in SCALES for d in DIVISORS}

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

    ``convention`` is how the RMSE beside the printed figures is read, ``second`` how it is read in
    a table besides.
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
        "range-hidden",
        draw,
        lambda table, rate, rng: mar(table, rate, random_state=rng),
        second,
    )


_NATURAL = ", on top of natural holes, which are never counted as truth"

SCENARIOS = {
    "cubes": Scenario(
        "Simulation 1: four cubes in twenty columns of noise",
        "completely at random (MCAR) in x1",
        "units-hidden",
        lambda seed: _numbers(datasets.make_cubes(seed)),
        lambda table, rate, rng: mcar(table, rate, ["x1"], random_state=rng),
    ),
    "gaussian": Scenario(
        "Simulation 2: four normal classes",
        "at random (MAR) in x4 and x5, by a logistic model on x1, x2 and x3 whose "
        "coefficients are drawn anew for each seed (the paper does not print its own)",
        "range-hidden",
        lambda seed: _numbers(datasets.make_gaussian_classes(seed)),
        lambda table, rate, rng: mar(
            table, rate, ["x4", "x5"], ["x1", "x2", "x3"], random_state=rng
        ),
    ),
    "iris": _bundled("iris", "Iris"),
    "voting": _bundled("votes", "Voting", _NATURAL, "range-table"),
    "hepatitis": _bundled("hepatitis", "Hepatitis", _NATURAL, "range-table"),
}


@dataclass(frozen=True)
class FillRun:
    """Fill one table by one method: errors of the cells and, where wanted, accuracies."""

    scenario: str
    rate: float
    seed: int
    method: str
    accuracy: bool
    reading: Reading = Reading()
    trees: int = TREES

    def run(self) -> list[Record]:
        """One record for each metric, or a single one that holds the error."""
        about = {name: getattr(self, name) for name in ("scenario", "rate", "seed", "method")}
        about["reading"] = self.reading.key(self.method)
        try:
            figures = list(self._measure(SCENARIOS[self.scenario].case(self.rate, self.seed)))
        except Exception as error:  # a failing method is a row, not the end of the run
            reason = f"{type(error).__name__}: {error}"
            return [{**about, "metric": "range-hidden", "value": None, "error": reason}]
        return [{**about, "metric": m, "value": v, "error": None} for m, v in figures]

    def _measure(self, case: Case) -> Iterator[tuple[str, float]]:
        if self.method == "complete":
            yield "accuracy_paper", case.accuracy(case.truth.values, self.seed)
            return
        method = paper_settings(self.method, self.reading, self.trees)
        imputer = prepare(method, case.table, self.seed)
        filled = fit_fill(imputer, case.table, case.labels)
        if self.method != NO_IMPUTATION:
            yield from case.errors(filled).items()
        if scores := getattr(imputer, "k_scores_", None):
            yield "tied_k", float(sum(score == min(scores.values()) for score in scores.values()))
        for attribute in ("n_neighbors_", "n_iter_", "converged_"):
            if hasattr(imputer, attribute):
                yield attribute.rstrip("_"), float(getattr(imputer, attribute))
        if self.accuracy:
            yield "accuracy_paper", case.accuracy(filled, self.seed)
            yield "accuracy_honest", case.honest_accuracy(method, self.seed)


@dataclass(frozen=True)
class PassesRun:
    """Accuracy on Iris after each number of passes of one method (Figure 7)."""

    rate: float
    seed: int
    method: str
    most: int
    reading: Reading = Reading()

    def run(self) -> list[Record]:
        """One record for each protocol and number of passes; 0 is the start fill."""
        about = {name: getattr(self, name) for name in ("rate", "seed", "method")}
        figures = self._measure(SCENARIOS["iris"].case(self.rate, self.seed))
        return [{**about, "protocol": p, "passes": n, "accuracy": v} for p, n, v in figures]

    def _measure(self, case: Case) -> Iterator[tuple[str, int, float]]:
        start = fit_fill(prepare(paper_settings("class_mean"), case.table), case.table, case.labels)
        yield "paper", 0, case.accuracy(start, self.seed)
        for passes in range(1, self.most + 1):
            method = paper_settings(self.method, self.reading, max_iter=passes)
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


def paper_settings(
    method: str, reading: Reading = PANEL[0], trees: int = TREES, **more: Any
) -> Any:
    """Make the imputer with the settings of the paper: k by ten-fold classification, no grid.

    >>> paper_settings("cgknn")
    CGKNNImputer(n_neighbors='cv', round_to_grid=False)
    >>> paper_settings("gknn", Reading("smallest", "filled")).distance
    Grey(rho=0.5, holes='filled')
    """
    if method == NO_IMPUTATION:
        return make("native")
    if method not in NEIGHBORS:
        how = {"n_estimators": trees} if method == "missforest" else {}
        return make(method, round_to_grid=False, **how)
    k = "cv" if reading.ties == "largest" else "cv_smallest"
    imputer = make(method, n_neighbors=k, round_to_grid=False, **more)
    if not reading.is_filled(method):
        return imputer
    recipe = imputer._recipe()
    parts = {part.name: getattr(recipe, part.name) for part in fields(recipe)}
    parts["distance"] = replace(recipe.distance, holes="filled")
    return NeighborImputer(k, round_to_grid=False, **parts)


@dataclass(frozen=True)
class ReproductionPlan:
    """What to run, and how to read it; the command offers ``full``, ``quick`` and ``forensic``.

    ``convention`` reads the RMSE of every table alike; None as its scenario says.

    >>> ReproductionPlan.quick().rates, len(ReproductionPlan.full().seeds)
    ((0.1,), 20)
    """

    scenarios: tuple[str, ...]
    rates: tuple[float, ...]
    seeds: range
    methods: tuple[str, ...]
    passes: int
    repeats: int
    reading: Reading = Reading()
    convention: str | None = None
    is_forensic: bool = False
    trees: int = TREES

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
        if self.convention is not None:
            check_choice("convention", self.convention, tuple(CONVENTIONS))

    @classmethod
    def full(cls, seeds: int | None = None) -> "ReproductionPlan":
        """Every table and figure at every rate."""
        n = FULL_SEEDS if seeds is None else seeds
        return cls(tuple(SCENARIOS), ALL_RATES, range(n), ALL_ROWS, passes=8, repeats=7)

    @classmethod
    def quick(cls, seeds: int | None = None) -> "ReproductionPlan":
        """Every table and figure at 10 %, with few seeds, passes and trees."""
        n = QUICK_SEEDS if seeds is None else seeds
        return cls(tuple(SCENARIOS), (0.10,), range(n), ALL_ROWS, 4, 3, trees=QUICK_TREES)

    @classmethod
    def forensic(cls, seeds: int | None = None) -> "ReproductionPlan":
        """The errors of the paper's methods alone: what its RMSE can be."""
        n = FULL_SEEDS if seeds is None else seeds
        return cls(tuple(SCENARIOS), ALL_RATES, range(n), tuple(METHODS), 0, 0, is_forensic=True)

    @property
    def extended(self) -> "ReproductionPlan":
        """The same with every method of the registry that fills tables, as more rows.

        >>> {"grey", "knni"} <= {*ReproductionPlan.quick().extended.methods}
        True
        """
        return replace(self, methods=tuple(dict.fromkeys((*self.methods, *SYSTEMS))))

    @property
    def name(self) -> str:
        """Of the pages and folders."""
        if self.is_forensic:
            return "forensic"
        return "extended" if set(self.methods) >= set(SYSTEMS) else "reproduction"

    def conventions(self, name: str) -> tuple[str, ...]:
        """How the RMSE of a setting is read: in the table that counts, and in one besides."""
        about = SCENARIOS[name]
        found = (self.convention or about.convention, about.second)
        return tuple(dict.fromkeys(one for one in found if one))

    def runs(self) -> list[Run]:
        """All single runs, slow ones first, so that no worker is left with one at the end."""
        place = {method: number for number, method in enumerate(SLOW)}
        return sorted(
            [*self._fills(), *self._curves()],
            key=lambda run: (place.get(run.method, len(SLOW)), getattr(run, "scenario", "")),
        )

    def _fills(self) -> Iterator[FillRun]:
        """Runs of every RMSE table at its rates; accuracies where the paper has a table of them."""
        tables = [t for t in TABLES.values() if t.scenario in self.scenarios]
        accurate = {t.scenario for t in tables if t.measure == "accuracy" and not self.is_forensic}
        for table in (t for t in tables if t.measure == "rmse"):
            name, rates = table.scenario, [rate for rate in table.rates if rate in self.rates]
            for rate, seed, method in product(rates, self.seeds, self.methods):
                if name in accurate or method not in ACCURACY_ROWS:
                    yield FillRun(
                        name, rate, seed, method, name in accurate, self.reading, self.trees
                    )
                for reading in () if self.is_forensic else PANEL:
                    if reading.key(method) != self.reading.key(method):
                        yield FillRun(name, rate, seed, method, False, reading)

    def _curves(self) -> Iterator[PassesRun]:
        if "iris" in self.scenarios and self.passes >= 1:
            for rate, seed, method in product(self.rates, self.seeds, CURVES):
                if method in self.methods:
                    yield PassesRun(rate, seed, method, self.passes, self.reading)
