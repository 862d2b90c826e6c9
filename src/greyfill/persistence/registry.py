"""The only types that a saved file may name."""

import dataclasses
from enum import Enum
from types import ModuleType
from typing import Any

from greyfill import imputers, table
from greyfill._neighbors import (
    distance,
    donors,
    filling,
    recipe,
    scaling,
    schedule,
    serving,
    start,
    weighting,
)
from greyfill.frames import schema

MODULES: tuple[ModuleType, ...] = (
    table, schema, distance, donors, filling, recipe, scaling, schedule, serving, start, weighting,
)  # fmt: skip


def _defined_in(module: ModuleType) -> dict[str, type[Any]]:
    """The dataclasses and enumerations that a module defines itself."""
    return {
        name: item
        for name, item in vars(module).items()
        if isinstance(item, type)
        and item.__module__ == module.__name__
        and (dataclasses.is_dataclass(item) or issubclass(item, Enum))
    }


RECORDS: dict[str, type[Any]] = {
    name: item for module in MODULES for name, item in _defined_in(module).items()
}
"""Dataclasses and enumerations by name."""

IMPUTERS: dict[str, type[Any]] = {name: getattr(imputers, name) for name in imputers.__all__}
"""Imputers by name."""
