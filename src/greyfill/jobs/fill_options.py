"""What the user says about the cells to fill: which columns, and which holes do not apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from greyfill.exceptions import InvalidParameterError
from greyfill.jobs.options import COLUMNS, did_you_mean, option, switch

FILL = "Fill a column that looks like an identifier, free text or a constant."
NOT_APPLICABLE = (
    "COLUMN does not apply to the rows that lack it together with others (to all that lack it, if "
    "no others do): these cells stay empty; COLUMN=LEVEL writes LEVEL into them. Repeatable."
)
INDICATORS = (
    "Add a column missingindicator_NAME for each column with holes: where they were, 1 or 0."
)
BOUNDS = "Limits of what is filled in; one of them may be left away. Repeatable."


@dataclass(frozen=True)
class FillOptions:
    """Wishes about the cells that are filled, as they were typed."""

    insisted: Annotated[Sequence[str], option(COLUMNS, "COLUMNS", FILL, "--fill")] = ()
    not_applicable: Annotated[
        Sequence[str], option(COLUMNS, "COLUMN", NOT_APPLICABLE, "--not-applicable")
    ] = ()

    bounds: Annotated[Sequence[str], option(COLUMNS, "COLUMN=LOW:HIGH", BOUNDS, "--bounds")] = ()
    indicators: Annotated[bool, switch(INDICATORS, "--indicators")] = False

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
        bounds = dict(_bounds(item, columns, file) for item in self.bounds)
        return Wishes(tuple(insisted), tuple(kept_empty), levels, bounds, self.indicators)


NO_WISHES = FillOptions()


@dataclass(frozen=True)
class Wishes:
    """Wishes about the columns of one file."""

    insisted: tuple[str, ...] = ()
    kept_empty: tuple[str, ...] = ()
    levels: dict[str, Any] = field(default_factory=dict)
    bounds: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
    indicators: bool = False


def _bounds(
    item: str, columns: Sequence[str], file: str
) -> tuple[str, tuple[float | None, float | None]]:
    """A column and its limits: ``age=0:120``, ``age=0:`` or ``age=:120``."""
    name, is_given, limits = item.rpartition("=")
    low, _, high = limits.partition(":")
    try:
        if not is_given or ":" not in limits:
            raise ValueError
        pair = float(low) if low else None, float(high) if high else None
    except ValueError:
        raise InvalidParameterError(
            f"--bounds must be COLUMN=LOW:HIGH, such as age=0:120 or age=0:, not {item!r}."
        ) from None
    return _known("--bounds", name, columns, file), pair


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
