"""What if the holes are not missing at random? Shift the fills, and see what changes.

Numbers are moved by δ standard deviations, levels have their odds multiplied by exp(δ); δ = 0 is
what the imputer filled. Where the imputer draws, every draw is shifted and the estimates are
pooled, so that the interval is seen to tip, and not only the estimate.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from sklearn.utils import get_tags

from greyfill import frames
from greyfill.checks import check_share, check_whole
from greyfill.evaluation.estimate import (
    Estimate,
    interval_tipping_point,
    own_estimate,
    tipping_point,
    usual_estimate,
)
from greyfill.evaluation.protocols import (
    Fold,
    FoldFill,
    check_classifiers,
    classify,
    fill_several_times,
    fold_fills,
    prepare,
    set_off_grid,
)
from greyfill.evaluation.shift import (
    FilledColumn,
    Shift,
    draw_scores,
    make_shift,
    observed_shares,
    vote_scores,
    votes_of,
)
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.table import Bools, Floats, Ints, Kind, Table
from greyfill.targets import Meaning, Target, labels_of, read_target
from greyfill.text import as_html, as_text, plural

FilledFold = tuple[Bools, Ints, FilledColumn, FilledColumn]

COLUMNS = ("delta", "amount", "imputed", "estimate", "low", "high", "accuracy")


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """How an estimate, its interval and the accuracy move with the imputed cells of a column.

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
    n_draws, confidence : int, float
        Draws that were pooled, 1 for a single filled table, and the level of the interval.
    table : polars.DataFrame
        One row a shift: ``delta``; ``amount``, the shift in units of the column or the factor of
        the odds; ``imputed``, the mean of the imputed cells or the share of the level among them;
        ``estimate``, pooled over the draws, with the limits ``low`` and ``high`` of its interval,
        null without draws; ``accuracy``.
    tipping_point : float or None
        The δ nearest to 0 at which the estimate crosses the threshold, between two shifts by a
        straight line; None if it does not in the range that was tried.
    interval_tipping_point : float or None
        The δ nearest to 0 at which the interval reaches the threshold: from there on the data no
        longer exclude it. 0 if it holds the threshold without a shift; None if it does not reach
        it in the range that was tried, or if there is no interval.
    notes : tuple of str
        What limits the answer.

    Examples
    --------
    >>> import numpy as np
    >>> import greyfill
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 2
    >>> X = rng.normal(size=(40, 2)) + y[:, np.newaxis]
    >>> X[:10, 0] = np.nan
    >>> found = greyfill.sensitivity(
    ...     greyfill.GreyImputer(), X, y, 0, [-9, -4, -2], within=1, classifier=None
    ... )
    >>> bool(abs(found.interval_tipping_point) < abs(found.tipping_point or 9))
    True
    """

    column: str
    level: str | None
    within: str | None
    target: str
    threshold: float
    n_imputed: int
    n_rows: int
    n_draws: int
    confidence: float
    table: pl.DataFrame = field(repr=False)
    tipping_point: float | None
    interval_tipping_point: float | None
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """One or two sentences about where the interval tips, and where the estimate does."""
        words = []
        if self.table["low"].null_count() == 0:
            who = f"The {100 * self.confidence:g} % interval of {plural(self.n_draws, 'draw')}"
            words.append(self._tips(who, "reaches", self.interval_tipping_point))
        return " ".join([*words, self._tips("The estimate", "crosses", self.tipping_point)])

    def _tips(self, who: str, does: str, delta: float | None) -> str:
        """Where it does so, in words."""
        if delta is None:
            low, high = self.table["delta"][0], self.table["delta"][-1]
            return f"{who} {does} {self.threshold:g} at no shift from {low:g} to {high:g}."
        if delta == 0.0:
            return f"{who} {does} {self.threshold:g} without any shift."
        how = "standard deviations" if self.level is None else f"in the log odds of {self.level}"
        return f"{who} {does} {self.threshold:g} at a shift of {delta:.3g} {how}."

    def plot(self, ax: Any = None) -> Any:
        """Draw estimate, interval and accuracy, as ``greyfill.plots.sensitivity`` does."""
        from greyfill.report.shift_plot import sensitivity as draw  # matplotlib takes its time

        return draw(self, ax)

    def __repr__(self) -> str:
        return as_text(*self.overview())

    def _repr_html_(self) -> str:
        return as_html(*self.overview())

    def overview(self) -> tuple[str, list[list[str]], list[str]]:
        """A title, a table of text with its head, and the verdict with its notes."""
        title = (
            f"{self.column}: {self.n_imputed} imputed cells of {self.n_rows} shifted"
            f"{'' if self.within is None else f' (class {self.within})'}; estimate = {self.target}"
        )
        amount = "in units" if self.level is None else "odds ×"
        imputed = "mean of fills" if self.level is None else f"fills {self.level}"
        known = [name for name in COLUMNS if not self.table[name].is_null().all()]
        heads = {"amount": amount, "imputed": imputed}
        rows = [[heads.get(name, name) for name in known]]
        for row in self.table.select(known).iter_rows():
            rows.append(["–" if cell is None else f"{cell:.4g}" for cell in row])
        return title, rows, [self.verdict, *self.notes]


def sensitivity(
    imputer: Any,
    X: Any,
    y: Any,
    column: str | int,
    deltas: Sequence[float] | None = None,
    *,
    level: Any = None,
    within: Any = None,
    estimate: Callable[[Any, Any], Any] | None = None,
    threshold: float = 0.0,
    n_draws: int = 20,
    confidence: float = 0.95,
    classifier: str | None = "naive_bayes",
    n_splits: int = 10,
    random_state: int = 0,
    **kinds: Any,
) -> Sensitivity:
    """Shift the imputed cells of a column step by step; report how estimate and accuracy move.

    A pattern-mixture analysis: imputers assume that what is missing is like what is observed in
    similar rows, and no data can prove it. A shift says by how much it might not be. Numbers become
    x + δ · sd, with the standard deviation of the observed cells of the column. For categories the
    odds of one level are multiplied by exp(δ). δ = 0 is what the imputer filled, before whole
    numbers are rounded.

    An imputer that draws (``GreyImputer``, ``MICEImputer``) fills the table several times with the
    help of y, and the estimates are pooled by Rubin's rules. Others fill once: then there is no
    interval, and a conclusion may be lost long before the point estimate tips.

    Parameters
    ----------
    imputer : str or transformer
        A name of ``evaluation.METHODS`` or an imputer; it is cloned.
    X, y : table of any library, and class labels or a continuous y
        Without classes there is no accuracy; with y=None the estimate is that of the whole column.
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
    estimate : callable of (filled table, y), optional
        What you report: a number, or the number and its variance, without which there is no
        interval. By default the mean of the column (share of the level) in the second class minus
        that in the first, of the two largest classes in sorted order; with a continuous y the
        slope of y on the column (on the indicator of the level).
    threshold : float, default=0
        The tipping point is the shift at which the estimate crosses this value.
    n_draws : int, default=20
        Draws of an imputer that draws; 1 takes its single fill.
    confidence : float, default=0.95
        The level of the pooled interval.
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
    check_whole("n_draws", n_draws)
    check_share("confidence", confidence)
    table, origin = _encoded(X, {**_kinds_of(imputer), **kinds})
    j = _column_number(column, table)
    fitted, about = prepare(imputer, table, random_state), origin.schema.fields[j]
    set_off_grid(fitted)
    known = _read_y(y, table.n_rows, fitted)
    labels, wanted = _labels(known), _class_number(within, known)
    code = find_level(about.levels, about.name, level) if table.is_categorical[j] else None
    shift, steps = make_shift(table, j, code), _steps(deltas, table.columns[j].kind)
    figure = usual_estimate(j, code, known, about)
    if estimate is not None:
        figure = own_estimate(estimate, origin, y)
    holes = table.missing[:, j] & (True if wanted is None else labels == wanted)
    tables = fill_several_times(fitted, table, _given(known), n_draws)
    usual = observed_shares(table, labels, j)
    filled = _filled_columns(tables, fitted, j, holes, usual[labels])
    rows = [_row(shift, filled, delta, figure, confidence) for delta in steps]
    if classifier is not None and known.meaning is Meaning.CLASSES:
        fills = fold_fills(table, labels, imputer, n_splits, random_state)
        folds = _filled_folds(fills, j, holes, labels, usual, wanted is None)
        for place, delta in enumerate(steps):
            moved = [_shifted(fold, shift, delta) for fold in folds]
            accuracy = classify(moved, table.columns, labels, classifier).accuracy
            rows[place] = *rows[place][:-1], accuracy
    found = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Float64), orient="row")
    return Sensitivity(
        column=about.name,
        level=None if code is None else str(about.levels[code]),
        within=None if wanted is None else str(known.classes[wanted]),
        target=figure.what,
        threshold=float(threshold),
        n_imputed=int(holes.sum()),
        n_rows=table.n_rows,
        n_draws=len(tables),
        confidence=confidence,
        table=found,
        tipping_point=tipping_point(found["delta"], found["estimate"], threshold),
        interval_tipping_point=interval_tipping_point(found, threshold),
        notes=tuple(_notes(fitted, len(tables), known)),
    )


def _encoded(X: Any, kinds: dict[str, Any]) -> tuple[Table, frames.Origin]:
    """A table off its grids: shifted cells lie between the values of a column."""
    table, origin = frames.encode(X, **kinds)
    return table, replace(origin, schema=origin.schema.limited(to_grid=False, bounds={}))


def _kinds_of(imputer: Any) -> dict[str, Any]:
    """What an imputer of ours has as the kinds of the columns."""
    if not isinstance(imputer, BaseImputer):
        return {}
    names = ("categorical_features", "ordinal_features", "missing_values")
    return {name: getattr(imputer, name) for name in names}


def _read_y(y: Any, n_rows: int, imputer: Any) -> Target:
    """What y is, as the imputer reads it."""
    if y is None:
        return Target(np.full(n_rows, -1, dtype=np.intp), (), Meaning.NONE)
    known = read_target(y, needs_classes=get_tags(imputer).target_tags.required)
    if len(known.codes) != n_rows:
        raise InvalidDataError(f"X has {n_rows} rows, y has {len(known.codes)}")
    return known


def _labels(known: Target) -> Ints:
    """Class codes; no class at all where y is no class."""
    is_class = known.meaning is Meaning.CLASSES
    return known.codes if is_class else np.full_like(known.codes, -1)


def _given(known: Target) -> Any:
    """What the imputer gets as y."""
    if known.meaning is Meaning.NONE:
        return None
    return known.response if known.meaning is Meaning.RESPONSE else labels_of(known.codes)


def _notes(imputer: Any, n_draws: int, known: Target) -> Iterable[str]:
    name = type(imputer).__name__
    if n_draws == 1:
        yield (
            f"{name} filled the table once: this is a point estimate. Where its interval tips is "
            "not known; GreyImputer and MICEImputer draw, and tell."
        )
    elif known.meaning is not Meaning.NONE and getattr(imputer, "labels", "none") == "none":
        yield f"{name} drew without a look at y, which weakens what the fills tell about it."


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


def _class_number(within: Any, known: Target) -> int | None:
    """The code of the class whose rows are shifted; None for all rows."""
    if within is None:
        return None
    if known.meaning is Meaning.RESPONSE:
        raise InvalidParameterError(
            "y is continuous and has no class to shift within: leave within out, or bin y"
        )
    named = [str(label) for label in known.classes]
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


def _filled_columns(
    tables: list[Floats], imputer: Any, j: int, holes: Bools, usual: Floats
) -> list[FilledColumn]:
    """The column in each draw, or in the one filled table, with the scores of its levels."""
    if usual.shape[1] == 0:
        return [FilledColumn(values, holes, usual) for values in tables]
    if len(tables) > 1:
        cells = np.stack([values[holes, j] for values in tables])
        scores = draw_scores(cells, usual[holes], np.random.default_rng(0))
    else:
        trust, donors = votes_of(imputer, len(holes), j)
        scores = vote_scores(tables[0][holes, j], trust[holes], donors, usual[holes])[np.newaxis]
    return [FilledColumn(values, holes, own) for values, own in zip(tables, scores, strict=True)]


def _row(
    shift: Shift, filled: list[FilledColumn], delta: float, figure: Estimate, confidence: float
) -> tuple[float | None, ...]:
    """δ, its amount, mean of the moved cells, estimate and its limits, and no accuracy yet."""
    moved = [shift.apply(one, delta) for one in filled]
    cells = np.concatenate([values[filled[0].holes, shift.column] for values in moved])
    imputed = float(np.mean(cells if shift.level is None else cells == shift.level))
    return delta, shift.amount(delta), imputed, *figure.pooled(moved, confidence), None


def _filled_folds(
    fills: Iterable[FoldFill], j: int, holes: Bools, labels: Ints, usual: Floats, everywhere: bool
) -> list[FilledFold]:
    """The test rows of each fold, and both sides filled: labeled training rows, and those rows."""
    folds = []
    for is_test, fitted, train, test in fills:
        known, lacking = labels[~is_test] >= 0, holes[is_test] & everywhere
        trust, donors = votes_of(fitted, len(train), j)
        sides = (
            (train[known], holes[~is_test][known], labels[~is_test][known], trust[known], donors),
            (test, lacking, np.full(len(test), -1), np.ones(len(test)), 1),
        )
        columns = []
        for values, at, classes, sure, n in sides:
            scores = usual[classes[at]]
            if usual.shape[1]:
                scores = vote_scores(values[at, j], sure[at], n, scores)
            columns.append(FilledColumn(values, at, scores))
        folds.append((is_test, sides[0][2], columns[0], columns[1]))
    return folds


def _shifted(fold: FilledFold, shift: Shift, delta: float) -> Fold:
    is_test, labels, train, test = fold
    return Fold(shift.apply(train, delta), labels, shift.apply(test, delta), is_test)


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
