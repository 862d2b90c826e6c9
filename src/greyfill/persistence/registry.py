"""The only types that a saved file may name."""

import dataclasses
from enum import Enum
from importlib import import_module
from typing import Any

from greyfill import imputers

MODULES = (
    "table", "frames.schema",
    *(f"_neighbors.{name}" for name in (
        "distance", "donors", "filling", "recipe", "scaling", "schedule", "serving", "start",
        "weighting",
    )),
    *(f"_neighbors.tuned.{name}" for name in (
        "asking", "candidates", "choosing", "engine", "features", "ground",
    )),
    *(f"_chained.{name}" for name in (
        "augmenting", "categories", "chain", "design", "forest", "growing", "linear", "mice",
        "missforest", "numbers", "predictors", "scaling",
    )),
)  # fmt: skip
"""Modules whose dataclasses and enumerations a fitted imputer consists of."""


def _records(module_name: str) -> dict[str, type[Any]]:
    """The dataclasses and enumerations that a module defines itself, by module and name."""
    module = import_module(f"greyfill.{module_name}")
    return {
        f"{module_name}.{name}": item
        for name, item in vars(module).items()
        if isinstance(item, type)
        and item.__module__ == module.__name__
        and (dataclasses.is_dataclass(item) or issubclass(item, Enum))
    }


RECORDS: dict[str, type[Any]] = {
    name: item for module_name in MODULES for name, item in _records(module_name).items()
}
"""Dataclasses and enumerations by module and name."""

NAMES: dict[type[Any], str] = {item: name for name, item in RECORDS.items()}
"""Their names in a file."""

IMPUTERS: dict[str, type[Any]] = {name: getattr(imputers, name) for name in imputers.__all__}
"""Imputers by name."""
