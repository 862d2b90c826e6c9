"""What must hold between the parts of a saved imputer, so that no kernel can leave its arrays.

``tags.conform`` has seen to types and finite numbers before. A rule is a function of one record,
whose own parts have passed theirs: lengths agree, codes lie below their number of levels, indices
in their range, offsets rise, and children stand after their parent. Work that a file may ask for
is bounded, too. Saving runs the same rules: what is written can be read.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from greyfill._grey.candidates import ALL_DONORS, KERNELS, KS, RELEVANCES, Candidate
from greyfill._grey.discriminant import WIDEST, Discriminant
from greyfill._grey.donor_table import FORMS, ColumnFeatures, DonorTable
from greyfill._grey.grey_engine import FittedGrey
from greyfill._grey.selection import PANEL, PanelChoice
from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.new_rows import UNLABELED_RULES, FittedRecipe
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Descent, Direct, UntilStable
from greyfill._neighbors.weighting import ClassInformation, PairInformation
from greyfill.checks import check_seed
from greyfill.exceptions import PersistenceError
from greyfill.frames.columns import null_cells
from greyfill.frames.encoder import CATEGORICAL_FAMILIES
from greyfill.frames.grid import Grid
from greyfill.frames.schema import COUNTABLE, Family, Field, Schema
from greyfill.frames.validation import check_bounds
from greyfill.table import Column, Floats, Ints, Kind, RangeScaler

MOST_PASSES, MOST_TREES, MOST_PERMUTATIONS = 10_000, 10_000, 1_000
MOST_THREADS, MOST_LEVELS = 1_024, 10**7
"""More of them than anybody uses: a file must not keep a machine busy for ever."""

SMALLEST, LARGEST = 1e-100, 1e250
"""Divisors below, and coefficients beyond, could overflow in a sum."""

ROUNDING = 1e-6
"""How far averages on the [0, 1] scale may lie outside of it, or shares from a sum of 1."""


def require(holds: Any, what: str) -> None:
    """Refuse a file in which something does not hold."""
    if not holds:
        raise PersistenceError(what)


def check_rows(rows: Ints, n: int, what: str) -> None:
    """Row or column numbers below n, one array of them."""
    require(rows.ndim == 1, f"{what} are no list")
    require(len(rows) == 0 or (rows.min() >= 0 and rows.max() < n), f"{what} lie outside")


def check_rising(rows: Ints, n: int, what: str) -> None:
    """Row or column numbers below n, each once and in order."""
    check_rows(rows, n, what)
    require((np.diff(rows) > 0).all(), f"{what} do not rise")


def check_order(order: Ints, n: int) -> None:
    """Every row number below n once."""
    require(order.shape == (n,) and (np.sort(order) == np.arange(n)).all(), "rows are out of order")


def check_codes(codes: Floats, n_levels: int, what: str) -> None:
    """Codes of levels that exist."""
    whole = (codes == np.rint(codes)) & (codes >= 0) & (codes < max(n_levels, 1))
    require(whole.all(), f"{what} holds a code of no level")


def check_scaled(values: Floats, columns: tuple[Column, ...]) -> None:
    """Numbers on the [0, 1] scale, and codes of levels that exist."""
    for j, column in enumerate(columns):
        if column.kind is Kind.CATEGORICAL:
            check_codes(values[..., j], column.n_levels, f"column {column.name!r}")
        else:
            cells = values[..., j]
            inside = (cells >= -ROUNDING) & (cells <= 1.0 + ROUNDING)
            require(inside.all(), f"column {column.name!r} is not scaled")


def check_weights(weights: Floats, n: int) -> None:
    """Rows of shares of n columns that sum to 1."""
    require(weights.shape[-1:] == (n,) and (weights >= 0.0).all(), "weights do not fit the columns")
    sums = weights.sum(axis=-1)
    require(n == 0 or (np.abs(sums - 1.0) <= ROUNDING).all(), "weights do not sum to 1")


def check_spreads(spreads: tuple[Ints, Ints, Floats]) -> None:
    """Rows, columns and spreads of the same cells."""
    rows, columns, found = spreads
    require(rows.ndim == 1 and rows.shape == columns.shape == found.shape, "spreads do not fit")
    require((rows >= 0).all() and (columns >= 0).all(), "spreads of cells outside of the table")


def check_jobs(n_jobs: Any) -> None:
    """A number of threads that a machine may have."""
    fits = n_jobs is None or (n_jobs != 0 and abs(n_jobs) <= MOST_THREADS)
    require(fits, f"n_jobs is {n_jobs}")


@singledispatch
def check_record(record: Any) -> None:
    """Refuse a record that breaks the rule of its type; of some the declared types say all."""


@check_record.register
def _column(column: Column) -> None:
    n, is_number = column.n_levels, column.kind is Kind.NUMERIC
    require(0 <= n <= (0 if is_number else MOST_LEVELS), f"column {column.name!r} has {n} levels")


NUMBERS: tuple[type, ...] = (int, float, np.number)
TYPES: dict[Family, tuple[type, ...]] = {
    Family.TEXT: (str,),
    Family.BOOLEAN: (bool, np.bool_),
    Family.CATEGORY: (),
    Family.MIXED: (),
}
"""What the levels of a family must be, numbers by default; of two it may be anything."""

DAY = 86_400_000_000
MOMENTS = {
    Family.DATE: (-719_162 * DAY, 2_932_897 * DAY),  # the years 1 … 9999
    Family.DATETIME: (-719_162 * DAY, 2_932_897 * DAY),
    Family.TIME: (0, DAY),
    Family.DURATION: (-(2**63), 2**63),
}
"""The microseconds that libraries can turn into moments."""


def check_moments(field: Field, values: Any, tick: int = 1) -> None:
    """Moments that exist, in microseconds or so many ticks of one; other numbers may be any."""
    low, high = MOMENTS.get(field.family, (-np.inf, np.inf))
    inside = all(low * tick <= value <= high * tick for value in values)
    require(inside, f"column {field.name!r} holds a moment that does not exist")


check_record.register(Grid)(Grid.checked)


@check_record.register
def _field(field: Field) -> None:
    name = f"column {field.name!r}"
    numeric = field.kind is Kind.NUMERIC
    require(not numeric or field.family not in CATEGORICAL_FAMILIES, f"{name} counts no numbers")
    require(not (numeric and field.levels), f"{name} is a number with levels")
    require(not (field.family is Family.EMPTY and field.levels), f"{name} is empty and has levels")
    if field.extent is not None:
        require(field.meaning in COUNTABLE, f"{name} has a range")
        require(field.extent[0] <= field.extent[1], f"{name} has no range")
        check_moments(field, field.extent, tick=1000)
    if field.grid is not None:
        require(numeric and field.meaning in {*COUNTABLE, "anything"}, f"{name} has a grid")
    if field.bounds is not None:
        require(numeric and field.meaning in ("numbers", "anything"), f"{name} has bounds")
        check_bounds({field.name: field.bounds}, (field,))
    if field.zone is not None:
        require(field.family is Family.DATETIME, f"{name} has a time zone")
    levels, types = field.levels, TYPES.get(field.family, NUMBERS)
    fits = not types or all(isinstance(level, types) for level in levels)
    require(fits, f"{name} has levels of another type")
    is_hole = null_cells(np.fromiter(levels, dtype=object, count=len(levels)))
    require(not is_hole.any(), f"{name} lacks a level")
    require(len(field.codes) == len(levels), f"{name} has a level twice")
    if types is NUMBERS:
        check_moments(field, levels)


@check_record.register
def _schema(schema: Schema) -> None:
    require(schema.fields, "there is no column")


@check_record.register
def _passes(schedule: UntilStable | Direct | Descent) -> None:
    require(schedule.max_iter <= MOST_PASSES, f"max_iter is {schedule.max_iter}")


@check_record.register
def _information(weights: ClassInformation | PairInformation) -> None:
    require(0 <= weights.n_permutations <= MOST_PERMUTATIONS, "too many permutations")
    check_seed(weights.random_state)


check_record.register(Recipe)(Recipe.checked)


@check_record.register
def _range_scaler(scaler: RangeScaler) -> None:
    require(scaler.low.ndim == 1, "the scaler is no list")
    same = scaler.low.shape == scaler.high.shape == scaler.is_categorical.shape
    require(same and (scaler.low <= scaler.high).all(), "the scaler has no ranges")


@check_record.register
def _row_pool(pool: RowPool) -> None:
    require(pool.label >= -1, "a class is below −1")
    for rows in (pool.takers, pool.givers):
        check_rising(rows, np.iinfo(np.intp).max, "rows of a pool")


@check_record.register
def _fitted(fitted: FittedRecipe) -> None:
    n, p = fitted.donors.values.shape
    require(len(fitted.scaler.low) == p, "the scaler does not fit the donors")
    same = fitted.scaler.is_categorical == fitted.donors.is_categorical
    require(same.all(), "the scaler does not fit the donors")
    check_scaled(fitted.donors.values, fitted.donors.columns)
    require(fitted.centers.shape == (p,), "the centers do not fit the donors")
    check_scaled(fitted.centers, fitted.donors.columns)
    require(fitted.rows.shape == (n,), "rows do not fit the donors")
    check_rising(fitted.rows, np.iinfo(np.intp).max, "rows")
    check_rising(fitted.targets, p, "targets")
    n_weighted = len(fitted.targets) if fitted.recipe.weights.by_target else 1
    require(fitted.weights.shape == (n_weighted, p), "weights do not fit the donors")
    check_weights(fitted.weights, p)
    require(fitted.n_neighbors >= 1, "no neighbors")
    require(fitted.unlabeled in UNLABELED_RULES, f"unlabeled is {fitted.unlabeled!r}")
    check_spreads(fitted.spreads)
    _check_pools(fitted, n)


def _check_pools(fitted: FittedRecipe, n: int) -> None:
    """One pool, or one for each class; those that fell back hold everybody."""
    labels, pools, uses_labels = fitted.labels, fitted.pools, fitted.recipe.uses_labels
    least = 0 if uses_labels else -1  # rows without a label are donors where labels do not count
    fit = labels is None or (labels.shape == (n,) and (labels >= least).all())
    require(fit, "labels do not fit")
    require(labels is not None or not uses_labels, "labels are missing")
    require(pools, "there is no pool of donors")
    for pool in pools:
        check_rows(pool.givers, n, "donors of a pool")
        require(not pool.fallback or len(pool.givers) == n, "a class does not fall back to all")
    if len(pools) > 1 and n:  # a cluster keeps an imputer without its donors
        classes = [pool.label for pool in pools]
        require(labels is not None and set(classes) == set(labels.tolist()), "pools of no class")
        require(len(set(classes)) == len(classes), "two pools of one class")
        require(all(len(pool.givers) for pool in pools), "a class without donors")


@check_record.register
def _candidate(candidate: Candidate) -> None:
    known = candidate.k in (ALL_DONORS, *KS) and candidate.kernel in KERNELS
    known = known and candidate.form in FORMS and candidate.scope in ("split", "soft")
    require(known and candidate.relevance in RELEVANCES, "a candidate that does not exist")
    require(candidate.ridge > 0.0, f"a penalty of {candidate.ridge}")


@check_record.register
def _discriminant(how: Discriminant) -> None:
    require(how.form in FORMS, "features in a form that does not exist")
    require(how.lent > 0.0 and how.ridge > 0.0, "a covariance that may have no inverse")
    require(0.0 < how.temper <= 1.0 and 0.0 < how.weight <= 1.0, "probabilities of no share")


@check_record.register
def _choice(choice: PanelChoice) -> None:
    n = len(choice.predictors)
    require("equal" in choice.weights, "weights of predictors are missing")
    for relevance, weights in choice.weights.items():
        require(relevance in RELEVANCES and weights.shape == (n,), "weights do not fit")
        check_weights(weights, n)
    known = all(candidate.relevance in choice.weights for candidate in choice.panel)
    require(known and 1 <= len(choice.panel) <= PANEL, "the panel does not fit")
    require(0.0 <= choice.class_weight <= 1.0, "the weight of the class is no share")
    require(0.0 < choice.sharpness <= 10.0, "probabilities cannot be calibrated")
    require(choice.residuals.ndim == 1, "residuals are no list")


@check_record.register
def _column_features(features: ColumnFeatures) -> None:
    n = len(features.knots)
    require(SMALLEST <= features.spread <= 1.0, "features without a spread")
    require(np.abs(features.shift).max(initial=0.0) <= 1.0 + ROUNDING, "features off the scale")
    require(np.abs(features.knots).max(initial=0.0) <= 1.0 + ROUNDING, "knots off the scale")
    require(np.abs(features.scores).max(initial=0.0) <= 40.0, "no scores of a normal variable")
    require(features.knots.shape == features.scores.shape == (n,), "knots do not fit")
    require((np.diff(features.knots) > 0).all(), "knots do not rise")
    width = len(features.levels) if n == 0 else 1
    require(features.shift.shape == (width,), "features do not fit their levels")
    require(n == 0 or features.levels.shape == (0,), "a number with levels")
    require(features.levels.ndim == 1, "levels are no list")


@check_record.register
def _ground(ground: DonorTable) -> None:
    table = ground.table
    check_scaled(table.values, table.columns)
    require(table.n_rows > 0, "there is no donor")
    require(ground.labels.shape == (table.n_rows,), "labels do not fit the donors")
    check_rows(ground.labels, ground.n_classes, "labels")
    require(ground.n_classes <= table.n_rows, "more classes than donors")
    require(len(ground.feature_map.columns) == table.n_columns, "features do not fit the columns")
    for features, column in zip(ground.feature_map.columns, table.columns, strict=True):
        is_category = column.kind is Kind.CATEGORICAL
        require((len(features.knots) == 0) == is_category, "features of another kind")
        check_rows(features.levels, max(column.n_levels, 1), "levels of features")
    if ground.has_classes:
        last = table.columns[-1]
        require(last.kind is Kind.CATEGORICAL and last.n_levels == ground.n_classes, "no classes")
        occurring = np.unique(table.values[:, -1])
        require(len(occurring) == ground.n_classes, "a class without a donor")
        labels = table.values[:, -1] if ground.splits else 0
        require((ground.labels == labels).all(), "labels are not the last column")
        require(not table.missing[:, -1].any(), "labels are missing")


@check_record.register
def _tuned(tuned: FittedGrey) -> None:
    ground, p = tuned.donors, len(tuned.scaler.low)
    extra = ground.table.n_columns - p
    require(extra == 1 if ground.has_classes else extra in (0, 1), "the scaler does not fit")
    same = tuned.scaler.is_categorical == ground.table.is_categorical[:p]
    require(same.all(), "the scaler does not fit the donors")
    require(extra or not tuned.crosses, "rows are filled without a y that does not exist")
    require(tuned.rows.shape == (ground.table.n_rows,), "rows do not fit the donors")
    require((tuned.rows >= 0).all(), "rows do not exist")
    require(tuned.n_cells >= 10, f"n_cells is {tuned.n_cells}")
    check_jobs(tuned.n_jobs)
    check_seed(tuned.random_state)
    check_spreads(tuned.spreads)
    for target, choice in tuned.choices.items():
        require(0 <= target < ground.table.n_columns, "a column that does not exist is tuned")
        _check_choice(ground, target, choice)


def _check_choice(ground: DonorTable, target: int, choice: PanelChoice) -> None:
    """Whether a choice fits its column of the ground."""
    require(choice.target == target, "a column is tuned as another")
    n_columns = ground.table.n_columns - int(ground.splits)  # else the class is a predictor, too
    check_rising(choice.predictors, n_columns, "predictors")
    require(target not in choice.predictors, "a column predicts itself")
    predictor = choice.predictor(ground, None)
    fits = all(candidate.scope in predictor.scopes for candidate in choice.panel)
    require(fits, "a panel splits by classes that do not exist")
    if choice.discriminant is not None:
        require(ground.splits and target == ground.y_column, "a discriminant of no class")
        width = ground.feature_map.widths[choice.predictors].sum()
        require(0 < width <= WIDEST, "a discriminant of no features, or of too many")
