"""Load a file and ask all that a model answers: refused in words, or complete answers."""

import os
import traceback
import warnings
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import greyfill as gf
from greyfill.exceptions import GreyfillError
from saved_models.bases import Ready

ROOT = str(Path(gf.__file__).parent) + os.sep
CLOSE = 1e-6
BOUNDS = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
OF_KERNELS = "index is out of bounds"
"""What a compiled kernel that heeds bounds says; numpy also names the index and the axis."""


class IncompleteError(Exception):
    """An answer with a hole, of another shape, or no probability."""


@dataclass(frozen=True)
class Outcome:
    """How it ended; ``where`` is the innermost line of greyfill, ``step`` what was asked."""

    result: str
    step: str = ""
    error: str = ""
    where: str = ""
    message: str = ""

    def told(self) -> dict[str, str]:
        return asdict(self)


FAULTS = ("crash", "hang", "incomplete", "raw", "memory", "outside")
"""Results that must not be; "outside": an index out of bounds in a compiled kernel."""


def cells_of(table: Any, left: Collection[str] = ()) -> list[Any]:
    """All cells of an answer but those of columns that are left as they came."""
    if isinstance(table, pl.DataFrame | pd.DataFrame):
        table = table[[name for name in table.columns if name not in left]]
    if isinstance(table, pl.DataFrame):
        return [cell for column in table.get_columns() for cell in _plain(column).to_list()]
    if isinstance(table, pd.DataFrame):
        return [cell for j in range(table.shape[1]) for cell in table.iloc[:, j].tolist()]
    return list(np.asarray(table).ravel().tolist())


def _plain(column: pl.Series) -> pl.Series:
    """Moments as whole numbers: Python has none after the year 9999, polars has."""
    return column.to_physical() if column.dtype.is_temporal() else column


def is_hole(cell: Any) -> bool:
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return True
    if isinstance(cell, float | np.floating):
        return not np.isfinite(cell)
    return isinstance(cell, Decimal) and not cell.is_finite()


def refuse_incomplete(answer: Any, shape: tuple[int, ...], left: Collection[str] = ()) -> Any:
    if tuple(answer.shape) != shape:
        raise IncompleteError(f"shape {tuple(answer.shape)} instead of {shape}")
    bad = [cell for cell in cells_of(answer, left) if is_hole(cell)]
    if bad:
        raise IncompleteError(f"{len(bad)} cells such as {bad[0]!r:.30}")
    return answer


def _filled(model: Any, table: Any) -> Any:
    names = model.get_feature_names_out()
    left = getattr(model, "left_alone_", {})  # older files have none
    return refuse_incomplete(model.transform(table), (len(table), len(names)), left)


def _predicted(model: Any, table: Any) -> None:
    refuse_incomplete(model.predict(table), (len(table),))
    if hasattr(model, "predict_proba"):
        shares = refuse_incomplete(model.predict_proba(table), (len(table), len(model.classes_)))
        if shares.min() < 0 or shares.max() > 1 or abs(shares.sum(axis=1) - 1).max() > CLOSE:
            raise IncompleteError("no probabilities")


def _drawn(model: Any, table: Any) -> None:
    names = model.get_feature_names_out()
    for drawn in model.draw(table, 2):
        refuse_incomplete(drawn, (len(table), len(names)))


def _limits(model: Any, table: Any) -> None:
    found = model._interval_lists(table)
    if len({len(part) for part in found.values()}) != 1:
        raise IncompleteError("lists of different lengths")
    for low, high, levels in zip(found["low"], found["high"], found["levels"], strict=True):
        if levels is None and (is_hole(low) or is_hole(high)):
            raise IncompleteError(f"limits {low!r:.20} … {high!r:.20}")
        if levels is not None and any(is_hole(level) for level in levels):
            raise IncompleteError(f"levels {levels!r:.40}")


def _donors(model: Any, row: int, column: int) -> None:
    found = model.donors_of(row, column)
    if len({len(part) for part in found.values()}) != 1:
        raise IncompleteError("lists of different lengths")
    if any(is_hole(cell) for part in ("weights", "values", "rows") for cell in found[part]):
        raise IncompleteError("donors with a hole")


def renamed(table: Any, model: Any) -> Any:
    """The table with the names that a model says it learned, where a table can have them.

    A file in which a column is called otherwise throughout is a model of another table.
    """
    try:
        names = [str(name) for name in model.feature_names_in_]
        if isinstance(table, pl.DataFrame):
            return table.rename(dict(zip(table.columns, names, strict=True)))
        return table.set_axis(names, axis=1)
    except Exception:
        return table


def _saved_again(model: Any, path: Path, table: Any) -> None:
    model.save(path)
    again = gf.load(path)
    _ask_first(again, table)


def _ask_first(model: Any, table: Any) -> None:
    (_filled if hasattr(model, "transform") else _predicted)(model, table)


def questions(model: Any, ready: Ready, path: Path) -> list[tuple[str, Callable[[], Any]]]:
    """All that is asked of a loaded model."""
    tables = [renamed(table, model) for table in ready.tables]
    asked: list[tuple[str, Callable[[], Any]]] = [("repr", lambda: repr(model))]
    if hasattr(model, "transform"):
        asked += [("names", model.get_feature_names_out), ("schema", lambda: model.schema_)]
    for number, table in enumerate(tables):
        asked.append((f"table {number}", lambda table=table: _ask_first(model, table)))
    if hasattr(model, "draw"):
        asked += [("draw", lambda: _drawn(model, tables[0])), ("loss", lambda: model.log_loss_),
                  ("limits", lambda: _limits(model, tables[0]))]  # fmt: skip
    for row, column in ready.cells:
        asked.append(("donors", lambda r=row, c=column: _donors(model, r, c)))
        if hasattr(model, "explain"):
            asked.append(("explain", lambda r=row, c=column: str(model.explain(r, c))))
    again = path.with_suffix(".again")
    return [*asked, ("save", lambda: _saved_again(model, again, tables[2]))]


def try_file(path: Path, ready: Ready, verbose: bool = False) -> Outcome:
    """What comes of a file: the first fault, else whether it was refused, now or late."""
    step, refusal = "load", None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = gf.load(path)
            for step, ask in questions(model, ready, path):
                try:
                    ask()
                except GreyfillError as error:
                    if _hides_outside(error):
                        raise
                    refusal = refusal or Outcome("late", step, message=str(error)[:300])
        except GreyfillError as error:
            if _hides_outside(error):
                return _fault(step, error)
            message = str(error).replace(str(path), "")
            return Outcome("refused", "load", type(error).__name__, message=message[:300])
        except BaseException as error:
            if verbose:
                traceback.print_exception(error)
            return _fault(step, error)
    return refusal or Outcome("answered")


def _hides_outside(error: BaseException) -> bool:
    """Whether a kernel left its arrays behind an error in words."""
    behind = error.__cause__ or error.__context__
    if isinstance(error, IndexError) and str(error) == OF_KERNELS:
        return True
    return behind is not None and _hides_outside(behind)


def _fault(step: str, error: BaseException) -> Outcome:
    name = type(error).__name__
    result = "raw"
    if isinstance(error, IncompleteError):
        return Outcome("incomplete", step, name, "", str(error)[:200])
    if isinstance(error, MemoryError):
        result = "memory"
    elif _hides_outside(error) or (isinstance(error, IndexError) and BOUNDS):
        result = "outside"
    return Outcome(result, step, name, _innermost(error), str(error)[:200])


def _innermost(error: BaseException) -> str:
    """The innermost line of greyfill that an error passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename.startswith(ROOT)]
    if not own:
        return ""
    return f"{own[-1].filename.removeprefix(ROOT)}:{own[-1].lineno} {own[-1].name}"
