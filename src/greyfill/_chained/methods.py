"""The names of the elementary methods, and which fits which column."""

from collections.abc import Callable, Mapping

import numpy as np

from greyfill._chained import draws, special_draws
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Floats, Kind

Fit = Callable[[Floats, Floats, np.random.Generator], draws.Model]

MAX_LEVELS = 50
"""A column with more categories is matched instead of modeled."""

FOR_NUMBERS: dict[str, Fit] = {
    "pmm": draws.fit_pmm,
    "norm": draws.fit_norm,
    "norm.nob": draws.fit_norm_nob,
    "norm.predict": draws.fit_norm_predict,
    "cart": special_draws.fit_cart,
    "poisson": special_draws.fit_poisson,
    "two-part": special_draws.fit_two_part,
    "sample": draws.fit_sample,
    "mean": draws.fit_mean,
}
FOR_ORDINALS: dict[str, Fit] = {
    **FOR_NUMBERS,
    "logreg": draws.fit_logreg,
    "polyreg": draws.fit_polyreg,
    "polr": draws.fit_polr,
    "polyreg.predict": special_draws.fit_likeliest,
}
FOR_CATEGORIES: dict[str, Fit] = {
    "pmm": draws.fit_category_pmm,
    "logreg": draws.fit_logreg,
    "polyreg": draws.fit_polyreg,
    "polyreg.predict": special_draws.fit_likeliest,
    "cart": special_draws.fit_category_cart,
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
