"""Fit once, save, and fill rows one by one as they arrive somewhere else.

python examples/serving_single_rows.py
"""

import tempfile
import time
from pathlib import Path
from statistics import median

import polars as pl

import greyfill
from greyfill.datasets import load

votes = load("votes")
train, arriving = votes.X[:400], votes.X[400:]

with tempfile.TemporaryDirectory() as folder:
    model = Path(folder) / "votes.greyfill"
    greyfill.GreyImputer().fit(train, votes.y[:400]).save(model)
    print(f"saved {model.stat().st_size / 1024:.0f} KiB; loading it runs no code from it")
    imputer = greyfill.load(model)

answers, times = [], []
for row in arriving.iter_rows(named=True):
    start = time.perf_counter()
    answers.append(imputer.transform(pl.DataFrame([row], schema=arriving.schema)))
    times.append(time.perf_counter() - start)

print(f"{len(answers)} rows, {median(times) * 1000:.1f} ms each (median)")
for name, before, after in zip(arriving.columns, arriving.row(0), answers[0].row(0), strict=True):
    if before is None:
        print(f"the first row lacked {name}: {after}")
batch = imputer.transform(arriving)
differing = sum(one.row(0) != batch.row(i) for i, one in enumerate(answers))
print(f"rows that a batch fills otherwise: {differing}")
