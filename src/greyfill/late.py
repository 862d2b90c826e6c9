"""What is loaded late: public names on their first use, and functions of upper rooms.

A package that lists the ``homes`` of its names is quick to import, and a name costs only what it
needs. Some methods of lower rooms do the work of upper ones, such as ``imputer.report_``: their
rooms may not import these. So `greyfill` itself, which stands above all rooms, registers the
function here, and the method calls it by name.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_UPPER: dict[str, Callable[..., Any]] = {}


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


def register(name: str, function: Callable[..., Any]) -> None:
    """Let lower rooms call a function of an upper one by this name."""
    _UPPER[name] = function


def call(name: str, *given: Any) -> Any:
    """What the registered function of an upper room returns."""
    return _UPPER[name](*given)
