"""Whatever happens while the command writes: each file is the old one or the new one, complete."""

import errno
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import greyfill as library
from greyfill.exceptions import FileProblemError
from greyfill.files import atomic

IMPUTE = (
    "impute", "table.csv", "--target", "outcome", "--ignore", "id", "--na-values", "?",
    "-m", "cgknn", "-k", "2",
    "--test", "new.csv", "--report", "page.md", "--save", "model", "--force",
)  # fmt: skip
WRITTEN = ("table.filled.csv", "new.filled.csv", "page.md", "model")
"""The files of one command, in the order in which they are written."""

OLD = b"what was there before"
SYNCS = 2 * len(WRITTEN)
"""Each file is brought to the disk, and then the folder with its new name."""


@pytest.fixture(params=["unnamed", "named"])
def draft(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of drafts; only named ones could be left behind."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_UNNAMED", 0)
    elif not atomic._UNNAMED:
        pytest.skip("this system has no files without a name")
    return str(request.param)


@pytest.fixture
def new_contents(greyfill: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What a run without faults writes; afterwards the old files are back."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")  # the page tells when it was made
    greyfill(*IMPUTE)
    contents = {name: (folder / name).read_bytes() for name in WRITTEN}
    for name in WRITTEN:
        (folder / name).write_bytes(OLD)
    return contents


def at_call(number: int, deed: Callable[[], None], original: Any) -> Any:
    """A function of the system that does something else the n-th time."""
    calls = iter(range(1, 1_000))

    def call(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == number:
            deed()
        return original(*args, **kwargs)

    return call


def fail(number: int) -> Callable[[], None]:
    def deed() -> None:
        raise OSError(number, os.strerror(number))

    return deed


def check_old_or_new(folder: Path, new: dict[str, bytes], names: list[str]) -> None:
    """Complete files in the order in which they were due, and nothing else in the folder."""
    assert sorted(path.name for path in folder.iterdir()) == names
    is_new = [(folder / name).read_bytes() == new[name] for name in WRITTEN]
    is_old = [(folder / name).read_bytes() == OLD for name in WRITTEN]
    assert all(a != b for a, b in zip(is_new, is_old, strict=True))
    assert is_new == sorted(is_new, reverse=True)


STOPS = {
    "SIGINT": (lambda: os.kill(os.getpid(), signal.SIGINT), 130, "interrupted"),
    "SIGTERM": (lambda: os.kill(os.getpid(), signal.SIGTERM), 143, "terminated"),
    "disk full": (fail(errno.ENOSPC), 2, "disk is full"),
}


@pytest.fixture
def heard_interrupts() -> Iterator[None]:
    """Ctrl-C as in a terminal; shells let programs in the background ignore it."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.mark.usefixtures("heard_interrupts")
@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS.keys())
def test_stopped_at_every_write(
    greyfill: Any, folder: Path, new_contents: dict[str, bytes], draft: str, stop: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    deed, exit_code, words = stop
    original, names = os.fsync, sorted(path.name for path in folder.iterdir())
    for place in range(1, 1 + (SYNCS if draft == "unnamed" else len(WRITTEN))):
        monkeypatch.setattr(os, "fsync", at_call(place, deed, original))
        done = greyfill(*IMPUTE, exit_code=exit_code)
        assert words in done.stderr
        check_old_or_new(folder, new_contents, names)
        for name in WRITTEN:
            (folder / name).write_bytes(OLD)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_disk_that_is_full_from_the_start(
    greyfill: Any, folder: Path, new_contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    class FullDraft(atomic.NamedDraft):
        def __init__(self, where: str, mode: int) -> None:
            super().__init__(where, mode)
            os.close(self.descriptor)
            self.descriptor = os.open("/dev/full", os.O_WRONLY)

    names = sorted(path.name for path in folder.iterdir())
    monkeypatch.setattr(atomic, "open_draft", FullDraft)
    done = greyfill(*IMPUTE, exit_code=2)
    assert "disk is full" in done.stderr
    check_old_or_new(folder, new_contents, names)


@pytest.mark.skipif(not atomic._UNNAMED, reason="a kill may leave a draft that has a name")
@pytest.mark.parametrize("place", [1, 4, 5, 8])
def test_killed_at_a_write(
    command: Any, folder: Path, new_contents: dict[str, bytes], place: int
) -> None:
    names = sorted(path.name for path in folder.iterdir())
    kill = f"""
calls, sync = iter(range(1, 99)), os.fsync
def fsync(descriptor):
    if next(calls) == {place}:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(descriptor)
os.fsync = fsync"""
    assert command(*IMPUTE, before=kill).returncode == -signal.SIGKILL
    check_old_or_new(folder, new_contents, names)
    assert sum((folder / name).read_bytes() != OLD for name in WRITTEN) == place // 2


def test_terminated_in_the_middle_of_the_work(command: Any, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    stop = (
        "import greyfill._neighbors.engine as e; "
        "e.run_recipe = lambda *a: os.kill(os.getpid(), signal.SIGTERM)"
    )
    done = command(*IMPUTE, before=stop)
    assert done.returncode == 143
    assert done.stderr.endswith(b"greyfill: terminated; no file was left half-written\n")
    assert sorted(path.name for path in folder.iterdir()) == before


def test_results_of_a_comparison_and_reports_are_replaced_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the library writes by itself takes the same way to the disk."""
    from greyfill.evaluation.compare import Store

    cache, page = tmp_path / "compare.parquet", tmp_path / "page.html"
    with Store(cache) as store:
        store.add([{"key": "a", "metric": "nrmse", "value": 0.1}])
    old = cache.read_bytes()
    page.write_bytes(OLD)
    iris = library.datasets.load("iris")
    imputer = library.KNNIImputer(n_neighbors=1)
    imputer.fit_transform(iris.X, iris.y)
    monkeypatch.setattr(os, "fsync", lambda descriptor: fail(errno.ENOSPC)())
    with pytest.raises(FileProblemError, match="disk is full"), Store(cache) as store:
        store.add([{"key": "b", "metric": "nrmse", "value": 0.2}])
    with pytest.raises(FileProblemError, match="disk is full"):
        imputer.report_.save(page)
    assert sorted(os.listdir(tmp_path)) == ["compare.parquet", "page.html"]
    assert cache.read_bytes() == old
    assert pl.read_parquet(cache)["key"].to_list() == ["a"]
    assert page.read_bytes() == OLD
