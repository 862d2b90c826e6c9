"""What a reproduction runs: settings, rates, seeds, methods and passes."""

from dataclasses import dataclass

from greyfill.evaluation.methods import METHODS as REGISTERED
from greyfill.evaluation.reproduction.paper import METHODS, NO_IMPUTATION, tables
from greyfill.evaluation.reproduction.runs import CURVES, REFERENCES, FillRun, PassesRun, Run
from greyfill.evaluation.reproduction.scenarios import scenario, scenario_names
from greyfill.exceptions import InvalidParameterError

FULL_SEEDS, QUICK_SEEDS = 20, 3
SLOW = ("missforest", "mice")
ACCURACY_ROWS = (NO_IMPUTATION, "complete")
ALL_ROWS = (NO_IMPUTATION, *METHODS, *REFERENCES, "complete")


@dataclass(frozen=True)
class Plan:
    """What to run; ``full`` and ``quick`` are the two that the command offers.

    >>> Plan.quick().rates, len(Plan.full().seeds)
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
    def full(cls, seeds: int | None = None) -> "Plan":
        """Every table and figure at every rate."""
        n = FULL_SEEDS if seeds is None else seeds
        return cls(scenario_names(), (0.05, 0.10, 0.20), range(n), ALL_ROWS, passes=8, repeats=7)

    @classmethod
    def quick(cls, seeds: int | None = None) -> "Plan":
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
