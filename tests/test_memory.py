"""What is free is known, what is bound to fail is refused in words, and estimates are honest."""

import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from imputers.family import IMPUTERS, quick

from greyfill import GreyClassifier, GreyRegressor, KNNIImputer, checks
from greyfill.exceptions import GreyfillError, NotEnoughMemoryError
from greyfill.frames import encoder
from greyfill.imputers import estimator

LINUX = pytest.mark.skipif(not checks.STATM.exists(), reason="reads /proc")


def holed(n: int, p: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    X[rng.random((n, p)) < 0.05] = np.nan
    return X


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
def test_estimates_are_below_what_is_needed_and_not_far_below(imputer: Any) -> None:
    """Never a false alarm, and no less than a tenth of the true need."""
    n, p = 800, 12
    X, y = holed(n, p), np.arange(n) % 2
    model = quick(imputer)
    model.fit_transform(X[:50], y[:50])  # what is loaded once does not count
    needs = []
    for work in (lambda: model.fit_transform(X, y), lambda: model.transform(X)):
        if needs:
            model.transform(X[:300])  # donors are laid out by the first call
        tracemalloc.start()
        work()
        needs.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    for need, per_cell in zip(
        needs, (imputer._bytes_per_cell, estimator.FOR_NEW_ROWS), strict=True
    ):
        assert need / 10 <= n * p * per_cell <= need


@pytest.mark.parametrize("model", [GreyClassifier, GreyRegressor])
def test_models_refuse_too_large_tables_and_only_these(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = holed(800, 12), np.arange(800) % 2
    model(n_cells=10).fit(X[:50], y[:50])
    tracemalloc.start()
    fitted = model(n_cells=10).fit(X, y)
    assert X.size * model._bytes_per_cell <= tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    leave(30_000, monkeypatch)
    with pytest.raises(NotEnoughMemoryError, match=rf"{model.__name__} on 800 × 12 cells.*sample"):
        model().fit(X, y)
    with pytest.raises(NotEnoughMemoryError, match="in chunks"):
        fitted.predict(X)
    assert fitted.predict(X[:10]).shape == (10,)


def leave(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many bytes be free, and ask for them however little is needed."""
    monkeypatch.setattr(checks, "free_bytes", lambda: free)
    monkeypatch.setattr(checks, "SMALL", 0)


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
def test_tables_beyond_the_free_memory_are_refused(
    imputer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = holed(200, 4), np.arange(200) % 2
    model = quick(imputer).fit(X, y)
    leave(4_000, monkeypatch)
    monkeypatch.setattr(encoder, "FEW_CELLS", 100)  # so few are read without a look at memory
    with pytest.raises(NotEnoughMemoryError, match=r"200 × 4 cells .* 3\.9 KiB are free.*sample"):
        quick(imputer).fit(X, y)
    with pytest.raises(NotEnoughMemoryError, match="in chunks"):
        model.transform(X)
    assert model.transform(X[:10]).shape == (10, 4)
    assert issubclass(NotEnoughMemoryError, (GreyfillError, MemoryError))


def test_too_many_donors_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X = holed(200, 4)
    leave(100_000, monkeypatch)
    with pytest.raises(NotEnoughMemoryError, match=r"200 donors of each of .* smaller n_neighbors"):
        KNNIImputer(n_neighbors=10_000).fit(X)
    KNNIImputer(n_neighbors=5).fit(X)


@LINUX
def test_a_limit_of_the_process_is_kept() -> None:
    """``ulimit -v`` leaves half a gigabyte; a table that needs more is refused at once."""
    code = """
import resource, numpy as np
from greyfill import CGKNNImputer, checks
X = np.zeros((4_000_000, 10))
size = int(checks.STATM.read_text().split()[0]) * resource.getpagesize() + 2**29
resource.setrlimit(resource.RLIMIT_AS, (size, size))
try:
    CGKNNImputer().fit_transform(X, np.zeros(len(X)))
except MemoryError as error:
    print(type(error).__name__, error)
small = CGKNNImputer(n_neighbors=1).fit_transform([[1.0, 2.0], [1.0, None]], [0, 0])
print(small.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused, filled = done.stdout.splitlines()
    assert refused.startswith(
        "NotEnoughMemoryError The work of CGKNNImputer on 4,000,000 × 10 cells"
    )
    assert "MiB are free. Fit on a sample" in refused
    assert filled == "[[1.0, 2.0], [1.0, 2.0]]"


@LINUX
def test_a_limit_leaves_what_is_not_taken_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    taken = int(checks.STATM.read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (taken + 2**20, -1))
    monkeypatch.setattr(checks, "MEMINFO", Path("none"))
    monkeypatch.setattr(checks, "CGROUP", Path("none"))
    assert checks.free_bytes() == pytest.approx(2**20, abs=2**19)
    monkeypatch.setattr(sys, "platform", "win32")  # where there is no such limit
    assert checks.free_bytes() is None


def test_the_least_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "IS_LINUX", True)
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 5000 kB\n")
    for name, text in (("max", "3000000"), ("current", "1000000"), ("stat", "inactive_file 500")):
        (tmp_path / f"memory.{name}").write_text(text)
    monkeypatch.setattr(checks, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(checks, "CGROUP", tmp_path)
    monkeypatch.setattr(checks, "STATM", tmp_path / "none")
    assert checks.free_bytes() == 2_000_500
    (tmp_path / "memory.max").write_text("max\n")
    assert checks.free_bytes() == 5000 * 1024
    (tmp_path / "meminfo").unlink()
    assert checks.free_bytes() is None
    checks.refuse_beyond(10**30, "Anything", "No remedy.")


def test_other_systems_tell_what_is_free_by_psutil(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "meminfo").write_text("MemAvailable: 1 kB\n")
    monkeypatch.setattr(checks, "IS_LINUX", False)
    monkeypatch.setattr(checks, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(checks, "CGROUP", tmp_path / "none")
    monkeypatch.setattr(checks, "STATM", tmp_path / "none")
    told = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(available=3 * 2**30))
    monkeypatch.setitem(sys.modules, "psutil", told)
    assert checks.free_bytes() == 3 * 2**30
    with pytest.raises(NotEnoughMemoryError, match=r"but 3\.0 GiB are free"):
        checks.refuse_beyond(2**32, "Counting", "Count less.")
    monkeypatch.setitem(sys.modules, "psutil", None)  # an import of it fails
    assert checks.free_bytes() is None


def test_the_command_says_it_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from greyfill.cli import app

    (tmp_path / "t.csv").write_text("a,b\n1,\n2,5\n3,4\n")
    leave(10, monkeypatch)
    with pytest.raises(SystemExit) as ended:
        app(["impute", str(tmp_path / "t.csv"), "--method", "knni"])
    assert ended.value.code == 2
    assert (
        "greyfill: The work of KNNIImputer on 3 × 2 cells needs at least" in capsys.readouterr().err
    )
