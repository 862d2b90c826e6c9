"""What if the holes are not missing at random? Shift the fills, and see what changes.

Numbers are moved by δ standard deviations, levels have their odds multiplied by exp(δ); δ = 0 is
what the imputer filled.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from greyfill import frames
from greyfill.evaluation.comparison import as_html, as_text
from greyfill.evaluation.protocols import (
    Fold,
    FoldFill,
    check_classifiers,
    class_codes,
    classify,
    fit_fill,
    fold_fills,
    prepare,
)
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.table import Bools, Floats, Ints, Kind, Table
from greyfill.targets import Meaning

PREDICTED = 99
"""Votes that a predicted probability weighs."""

Estimate = Callable[[Any, Any], float]
FilledFold = tuple[Bools, "FilledColumn", "FilledColumn"]


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
        if self.tipping_point is None:
            low, high = self.table["delta"][0], self.table["delta"][-1]
            return (
                f"No shift from {low:g} to {high:g} moves the estimate across {self.threshold:g}."
            )
        how = "standard deviations" if self.level is None else f"in the log odds of {self.level}"
        return (
            f"The estimate crosses {self.threshold:g} at a shift of {self.tipping_point:.3g} {how}."
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw estimate and accuracy over the shifts, as ``greyfill.plots.sensitivity`` does."""
        from greyfill.report.charts import sensitivity as draw  # matplotlib takes its time

        return draw(self, ax)

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
    similar rows, and no data can prove it. A shift says by how much it might not be. Numbers become
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
    about = origin.schema.fields[j]
    code = find_level(about.levels, about.name, level) if table.is_categorical[j] else None
    shift = _make_shift(table, labels, j, code)
    measure, target = _contrast(j, code, labels, classes, about)
    if estimate is not None:
        measure, target = _own_estimate(estimate, origin, y), "your estimate"
    fitted = prepare(imputer, table, random_state)
    values = fit_fill(fitted, table, labels if classes else None)
    holes = table.missing[:, j] & (True if wanted is None else labels == wanted)
    filled = FilledColumn(values, holes, labels, *votes_of(fitted, table.n_rows, j))
    folds: list[FilledFold] = []
    if classifier is not None and classes:
        fills = fold_fills(table, labels, imputer, n_splits, random_state)
        folds = _filled_folds(fills, j, holes, labels, wanted is None)
    rows = []
    for delta in _steps(deltas, table.columns[j].kind):
        moved = shift.apply(filled, delta)
        imputed = _mean(moved[holes, j], code)
        accuracy = None
        if classifier is not None and folds:
            shifted = [_shifted(fold, shift, delta) for fold in folds]
            accuracy = classify(shifted, table.columns, labels, classifier).accuracy
        rows.append((delta, shift.amount(delta), imputed, measure(moved), accuracy))
    names = ("delta", "amount", "imputed", "estimate", "accuracy")
    steps = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row")
    return Sensitivity(
        column=about.name,
        level=None if code is None else str(about.levels[code]),
        within=None if wanted is None else str(classes[wanted]),
        target=target,
        threshold=float(threshold),
        n_imputed=int(filled.holes.sum()),
        n_rows=table.n_rows,
        table=steps,
        tipping_point=tipping_point(steps["delta"], steps["estimate"], threshold),
    )


def _kinds_of(imputer: Any) -> dict[str, Any]:
    """What an imputer of ours has as the kinds of the columns."""
    if not isinstance(imputer, BaseImputer):
        return {}
    names = ("categorical_features", "ordinal_features", "missing_values")
    return {name: getattr(imputer, name) for name in names}


def _labels(y: Any, n_rows: int) -> tuple[Ints, tuple[Any, ...]]:
    """Class codes and classes; no class at all without y."""
    if y is None:
        return np.full(n_rows, -1, dtype=np.intp), ()
    labels, classes, meaning = class_codes(y, n_rows)
    if meaning is Meaning.RESPONSE:
        raise InvalidDataError(
            "y is continuous, but sensitivity follows classes. Bin y, or leave it out."
        )
    return labels, classes


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


def _class_number(within: Any, classes: tuple[Any, ...]) -> int | None:
    """The code of the class whose rows are shifted; None for all rows."""
    if within is None:
        return None
    named = [str(label) for label in classes]
    if str(within) not in named:
        raise InvalidParameterError(f"y has no class {within!r}; there are {named[:10]}")
    return named.index(str(within))


def find_level(levels: tuple[Any, ...], name: str, wanted: Any) -> int:
    """The code of the level whose odds are moved: the one named, or the second of two."""
    if wanted is None and len(levels) == 2:
        return 1
    named = [str(level) for level in levels]
    if wanted is None:
        raise InvalidParameterError(
            f"column {name!r} has {len(levels)} levels: say by level= which one's odds are to "
            f"be moved; there are {named[:10]}"
        )
    if wanted in levels:
        return levels.index(wanted)
    if str(wanted) in named:
        return named.index(str(wanted))
    raise InvalidParameterError(f"column {name!r} has no level {wanted!r}; there are {named[:10]}")


def _contrast(
    j: int, code: int | None, labels: Ints, classes: tuple[Any, ...], field: frames.Field
) -> tuple[Callable[[Floats], float], str]:
    """The contrast of the two largest classes in the column, or its mean where there are none."""
    what = f"mean of {field.name}" if code is None else f"share of {field.levels[code]}"
    if len(classes) < 2:
        return lambda values: _mean(values[:, j], code), what
    sizes = np.bincount(labels[labels >= 0], minlength=len(classes))
    first, second = np.sort(np.argsort(-sizes, kind="stable")[:2])

    def contrast(values: Floats) -> float:
        return _mean(values[labels == second, j], code) - _mean(values[labels == first, j], code)

    return contrast, f"{what}: {classes[second]} − {classes[first]}"


def _mean(cells: Floats, code: int | None) -> float:
    """The mean of numbers, or the share of a level."""
    return float(np.mean(cells if code is None else cells == code))


def _own_estimate(estimate: Estimate, origin: frames.Origin, y: Any) -> Callable[[Floats], float]:
    """A user's estimate, of the filled table in the library that it came in."""
    n_columns = len(origin.schema.fields)
    return lambda values: float(estimate(frames.decode(values[:, :n_columns], origin), y))


def _filled_folds(
    fills: Iterable[FoldFill], j: int, holes: Bools, labels: Ints, everywhere: bool
) -> list[FilledFold]:
    """The test rows of each fold, and both sides filled: labeled training rows, and those rows."""
    folds = []
    for is_test, fitted, train, test in fills:
        teaching = (labels >= 0) & ~is_test
        trust, donors = votes_of(fitted, len(train), j)
        known = labels[~is_test] >= 0
        learned = FilledColumn(
            train[known], holes[teaching], labels[teaching], trust[known], donors
        )
        unknown, sure = np.full(len(test), -1, dtype=np.intp), np.ones(len(test))
        served = FilledColumn(test, holes[is_test] & everywhere, unknown, sure, 1)
        folds.append((is_test, learned, served))
    return folds


def _shifted(fold: FilledFold, shift: "Shift", delta: float) -> Fold:
    is_test, train, test = fold
    return Fold(shift.apply(train, delta), train.labels, shift.apply(test, delta), is_test)


def votes_of(imputer: Any, n_rows: int, column: int) -> tuple[Floats, int]:
    """The share of votes that the fill of each training cell of a column got, and how many voted.

    An imputer without such figures counts as one donor that is sure. Where probabilities were
    predicted and no votes counted, they weigh as much as many votes.
    """
    trust = np.ones(n_rows)
    spreads = getattr(imputer, "cell_spreads_", None)
    if spreads is None:
        return trust, 1
    rows, columns, spread = spreads
    here = columns == column
    trust[rows[here]] = 1.0 - spread[here]
    return trust, int(getattr(imputer, "n_neighbors_", PREDICTED))


def _steps(deltas: Sequence[float] | None, kind: Kind) -> list[float]:
    """The shifts in rising order, 0 among them."""
    if deltas is None:
        reach = 2.0 if kind is Kind.CATEGORICAL else 1.0  # in log odds or standard deviations
        deltas = np.linspace(-reach, reach, 9).tolist()
    try:
        given = np.asarray(deltas, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise InvalidParameterError(f"deltas must be finite numbers, not {deltas!r}")
    return [float(delta) for delta in np.unique([*given, 0.0])]


def tipping_point(deltas: ArrayLike, estimates: ArrayLike, threshold: float) -> float | None:
    """The δ nearest to 0 at which the estimate reaches or crosses the threshold.

    >>> tipping_point(np.array([-1.0, 0.0, 1.0]), np.array([4.0, 3.0, -1.0]), 0.0)
    0.75
    >>> tipping_point(np.array([-1.0, 0.0, 1.0]), np.array([4.0, 3.0, 2.0]), 0.0)
    """
    deltas, gaps = np.asarray(deltas), np.asarray(estimates) - threshold
    left, right = gaps[:-1], gaps[1:]
    at = np.flatnonzero(left * right < 0.0)
    crossings = deltas[at] + np.diff(deltas)[at] * left[at] / (left - right)[at]
    return min([*deltas[gaps == 0.0].tolist(), *crossings.tolist()], key=abs, default=None)


@dataclass(frozen=True, eq=False)
class FilledColumn:
    """Some rows without holes, which of them had one in the column, and how sure its fills are.

    ``trust`` is the share of the donors' votes that the fill of each row got, ``donors`` how many
    donors voted. ``labels`` are class codes, −1 where unknown.
    """

    values: Floats
    holes: Bools
    labels: Ints
    trust: Floats
    donors: int


@dataclass(frozen=True)
class NumberShift:
    """x ← x + δ · sd; an ordered column is rounded to one of its levels."""

    column: int
    unit: float
    n_levels: int = 0

    def apply(self, filled: FilledColumn, delta: float) -> Floats:
        """The filled rows with the imputed cells of the column moved by δ standard deviations."""
        values = filled.values.copy()
        moved = values[filled.holes, self.column] + self.amount(delta)
        if self.n_levels:
            moved = np.clip(np.rint(moved), 0, self.n_levels - 1)
        values[filled.holes, self.column] = moved
        return values

    def amount(self, delta: float) -> float:
        """The shift in units of the column."""
        return delta * self.unit


@dataclass(frozen=True, eq=False)
class LevelShift:
    """odds(level) ← odds(level) · exp(δ); a cell takes the level of the largest share.

    ``by_class`` has a row of observed shares for each class, and one for rows without a class.
    """

    column: int
    level: int
    by_class: Floats

    def apply(self, filled: FilledColumn, delta: float) -> Floats:
        """The filled rows with the imputed cells of the column chosen anew."""
        values = filled.values.copy()
        fills = np.rint(values[filled.holes, self.column]).astype(np.intp)
        log_shares = np.log(np.maximum(self._shares(filled, fills), 1e-300))
        log_shares[:, self.level] += delta
        cells = np.arange(len(fills))
        best = log_shares.max(axis=1)
        keep = log_shares[cells, fills] >= best - 1e-12  # a tie leaves the fill
        values[filled.holes, self.column] = np.where(keep, fills, log_shares.argmax(axis=1))
        return values

    def amount(self, delta: float) -> float:
        """The factor of the odds."""
        return float(np.exp(delta))

    def _shares(self, filled: FilledColumn, fills: Ints) -> Floats:
        """The share of each level in each imputed cell.

        The fill has its share of the votes, the other levels divide the rest as they are observed
        in the class; one more donor, of the class as a whole, keeps any share from being 0 or 1.
        The fill keeps the largest share, so that a shift of 0 changes nothing.
        """
        cells = np.arange(len(fills))
        usual, trust = self.by_class[filled.labels[filled.holes]], filled.trust[filled.holes]
        others = usual.copy()
        others[cells, fills] = 0.0
        total = others.sum(axis=1, keepdims=True)
        others = np.divide(others, total, out=np.zeros_like(others), where=total > 0.0)
        votes = others * (1.0 - trust)[:, np.newaxis]
        votes[cells, fills] = trust
        shares = (filled.donors * votes + usual) / (filled.donors + 1.0)
        shares[cells, fills] = shares.max(axis=1)
        return np.asarray(shares)


Shift = NumberShift | LevelShift


def _make_shift(table: Table, labels: Ints, column: int, level: int | None) -> Shift:
    """The shift of a level's odds, or by standard deviations of the observed numbers."""
    if level is not None:
        return LevelShift(column, level, _observed_shares(table, labels, column))
    values, about = table.values[~table.missing[:, column], column], table.columns[column]
    unit = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    if unit == 0.0:
        raise InvalidDataError(
            f"column {about.name!r} has a single observed value: it has no standard deviation "
            "to shift by"
        )
    return NumberShift(column, unit, about.n_levels)


def _observed_shares(table: Table, labels: Ints, column: int) -> Floats:
    """Shares of the levels among the observed cells of each class; the last row is of all."""
    known = ~table.missing[:, column] & (table.values[:, column] >= 0)
    n_classes, n_levels = int(labels.max(initial=-1)) + 1, table.columns[column].n_levels
    counts = np.zeros((n_classes + 1, n_levels))
    np.add.at(counts, (labels[known], table.values[known, column].astype(np.intp)), 1.0)
    counts[-1] = np.bincount(table.values[known, column].astype(np.intp), minlength=n_levels)
    totals = counts.sum(axis=1, keepdims=True)
    usual = counts[-1] / counts[-1].sum()
    return np.asarray(np.where(totals > 0.0, counts / np.maximum(totals, 1.0), usual))
