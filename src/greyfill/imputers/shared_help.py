"""Help that several estimators share: written once with a base, and shown with each of them."""

import re
from collections.abc import Iterable
from functools import cache
from inspect import cleandoc, signature
from typing import Any

ENTRY = re.compile(r"^(\w+(?:, \w+)*) : .*(?:\n+ {4}.*)*", re.MULTILINE)
"""A name or several with their type, and the lines that explain them."""

SECTION = re.compile(r"\n\n(Parameters|Attributes|Examples)\n-+\n|\n\n(?=>>> )")
"""What opens a section; an example at the end needs no title."""


def full_help(kind: type[Any]) -> str:
    """The docstring of a class, with what its bases say of parameters and attributes of theirs.

    Parameters stand in the order of the signature, with the defaults of the class; attributes of
    the class before those of bases.

    >>> class Plain:
    ...     '''Fill.
    ...
    ...     Parameters
    ...     ----------
    ...     tol : float, default=0.1
    ...         What may still move.
    ...     '''
    >>> class Other(Plain):
    ...     '''Fill better.'''
    ...     def __init__(self, tol=0.5): ...
    >>> full_help(Other).splitlines()[-2:]
    ['tol : float, default=0.5', '    What may still move.']
    """
    helps = [_sections(base.__doc__ or "") for base in kind.__mro__[:-1]]
    explained = _entries(h.get("Parameters", "") for h in helps)
    parameters = [
        re.sub(r"\A(.+)default=\S+", rf"\1default={p.default!r}".replace("'", '"'), explained[name])
        for name, p in signature(kind).parameters.items()
        if name in explained
    ]
    attributes = _entries(h.get("Attributes", "") for h in helps).values()
    sections = {
        "": helps[0][""],
        "Parameters": "\n".join(dict.fromkeys(parameters)),
        "Attributes": "\n".join(dict.fromkeys(attributes)),
        "Examples": helps[0].get("Examples", ""),
    }
    titled = (f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items() if text)
    return "\n\n".join(titled).lstrip("\n")


@cache  # each base is read for each class below it
def _sections(text: str) -> dict[str, str]:
    """The parts of a docstring by title; what is before the first has none."""
    first, *rest = SECTION.split(cleandoc(text))
    titles, bodies = rest[::2], rest[1::2]
    return {"": first, **{t or "Examples": b for t, b in zip(titles, bodies, strict=True)}}


def _entries(texts: Iterable[str]) -> dict[str, str]:
    """The entry of each name, as the first text that has it says."""
    found: dict[str, str] = {}
    for text in texts:
        for entry in ENTRY.finditer(text):
            for name in entry.group(1).split(", "):
                found.setdefault(name, entry.group())
    return found
