"""Values that a file holds as text: moments, exact numbers, bytes."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from greyfill.exceptions import PersistenceError

MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class TextKind:
    """A type of values, how one is written, and how it is read."""

    tag: str
    holds: Callable[[Any], bool]
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _is_of_pandas(name: str) -> Callable[[Any], bool]:
    """Whether a value is of a type of pandas, without importing it."""

    def holds(item: Any) -> bool:
        pandas = sys.modules.get("pandas")
        return pandas is not None and isinstance(item, getattr(pandas, name))

    return holds


def _pandas(name: str) -> Any:
    from greyfill.checks import check_installed

    check_installed("pandas", f"A saved {name}")
    return getattr(__import__("pandas"), name)


def _write_moment(moment: Any) -> str:
    """ISO format, and the name of the time zone where it has one."""
    zone = getattr(moment.tzinfo, "key", None) or getattr(moment.tzinfo, "zone", None)
    return f"{moment.isoformat()} {zone}" if zone else str(moment.isoformat())


def _read_datetime(text: str) -> datetime:
    iso, _, zone = text.partition(" ")
    moment = datetime.fromisoformat(iso)
    return moment.astimezone(ZoneInfo(zone)) if zone else moment


def _read_timestamp(text: str) -> Any:
    iso, _, zone = text.partition(" ")
    moment = _pandas("Timestamp")(iso)
    return moment.tz_convert(ZoneInfo(zone)) if zone else moment


def _read_timedelta(text: str) -> timedelta:
    """From whole microseconds; files of older versions hold them as a fraction."""
    return timedelta(microseconds=float(text) if "." in text or "e" in text else int(text))


KINDS = (
    TextKind("timestamp", _is_of_pandas("Timestamp"), _write_moment, _read_timestamp),
    TextKind(
        "pandas timedelta",
        _is_of_pandas("Timedelta"),
        lambda item: str(item.value),
        lambda text: _pandas("Timedelta")(int(text), unit="ns"),
    ),
    TextKind("datetime", lambda item: isinstance(item, datetime), _write_moment, _read_datetime),
    TextKind("date", lambda item: isinstance(item, date), date.isoformat, date.fromisoformat),
    TextKind("time", lambda item: isinstance(item, time), time.isoformat, time.fromisoformat),
    TextKind(
        "timedelta",
        lambda item: isinstance(item, timedelta),
        lambda item: str(item // MICROSECOND),
        _read_timedelta,
    ),
    TextKind("decimal", lambda item: isinstance(item, Decimal), str, Decimal),
    TextKind("bytes", lambda item: isinstance(item, bytes), bytes.hex, bytes.fromhex),
    TextKind("float", lambda item: isinstance(item, float), repr, float),
)
"""In the order in which a value is tried: pandas' types are Python's too, and a datetime a date."""


def write_text(item: Any) -> tuple[str, str] | None:
    """Kind and text of a value, or None if it is of no such kind."""
    for kind in KINDS:
        if kind.holds(item):
            return kind.tag, kind.write(item)
    return None


def read_text(tag: Any, text: Any) -> Any:
    """The value of a kind and a text.

    >>> read_text("date", "2025-12-31")
    datetime.date(2025, 12, 31)
    """
    for kind in KINDS:
        if kind.tag == tag and isinstance(text, str):
            return kind.read(text)
    raise PersistenceError(f"unknown kind of value {tag!r}")
