"""Elementary methods for counts, semicontinuous numbers, leaves, and no noise; names of all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import poisson

from greyfill._chained import draws
from greyfill._chained.forest import Forest, Tree
from greyfill._chained.regressions import Line, Standard
from greyfill.exceptions import InvalidParameterError
from greyfill.table import FAR, Column, Floats, Ints, Kind, SymmetricScaler, Table, indicators


class Likeliest(draws.Multinomial):
    """The level of the largest probability, whatever the noise."""

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """The likeliest level of each row."""
        chances = np.diff(self.cumulative(x), axis=1, prepend=0.0, append=1.0)
        return np.asarray(self.levels[chances.argmax(axis=1)])


def fit_likeliest(x: Floats, y: Floats, rng: np.random.Generator) -> draws.Model:
    """The likeliest level by a multinomial logistic regression."""
    model = draws.fit_polyreg(x, y, rng)
    return Likeliest(model.levels, model.lines) if isinstance(model, draws.Multinomial) else model


@dataclass(frozen=True, eq=False)
class TwoPart:
    """0 or another number, and then which: for semicontinuous columns, such as expenses."""

    is_other: draws.Binary
    other: draws.Normal

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of both parts."""
        return self.is_other.line, self.other.line

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """0 where the noise lies below its probability, else a draw by what is left of it."""
        p = self.is_other.cumulative(x)[:, 0]
        rest = np.clip((noise - p) / np.maximum(1.0 - p, 1e-16), 0.0, 1.0)
        return np.where(noise < p, 0.0, self.other.draw(x, rest))


def fit_two_part(x: Floats, y: Floats, rng: np.random.Generator) -> draws.Model:
    """A logistic regression of y ≠ 0 and a normal one of those numbers (Raghunathan 2001)."""
    some = y != 0.0
    model = draws.fit_logreg(x, some.astype(np.float64), rng)
    if not isinstance(model, draws.Binary) or some.sum() < 2:
        return draws.fit_norm(x, y, rng)
    varying = np.ptp(x[some], axis=0) > 0.0
    other = draws.fit_norm(np.ascontiguousarray(x[np.ix_(some, varying)]), y[some], rng)
    assert isinstance(other, draws.Normal)
    slope = np.zeros(x.shape[1])
    slope[varying] = other.line.slope
    return TwoPart(model, replace(other, line=Line(other.line.offset, slope)))


@dataclass(frozen=True, eq=False)
class Count:
    """A Poisson number of rate exp(line), at most ``most``."""

    line: Line
    most: float

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """A count for each row."""
        top = np.log(max(self.most, 1.0))
        rates = np.exp(np.clip(self.line.predict(x), -30.0, top))
        return np.asarray(np.minimum(poisson.ppf(noise, rates), self.most))


MOST_BEYOND_COUNTS = 10.0
"""Drawn counts lie below so many times the largest observed one: rates are exponential."""


def fit_poisson(x: Floats, y: Floats, rng: np.random.Generator) -> draws.Model:
    """Poisson regression with a draw of its coefficients: β* ~ N(β̂, (X'WX)⁻¹), W = diag(rates)."""
    from sklearn.linear_model import PoissonRegressor

    standard = Standard.learn(x)
    z = np.column_stack([np.ones(len(x)), standard.apply(x)])
    found = PoissonRegressor(alpha=1e-4, max_iter=200).fit(z[:, 1:], y) if x.shape[1] else None
    beta = np.append(np.log(max(float(y.mean()), 1e-9)), np.zeros(x.shape[1]))
    if found is not None and y.any():
        beta = np.append(found.intercept_, found.coef_)
    rates = np.exp(np.clip(z @ beta, -30.0, 30.0))
    information = z.T @ (z * rates[:, np.newaxis]) + 1e-6 * np.eye(z.shape[1])
    noise = rng.standard_normal(z.shape[1])
    drawn = beta + solve_triangular(np.linalg.cholesky(information), noise, lower=True, trans="T")
    most = MOST_BEYOND_COUNTS * float(y.max())
    return Count(standard.line(float(drawn[0]), drawn[1:]), most)


def check_counts(table: Table, j: int) -> None:
    """Refuse a Poisson regression of what counts nothing."""
    observed = table.values[~table.missing[:, j], j]
    if len(observed) and (observed.min() < 0.0 or (observed != np.rint(observed)).any()):
        raise InvalidParameterError(
            f"method 'poisson' does not fit {table.columns[j].name!r}, which holds other numbers "
            "than counts 0, 1, 2, …; choose 'norm', 'two-part' or 'pmm'"
        )


@dataclass(frozen=True, eq=False)
class LeafDonors:
    """An observed value of the leaf of a tree that a row falls into; the tree tells its number."""

    tree: Forest
    starts: Ints
    donors: Floats

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """The value of one donor for each row."""
        leaf = self.tree.predict(np.clip(x, -FAR, FAR).astype(np.float32)).astype(np.intp)
        counts = np.diff(self.starts)
        return np.asarray(self.donors[self.starts[leaf] + draws.pick(noise, counts[leaf])])


FEWEST_IN_LEAF, LEAST_GAIN = 5, 1e-4
"""Rows of a leaf, and the share of the deviance that a split must save, as in R's ``cart``."""


def fit_cart(x: Floats, y: Floats, rng: np.random.Generator) -> draws.Model:
    """A value of the leaf of a regression tree (R's ``cart``; Doove et al. 2014)."""
    return _leaf_donors(x, SymmetricScaler.unlimited(y).scale(y)[:, np.newaxis], y)


def fit_category_cart(x: Floats, y: Floats, rng: np.random.Generator) -> draws.Model:
    """A value of the leaf of a classification tree."""
    return _leaf_donors(x, indicators(y, np.unique(y)), y)


def _leaf_donors(x: Floats, target: Floats, y: Floats) -> draws.Model:
    """Donors by leaf of a tree on the target, whose mean square error is Gini's of indicators."""
    from sklearn.tree import DecisionTreeRegressor

    least = LEAST_GAIN * float(target.var(axis=0).sum())
    if x.shape[1] == 0 or least == 0.0:
        return draws.Sample(y)
    grown = DecisionTreeRegressor(
        min_samples_leaf=FEWEST_IN_LEAF, min_impurity_decrease=least / target.shape[1],
        random_state=0,
    )  # fmt: skip
    tree = grown.fit(x, target).tree_
    leaf = tree.apply(np.asarray(x, dtype=np.float32))
    leaves, place = np.unique(leaf, return_inverse=True)
    numbers = np.zeros(tree.node_count)
    numbers[leaves] = np.arange(len(leaves))
    order = np.argsort(place, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(place))).astype(np.intp)
    return LeafDonors(Forest.flatten([Tree.of(tree, numbers)]), starts, y[order])


Fit = Callable[[Floats, Floats, np.random.Generator], draws.Model]

MAX_LEVELS = 50
"""A column with more categories is matched instead of modeled."""

FOR_NUMBERS: dict[str, Fit] = {
    "pmm": draws.fit_pmm,
    "norm": draws.fit_norm,
    "norm.nob": draws.fit_norm_nob,
    "norm.predict": draws.fit_norm_predict,
    "cart": fit_cart,
    "poisson": fit_poisson,
    "two-part": fit_two_part,
    "sample": draws.fit_sample,
    "mean": draws.fit_mean,
}
FOR_ORDINALS: dict[str, Fit] = {
    **FOR_NUMBERS,
    "logreg": draws.fit_logreg,
    "polyreg": draws.fit_polyreg,
    "polr": draws.fit_polr,
    "polyreg.predict": fit_likeliest,
}
FOR_CATEGORIES: dict[str, Fit] = {
    "pmm": draws.fit_category_pmm,
    "logreg": draws.fit_logreg,
    "polyreg": draws.fit_polyreg,
    "polyreg.predict": fit_likeliest,
    "cart": fit_category_cart,
    "sample": draws.fit_sample,
    "mean": draws.fit_mode,
}
BY_KIND = {Kind.NUMERIC: FOR_NUMBERS, Kind.ORDINAL: FOR_ORDINALS, Kind.CATEGORICAL: FOR_CATEGORIES}


def default_method(column: Column) -> str:
    """As in R's mice: logreg for two levels, polyreg, or polr for ordered levels; numbers "auto".

    >>> [default_method(Column("sex", Kind.CATEGORICAL, n)) for n in (2, 3)]
    ['logreg', 'polyreg']
    """
    if column.kind is Kind.NUMERIC:
        return "auto"
    if column.n_levels > MAX_LEVELS:
        return "pmm"
    if column.n_levels <= 2:
        return "logreg"
    return "polr" if column.kind is Kind.ORDINAL else "polyreg"


def method_of(column: Column, chosen: Mapping[str, str]) -> str:
    """The name of the method of a column: the chosen one if it fits, or the default."""
    name = chosen.get(column.name)
    if name is None or (name == "auto" and column.kind is Kind.NUMERIC):
        return default_method(column)
    allowed = BY_KIND[column.kind]
    if name not in allowed or (name == "logreg" and column.n_levels > 2):
        levels = f" of {column.n_levels} levels" if column.n_levels else ""
        known = [other for other in allowed if other != "logreg" or column.n_levels <= 2]
        raise InvalidParameterError(
            f"method {name!r} does not fit {column.name!r}, a {column.kind.value} column{levels}; "
            f"choose one of {known}"
        )
    return name
