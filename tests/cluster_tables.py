"""Tables and parts of recipes for the tests of clusters; workers import them from here."""

import time
from dataclasses import dataclass

import numpy as np
import pandas as pd

from greyfill._neighbors.distance import Heom


def mixed_table(n_rows: int = 900, rate: float = 0.12, seed: int = 0) -> pd.DataFrame:
    """Numbers, whole numbers, text, categories and truths with holes, and a column of classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    frame["a"] += y
    frame["b"] += 2 * (y == 1)
    frame["count"] = pd.array(rng.integers(0, 50, n_rows) + 5 * y, dtype="Int64")
    frame["word"] = np.array(["red", "green", "blue"])[(y + rng.integers(0, 2, n_rows)) % 3]
    frame["size"] = pd.Categorical.from_codes(
        (y + rng.integers(0, 2, n_rows)) % 3, ["S", "M", "L"], ordered=True
    )
    frame["truth"] = pd.array(rng.random(n_rows) < 0.3 + 0.2 * y, dtype="boolean")
    frame = frame.astype({"word": "string"})
    for name in frame:
        frame[name] = frame[name].mask(rng.random(n_rows) < rate)
    frame["class"] = np.array(["u", "v", "w"])[y]
    return frame.set_index(np.arange(100, 100 + n_rows))


def differences(one: pd.DataFrame, other: pd.DataFrame) -> tuple[float, int]:
    """The largest difference of numbers, and how many other cells differ."""
    numbers = one.select_dtypes("number").columns
    others = [name for name in one.columns if name not in numbers]
    gap = (one[numbers].astype(float) - other[numbers].astype(float)).abs().to_numpy().max()
    return float(gap), int((one[others].astype(object) != other[others].astype(object)).sum().sum())


@dataclass(frozen=True)
class SlowHeom(Heom):
    """Takes its time, so that a test can do something to the cluster in the meantime."""

    seconds: float = 0.25

    def search(self, *queries):
        time.sleep(self.seconds)
        return super().search(*queries)


@dataclass(frozen=True)
class HungryHeom(Heom):
    """Takes more memory than a worker has, and keeps it until somebody does something about it."""

    mebibytes: int = 2000

    def search(self, *queries):
        held = [np.ones(2**17) for _ in range(self.mebibytes)]
        time.sleep(60.0)
        return super().search(*queries)[: len(held)]
