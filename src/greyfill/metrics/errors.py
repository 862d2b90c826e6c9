"""Errors of single cells: RMSE (38) in its three readings, and wrong categories."""

from dataclasses import dataclass, field

import numpy as np

from greyfill.metrics.cells import check_cells, ranges
from greyfill.table import Bools, Floats, Kind, Table


@dataclass(frozen=True)
class ImputationErrors:
    """Errors over the masked cells of a table, or of one of its columns.

    A figure is nan where no masked cell enters it.

    Attributes
    ----------
    nrmse : float
        Root mean square error over masked cells on the [0, 1] scale; categories count 0 or 1.
    nrmse_all_cells : float
        The same sum of squares, divided by all n·p cells.
    rmse : float
        Root mean square error over masked cells of numeric columns, in their own units.
    wrong_share : float
        Share of masked categorical and ordinal cells with a wrong level.
    n_cells : int
        Number of masked cells.
    by_column : dict
        The same figures for each column with masked cells.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind, Table
    >>> seen = np.zeros((3, 1), dtype=bool)
    >>> truth = Table(np.array([[0.0], [5.0], [10.0]]), seen, (Column("x", Kind.NUMERIC),))
    >>> filled, mask = np.array([[0.0], [6.0], [10.0]]), np.array([[False], [True], [False]])
    >>> errors = imputation_errors(truth, filled, mask)
    >>> errors.rmse, errors.nrmse, errors.n_cells
    (1.0, 0.1, 1)
    """

    nrmse: float
    nrmse_all_cells: float
    rmse: float
    wrong_share: float
    n_cells: int
    by_column: "dict[str, ImputationErrors]" = field(default_factory=dict)


def imputation_errors(truth: Table, filled: Floats, mask: Bools) -> ImputationErrors:
    """Compare filled cells with the truth.

    RMSE = √(1/m Σ (e_i − ẽ_i)²)  (38), over the m masked cells. The paper states neither units nor
    the error of a category, so each reading is given; ``nrmse`` is the main figure. Columns are
    scaled by the range of the truth, ordinal codes like numbers.

    Parameters
    ----------
    truth
        The table before cells were hidden. Its natural holes have no truth: a mask that covers
        one is refused.
    filled
        The table after the fill.
    mask
        The cells that were hidden on purpose.

    >>> from greyfill.table import Column
    >>> columns = (Column("age", Kind.NUMERIC), Column("sex", Kind.CATEGORICAL, 2))
    >>> cells = np.array([[20.0, 0.0], [30.0, 1.0], [60.0, 1.0]])
    >>> truth = Table(cells, np.zeros((3, 2), bool), columns)
    >>> filled = np.array([[20.0, 1.0], [40.0, 1.0], [60.0, 1.0]])
    >>> mask = np.array([[False, True], [True, True], [False, False]])
    >>> errors = imputation_errors(truth, filled, mask)
    >>> errors.rmse, errors.wrong_share, round(errors.nrmse, 4), errors.n_cells
    (10.0, 0.5, 0.5951, 3)
    >>> errors.by_column["age"].nrmse
    0.25
    """
    check_cells(truth, filled, mask)
    gaps = filled - truth.values
    wrong = np.rint(filled) != truth.values
    scaled = np.where(truth.is_categorical, wrong, gaps / ranges(truth))
    is_number = np.array([c.kind is Kind.NUMERIC for c in truth.columns], dtype=bool)
    cells = _Cells(gaps, scaled, wrong, mask, is_number)
    by_column = {
        column.name: cells.figures(slice(j, j + 1), {})
        for j, column in enumerate(truth.columns)
        if mask[:, j].any()
    }
    return cells.figures(slice(None), by_column)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Errors of all cells: in units, on the [0, 1] scale, as wrong levels, and which count."""

    gaps: Floats
    scaled: Floats
    wrong: Bools
    mask: Bools
    is_number: Bools

    def figures(self, part: slice, by_column: dict[str, ImputationErrors]) -> ImputationErrors:
        """Sum up the masked cells of some columns."""
        mask, is_number = self.mask[:, part], self.is_number[part]
        squares = self.scaled[:, part] ** 2
        return ImputationErrors(
            nrmse=float(np.sqrt(_mean(squares, mask))),
            nrmse_all_cells=float(np.sqrt(np.sum(squares, where=mask) / max(mask.size, 1))),
            rmse=float(np.sqrt(_mean(self.gaps[:, part] ** 2, mask & is_number))),
            wrong_share=_mean(self.wrong[:, part], mask & ~is_number),
            n_cells=int(mask.sum()),
            by_column=by_column,
        )


def _mean(values: Floats | Bools, where: Bools) -> float:
    """Mean of the chosen cells, nan without any."""
    return float(np.mean(values, where=where)) if where.any() else float("nan")
