"""Docstrings and signatures as pages show them."""

import inspect
import re
from importlib import import_module
from typing import Any

from griffe import Alias, Class, Extension, Function, Object, Parameter, ParameterKind, Parameters

EXAMPLE = re.compile(r"^>>> .*?(?=\n[ \t]*\n|\Z)", re.DOTALL | re.MULTILINE)


class FencedExamples(Extension):
    """Fence examples that stand outside a section ``Examples``; Markdown would quote them."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of one object before it is parsed."""
        if obj.docstring and "\nExamples\n---" not in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found.group()}\n```", obj.docstring.value
            )


class LateNames(Extension):
    """Find names that are imported for the checker of types alone, and else when first used."""

    def on_alias_instance(self, *, alias: Alias, **_: Any) -> None:
        """Let ``import *`` pass such a name on."""
        alias.runtime = True


class MadeParameters(Extension):
    """Show the parameters and the whole help that an estimator is given when it is declared."""

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Add what reading the source alone cannot tell."""
        if cls.docstring and ".imputers." in cls.path:
            kind = getattr(import_module(cls.module.path), cls.name)
            if hasattr(kind.__init__, "__signature__"):
                cls.docstring.value = inspect.getdoc(kind)
                made = inspect.signature(kind.__init__).parameters.values()
                cls.set_member("__init__", Function("__init__", parameters=_shown(made)))


def _shown(parameters: Any) -> Parameters:
    """Parameters of a signature, with types and defaults as they are written."""

    def shown(p: inspect.Parameter) -> Parameter:
        return Parameter(
            p.name,
            kind=getattr(ParameterKind, p.kind.name.lower()),
            annotation=None if p.annotation is p.empty else inspect.formatannotation(p.annotation),
            default=None if p.default is p.empty else repr(p.default),
        )

    return Parameters(*map(shown, parameters))
