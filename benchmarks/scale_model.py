"""A cost model of the cluster: rows, columns, holes, classes and workers → time, memory, traffic.

The model has few terms, each with a meaning, and is fitted by least squares of relative errors.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from greyfill.distributed.cluster_loop import BUNCH, FEW_HOLES

GROWTH = 0.18
"""A search meets more of its pool as this power of the donors (docs/performance.md)."""

MOVING = 0.45
"""The share of the holes of donors that change in a pass, in the mean of 25 to 50 passes."""


@dataclass(frozen=True)
class Job:
    """What is to be done, and by how many workers of one thread each."""

    rows: int
    columns: int = 20
    incomplete: float = 0.88
    holes_per_row: float = 2.0
    classes: int = 2
    workers: int = 2
    partitions: int = 8
    passes: int = 30
    k: int = 10
    max_donors: int | None = None
    apart: bool = False
    """Whether workers make their passes apart even where one of them would do for all."""

    @property
    def passing(self) -> int:
        """Workers that make the passes: one where there are few holes."""
        return self.workers if self.apart or self.holes > FEW_HOLES else 1

    @property
    def donors(self) -> float:
        """Donors of one class."""
        each = self.rows / self.classes
        return each if self.max_donors is None else min(each, self.max_donors)

    @property
    def holes(self) -> float:
        return self.rows * self.holes_per_row

    @property
    def shared_holes(self) -> float:
        """Holes of donors: what a pass may move."""
        return self.donors * self.classes * self.holes_per_row


TERMS = {
    "search": lambda j: j.rows * j.incomplete * j.columns * j.donors**GROWTH / j.workers,
    "cells": lambda j: j.rows * j.columns / j.workers,
    "passes": lambda j: j.passes * j.holes * j.k / j.passing,
    "shared": lambda j: j.passes * j.shared_holes if j.passing > 1 else 0.0,
    "tasks": lambda j: 20.0 * j.partitions + j.passes * (4.0 * j.passing if j.passing > 1 else 1.0),
    "start": lambda j: 1.0,
}
"""What takes time, in units of its own; the fit finds the seconds of each."""


def design(jobs: list[Job]) -> np.ndarray:
    return np.array([[term(job) for term in TERMS.values()] for job in jobs], dtype=float)


def fit(jobs: list[Job], seconds: list[float]) -> dict[str, float]:
    """Seconds of a unit of each term, none negative; every run weighs the same."""
    matrix, times = design(jobs), np.asarray(seconds)
    scale = (matrix / times[:, np.newaxis]).max(axis=0)
    found, _ = nnls(matrix / times[:, np.newaxis] / scale, np.ones(len(times)))
    return dict(zip(TERMS, (found / scale).tolist(), strict=True))


def predict(model: dict[str, float], job: Job) -> float:
    return float(sum(model[name] * term(job) for name, term in TERMS.items()))


def shares(model: dict[str, float], job: Job) -> dict[str, float]:
    """The part of each term in the time of a job."""
    total = predict(model, job)
    return {name: model[name] * term(job) / total for name, term in TERMS.items()}


def traffic(job: Job) -> dict[str, float]:
    """Bytes that a run must move between workers; zero with one worker."""
    others = max(job.workers - 1, 0)
    row = job.columns * 9 + 24  # values, mask, label and numbers
    donors = job.donors * job.classes
    layout = job.columns * 21 + 32
    return {
        "donors to where pools are built": donors * row * others / job.workers,
        "pools to every other worker": donors * layout * others,
        "holes of donors in each pass": job.shared_holes * MOVING * 16 * max(job.passing - 1, 0),
    }


def memory(job: Job) -> dict[str, float]:
    """Bytes on one worker at the height of the search, and during the passes."""
    rows = job.rows / job.workers
    block = rows * (job.columns * 10 + 24)
    pool = job.donors * (job.columns * 21 + 32)
    links = rows * job.holes_per_row * job.k * 16 + rows * job.incomplete * job.k * 16
    taken = job.k * job.holes_per_row / job.columns  # holes among what the donors of a hole give
    holes = job.holes / job.passing
    moving = holes * (64 + 16 * taken) + job.shared_holes
    states = (2 * BUNCH + 1) * (holes * 9 + job.shared_holes * 8)
    return {"search": block + pool + links, "passes": block + moving + states}
