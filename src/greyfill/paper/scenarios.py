"""The five settings of the paper: a table for each seed, and the holes that are made in it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from greyfill import datasets, frames
from greyfill.exceptions import InvalidParameterError
from greyfill.metrics import ImputationErrors, imputation_errors
from greyfill.missingness import hide, mar, mcar
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table

DROPPED_VOTE = "export-administration-act-south-africa"


@dataclass(frozen=True, eq=False)
class Case:
    """One incomplete table: what a method sees, and the truth behind the holes that were made.

    ``table`` has natural and made holes; ``mask`` marks only the latter.
    """

    table: Table
    labels: Ints
    truth: Table
    mask: Bools

    def errors(self, filled: Floats) -> ImputationErrors:
        """Compare the made holes of a filled table with the truth."""
        return imputation_errors(self.truth, filled, self.mask)


@dataclass(frozen=True)
class Scenario:
    """One setting: how its table is drawn, where holes are made, and how the RMSE is read.

    ``convention`` is the field of ImputationErrors that stands beside the printed figures, and
    ``second`` one that is shown besides.
    """

    name: str
    title: str
    mechanism: str
    convention: str
    draw: Callable[[int], tuple[Table, Ints]] = field(repr=False)
    holes: Callable[[Table, float, np.random.Generator], Bools] = field(repr=False)
    second: str | None = None

    def case(self, rate: float, seed: int) -> Case:
        """Draw the table with ``seed`` and make holes at ``rate`` with (``seed``, 100 · ``rate``).

        >>> case = scenario("iris").case(rate=0.10, seed=0)
        >>> case.table.missing.sum(axis=0), int(case.mask.sum())
        (array([15, 15, 15, 15]), 60)
        """
        truth, labels = self.draw(seed)
        mask = self.holes(truth, rate, np.random.default_rng([seed, round(100 * rate)]))
        return Case(hide(truth, mask), labels, truth, mask)


def bundled(name: str) -> tuple[Table, Ints]:
    """Load a bundled table as the paper describes it: Voting has 15 of its 16 votes.

    >>> bundled("votes")[0].n_columns
    15
    """
    data = datasets.load(name)
    kept = data.X.drop(DROPPED_VOTE) if name == "votes" else data.X
    return frames.encode(kept)[0], frames.encode_labels(data.y)[0]


def _numbers(made: tuple[Floats, Ints]) -> tuple[Table, Ints]:
    cells, labels = made
    names = (f"x{j + 1}" for j in range(cells.shape[1]))
    columns = tuple(Column(name, Kind.NUMERIC) for name in names)
    return Table(cells, np.zeros(cells.shape, dtype=bool), columns), labels - 1


def _mar_everywhere(table: Table, rate: float, rng: np.random.Generator) -> Bools:
    return mar(table, rate, random_state=rng)


_EVERYWHERE = (
    "at random (MAR) in every column, by a logistic model on cells that stay observed, on top of "
    "natural holes, which are never counted as truth"
)

_SCENARIOS = (
    Scenario(
        name="cubes",
        title="Simulation 1: four cubes in twenty columns of noise",
        mechanism="completely at random (MCAR) in x1",
        convention="rmse",
        draw=lambda seed: _numbers(datasets.make_cubes(seed)),
        holes=lambda table, rate, rng: mcar(table, rate, ["x1"], random_state=rng),
    ),
    Scenario(
        name="gaussian",
        title="Simulation 2: four normal classes",
        mechanism=(
            "at random (MAR) in x4 and x5, by a logistic model on x1, x2 and x3 whose "
            "coefficients are drawn anew for each seed (the paper does not print its own)"
        ),
        convention="nrmse",
        draw=lambda seed: _numbers(datasets.make_gaussian_classes(seed)),
        holes=lambda table, rate, rng: mar(
            table, rate, ["x4", "x5"], ["x1", "x2", "x3"], random_state=rng
        ),
    ),
    Scenario(
        name="iris",
        title="Iris",
        mechanism=_EVERYWHERE.partition(", on top")[0],
        convention="nrmse",
        draw=lambda seed: bundled("iris"),
        holes=_mar_everywhere,
    ),
    Scenario(
        name="voting",
        title="Voting",
        mechanism=_EVERYWHERE,
        convention="nrmse",
        draw=lambda seed: bundled("votes"),
        holes=_mar_everywhere,
        second="nrmse_all_cells",
    ),
    Scenario(
        name="hepatitis",
        title="Hepatitis",
        mechanism=_EVERYWHERE,
        convention="nrmse",
        draw=lambda seed: bundled("hepatitis"),
        holes=_mar_everywhere,
        second="nrmse_all_cells",
    ),
)


def scenario(name: str) -> Scenario:
    """Return a setting by its name."""
    for found in _SCENARIOS:
        if found.name == name:
            return found
    raise InvalidParameterError(f"scenario {name!r} is not one of {', '.join(scenario_names())}")


def scenario_names() -> tuple[str, ...]:
    """List the names of the settings.

    >>> scenario_names()
    ('cubes', 'gaussian', 'iris', 'voting', 'hepatitis')
    """
    return tuple(found.name for found in _SCENARIOS)
