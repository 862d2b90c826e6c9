"""Run any imputer on a Table, through the public face that users call.

The table goes in as one float array: numbers, codes of levels, NaN in the holes. So each
comparison encodes its frame once, and a transformer of scikit-learn can take part as it is.
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from greyfill.evaluation.methods import make
from greyfill.exceptions import InvalidDataError
from greyfill.imputers.base import BaseImputer
from greyfill.table import Floats, Ints, Kind, Table


def prepare(method: Any, table: Table, random_state: int | None = None) -> Any:
    """A fresh imputer that knows the kinds of the columns, keeps them all, and has the seed.

    Parameters
    ----------
    method
        A name of ``METHODS`` or a transformer, which is cloned. Imputers of greyfill are told the
        kinds of the columns, whatever they were told before.
    table
        The table that it will see.
    random_state
        Given to each part that has a parameter of this name; None leaves all as they are.
    """
    imputer = make(method) if isinstance(method, str) else clone(method)
    parameters = imputer.get_params(deep=True)
    own = {f"{key}__" for key, part in parameters.items() if isinstance(part, BaseImputer)}
    own |= {""} if isinstance(imputer, BaseImputer) else set()
    wanted = {f"{prefix}{key}": v for prefix in own for key, v in _kinds(table).items()}
    for key in parameters:
        name = key.rsplit("__", 1)[-1]
        if name == "keep_empty_features":
            wanted[key] = True
        if name == "random_state" and random_state is not None:
            wanted[key] = random_state
    return imputer.set_params(**wanted)


def fit_fill(imputer: Any, table: Table, labels: Ints | None) -> Floats:
    """Fit a prepared imputer on labeled rows and return these rows filled, with their labels' help.

    ``labels`` are class codes, −1 for a row without a label. Columns beyond those of the table,
    such as indicators, are kept at the end.

    >>> from greyfill.table import Column
    >>> holes = np.array([[False], [True], [False]])
    >>> table = Table(np.array([[1.0], [0.0], [3.0]]), holes, (Column("a", Kind.NUMERIC),))
    >>> fit_fill(prepare("mean", table), table, None).ravel()
    array([1., 2., 3.])
    """
    y = None if labels is None else np.where(labels < 0, np.nan, labels)
    return _checked(imputer.fit_transform(_cells(table), y), table, imputer)


def fill(imputer: Any, table: Table) -> Floats:
    """Fill new rows by a fitted imputer, which sees no labels."""
    return _checked(imputer.transform(_cells(table)), table, imputer)


def _kinds(table: Table) -> dict[str, Any]:
    orders = {
        j: tuple(range(column.n_levels))
        for j, column in enumerate(table.columns)
        if column.kind is Kind.ORDINAL
    }
    is_categorical = table.is_categorical
    return {
        "categorical_features": is_categorical.tolist() if is_categorical.any() else "auto",
        "ordinal_features": orders or None,
        "missing_values": None,
    }


def _cells(table: Table) -> Floats:
    return np.where(table.missing, np.nan, table.values)


def _checked(output: Any, table: Table, imputer: Any) -> Floats:
    """The filled table; fills of categories are rounded to a level."""
    filled = np.array(output, dtype=np.float64)
    name, p = type(imputer).__name__, table.n_columns
    if filled.ndim != 2 or len(filled) != table.n_rows or filled.shape[1] < p:
        raise InvalidDataError(
            f"{name} made {filled.shape} of a table of {table.values.shape}; it must keep all cells"
        )
    if not np.allclose(filled[:, :p][~table.missing], table.values[~table.missing], rtol=1e-5):
        raise InvalidDataError(
            f"{name} changed observed cells; a method may only fill holes. "
            "Wrap one that needs scaled numbers in EncodedImputer."
        )
    most = np.array([c.n_levels - 1 if c.n_levels else np.inf for c in table.columns])
    levels = np.clip(np.rint(filled[:, :p]), 0, most)
    fills = np.where(np.isfinite(most), levels, filled[:, :p])
    filled[:, :p] = np.where(table.missing, fills, table.values)
    return filled
