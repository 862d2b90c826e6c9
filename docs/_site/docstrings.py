"""Docstrings as pages show them."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*?(?=\n[ \t]*\n|\Z)", re.DOTALL | re.MULTILINE)


class FencedExamples(Extension):
    """Fence examples that stand outside a section ``Examples``; Markdown would quote them."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of one object before it is parsed."""
        if obj.docstring and "\nExamples\n---" not in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found.group()}\n```", obj.docstring.value
            )
