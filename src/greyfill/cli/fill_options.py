"""What the user says about the cells to fill: which columns, and which holes do not apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from greyfill.cli.options import COLUMNS, did_you_mean, option
from greyfill.exceptions import InvalidParameterError

FILL = "Fill a column that looks like an identifier, free text or a constant."
NOT_APPLICABLE = (
    "Holes that mean 'does not apply' stay empty; COLUMN=LEVEL writes LEVEL into them. Repeatable."
)


@dataclass(frozen=True)
class FillOptions:
    """Wishes about the cells that are filled, as they were typed."""

    insisted: Annotated[Sequence[str], option(COLUMNS, "COLUMNS", FILL, "--fill")] = ()
    not_applicable: Annotated[
        Sequence[str], option(COLUMNS, "COLUMN", NOT_APPLICABLE, "--not-applicable")
    ] = ()

    def resolve(self, columns: Sequence[str], file: str) -> Wishes:
        """The wishes about these columns of a file; a name that it has not is refused."""
        insisted = _names("--fill", self.insisted, columns, file)
        plain = [item for item in self.not_applicable if item in columns or "=" not in item]
        kept_empty = _names("--not-applicable", plain, columns, file)
        levels = {}
        for item in self.not_applicable:
            if item not in plain:
                name, _, level = item.rpartition("=")
                levels[_known("--not-applicable", name, columns, file)] = level
        return Wishes(tuple(insisted), tuple(kept_empty), levels)


NO_WISHES = FillOptions()


@dataclass(frozen=True)
class Wishes:
    """Wishes about the columns of one file."""

    insisted: tuple[str, ...] = ()
    kept_empty: tuple[str, ...] = ()
    levels: dict[str, Any] = field(default_factory=dict)


def _names(option: str, given: Sequence[str], columns: Sequence[str], file: str) -> list[str]:
    """Names of columns; a name that is none is split at its commas."""
    parts = [n for name in given for n in ([name] if name in columns else name.split(","))]
    return [_known(option, name, columns, file) for name in parts if name]


def _known(option: str, name: str, columns: Sequence[str], file: str) -> str:
    if name not in columns:
        raise InvalidParameterError(
            f"{file} has no column {name!r} ({option}). {did_you_mean(name, columns)}"
        )
    return name
