"""Public names that are loaded on their first use.

A package that lists the ``homes`` of its names is quick to import, and a name costs only what it
needs.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load_late(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that imports a name from its module on first use.

    >>> load_late("greyfill", {"pooling": ("pool",)})("pool").__name__
    'pool'
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        module = sys.modules[package]
        if name not in home_of:  # with the module Python adds "Did you mean …?"
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}", name=name, obj=module
            )
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(module, name, value)
        return value

    return get
