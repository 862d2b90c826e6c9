"""The elementary methods by name: which fits which column, and which is the default."""

from collections.abc import Callable, Mapping

import numpy as np

from greyfill._chained.categories import fit_logreg, fit_mode, fit_polr, fit_polyreg
from greyfill._chained.numbers import (
    Model,
    fit_category_pmm,
    fit_mean,
    fit_norm,
    fit_pmm,
    fit_sample,
)
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Floats, Kind

Fit = Callable[[Floats, Floats, np.random.Generator], Model]

MAX_LEVELS = 50
"""A column with more categories is matched instead of modeled."""

FOR_NUMBERS: dict[str, Fit] = {
    "pmm": fit_pmm,
    "norm": fit_norm,
    "sample": fit_sample,
    "mean": fit_mean,
}
FOR_ORDINALS: dict[str, Fit] = {
    **FOR_NUMBERS,
    "logreg": fit_logreg,
    "polyreg": fit_polyreg,
    "polr": fit_polr,
}
FOR_CATEGORIES: dict[str, Fit] = {
    "pmm": fit_category_pmm,
    "logreg": fit_logreg,
    "polyreg": fit_polyreg,
    "sample": fit_sample,
    "mean": fit_mode,
}
BY_KIND = {
    Kind.NUMERIC: FOR_NUMBERS,
    Kind.ORDINAL: FOR_ORDINALS,
    Kind.CATEGORICAL: FOR_CATEGORIES,
}


def default_method(column: Column) -> str:
    """As in R's mice: pmm, logreg for two levels, polyreg, or polr for ordered levels.

    >>> [default_method(Column("sex", Kind.CATEGORICAL, n)) for n in (2, 3)]
    ['logreg', 'polyreg']
    """
    if column.kind is Kind.NUMERIC or column.n_levels > MAX_LEVELS:
        return "pmm"
    if column.n_levels <= 2:
        return "logreg"
    return "polr" if column.kind is Kind.ORDINAL else "polyreg"


def method_of(column: Column, chosen: Mapping[str, str]) -> str:
    """The name of the method of a column: the chosen one if it fits, or the default."""
    name = chosen.get(column.name)
    if name is None:
        return default_method(column)
    allowed = BY_KIND[column.kind]
    if name not in allowed or (name == "logreg" and column.n_levels > 2):
        what = f"a {column.kind.value} column" + (
            f" of {column.n_levels} levels" if column.n_levels else ""
        )
        known = [other for other in allowed if other != "logreg" or column.n_levels <= 2]
        raise InvalidParameterError(
            f"method {name!r} does not fit {column.name!r}, {what}; choose one of {known}"
        )
    return name


def settle(column: Column, values: Floats) -> Floats:
    """Values that the column can hold: ordinal ranks are rounded to a level."""
    if column.kind is not Kind.ORDINAL:
        return values
    return np.clip(np.rint(values), 0.0, max(column.n_levels - 1, 0))
