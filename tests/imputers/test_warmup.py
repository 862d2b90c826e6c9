"""The warm-up compiles all that filling and serving need, and tells where it is kept."""

import json
import subprocess
import sys
from pathlib import Path

from greyfill.imputers import warmup
from greyfill.imputers.warmup import warm_up

LISTED = """
import json
from greyfill._search.jit import KERNELS
print(json.dumps([[k.py_func.__name__, str(s)] for k in KERNELS for s in k.signatures]))
"""
WORK = """
import numpy as np, polars as pl
from greyfill import CGKNNImputer, FWGKNNImputer, GreyImputer
from greyfill.cli import app

rng = np.random.default_rng(0)
y = np.arange(70) % 3
X = pl.DataFrame({
    "a": rng.normal(size=70) + y, "b": rng.integers(0, 9, 70), "c": rng.choice(["u", "v"], 70),
    "d": rng.choice([True, False], 70), "e": rng.normal(size=70),
})
holes = rng.random(X.shape) < 0.15
X = X.with_columns(
    pl.when(pl.Series(~holes[:, j])).then(pl.col(name)).alias(name)
    for j, name in enumerate(X.columns)
)
X.with_columns(pl.Series("y", y)).write_csv("table.csv")
for target in (["--target", "y"], ["--ignore", "y"]):
    app(["impute", "table.csv", *target, "-fq", "--save", "model", "--report", "r.html"],
        standalone_mode=False)
    app(["apply", "model", "table.csv", "-fq"], standalone_mode=False)
for imputer in (CGKNNImputer(n_jobs=2), FWGKNNImputer(3), GreyImputer(n_jobs=2, labels="none")):
    imputer.fit_transform(X, y)
    imputer.transform(X[:1])
GreyImputer().fit(X, rng.normal(size=70)).draw(X, 2)
"""


def signatures(code: str, folder: Path) -> set[tuple[str, str]]:
    line = [sys.executable, "-c", code + LISTED]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {(name, signature) for name, signature in json.loads(done.stdout)}


def test_nothing_is_left_to_compile(tmp_path: Path) -> None:
    warm = signatures("from greyfill.imputers.warmup import warm_up\nwarm_up()\n", tmp_path)
    assert signatures(WORK, tmp_path) - warm == set()
    assert {name for name, _ in warm} >= {"search", "_tokenize_bytes", "_join_contents"}


def test_what_it_took_is_told() -> None:
    first, second = warm_up(), warm_up()
    assert second.n_compiled == first.n_compiled
    assert second.n_compiled + second.n_found > 10
    assert first.seconds > 0
    assert first.folder is None or Path(first.folder).is_dir()
    assert vars(first).keys() == {"seconds", "n_compiled", "n_found", "folder"}
    assert warmup.N_ROWS < 100
