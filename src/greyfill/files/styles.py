"""How a column spells its values: imputed cells are written like their neighbors above and below.

A style is a frozen dataclass with one method, ``spell``: a value → the text of its cell.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Protocol


class Style(Protocol):
    """The spelling of one column."""

    def spell(self, value: Any) -> str:
        """The text of a cell with this value."""
        ...


@dataclass(frozen=True)
class Text:
    """Text as it is; any other value as Python shows it."""

    def spell(self, value: Any) -> str:
        """The text of a cell with this value."""
        return str(value)


@dataclass(frozen=True)
class Whole:
    """Whole numbers stay whole."""

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Whole().spell(3.9999)
        '4'
        """
        return str(round(value))


@dataclass(frozen=True)
class Fixed:
    """Numbers with so many decimals."""

    decimals: int
    mark: str = "."

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Fixed(2).spell(1.5), Fixed(1, ",").spell(-0.01)
        ('1.50', '0,0')
        """
        text = f"{value:.{self.decimals}f}"
        if text.startswith("-") and not text.strip("-0."):
            text = text[1:]
        return text.replace(".", self.mark)


@dataclass(frozen=True)
class Scientific:
    """Numbers with an exponent, and so many decimals before it."""

    decimals: int
    mark: str = "."

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Scientific(2).spell(0.00012345)
        '1.23e-04'
        """
        return f"{value:.{self.decimals}e}".replace(".", self.mark)


@dataclass(frozen=True)
class Shortest:
    """Numbers with all digits that tell them apart from other numbers."""

    mark: str = "."

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Shortest().spell(0.25), Shortest(",").spell(61.0)
        ('0.25', '61,0')
        """
        return str(value).replace(".", self.mark)


@dataclass(frozen=True)
class Truth:
    """The two words for true and false."""

    true: str = "true"
    false: str = "false"

    def spell(self, value: Any) -> str:
        """The text of a cell with this value."""
        return self.true if value else self.false


@dataclass(frozen=True)
class Day:
    """Dates as 2024-02-29."""

    def spell(self, value: date) -> str:
        """The text of a cell with this value, a moment rounded to a day half to even.

        >>> Day().spell(datetime(2024, 2, 29, 18))
        '2024-03-01'
        """
        if isinstance(value, datetime):
            days = (value.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(days=1)
            value = date(1970, 1, 1) + timedelta(days=round(days))
        return value.isoformat()


@dataclass(frozen=True)
class Moment:
    """Dates with a time: what stands between them, how fine the time is, and what ends it."""

    between: str = "T"
    has_seconds: bool = True
    decimals: int = 0
    end: str = ""

    def spell(self, value: datetime) -> str:
        """The text of a cell with this value, rounded to the precision of the column.

        >>> Moment(" ", decimals=1).spell(datetime(2024, 2, 29, 23, 59, 59, 960_000))
        '2024-03-01 00:00:00.0'
        """
        step = 10 ** (6 - self.decimals) if self.has_seconds else 60_000_000
        past = (value.second * 1_000_000 + value.microsecond) % step
        value += timedelta(microseconds=step - past if 2 * past >= step else -past)
        text = value.strftime("%H:%M:%S" if self.has_seconds else "%H:%M")
        if self.decimals:
            text += f".{value.microsecond:06d}"[: self.decimals + 1]
        return value.date().isoformat() + self.between + text + self.end
