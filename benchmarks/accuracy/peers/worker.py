"""Fill tables by one peer, inside its own environment: python worker.py METHOD

Reads a line of JSON for each table from the standard input, {"table": NPZ, "filled": NPY,
"draws": 0}, and answers with one line: {"seconds": …, "rescued": …} or {"error": …}; the seconds
are those of the processor. With draws, so many data sets are written instead of one. ``METHOD`` is
a name of ``methods.py``; with ``+y`` at its end the class is one more column, with ``/class`` the
rows of each class are filled on their own. ``rescued`` counts the holes that the peer left, filled
by the mean or mode of their column.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from encoding import Job, read_job
from methods import DRAWING, METHODS, version

Fill = Callable[[Job], np.ndarray]


def fill_with_class(fill: Fill, job: Job) -> np.ndarray:
    return fill(job.with_class())[..., :-1]


def fill_by_class(fill: Fill, job: Job) -> np.ndarray:
    """Each class on its own, in the columns that it knows; a class of one row is left."""
    filled = job.cells.copy()
    for label in np.unique(job.labels):
        rows = np.flatnonzero(job.labels == label)
        known = np.flatnonzero(~np.isnan(job.cells[rows]).all(axis=0))
        if len(rows) > 1:
            filled[np.ix_(rows, known)] = fill(job.rows(rows).columns(known))
    return filled


VARIANTS = {"+y": fill_with_class, "/class": fill_by_class}


def run(method: str, job: Job, draws: int = 0) -> np.ndarray:
    """The filled cells, or draws × rows × columns."""
    ending = next((ending for ending in VARIANTS if method.endswith(ending)), "")
    name = method.removesuffix(ending)
    fill = partial(DRAWING[name], n=draws) if draws else METHODS[name]
    return VARIANTS[ending](fill, job) if ending else fill(job)


def answer(method: str, request: dict[str, Any]) -> dict[str, Any]:
    job = read_job(request["table"])
    start = time.process_time()
    filled = run(method, job, request.get("draws", 0))
    seconds = time.process_time() - start
    filled = np.where(np.isnan(job.cells), filled, job.cells)
    left = ~np.isfinite(filled)
    np.save(request["filled"], np.where(left, job.centers(), filled))
    return {"seconds": seconds, "rescued": int(left.sum()), "version": version(method)}


def serve(answered: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Keep the standard output for answers: what the peer prints goes to the standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            found = answered(json.loads(line))
        except Exception as error:
            found = {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    serve(partial(answer, sys.argv[1]))
