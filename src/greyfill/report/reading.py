"""What a report is made from: the table, its filled twin and the classes, as numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill import frames
from greyfill.conventions import check_fitted
from greyfill.exceptions import InvalidDataError
from greyfill.frames import Family, Field, Schema
from greyfill.report.text import clean
from greyfill.table import Bools, Floats, Ints, Kind, Table

MOST_CLASSES = 8
SMALLER, NO_LABEL = "(smaller classes)", "(no label)"
UNITS = {
    Family.DATE: "date",
    Family.DATETIME: "datetime",
    Family.TIME: "time",
    Family.DURATION: "duration",
}


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each row: codes (−1: no label), and the few groups that a report shows.

    ``groups[i]`` is the place of row i's group in ``names``; small classes share a group.
    """

    codes: Ints
    labels: tuple[str, ...]
    groups: Ints
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A table with holes, the same table filled, and which cells the imputer filled.

    Dates, times and durations are in seconds. ``kept`` tells the columns that were not dropped.
    """

    fields: tuple[Field, ...]
    table: Table
    filled: Floats
    imputed: Bools
    kept: Bools
    classes: Classes | None

    @property
    def names(self) -> list[str]:
        """The names of the columns, safe to print."""
        return [clean(field.name) for field in self.fields]

    def unit(self, column: int) -> str:
        """What the numbers of a column count: plain numbers, or seconds of some sort."""
        return UNITS.get(self.fields[column].family, "number")


def read(imputer: Any, X: Any, filled: Any, y: Any = None) -> Evidence:
    """Encode what came in and what came out by the schema that the imputer learned in ``fit``."""
    check_fitted(imputer)
    schema: Schema = imputer.schema_
    table, _ = frames.encode(X, schema=schema)
    twin, kept = _encode_filled(imputer, schema, filled)
    if twin.n_rows != table.n_rows:
        raise InvalidDataError(
            f"X has {table.n_rows} rows, but filled has {twin.n_rows}: pass the table that came "
            "out of the imputer for this X"
        )
    values, holes = table.values.copy(), table.missing.copy()
    values[:, kept] = twin.values[:, : int(kept.sum())]
    holes[:, kept] &= twin.missing[:, : int(kept.sum())]
    seconds = np.array([1e-6 if f.family in UNITS else 1.0 for f in schema.fields])
    return Evidence(
        fields=schema.fields,
        table=table.with_values(table.values * seconds),
        filled=values * seconds,
        imputed=table.missing & ~holes,
        kept=kept,
        classes=None if y is None else _read_classes(y, table.n_rows),
    )


def _encode_filled(imputer: Any, schema: Schema, filled: Any) -> tuple[Table, Bools]:
    """The filled table without the columns that were dropped, and which columns were not."""
    out = [str(name) for name in imputer.get_feature_names_out()]
    kept = np.isin(schema.names, out)
    shape = frames.open_table(filled).shape
    if shape[1] != len(out):
        raise InvalidDataError(
            f"filled has {shape[1]} columns, but the imputer gives {len(out)}: pass what its "
            "transform or fit_transform returned"
        )
    flags = [Field(name, Kind.NUMERIC, Family.FLOAT) for name in out[int(kept.sum()) :]]
    fields = [field for field, wanted in zip(schema.fields, kept, strict=True) if wanted]
    table, _ = frames.encode(filled, schema=Schema((*fields, *flags)))
    return table, kept


def _read_classes(y: Any, n_rows: int) -> Classes | None:
    """The classes of the rows; None where y has none, as continuous targets do."""
    codes, labels = frames.encode_labels(y)
    if len(codes) != n_rows:
        raise InvalidDataError(f"X has {n_rows} rows, but y has {len(codes)} labels")
    if not labels or frames.are_continuous(labels):
        return None
    sizes = np.bincount(codes[codes >= 0], minlength=len(labels))
    shown = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    names = [clean(labels[code], most=60) for code in shown]
    place = np.full(len(labels) + 1, -1)
    place[shown] = np.arange(len(shown))
    groups = place[codes]
    for name, rows in (
        (SMALLER, (groups < 0) & (codes >= 0)),
        (NO_LABEL, codes < 0),
    ):
        if rows.any():
            groups[rows] = len(names)
            names.append(name)
    return Classes(codes, tuple(clean(label, most=60) for label in labels), groups, tuple(names))
