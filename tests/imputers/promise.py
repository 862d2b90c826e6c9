"""What every imputer promises about every table, checked cell by cell."""

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from imputers.family import EXTRAPOLATING, quick
from sklearn.utils import get_tags
from tables import Case

from greyfill.exceptions import EmptyColumnWarning, IdentifierWarning, InvalidDataError

WISHES: dict[str, tuple[Any, ...]] = {"n_neighbors": (1, 3, 50, "auto", "masked")}
"""Settings to vary, where an imputer has them."""


def check_promise(imputer: type[Any], case: Case, settings: dict[str, Any]) -> bool:
    """Fill the training rows and new rows of a case; return whether the table was accepted.

    Either the one refusal that the case deserves, or complete tables whose observed cells are as
    they were, to the last bit, whose fills lie inside the observed range or levels (of numbers, if
    the method promises that), and whose types are kept.
    """
    known = {k: v for k, v in settings.items() if k in inspect.signature(imputer).parameters}
    model = quick(imputer, **known)
    expected = refusal(model, case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyColumnWarning)
        warnings.simplefilter("ignore", IdentifierWarning)  # a table may have one
        if expected is not None:
            with pytest.raises(InvalidDataError, match=expected):
                model.fit_transform(case.X, case.y)
            return False
        filled = model.fit_transform(case.X, case.y)
        learned = columns_of(case.X)
        stays = imputer not in EXTRAPOLATING
        check_filled(case.X, filled, learned, stays_inside=stays)
        with may_mean_something_else(case):
            check_filled(case.new, model.transform(case.new), learned, stays_inside=stays)
    return True


@contextmanager
def may_mean_something_else(case: Case) -> Iterator[None]:
    """Objects of new rows may be of other types than those of `fit`, and are refused then."""
    try:
        yield
    except InvalidDataError as error:
        if "but fit saw" not in str(error) or not {"objects", "pairs"} & set(case.plan.kinds):
            raise


def refusal(model: Any, case: Case) -> str | None:
    """Words of the error that a case deserves, or None if it must be filled."""
    plan = case.plan
    if plan.names == "duplicate" and plan.library in ("pandas", "pyarrow") and len(plan.kinds) > 1:
        return "must be unique"
    learned = any(column.observed for column in columns_of(case.X))
    needs_labels = get_tags(model).target_tags.required
    if needs_labels and case.y is None:
        return "requires y"
    if needs_labels and plan.labels == "continuous" and not _all_whole(case.y):
        return "continuous"
    if needs_labels and plan.labels in ("only gaps", "gaps") and np.isnan(case.y).all() and learned:
        return "every label in y is missing"
    return None


def _all_whole(y: Any) -> bool:
    return bool((np.asarray(y) % 1 == 0).all())


@dataclass(frozen=True, eq=False)
class ColumnView:
    """One column as Python objects that compare exactly, None in the holes."""

    name: Any
    dtype: Any
    cells: list[Any]
    ordered: tuple[Any, ...] | None = None
    """The levels of an ordered category, lowest first."""

    @property
    def observed(self) -> list[Any]:
        """The cells that are no holes."""
        return [cell for cell in self.cells if cell is not None]


def columns_of(table: Any) -> list[ColumnView]:
    """Every column of a table of any library."""
    if isinstance(table, pd.DataFrame):
        return [_pandas_view(table.iloc[:, j], table.columns[j]) for j in range(table.shape[1])]
    if isinstance(table, pl.DataFrame):
        return [_polars_view(series) for series in table]
    if isinstance(table, pa.Table):
        names = table.schema.names
        return [_arrow_view(c, n) for c, n in zip(table.itercolumns(), names, strict=True)]
    array = table if isinstance(table, np.ndarray) else _listed(table)
    return [ColumnView("", array.dtype, _plain(list(array[:, j]))) for j in range(array.shape[1])]


def _listed(rows: list[list[Any]]) -> Any:
    """What numpy makes of rows: numbers where all are numbers, else objects."""
    array = np.asarray(rows)
    return array if array.dtype.kind in "fiub" else np.array(rows, dtype=object)


def _plain(cells: list[Any]) -> list[Any]:
    return [None if not isinstance(c, tuple) and pd.isna(c) else c for c in cells]


def _pandas_view(series: Any, name: Any) -> ColumnView:
    ordered = None
    if isinstance(series.dtype, pd.CategoricalDtype) and series.cat.ordered:
        ordered = tuple(series.cat.categories)
    return ColumnView(name, series.dtype, _plain(list(series)), ordered)


def _polars_view(series: Any) -> ColumnView:
    dtype = series.dtype
    if dtype.is_temporal():
        series = series.to_physical()
    elif dtype.is_float():
        series = series.fill_nan(None)
    return ColumnView(series.name, dtype, series.to_list())


def _arrow_view(column: Any, name: str) -> ColumnView:
    kind, ordered = column.type, None
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        column = column.cast(pa.int64())
    if pa.types.is_dictionary(kind) and kind.ordered:
        ordered = tuple(column.unify_dictionaries().chunk(0).dictionary.to_pylist())
    return ColumnView(name, kind, _plain(column.to_pylist()), ordered)


def check_filled(
    given: Any, filled: Any, learned: list[ColumnView], *, stays_inside: bool = True
) -> None:
    """The promise about one filled table; columns that nobody knows are dropped."""
    assert type(filled) is (np.ndarray if isinstance(given, list) else type(given))
    if isinstance(given, pd.DataFrame):
        assert filled.index.equals(given.index)
        assert filled.index.names == given.index.names
    kept = [j for j, column in enumerate(learned) if column.observed]
    before, after = columns_of(given), columns_of(filled)
    assert len(after) == len(kept)
    for j, new in zip(kept, after, strict=True):
        check_column(before[j], new, learned[j], stays_inside)


def check_column(old: ColumnView, new: ColumnView, learned: ColumnView, stays_inside: bool) -> None:
    """Name and type kept, no hole left, observed cells untouched, fills within what was seen."""
    assert new.name == old.name
    if old.observed:
        assert new.dtype == old.dtype, f"{old.dtype} became {new.dtype}"
    for before, after in zip(old.cells, new.cells, strict=True):
        assert after is not None, f"a hole is left in {old.name!r}"
        if before is None:
            is_free = not stays_inside and is_orderable(after)
            assert is_free or is_within(after, learned), (
                f"{after!r} is outside {learned.observed!r}"
            )
        else:
            assert is_same(before, after), f"{before!r} became {after!r}"


def is_same(before: Any, after: Any) -> bool:
    """Equal to the last bit: repr tells −0.0 from 0.0, and 1 from 1.0 and True."""
    return before is after or (type(before) is type(after) and repr(before) == repr(after))


def is_orderable(fill: Any) -> bool:
    """Whether a fill is a number or a moment, which may lie beyond those observed."""
    return not isinstance(fill, str | bytes | bool | np.bool_ | tuple) and pd.notna(fill)


def is_within(fill: Any, learned: ColumnView) -> bool:
    """Whether a fill is one of the observed values, or lies between two of them."""
    observed = learned.observed
    if learned.ordered is not None:
        ranks = [learned.ordered.index(value) for value in observed]
        return min(ranks) <= learned.ordered.index(fill) <= max(ranks)
    if any(type(fill) is type(value) and fill == value for value in observed):
        return True
    if isinstance(fill, str | bool | np.bool_ | tuple):
        return fill in observed
    try:
        return bool(min(observed) <= fill <= max(observed))
    except TypeError:
        return fill in observed
