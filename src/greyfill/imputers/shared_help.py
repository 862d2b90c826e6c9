"""Help that several imputers share: written once, and shown with each of them."""

import re
from collections.abc import Callable
from inspect import getdoc
from typing import Any, TypeVar

AnyClass = TypeVar("AnyClass", bound=type[Any])


def explained_by(*sources: type[Any]) -> Callable[[AnyClass], AnyClass]:
    """Let ``help`` show what stands under "name, name … As in `Source`." with the source's words.

    >>> class Plain:
    ...     '''Fill.
    ...
    ...     tol : float
    ...         When it stops.
    ...     '''
    >>> @explained_by(Plain)
    ... class Other:
    ...     '''Fill better.
    ...
    ...     tol
    ...         As in `Plain`.
    ...     '''
    >>> print(Other.__doc__)
    Fill better.
    <BLANKLINE>
    tol : float
        When it stops.
    """
    known = {source.__name__: getdoc(source) or "" for source in sources}

    def entry(source: str, name: str) -> str:
        found = re.search(rf"^{name} : .*\n(?: {{4}}.*(?:\n|$))+", known[source], re.MULTILINE)
        return found.group().rstrip("\n") if found else f"{name} : as in `{source}`"

    def expand(match: re.Match[str]) -> str:
        names = match.group(1).split(", ")
        return "\n".join(entry(match.group(2), name) for name in names)

    def explain(kind: AnyClass) -> AnyClass:
        pattern = rf"^(\w+(?:, \w+)*)\n {{4}}As in `({'|'.join(known)})`\.$"
        kind.__doc__ = re.sub(pattern, expand, getdoc(kind) or "", flags=re.MULTILINE)
        return kind

    return explain
