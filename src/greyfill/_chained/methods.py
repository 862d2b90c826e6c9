"""The names of the elementary methods, and which fits which column."""

from collections.abc import Callable, Mapping

import numpy as np

from greyfill._chained.draws import (
    Model,
    fit_category_pmm,
    fit_logreg,
    fit_mean,
    fit_mode,
    fit_norm,
    fit_norm_nob,
    fit_norm_predict,
    fit_pmm,
    fit_polr,
    fit_polyreg,
    fit_sample,
)
from greyfill._chained.special_draws import (
    fit_cart,
    fit_category_cart,
    fit_likeliest,
    fit_poisson,
    fit_two_part,
)
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Floats, Kind

Fit = Callable[[Floats, Floats, np.random.Generator], Model]

MAX_LEVELS = 50
"""A column with more categories is matched instead of modeled."""

FOR_NUMBERS: dict[str, Fit] = {
    "pmm": fit_pmm,
    "norm": fit_norm,
    "norm.nob": fit_norm_nob,
    "norm.predict": fit_norm_predict,
    "cart": fit_cart,
    "poisson": fit_poisson,
    "two-part": fit_two_part,
    "sample": fit_sample,
    "mean": fit_mean,
}
FOR_ORDINALS: dict[str, Fit] = {
    **FOR_NUMBERS,
    "logreg": fit_logreg,
    "polyreg": fit_polyreg,
    "polr": fit_polr,
    "polyreg.predict": fit_likeliest,
}
FOR_CATEGORIES: dict[str, Fit] = {
    "pmm": fit_category_pmm,
    "logreg": fit_logreg,
    "polyreg": fit_polyreg,
    "polyreg.predict": fit_likeliest,
    "cart": fit_category_cart,
    "sample": fit_sample,
    "mean": fit_mode,
}
BY_KIND = {
    Kind.NUMERIC: FOR_NUMBERS,
    Kind.ORDINAL: FOR_ORDINALS,
    Kind.CATEGORICAL: FOR_CATEGORIES,
}


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
