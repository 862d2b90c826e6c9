"""A fitted imputer as a tree of plain data, and back."""

import dataclasses
import io
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from greyfill.exceptions import PersistenceError
from greyfill.persistence.registry import IMPUTERS, NAMES, RECORDS

Members = dict[str, bytes]

TEXTS: dict[str, tuple[type[Any], Any, Any]] = {
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "timedelta": (timedelta, lambda t: repr(t / timedelta(microseconds=1)),
                  lambda t: timedelta(microseconds=float(t))),
    "decimal": (Decimal, str, Decimal),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "float": (float, repr, float),
}  # fmt: skip
"""Values that are stored as text: type, how to write, how to read. Datetime comes before date."""


def encode_tree(imputer: Any) -> tuple[Any, Members]:
    """The imputer as JSON-able data, and its arrays as named bytes."""
    writer = _Writer()
    return writer.node(imputer), writer.members


class _Writer:
    def __init__(self) -> None:
        self.members: Members = {}

    def node(self, item: Any) -> Any:
        """One value as a node of the tree."""
        if item is None or (isinstance(item, bool | str) and not isinstance(item, Enum)):
            return item
        if type(item) is int or (type(item) is float and np.isfinite(item)):
            return item
        if isinstance(item, list):
            return [self.node(part) for part in item]
        return self._tagged(item)

    def _tagged(self, item: Any) -> dict[str, Any]:
        kind = type(item)
        if kind in NAMES and isinstance(item, Enum):
            return {"$enum": NAMES[kind], "value": item.value}
        if kind in NAMES:
            return {"$record": NAMES[kind], "fields": self._fields(item)}
        if IMPUTERS.get(kind.__name__) is kind:
            return {"$imputer": kind.__name__, **self._imputer(item)}
        if isinstance(item, tuple | set | frozenset):
            is_tuple = isinstance(item, tuple)
            parts = item if is_tuple else sorted(item, key=repr)  # sets of equal files are equal
            return {"$tuple" if is_tuple else "$set": [self.node(part) for part in parts]}
        if isinstance(item, dict):
            return {"$dict": [[self.node(key), self.node(value)] for key, value in item.items()]}
        return self._leaf(item)

    def _leaf(self, item: Any) -> dict[str, Any]:
        if isinstance(item, np.ndarray) and item.dtype != object:
            return {"$array": self._member(item)}
        if isinstance(item, np.ndarray):
            cells = [self.node(cell) for cell in item.ravel()]
            return {"$objects": cells, "shape": list(item.shape)}
        if isinstance(item, np.generic):
            return {"$scalar": self._member(np.asarray(item))}
        for tag, (kind, write, _) in TEXTS.items():
            if isinstance(item, kind):
                return {"$text": tag, "value": write(item)}
        raise PersistenceError(
            f"cannot save a {type(item).__module__}.{type(item).__qualname__}: "
            "parts of your own, random generators and unusual levels of a category are not among "
            "the types that a file may name. Turn such a column into text before fit, and give "
            "random_state a whole number"
        )

    def _fields(self, item: Any) -> dict[str, Any]:
        """The fields of a record; private ones can be computed again."""
        names = [f.name for f in dataclasses.fields(item) if not f.name.startswith("_")]
        return {name: self.node(getattr(item, name)) for name in names}

    def _imputer(self, item: Any) -> dict[str, Any]:
        parameters = item.get_params(deep=False)
        left_out = {*parameters, *item._unsaved}
        # A second fit sets attributes in another order than the first.
        state = {key: value for key, value in sorted(vars(item).items()) if key not in left_out}
        return {
            "parameters": {key: self.node(value) for key, value in parameters.items()},
            "state": {key: self.node(value) for key, value in state.items()},
        }

    def _member(self, array: Any) -> str:
        name, buffer = f"{len(self.members)}.npy", io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        self.members[name] = buffer.getvalue()
        return name


def decode_tree(tree: Any, members: Members, path: Path) -> Any:
    """The imputer of a tree; whatever does not fit is an error that names the file."""
    try:
        imputer = _Reader(members).node(tree)
        if type(imputer) not in IMPUTERS.values():
            raise PersistenceError("it holds no imputer")
        return imputer
    except PersistenceError as error:
        raise PersistenceError(f"{path}: {error}") from None
    except (Exception, MemoryError) as error:  # a made-up tree can go wrong in any way
        raise PersistenceError(f"{path}: the content does not fit together ({error})") from error


class _Reader:
    def __init__(self, members: Members) -> None:
        self.members = members

    def node(self, node: Any) -> Any:
        """The value of one node."""
        if isinstance(node, list):
            return [self.node(part) for part in node]
        if not isinstance(node, dict):
            return node
        tag = next(iter(node), "")
        reader = getattr(self, f"_read_{tag.removeprefix('$')}", None)
        if not tag.startswith("$") or reader is None:
            raise PersistenceError(f"unknown node {tag!r}")
        return reader(node, node[tag])

    def _read_enum(self, node: Any, name: str) -> Any:
        return _known(RECORDS, name)(node["value"])

    def _read_record(self, node: Any, name: str) -> Any:
        fields = {key: self.node(value) for key, value in node["fields"].items()}
        return _known(RECORDS, name)(**fields)

    def _read_imputer(self, node: Any, name: str) -> Any:
        parameters = {key: self.node(value) for key, value in node["parameters"].items()}
        imputer = _known(IMPUTERS, name)(**parameters)
        for key, value in node["state"].items():
            if key.startswith("__") or hasattr(type(imputer), key):
                raise PersistenceError(f"{name} has no attribute {key!r} to restore")
            setattr(imputer, key, self.node(value))
        return imputer

    def _read_tuple(self, node: Any, parts: Any) -> Any:
        return tuple(self.node(part) for part in parts)

    def _read_set(self, node: Any, parts: Any) -> Any:
        return {self.node(part) for part in parts}

    def _read_dict(self, node: Any, pairs: Any) -> Any:
        return {self.node(key): self.node(value) for key, value in pairs}

    def _read_array(self, node: Any, name: str) -> Any:
        return np.lib.format.read_array(io.BytesIO(self._bytes(name)), allow_pickle=False)

    def _read_scalar(self, node: Any, name: str) -> Any:
        return self._read_array(node, name)[()]

    def _read_objects(self, node: Any, cells: Any) -> Any:
        array = np.empty(len(cells), dtype=object)
        array[:] = [self.node(cell) for cell in cells]
        return array.reshape(node["shape"])

    def _read_text(self, node: Any, tag: str) -> Any:
        if tag not in TEXTS:
            raise PersistenceError(f"unknown kind of value {tag!r}")
        return TEXTS[tag][2](node["value"])

    def _bytes(self, name: str) -> bytes:
        if name not in self.members:
            raise PersistenceError(f"the part {name!r} is missing")
        return self.members[name]


def _known(types: dict[str, type[Any]], name: str) -> type[Any]:
    if name not in types:
        raise PersistenceError(f"the file names a type that greyfill does not know: {name!r}")
    return types[name]
