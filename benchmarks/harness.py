"""Run contestants on made-up tables, each run in its own process, and keep seconds and memory.

A run is ``python harness.py NAME SCENARIO-AS-JSON``: it makes the table, warms up on 3 000 rows (so
that compilation and imports are not counted), measures one ``fit_transform`` and prints JSON.
Memory is read from /proc, so the harness needs Linux.

Contestants with an environment of their own live in the folder ``GREYFILL_PEERS``, which
``accuracy/peers/install.sh FOLDER`` makes; those that are not there are named and left out.
"""

import importlib.util
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
PEERS = Path(os.environ.get("GREYFILL_PEERS", "peers")).absolute()


@dataclass(frozen=True)
class Scenario:
    """A table: ``relevant`` of its columns shift with the class, so weights are skewed to them.

    With a ``rank`` its columns are mixtures of so many, with a little noise, and none is relevant.
    """

    rows: int = 20_000
    columns: int = 20
    rate: float = 0.1
    relevant: int = 4
    mixed: bool = False
    rank: int = 0

    def make(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        y = np.arange(self.rows) % 2
        X = rng.normal(size=(self.rows, self.columns))
        if self.rank:
            parts, shares = (self.rows, self.rank), (self.rank, self.columns)
            X = rng.normal(size=parts) @ rng.normal(size=shares) + 0.1 * X
        else:
            X[:, : self.relevant] += y[:, np.newaxis]
        if self.mixed:  # a third of the columns become categories of four levels
            for j in range(0, self.columns, 3):
                X[:, j] = np.digitize(X[:, j], [-0.7, 0.0, 0.7])
        X[rng.random(X.shape) < self.rate] = np.nan
        return X, y

    @property
    def categories(self) -> list[int]:
        return list(range(0, self.columns, 3)) if self.mixed else []


def _ours(name: str, **options: Any) -> Callable[[Scenario], Any]:
    def make(scenario: Scenario) -> Any:
        import greyfill

        categorical = scenario.categories or "auto"
        return getattr(greyfill, name)(categorical_features=categorical, **options)

    return make


def _sklearn(name: str, **options: Any) -> Callable[[Scenario], Any]:
    def make(scenario: Scenario) -> Any:
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401

        return getattr(importlib.import_module("sklearn.impute"), name)(**options)

    return make


class Miceforest:
    """One data set, five iterations, as its documentation does."""

    def fit_transform(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        import miceforest
        import pandas as pd

        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        kernel = miceforest.ImputationKernel(frame, num_datasets=1, random_state=0)
        kernel.mice(5)
        return kernel.complete_data(0).to_numpy()


class HyperImpute:
    """The plugin that the package is named after, with its defaults."""

    def fit_transform(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        import pandas as pd
        from hyperimpute.plugins.imputers import Imputers

        return Imputers().get("hyperimpute").fit_transform(pd.DataFrame(X)).to_numpy()


class VimKnn:
    """kNN of R's VIM, weighted by distance; R says itself how long it took, memory is unknown."""

    seconds = 0.0

    def fit_transform(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            holed, filled = Path(folder, "holed.csv"), Path(folder, "filled.csv")
            header = ",".join(f"x{j}" for j in range(X.shape[1]))
            np.savetxt(holed, X, delimiter=",", header=header, comments="")
            done = subprocess.run(
                ["Rscript", str(HERE / "vim_knn.R"), holed, filled, str(PEERS / "rlib")],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            self.seconds = float(done.stdout)
            return np.genfromtxt(filled, delimiter=",", skip_header=1)


CONTESTANTS: dict[str, Callable[[Scenario], Any]] = {
    "sklearn KNNImputer": _sklearn("KNNImputer", n_neighbors=10),
    "sklearn IterativeImputer": _sklearn("IterativeImputer", random_state=0),
    "miceforest": lambda scenario: Miceforest(),
    "hyperimpute": lambda scenario: HyperImpute(),
    "R VIM kNN": lambda scenario: VimKnn(),
    "CGKNN": _ours("CGKNNImputer", n_neighbors=10, n_jobs=2),
    "CGKNN, one thread": _ours("CGKNNImputer", n_neighbors=10),
    "CGKNN, k by cv": _ours("CGKNNImputer", n_neighbors="cv", n_jobs=2),
    "CGKNN, 2000 donors a class": _ours("CGKNNImputer", n_neighbors=10, max_donors=2_000, n_jobs=2),
    "GreyImputer": _ours("GreyImputer", n_jobs=2),
    "FWGKNN": _ours("FWGKNNImputer", n_neighbors=10, n_jobs=2),
    "GKNN": _ours("GKNNImputer", n_neighbors=10, n_jobs=2),
    "GBNN": _ours("GBNNImputer", n_neighbors=10, n_jobs=2),
    "MI-KNN": _ours("MIKNNImputer", n_neighbors=10, n_jobs=2),
    "IKNN": _ours("IKNNImputer", n_neighbors=10, n_jobs=2),
    "SKNN": _ours("SKNNImputer", n_neighbors=10, n_jobs=2),
    "KNNI": _ours("KNNIImputer", n_neighbors=10, n_jobs=2),
    "MissForest": _ours("MissForestImputer", n_jobs=2),
    "MICE": _ours("MICEImputer", n_jobs=2),
}
SLOW = ("miceforest", "hyperimpute", "R VIM kNN", "MissForest", "MICE")
"""These warm up on 200 rows only."""


def interpreter(name: str) -> str | None:
    """The Python that runs a contestant; None where the contestant is not installed."""
    if name == "R VIM kNN":
        return sys.executable if shutil.which("Rscript") else None
    if name not in ("miceforest", "hyperimpute"):
        return sys.executable
    own = PEERS / name / "bin" / "python"
    if own.exists():
        return str(own)
    return sys.executable if importlib.util.find_spec(name) else None


@dataclass(frozen=True)
class Measured:
    """Seconds and MiB of every repeat, or why there are none."""

    seconds: tuple[float, ...] = ()
    mib: tuple[float, ...] = ()
    error: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else float("nan")

    @property
    def memory(self) -> float:
        return statistics.median(self.mib) if self.mib else float("nan")


def race(
    names: list[str], scenario: Scenario, repeats: int = 3, limit: float = 300.0
) -> dict[str, Measured]:
    """Measure contestants in turns, so that a slow spell of the machine hits everyone."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    errors: dict[str, str] = {}
    for _ in range(repeats):
        for name in names:
            if name in errors:
                continue
            result = _run(name, scenario, limit)
            if "error" in result:
                errors[name] = result["error"]
            else:
                found[name].append(result)
    return {
        name: Measured(
            tuple(r["seconds"] for r in runs), tuple(r["mib"] for r in runs), errors.get(name, "")
        )
        for name, runs in found.items()
    }


def _run(name: str, scenario: Scenario, limit: float) -> dict[str, Any]:
    python = interpreter(name)
    if python is None:
        return {"error": "not installed"}
    command = [python, __file__, name, json.dumps(asdict(scenario))]
    pipe = subprocess.PIPE
    # A session of its own, so that a run over its time ends with all processes that it started.
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as run:
        try:
            told, complaint = run.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return {"error": f"over {limit:.0f} s"}
    if run.returncode:
        return {"error": (complaint.strip().splitlines() or ["died"])[-1][:80]}
    return dict(json.loads(told.splitlines()[-1]))


def resident_mib(what: str) -> float:
    """Resident memory of this process now (VmRSS) or at its highest since the reset (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def child(name: str, scenario: Scenario) -> None:
    import warnings

    warnings.simplefilter("ignore")
    imputer = CONTESTANTS[name](scenario)
    X, y = Scenario(**{**asdict(scenario), "rows": 200 if name in SLOW else 3_000}).make()
    imputer.fit_transform(X, y)
    X, y = scenario.make()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the warm-up
    before, start = resident_mib("VmRSS"), time.perf_counter()
    filled = imputer.fit_transform(X, y)
    seconds = time.perf_counter() - start
    assert not np.isnan(filled).any()
    mib = resident_mib("VmHWM") - before
    if isinstance(imputer, VimKnn):
        seconds, mib = imputer.seconds, float("nan")
    print(json.dumps({"seconds": seconds, "mib": mib}))


if __name__ == "__main__":
    child(sys.argv[1], Scenario(**json.loads(sys.argv[2])))
