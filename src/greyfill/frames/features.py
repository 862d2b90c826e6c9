"""Which columns the user called categorical or ordinal."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from greyfill.exceptions import InvalidParameterError

Names = tuple[str, ...]


def categorical_positions(categorical_features: Any, names: Names) -> frozenset[int]:
    """The positions of the columns that are categorical whatever their dtype says.

    >>> sorted(categorical_positions(["sex", 0], ("age", "sex", "pay")))
    [0, 1]
    """
    if categorical_features is None or _is_auto(categorical_features):
        return frozenset()
    if isinstance(categorical_features, str) or not isinstance(categorical_features, Iterable):
        raise InvalidParameterError(
            "categorical_features must be 'auto' or a list of columns, "
            f"got {categorical_features!r}."
        )
    return frozenset(_positions(list(categorical_features), names, "categorical_features"))


def ordinal_orders(ordinal_features: Any, names: Names) -> dict[int, tuple[Any, ...] | None]:
    """The positions of the ordinal columns, each with its levels in order if they were given.

    >>> ordinal_orders({"size": ["S", "M", "L"]}, ("size", "pay"))
    {0: ('S', 'M', 'L')}
    """
    if ordinal_features is None:
        return {}
    if isinstance(ordinal_features, str) or not isinstance(ordinal_features, Iterable):
        raise InvalidParameterError(
            f"ordinal_features must be a list or a dict of columns, got {ordinal_features!r}."
        )
    positions = _positions(list(ordinal_features), names, "ordinal_features")
    if not isinstance(ordinal_features, Mapping):
        return dict.fromkeys(positions)
    orders = [_levels(column, levels) for column, levels in ordinal_features.items()]
    return dict(zip(positions, orders, strict=True))


def _levels(column: Any, levels: Any) -> tuple[Any, ...]:
    """The levels of one ordinal column, lowest first."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise InvalidParameterError(
            f"ordinal_features gives {levels!r} as the levels of column {column!r}. List them, "
            "lowest first; or pass a list of columns, whose levels are then taken as sorted."
        )
    return tuple(levels)


def _is_auto(categorical_features: Any) -> bool:
    return isinstance(categorical_features, str) and categorical_features == "auto"


def _positions(selection: list[Any], names: Names, parameter: str) -> list[int]:
    if selection and all(isinstance(item, bool | np.bool_) for item in selection):
        return _from_mask(selection, names, parameter)
    places = {name: position for position, name in enumerate(names)}
    found = [_position(item, places) for item in selection]
    unknown = [item for item, position in zip(selection, found, strict=True) if position is None]
    if unknown:
        raise InvalidParameterError(
            f"{parameter} names columns that are not in the table: {_listed(unknown)}. "
            f"Its {len(names)} columns are {_listed(names)}."
        )
    return [position for position in found if position is not None]


def _from_mask(mask: list[Any], names: Names, parameter: str) -> list[int]:
    if len(mask) != len(names):
        raise InvalidParameterError(
            f"{parameter} is a mask of {len(mask)} columns, but the table has {len(names)}."
        )
    return [position for position, chosen in enumerate(mask) if chosen]


def _position(item: Any, places: dict[str, int]) -> int | None:
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        n_columns = len(places)
        return int(item) % n_columns if -n_columns <= item < n_columns else None
    return places.get(str(item))


def _listed(items: Any, most: int = 10) -> str:
    shown = [repr(item) for item in items]
    return ", ".join(shown[:most] + ["…"] * (len(shown) > most))
