"""How far two rows are: the distance part of a recipe."""

from dataclasses import dataclass

import numpy as np

from greyfill._search.pool import DonorPool
from greyfill.checks import check_choice, is_number
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Floats, Ints

HOLES = ("mask", "filled")

NOISE = 1e-11
"""A difference of distances below this is rounding."""


class ExactSearch:
    """A distance whose nearest donors a kernel finds, with the coefficient ρ or without one."""

    @property
    def _coefficient(self) -> float | None:
        return None

    def search(
        self,
        pool: DonorPool,
        queries: Floats,
        missing: Bools,
        own_rows: Ints,
        weights: Floats,
        k: int,
        extremes: Floats | None = None,
    ) -> tuple[Ints, Floats]:
        """Rows and distances of the k nearest donors of each query."""
        from greyfill._search import kernels

        rho = self._coefficient
        return kernels.nearest_donors(pool, queries, missing, own_rows, weights, k, rho, extremes)


@dataclass(frozen=True)
class Heom(ExactSearch):
    """Heterogeneous Euclidean overlap metric, equations (7)–(10); weighted, (31).

    Parameters
    ----------
    holes : "mask" or "filled"
        "mask": a cell that was missing is at distance 1, in every pass. "filled": the current
        fill of a hole counts like an observed value.

    >>> Heom()
    Heom(holes='mask')
    """

    holes: str = "mask"

    def __post_init__(self) -> None:
        check_choice("holes", self.holes, HOLES)

    def survey(self, pool: DonorPool, queries: Floats, missing: Bools, own_rows: Ints) -> None:
        """A part of a pool can be searched without knowing the others."""

    def over_observed(self, distances: Floats, share: Floats) -> Floats:
        """The same distances over the observed columns, which carry ``share`` of the weight."""
        return np.sqrt(_rescale(distances**2, share))


@dataclass(frozen=True)
class Grey(ExactSearch):
    """One minus the grey relational grade, equations (32)–(35).

    Parameters
    ----------
    rho : float in (0, 1]
        The distinguishing coefficient ρ. Smaller values favor close matches more sharply.
    holes : "mask" or "filled"
        "mask": a cell that was missing has coefficient 0, in every pass. "filled": the current
        fill of a hole counts like an observed value.

    >>> Grey(rho=0.3)
    Grey(rho=0.3, holes='mask')
    """

    rho: float = 0.5
    holes: str = "mask"

    def __post_init__(self) -> None:
        check_choice("holes", self.holes, HOLES)
        if not is_number(self.rho) or not 0.0 < self.rho <= 1.0:
            raise InvalidParameterError(f"rho must lie in (0, 1], not {self.rho!r}")

    @property
    def _coefficient(self) -> float | None:
        return self.rho

    def survey(self, pool: DonorPool, queries: Floats, missing: Bools, own_rows: Ints) -> Floats:
        """Δmin and Δmax of each query over the donors of a pool."""
        from greyfill._search import kernels

        return np.asarray(kernels.grey_extremes(pool, queries, missing, own_rows))

    def over_observed(self, distances: Floats, share: Floats) -> Floats:
        """The same distances over the observed columns, which carry ``share`` of the weight."""
        return _rescale(distances, share)


def _rescale(terms: Floats, share: Floats) -> Floats:
    """Take the constant part of the query's holes, 1 − share, out of a sum of terms."""
    rest = terms - (1.0 - share[:, np.newaxis])
    return np.where(rest < NOISE, 0.0, rest / share[:, np.newaxis])
