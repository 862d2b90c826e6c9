"""The result of a sensitivity analysis, and where its conclusion tips."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import polars as pl

from greyfill.evaluation.rendering import as_html, as_text
from greyfill.table import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """How an estimate and the accuracy move with the imputed cells of a column.

    Attributes
    ----------
    column, level : str
        The column whose fills were shifted, and the level whose odds were; None for numbers.
    within : str
        The class whose rows were shifted; None for all.
    target : str
        What the estimate is.
    threshold : float
        The value of the estimate at which the conclusion changes.
    n_imputed, n_rows : int
        Shifted cells of the column, and all rows.
    table : polars.DataFrame
        One row a shift: ``delta``; ``amount``, the shift in units of the column or the factor of
        the odds; ``imputed``, the mean of the imputed cells or the share of the level among them;
        ``estimate``; ``accuracy``.
    tipping_point : float or None
        The δ nearest to 0 at which the estimate crosses the threshold, between two shifts by a
        straight line; None if it does not in the range that was tried.

    Examples
    --------
    >>> import numpy as np
    >>> import greyfill
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 2
    >>> X = rng.normal(size=(40, 2)) + y[:, np.newaxis]
    >>> X[:10, 0] = np.nan
    >>> imputer = greyfill.CGKNNImputer(n_neighbors=3)
    >>> found = greyfill.sensitivity(imputer, X, y, 0, deltas=[-1, 1], classifier=None)
    >>> type(found).__name__
    'Sensitivity'
    """

    column: str
    level: str | None
    within: str | None
    target: str
    threshold: float
    n_imputed: int
    n_rows: int
    table: pl.DataFrame = field(repr=False)
    tipping_point: float | None

    @property
    def verdict(self) -> str:
        """One sentence about the tipping point."""
        low, high = self.table["delta"][0], self.table["delta"][-1]
        if self.tipping_point is None:
            return (
                f"No shift from {low:g} to {high:g} moves the estimate across {self.threshold:g}."
            )
        how = "standard deviations" if self.level is None else f"in the log odds of {self.level}"
        return (
            f"The estimate crosses {self.threshold:g} at a shift of {self.tipping_point:.3g} {how}."
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw estimate and accuracy over the shifts, as ``greyfill.plots.sensitivity`` does."""
        plots = import_module("greyfill.plots")  # on a floor above, loaded only on request
        return plots.sensitivity(self, ax)

    def __repr__(self) -> str:
        return as_text(*self.overview())

    def _repr_html_(self) -> str:
        return as_html(*self.overview())

    def overview(self) -> tuple[str, list[list[str]], list[str]]:
        """A title, a table of text with its head, and the verdict."""
        title = (
            f"{self.column}: {self.n_imputed} imputed cells of {self.n_rows} shifted"
            f"{'' if self.within is None else f' (class {self.within})'}; estimate = {self.target}"
        )
        amount = "in units" if self.level is None else "odds ×"
        imputed = "mean of fills" if self.level is None else f"fills {self.level}"
        rows = [["delta", amount, imputed, "estimate", "accuracy"]]
        for row in self.table.iter_rows():
            rows.append(["–" if cell is None else f"{cell:.4g}" for cell in row])
        return title, rows, [self.verdict]


def tipping_point(deltas: Floats, estimates: Floats, threshold: float) -> float | None:
    """The δ nearest to 0 at which the estimate reaches or crosses the threshold.

    >>> import numpy as np
    >>> tipping_point(np.array([-1.0, 0.0, 1.0]), np.array([4.0, 3.0, -1.0]), 0.0)
    0.75
    >>> tipping_point(np.array([-1.0, 0.0, 1.0]), np.array([4.0, 3.0, 2.0]), 0.0)
    """
    gaps = estimates - threshold
    found: list[float] = [float(delta) for delta, gap in zip(deltas, gaps, strict=True) if gap == 0]
    for left in range(len(gaps) - 1):
        before, after = float(gaps[left]), float(gaps[left + 1])
        if before * after < 0.0:
            step = float(deltas[left + 1] - deltas[left])
            found.append(float(deltas[left]) + step * before / (before - after))
    return min(found, key=abs, default=None)
