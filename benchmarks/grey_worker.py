"""Measure GreyImputer of the greyfill that this interpreter has, as grey_cost.py asks for it.

A line of JSON comes in for each work, {"do": NAME OF A WORK, "table": NPZ, …}, and one goes out.
Public names of greyfill alone are used, so that an earlier version can be measured.
"""

import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "accuracy" / "peers"))

import encoding
import worker

import greyfill
from greyfill import GreyClassifier, GreyImputer

MOST_ROWS = 50
"""New rows that are filled one by one; at most a fifth of the table."""


def where(request: dict[str, Any]) -> dict[str, Any]:
    """The package that is measured."""
    return {"package": str(Path(greyfill.__file__).parent)}


def kinds(job: encoding.Job, name: Callable[[int], Any]) -> dict[str, Any]:
    """Parameters that tell an imputer the kinds of the columns, each called by ``name``."""
    number = list(enumerate(job.kinds))
    categories = [name(j) for j, kind in number if kind == encoding.CATEGORICAL]
    orders = {
        name(j): tuple(range(job.n_levels[j])) for j, kind in number if kind == encoding.ORDINAL
    }
    return {"categorical_features": categories or "auto", "ordinal_features": orders or None}


def by_codes(request: dict[str, Any]) -> dict[str, Any]:
    """Fill a table of codes, with the seed of the case."""
    job = encoding.read_job(request["table"])
    known = {"labels": "donors", "keep_empty_features": True}  # of the least error, like its peers
    if "round_to_grid" in GreyImputer().get_params():  # an earlier version has no grid
        known["round_to_grid"] = False
    imputer = GreyImputer(**known, random_state=job.seed, **kinds(job, int))
    np.save(request["filled"], imputer.fit_transform(job.cells, job.labels))
    return {}


class Tables:
    """A table as users have it: an array if all is numeric, else frames of pandas and polars."""

    def __init__(self, job: encoding.Job) -> None:
        self.labels = job.labels
        self.params = kinds(job, "x{}".format)
        self.by_library: dict[str, Any] = {"numpy": job.cells}
        if set(job.kinds) != {encoding.NUMERIC}:
            import polars as pl

            frame = encoding.as_frame(job)
            self.by_library = {"pandas": frame, "polars": pl.from_pandas(frame)}

    @property
    def first(self) -> Any:
        return next(iter(self.by_library.values()))


@lru_cache(maxsize=1)
def tables(path: str) -> Tables:
    return Tables(encoding.read_job(path))


def whole_table(request: dict[str, Any]) -> dict[str, Any]:
    """Seconds of ``fit_transform``."""
    given = tables(request["table"])
    start = time.perf_counter()
    GreyImputer(**given.params).fit_transform(given.first, given.labels)
    return {"seconds": time.perf_counter() - start}


@lru_cache(maxsize=1)
def calls(path: str) -> dict[str, tuple[Callable[[Any], Any], list[Any]]]:
    """What is timed with one row, and the rows, none of which is in the training table."""
    job = encoding.read_job(path)
    n = len(job.cells)
    new = np.arange(0, n, max(5, n // MOST_ROWS))
    old = np.setdiff1d(np.arange(n), new)
    with_holes = new[np.isnan(job.cells[new]).any(axis=1)]
    found = {}
    for library, frame in tables(path).by_library.items():
        training, labels = chosen(frame, old), job.labels[old]
        rows = [chosen(frame, [i]) for i in with_holes]
        imputer = GreyImputer(**tables(path).params).fit(training, labels)
        found[f"transform, {library}"] = imputer.transform, rows
        if len(found) == 1:
            model = GreyClassifier(**tables(path).params).fit(training, labels)
            found["predict_proba"] = model.predict_proba, rows
    return found


def chosen(frame: Any, rows: Any) -> Any:
    return frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]


def one_row(request: dict[str, Any]) -> dict[str, Any]:
    """The median milliseconds of each call with one row."""
    return {
        name: median(milliseconds(call, rows))
        for name, (call, rows) in calls(request["table"]).items()
    }


def milliseconds(call: Callable[[Any], Any], rows: list[Any]) -> Iterator[float]:
    for row in rows:
        start = time.perf_counter()
        call(row)
        yield 1e3 * (time.perf_counter() - start)


WORKS = {work.__name__: work for work in (where, by_codes, whole_table, one_row)}

if __name__ == "__main__":
    worker.serve(lambda request: WORKS[request["do"]](request))
