"""A fitted imputer as a tree of plain data, and back."""

import dataclasses
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from greyfill.checks import check_installed
from greyfill.exceptions import GreyfillError, PersistenceError
from greyfill.persistence.archive import read_array, write_array
from greyfill.persistence.estimator_rules import check_estimator, state_types
from greyfill.persistence.record_rules import check_record
from greyfill.persistence.tags import (
    ENUMS,
    IMPUTERS,
    NOT_ALWAYS_FINITE,
    OLD_NAMES,
    PARTS,
    RECORDS,
    TAGS,
    conform,
    declared_types,
    refuse_not_finite,
    renamed,
)

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
    check_installed("pandas", f"A saved {name}")
    return getattr(__import__("pandas"), name)


def _write_moment(moment: Any) -> str:
    """ISO format, and the name of the time zone where it has one."""
    zone = getattr(moment.tzinfo, "key", None) or getattr(moment.tzinfo, "zone", None)
    return f"{moment.isoformat()} {zone}" if zone else str(moment.isoformat())


def _read_moment(text: str, parse: Callable[[str], Any]) -> Any:
    iso, _, zone = text.partition(" ")
    return parse(iso).astimezone(ZoneInfo(zone)) if zone else parse(iso)


def _read_timedelta(text: str) -> timedelta:
    """From whole microseconds; files of older versions hold them as a fraction."""
    return timedelta(microseconds=float(text) if "." in text or "e" in text else int(text))


TEXT_KINDS = (
    TextKind(
        "timestamp",
        _is_of_pandas("Timestamp"),
        _write_moment,
        lambda text: _read_moment(text, _pandas("Timestamp")),
    ),
    TextKind(
        "pandas timedelta",
        _is_of_pandas("Timedelta"),
        lambda item: str(item.value),
        lambda text: _pandas("Timedelta")(int(text), unit="ns"),
    ),
    TextKind(
        "datetime",
        lambda item: isinstance(item, datetime),
        _write_moment,
        lambda text: _read_moment(text, datetime.fromisoformat),
    ),
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


def read_text(tag: Any, text: Any) -> Any:
    """The value of a kind and a text.

    >>> read_text("date", "2025-12-31")
    datetime.date(2025, 12, 31)
    """
    for kind in TEXT_KINDS:
        if kind.tag == tag and isinstance(text, str):
            return kind.read(text)
    raise PersistenceError(f"unknown kind of value {tag!r}")


Members = dict[str, bytes]

SEQUENCES: dict[str, type[Any]] = {"$tuple": tuple, "$set": set, "$frozenset": frozenset}

DEEPEST = 60
"""Levels of a tree: those of ours have about twenty."""


def encode_tree(imputer: Any) -> tuple[Any, Members]:
    """The imputer as JSON-able data, and its arrays as named bytes.

    It follows the rules of loading, so that what is written can be read.
    """
    writer = _Writer()
    try:
        return writer.node(imputer), writer.members
    except GreyfillError as error:
        raise PersistenceError(f"cannot save this {type(imputer).__name__}: {error}") from error


class _Writer:
    def __init__(self) -> None:
        self.members: Members = {}

    def node(self, item: Any) -> Any:
        """One value as a node of the tree."""
        if item is None or (isinstance(item, bool | str) and not isinstance(item, Enum)):
            return _checked(item)
        if type(item) is int or (type(item) is float and np.isfinite(item)):
            return item
        if isinstance(item, list):
            return [self.node(part) for part in item]
        if isinstance(item, dict):
            return {"$dict": [[self.node(key), self.node(value)] for key, value in item.items()]}
        for tag, kind in SEQUENCES.items():
            if isinstance(item, kind):
                nodes = [self.node(part) for part in item]
                # The order of a set depends on the process: equal imputers are to give equal files.
                return {tag: nodes if tag == "$tuple" else sorted(nodes, key=json.dumps)}
        return self._own(item) or self._leaf(item)

    def _own(self, item: Any) -> dict[str, Any] | None:
        """A record, an enumeration or an imputer of ours."""
        kind = type(item)
        if kind in TAGS and isinstance(item, Enum):
            return {"$enum": TAGS[kind], "value": item.value}
        if kind in TAGS:
            check_record(item)
            fields = {name: self.node(getattr(item, name)) for name in _public_fields(kind)}
            return {"$record": TAGS[kind], "fields": fields}
        if IMPUTERS.get(kind.__name__) is not kind:
            return None
        check_estimator(item)
        given = item.get_params(deep=False)
        parameters = {key: value for key, value in given.items() if key not in item._unsaved}
        left_out = {*parameters, *item._unsaved}
        # A second fit sets attributes in another order than the first.
        state = {key: value for key, value in sorted(vars(item).items()) if key not in left_out}
        return {
            "$imputer": kind.__name__,
            "parameters": {key: self.node(value) for key, value in parameters.items()},
            "state": {key: self.node(value) for key, value in state.items()},
        }

    def _leaf(self, item: Any) -> dict[str, Any]:
        if isinstance(item, np.ndarray) and item.dtype == object:
            cells = [self.node(cell) for cell in item.ravel()]
            return {"$objects": cells, "shape": list(item.shape)}
        if isinstance(item, np.ndarray | np.generic):
            name = f"{len(self.members)}.npy"
            self.members[name] = write_array(np.asarray(item))
            return {"$array" if isinstance(item, np.ndarray) else "$scalar": name}
        for kind in TEXT_KINDS:
            if kind.holds(item):
                return {"$text": kind.tag, "value": kind.write(item)}
        raise PersistenceError(
            f"it holds a {type(item).__module__}.{type(item).__qualname__}. "
            "Parts of your own, random generators and unusual levels of a category are not among "
            "the types that a file may name. Turn such a column into text before fit, and give "
            "random_state a whole number"
        )


def _public_fields(kind: type[Any]) -> list[str]:
    """The fields of a record; private ones can be computed again."""
    return [f.name for f in dataclasses.fields(kind) if not f.name.startswith("_")]


def decode_tree(tree: Any, members: Members, path: Path) -> Any:
    """The imputer of a tree; whatever does not fit is an error that names the file."""
    try:
        return _Reader(members).imputer(tree)
    except PersistenceError as error:
        raise PersistenceError(f"{path}: {error}") from None
    except MemoryError as error:
        raise PersistenceError(f"{path}: there is not enough memory to load it") from error
    except Exception as error:  # a made-up tree can go wrong in any way
        words = str(error)[:200]
        raise PersistenceError(f"{path}: the content does not fit together ({words})") from error


class _Reader:
    """Values of nodes: each is of its declared type and follows its rule before it is passed on."""

    def __init__(self, members: Members) -> None:
        self.members = dict(members)
        self.depth = 0

    def imputer(self, node: Any) -> Any:
        """The imputer that a file holds."""
        if not isinstance(node, dict) or next(iter(node), "") != "$imputer":
            raise PersistenceError("it holds no imputer")
        return self._read_imputer(node, node["$imputer"])

    def node(self, node: Any) -> Any:
        """The value of one node."""
        if not isinstance(node, list | dict):
            return _checked(node)
        self.depth += 1
        if self.depth > DEEPEST:
            raise PersistenceError("the content is nested too deeply")
        value = [self.node(part) for part in node] if isinstance(node, list) else self._tag(node)
        self.depth -= 1
        return value

    def _tag(self, node: dict[str, Any]) -> Any:
        tag = next(iter(node), "")
        if tag in SEQUENCES:
            return SEQUENCES[tag](self.node(part) for part in node[tag])
        readers: dict[str, Callable[[Any], Any]] = {
            "$dict": lambda pairs: {self.node(key): self.node(value) for key, value in pairs},
            "$enum": lambda name: _known(ENUMS, OLD_NAMES.get(name, name))(node["value"]),
            "$record": lambda name: self._read_record(name, node["fields"]),
            "$array": self._read_array,
            "$scalar": lambda name: self._read_array(name)[()],
            "$objects": lambda cells: self._read_objects(cells, node["shape"]),
            "$text": lambda kind: read_text(kind, node["value"]),
        }
        if tag not in readers:
            raise PersistenceError(f"unknown node {tag!r}")
        return readers[tag](node[tag])

    def _read_record(self, name: str, fields: Any) -> Any:
        tag = OLD_NAMES.get(name, name)
        kind, given = _known(RECORDS, tag), renamed(tag, fields)
        names, types = _public_fields(kind), declared_types(kind)
        if strange := set(given) - set(names):
            raise PersistenceError(f"{kind.__name__} has no field {sorted(strange)[0]!r}")
        values = {}
        for key, part in given.items():
            where = f"{key} of {kind.__name__}"
            values[key] = conform(self.node(part), types[key], where)
            if (kind, key) not in NOT_ALWAYS_FINITE:
                refuse_not_finite(values[key], where)
        record = kind(**values)
        check_record(record)
        return record

    def _read_imputer(self, node: Any, name: str) -> Any:
        kind = _known(IMPUTERS, name)
        imputer = kind(**{key: self._parameter(key, n) for key, n in node["parameters"].items()})
        types = state_types(kind)
        for key, part in renamed(name, node["state"]).items():
            if key not in types:
                raise PersistenceError(f"{name} has no attribute {key!r} to restore")
            value = self.node(part)
            setattr(imputer, key, conform(value, types[key], f"{key} of {name}"))
        check_estimator(imputer)
        return imputer

    def _parameter(self, key: str, node: Any) -> Any:
        """A part of a recipe, or a plain value."""
        value = self.node(node)
        is_part = any(type(value) in parts for parts in PARTS.values())
        return value if is_part else conform(value, Any, key)

    def _read_array(self, name: str) -> Any:
        if name not in self.members:
            raise PersistenceError(f"the part {name!r} is missing, or used twice")
        return read_array(self.members.pop(name))

    def _read_objects(self, cells: Any, shape: Any) -> Any:
        array = np.empty(len(cells), dtype=object)
        for place, cell in enumerate(cells):  # a whole list would be taken apart, cell by cell
            array[place] = self.node(cell)
        return array.reshape(shape)


def _checked(item: Any) -> Any:
    """Refuse a text that is no Unicode, such as half of a pair: no library takes it."""
    if isinstance(item, str) and not item.isascii():
        try:
            item.encode()
        except UnicodeEncodeError:
            raise PersistenceError(f"a text that is no Unicode: {ascii(item)[:40]}") from None
    return item


def _known(types: dict[str, type[Any]], name: str) -> Any:
    if name not in types:
        raise PersistenceError(f"the file names a type that greyfill does not know: {name!r}")
    return types[name]
