"""What a peer is given: a matrix of numbers, or a frame with categories; and the way back.

Needs numpy alone, and pandas for frames, since it is imported in the environment of each peer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

NUMERIC, CATEGORICAL, ORDINAL = "numeric", "categorical", "ordinal"


@dataclass(frozen=True, eq=False)
class Job:
    """Cells with NaN for holes, codes of levels in categorical and ordinal columns, and labels."""

    cells: np.ndarray
    kinds: tuple[str, ...]
    n_levels: tuple[int, ...]
    labels: np.ndarray
    seed: int

    def rows(self, index: np.ndarray) -> "Job":
        return replace(self, cells=self.cells[index], labels=self.labels[index])

    def columns(self, index: np.ndarray) -> "Job":
        return replace(
            self,
            cells=self.cells[:, index],
            kinds=tuple(np.array(self.kinds)[index]),
            n_levels=tuple(np.array(self.n_levels)[index]),
        )

    def with_class(self) -> "Job":
        """The labels as one more categorical column, the last."""
        return replace(
            self,
            cells=np.column_stack([self.cells, self.labels]),
            kinds=(*self.kinds, CATEGORICAL),
            n_levels=(*self.n_levels, int(self.labels.max()) + 1),
        )

    def centers(self) -> np.ndarray:
        """Mean of a number or rank, mode of a category; NaN where nothing is observed."""
        found = np.full(len(self.kinds), np.nan)
        for j, kind in enumerate(self.kinds):
            seen = self.cells[~np.isnan(self.cells[:, j]), j]
            if len(seen):
                is_category = kind == CATEGORICAL
                found[j] = np.bincount(seen.astype(int)).argmax() if is_category else seen.mean()
        return found


def read_job(path: str) -> Job:
    """The table that ``workers.py`` wrote."""
    with np.load(path) as file:
        kinds, n_levels = tuple(file["kinds"].tolist()), tuple(file["n_levels"].tolist())
        return Job(file["cells"], kinds, n_levels, file["labels"], int(file["seed"]))


class Matrix:
    """A category of two levels as one indicator, others as many; numbers and ranks on [0, 1].

    On the way back the level with the highest indicator wins, of equal ones the more frequent.

    Parameters
    ----------
    scaled
        Whether numbers and ranks are scaled to [0, 1], or left as they are.
    base
        Whether the most frequent level of a category has no indicator and is taken where no other
        exceeds ½: for peers that cannot do with columns of which one follows from the others.
    """

    def __init__(self, job: Job, scaled: bool = True, base: bool = False) -> None:
        self._job, self._base = job, base
        self._levels = [self._wide_levels(j) for j in range(len(job.kinds))]
        self._low = np.nanmin(job.cells, axis=0) if scaled else np.zeros(len(job.kinds))
        spread = np.nanmax(job.cells, axis=0) - self._low
        self._scale = np.where(spread > 0, spread, 1.0) if scaled else np.ones(len(job.kinds))
        self.cells = np.hstack([self._encoded(j) for j in range(len(job.kinds))])

    def decoded(self, output: Any) -> np.ndarray:
        """Fills of the original columns."""
        filled, start = self._job.cells.copy(), 0
        for j, levels in enumerate(self._levels):
            width = max(len(levels) - (self._base and len(levels) > 0), 1)
            part = np.asarray(output, dtype=np.float64)[:, start : start + width]
            start += width
            holes = np.isnan(filled[:, j])
            if len(levels):
                guess = self._winners(part, levels)
            else:
                guess = part[:, 0] * self._scale[j] + self._low[j]
            filled[holes, j] = guess[holes]
        return filled

    def _wide_levels(self, j: int) -> np.ndarray:
        """The observed levels of a category with more than two, most frequent first."""
        column = self._job.cells[:, j]
        seen, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        if self._job.kinds[j] != CATEGORICAL or len(seen) <= 2:
            return seen[:0]
        return seen[np.argsort(-counts, kind="stable")]

    def _encoded(self, j: int) -> np.ndarray:
        column, levels = self._job.cells[:, [j]], self._levels[j]
        if not len(levels):
            return (column - self._low[j]) / self._scale[j]
        return np.where(np.isnan(column), np.nan, column == levels[int(self._base) :])

    def _winners(self, indicators: np.ndarray, levels: np.ndarray) -> np.ndarray:
        if self._base:
            indicators = np.column_stack([np.full(len(indicators), 0.5), indicators])
        return levels[np.argmax(np.nan_to_num(indicators, nan=-1.0), axis=1)]


def as_frame(job: Job) -> Any:
    """Numbers and ranks as float columns, categories as pandas categories ``v0``, ``v1``, …"""
    import pandas as pd

    columns = {}
    for j, kind in enumerate(job.kinds):
        cells = job.cells[:, j]
        if kind == CATEGORICAL:
            texts = [None if np.isnan(cell) else f"v{int(cell)}" for cell in cells]
            columns[f"x{j}"] = pd.Categorical(texts)
        else:
            columns[f"x{j}"] = cells.astype(np.float64)
    return pd.DataFrame(columns)


def from_frame(frame: Any, job: Job) -> np.ndarray:
    """Codes and numbers of a filled frame; NaN where it has none."""
    filled = np.full(job.cells.shape, np.nan)
    for j, kind in enumerate(job.kinds):
        cells = frame[f"x{j}"]
        if kind == CATEGORICAL:
            texts = [
                "" if hole else str(cell) for cell, hole in zip(cells, cells.isna(), strict=True)
            ]
            filled[:, j] = [float(text[1:]) if text.startswith("v") else np.nan for text in texts]
        else:
            filled[:, j] = cells.to_numpy(dtype=np.float64)
    return filled


def spared(fill: Callable[[Job], np.ndarray]) -> Callable[[Job], np.ndarray]:
    """A peer that ends in an error on columns of one value, or none, and is not given them."""

    def filled(job: Job) -> np.ndarray:
        cells = job.cells.copy()
        seen = [np.unique(column[~np.isnan(column)]) for column in cells.T]
        varied = np.flatnonzero([len(values) > 1 for values in seen])
        for j, values in enumerate(seen):
            if len(values) == 1:
                cells[:, j] = values[0]
        cells[:, varied] = fill(job.columns(varied))
        return cells

    return filled
