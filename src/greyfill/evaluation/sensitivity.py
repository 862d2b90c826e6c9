"""What if the holes are not missing at random? Shift the fills, and see what changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from greyfill import frames, late
from greyfill.evaluation.comparison import as_html, as_text
from greyfill.evaluation.protocols import (
    Fold,
    check_classifiers,
    classify,
    fill,
    fit_fill,
    prepare,
    stratified_folds,
)
from greyfill.evaluation.shift import FilledColumn, Shift, find_level, make_shift, votes_of
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.table import Bools, Floats, Ints, Kind, Table
from greyfill.targets import Meaning, read_target


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
        return late.call("plot of a sensitivity", self, ax)

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


DELTAS = {Kind.CATEGORICAL: 2.0}
"""The reach of the default shifts in log odds; numbers go to one standard deviation."""

N_DELTAS = 9

Estimate = Callable[[Any, Any], float]


def sensitivity(
    imputer: Any,
    X: Any,
    y: Any,
    column: str | int,
    deltas: Sequence[float] | None = None,
    *,
    level: Any = None,
    within: Any = None,
    estimate: Estimate | None = None,
    threshold: float = 0.0,
    classifier: str | None = "naive_bayes",
    n_splits: int = 10,
    random_state: int = 0,
    **kinds: Any,
) -> Sensitivity:
    """Shift the imputed cells of a column step by step; report how estimate and accuracy move.

    A pattern-mixture analysis: imputers assume that what is missing is like what is observed in
    similar rows, and no data can prove it. So say by how much it might not be. Numbers become
    x + δ · sd, with the standard deviation of the observed cells of the column. For categories the
    odds of one level are multiplied by exp(δ), starting from the share of the donors' votes, and
    the level with the largest share is taken. δ = 0 is what the imputer filled, before whole
    numbers are rounded.

    Parameters
    ----------
    imputer : str or transformer
        A name of ``evaluation.METHODS`` or an imputer; it is cloned.
    X, y : table of any library, and class labels
        With y=None there is no accuracy, and the estimate is that of the whole column.
    column : str or int
        Name or position of the column whose fills are shifted.
    deltas : sequence of float, optional
        The shifts; 0 is always among them. By default nine from −1 to 1 for numbers, from −2 to 2
        (a factor of 7.4 on the odds) for categories.
    level : optional
        The level whose odds are moved. The second of two levels by default.
    within : a class label, optional
        Shift only rows of this class, such as one arm of a trial: a shift of all rows moves both
        sides of a contrast alike. Test rows have no known class and are then not shifted.
    estimate : callable of (filled table, y) to float, optional
        What you report. By default the mean of the column (share of the level) in the second class
        minus that in the first, of the two largest classes in sorted order.
    threshold : float, default=0
        The tipping point is the shift at which the estimate crosses this value.
    classifier : "naive_bayes", "logistic_regression", "gradient_boosting" or None
        Whose accuracy is followed, cross-validated honestly: in each fold the imputer learns from
        the training rows, test rows are filled without labels, and both are shifted.
    n_splits, random_state : int
        Number of folds, and seed of folds and imputer.
    kinds
        ``categorical_features``, ``ordinal_features`` and ``missing_values`` as in the imputers;
        by default those of the imputer.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [np.nan], [2.0], [3.0], [4.0], [3.0]])
    >>> y = np.repeat(["a", "b"], 4)
    >>> found = sensitivity("class_mean", X, y, "x0", [-1, 1, 6], classifier=None)
    >>> found.table["estimate"].round(3).to_list()  # 3 − 1 = 2; each sd of 1.345 takes off a fourth
    [2.336, 2.0, 1.664, -0.018]
    >>> round(found.tipping_point, 3)
    5.947
    """
    if classifier is not None:
        check_classifiers((classifier,))
    table, origin = frames.encode(X, **{**_kinds_of(imputer), **kinds})
    labels, classes = _labels(y, table.n_rows)
    j = _column_number(column, table)
    wanted = _class_number(within, classes)
    field = origin.schema.fields[j]
    code = find_level(field.levels, field.name, level) if table.is_categorical[j] else None
    shift = make_shift(table, labels, j, code)
    measure, target = _default_estimate(j, code, labels, classes, field)
    if estimate is not None:
        measure, target = _own_estimate(estimate, origin, y), "your estimate"
    filled = _filled(imputer, table, labels, j, random_state).only(wanted)
    followed = classifier if classes else None
    folds = []
    if followed:
        folds = _fold_fills(imputer, table, labels, j, wanted, n_splits, random_state)
    rows = [
        _row(shift, filled, delta, measure, code, _accuracy(folds, shift, delta, table, followed))
        for delta in _steps(deltas, table.columns[j].kind)
    ]
    steps = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    return Sensitivity(
        column=field.name,
        level=None if code is None else str(field.levels[code]),
        within=None if wanted is None else str(classes[wanted]),
        target=target,
        threshold=float(threshold),
        n_imputed=int(filled.holes.sum()),
        n_rows=table.n_rows,
        table=steps,
        tipping_point=tipping_point(
            steps["delta"].to_numpy(), steps["estimate"].to_numpy(), float(threshold)
        ),
    )


_SCHEMA = {
    "delta": pl.Float64,
    "amount": pl.Float64,
    "imputed": pl.Float64,
    "estimate": pl.Float64,
    "accuracy": pl.Float64,
}


def _row(
    shift: Shift,
    filled: FilledColumn,
    delta: float,
    measure: Callable[[Floats], float],
    code: int | None,
    accuracy: float | None,
) -> tuple[float, float, float, float, float | None]:
    values = shift.apply(filled, delta)
    cells = values[filled.holes, shift.column]
    imputed = float(np.mean(cells if code is None else cells == code))
    return delta, shift.amount(delta), imputed, measure(values), accuracy


@dataclass(frozen=True, eq=False)
class _FoldFills:
    """One fold: filled training and test rows, which rows the latter are, and all labels."""

    train: FilledColumn
    test: FilledColumn
    is_test: Bools
    labels: Ints

    def shifted(self, shift: Shift, delta: float) -> Fold:
        """The fold with all fills of the column shifted; rows without a label do not teach."""
        known = self.train.labels >= 0
        train, test = shift.apply(self.train, delta), shift.apply(self.test, delta)
        return Fold(train[known], self.train.labels[known], test, self.is_test)


def _accuracy(
    folds: list[_FoldFills], shift: Shift, delta: float, table: Table, classifier: str | None
) -> float | None:
    """The honest accuracy when all fills of the column are shifted."""
    if classifier is None:
        return None
    shifted = [fold.shifted(shift, delta) for fold in folds]
    return classify(shifted, table.columns, folds[0].labels, classifier).accuracy


def _filled(imputer: Any, table: Table, labels: Ints, j: int, random_state: int) -> FilledColumn:
    """The training rows, filled with the help of their labels where the imputer uses them."""
    fitted = prepare(imputer, table, random_state)
    values = fit_fill(fitted, table, labels if (labels >= 0).any() else None)
    holes = table.missing[:, j]
    trust, donors = votes_of(fitted, table.n_rows, j)
    return FilledColumn(values, holes, labels, trust[holes], donors)


def _fold_fills(
    imputer: Any,
    table: Table,
    labels: Ints,
    j: int,
    wanted: int | None,
    n_splits: int,
    random_state: int,
) -> list[_FoldFills]:
    """Fill in each fold as `honest_protocol` does."""
    fold_of = stratified_folds(labels, n_splits, random_state)
    folds = []
    for number in range(int(fold_of.max()) + 1):
        is_test = fold_of == number
        fitted = prepare(imputer, table, random_state)
        train, test = table.rows(~is_test), table.rows(is_test)
        values = fit_fill(fitted, train, labels[~is_test])
        trust, donors = votes_of(fitted, train.n_rows, j)
        holes, others = train.missing[:, j], test.missing[:, j]
        unknown = np.full(test.n_rows, -1, dtype=np.intp)
        taught = FilledColumn(values, holes, labels[~is_test], trust[holes], donors)
        served = FilledColumn(fill(fitted, test), others, unknown, np.ones(int(others.sum())), 1)
        folds.append(_FoldFills(taught.only(wanted), served.only(wanted), is_test, labels))
    return folds


def _default_estimate(
    j: int, code: int | None, labels: Ints, classes: tuple[Any, ...], field: frames.Field
) -> tuple[Callable[[Floats], float], str]:
    """The contrast of the two largest classes in the column, or its mean where there are none."""
    what = f"mean of {field.name}" if code is None else f"share of {field.levels[code]}"

    def mean(values: Floats, rows: Bools) -> float:
        cells = values[rows, j]
        return float(np.mean(cells if code is None else cells == code))

    if len(classes) < 2:
        everybody = np.ones(len(labels), dtype=bool)
        return lambda values: mean(values, everybody), what
    sizes = np.bincount(labels[labels >= 0], minlength=len(classes))
    first, second = np.sort(np.argsort(-sizes, kind="stable")[:2])
    return (
        lambda values: mean(values, labels == second) - mean(values, labels == first),
        f"{what}: {classes[second]} − {classes[first]}",
    )


def _own_estimate(estimate: Estimate, origin: frames.Origin, y: Any) -> Callable[[Floats], float]:
    """A user's estimate, which sees the table in the library that it came in."""
    n_columns = len(origin.schema.fields)
    return lambda values: float(estimate(frames.decode(values[:, :n_columns], origin), y))


def _steps(deltas: Sequence[float] | None, kind: Kind) -> list[float]:
    """The shifts in rising order, 0 among them."""
    if deltas is None:
        reach = DELTAS.get(kind, 1.0)
        deltas = np.linspace(-reach, reach, N_DELTAS).tolist()
    try:
        given = np.asarray(deltas, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise InvalidParameterError(f"deltas must be finite numbers, not {deltas!r}")
    return [float(delta) for delta in np.unique([*given, 0.0])]


def _labels(y: Any, n_rows: int) -> tuple[Ints, tuple[Any, ...]]:
    """Class codes and classes; no class at all without y."""
    if y is None:
        return np.full(n_rows, -1, dtype=np.intp), ()
    target = read_target(y, needs_classes=True)
    if len(target.codes) != n_rows:
        raise InvalidDataError(f"X has {n_rows} rows, y has {len(target.codes)}")
    if target.meaning is Meaning.RESPONSE:
        raise InvalidDataError(
            "y is continuous, but sensitivity follows classes. Bin y, or leave it out."
        )
    return target.codes, target.classes


def _class_number(within: Any, classes: tuple[Any, ...]) -> int | None:
    """The code of the class whose rows are shifted; None for all rows."""
    if within is None:
        return None
    named = [str(label) for label in classes]
    if str(within) not in named:
        raise InvalidParameterError(f"y has no class {within!r}; there are {named[:10]}")
    return named.index(str(within))


def _kinds_of(imputer: Any) -> dict[str, Any]:
    """What an imputer of ours was told about the columns."""
    if not isinstance(imputer, BaseImputer):
        return {}
    names = ("categorical_features", "ordinal_features", "missing_values")
    return {name: getattr(imputer, name) for name in names}


def _column_number(column: str | int, table: Table) -> int:
    names = [c.name for c in table.columns]
    j = names.index(column) if column in names else column
    if isinstance(j, str | bool) or not 0 <= j < len(names):
        raise InvalidParameterError(f"no column {column!r}; there are {names[:20]}")
    holes = table.missing[:, j]
    if not holes.any() or holes.all():
        what = "no missing cell" if not holes.any() else "no observed cell"
        raise InvalidDataError(
            f"column {names[j]!r} has {what}: there is nothing to shift. Name another column."
        )
    return j
