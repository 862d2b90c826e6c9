"""Kernels work wherever they are installed: the cache of compiled code is a help, not a need."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from imputers.jobs import COMPILE

import greyfill
from greyfill._search.jit import _OptionalStep

NO_LOCATOR = """
from numba.core import caching
base = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # as versions call it
for cls in (base, *base.__subclasses__()):
    cls._locator_classes = []
"""
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))"
"""Files of more than 2 KiB cannot be written, as if the disk were full."""


def run(code: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


def test_no_place_for_a_cache() -> None:
    assert run(NO_LOCATOR + COMPILE) == "2.0"


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    assert run(LIMITED + COMPILE, NUMBA_CACHE_DIR=str(tmp_path)) == "2.0"
    assert all(path.stat().st_size <= 2048 for path in tmp_path.rglob("*.nb?"))


@pytest.mark.parametrize("error", [OSError("gone"), EOFError(), AttributeError(), MemoryError()])
def test_a_cache_that_cannot_be_read_counts_as_empty(error: Exception) -> None:
    def load(*_: object) -> None:
        raise error

    assert _OptionalStep(load)("signature", "target") is None
    assert _OptionalStep(lambda *_: "kernel")("signature", "target") == "kernel"


def test_a_kernel_that_cannot_be_cached_is_told_where_warnings_are_errors() -> None:
    def save(*_: object) -> None:
        raise UserWarning("dynamic globals")

    with pytest.raises(UserWarning, match="dynamic globals"):
        _OptionalStep(save)("signature", "kernel")


REPEATED = """
import sys
from pathlib import Path
import numpy as np
from greyfill._search.kernels import write_cells
from greyfill._search.jit import exact

def hits(dtype=np.float64):
    kernel = exact(write_cells.py_func)  # as a new process has it: nothing is loaded yet
    cell, value = np.zeros(1, dtype=np.intp), np.array([3.0], dtype)
    assert kernel(np.array([[1.0]], dtype), np.array([False]), cell, cell, cell, value) == 2.0
    return sum(kernel.stats.cache_hits.values())

assert (hits(), hits()) == (0, 1)
"""
"""Compile a kernel, and load it from the cache as often as one likes."""

DAMAGED = """
def damages(raw):
    for place in [*range(0, len(raw), len(raw) // 6), len(raw) - 1]:
        yield raw[:place] + bytes([raw[place] ^ 0x10]) + raw[place + 1:]
    yield from (b"", raw[:-1], raw[:len(raw) // 2], raw + b"x", b"words, not code", raw[:-32])

for path in sorted(Path(sys.argv[1]).rglob("*.nb?")):
    for damaged in damages(path.read_bytes()):
        path.write_bytes(damaged)
        assert (hits(), hits()) == (0, 1), (path.name, damaged[:40])
"""


def test_damaged_files_are_never_executed_and_are_replaced(tmp_path: Path) -> None:
    run(REPEATED + DAMAGED, str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path))
    assert {path.suffix for path in tmp_path.rglob("*.*")} == {".nbi", ".nbc"}
    assert run(COMPILE, NUMBA_CACHE_DIR=str(tmp_path)) == "2.0"


SWAPPED = """
assert (hits(np.float32), hits(np.float32)) == (0, 1)
one, two = sorted(Path(sys.argv[1]).rglob("*.nbc"))
first = one.read_bytes()
one.write_bytes(two.read_bytes())
two.write_bytes(first)
assert (hits(), hits(np.float32)) == (0, 0)
assert (hits(), hits(np.float32)) == (1, 1)
"""


def test_code_of_another_signature_is_never_executed(tmp_path: Path) -> None:
    """Two processes that compile two signatures at once may give them the same file."""
    run(REPEATED + SWAPPED, str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path))


def test_a_numba_that_keeps_its_files_in_another_way_keeps_them_so(tmp_path: Path) -> None:
    other = "from numba.core import caching; del caching.IndexDataCacheFile._load_index\n"
    kernel = "from greyfill._search.kernels import write_cells\n"
    kind = "print(type(write_cells._cache._cache_file).__name__)"
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(kernel + kind, **place) == "SealedFile"
    assert run(other + kernel + kind, **place) == "IndexDataCacheFile"


def can_unshare() -> bool:
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return False
    line = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


def test_an_installation_and_a_home_that_are_read_only(tmp_path: Path) -> None:
    """A file system that nobody can write to, root included; only a fresh /tmp is writable."""
    if not can_unshare():
        pytest.skip("needs a mount namespace")
    code = tmp_path / "fill.py"
    code.write_text(
        COMPILE + "import os\n"
        "for place in (os.path.dirname(np.__file__), os.environ['HOME']):\n"
        "    try:\n        open(os.path.join(place, 'probe'), 'w')\n"
        "    except OSError:\n        continue\n"
        "    raise SystemExit(f'{place} can be written')\n"
    )
    package, home = Path(greyfill.__file__).parent.parent, tmp_path / "home"
    home.mkdir()
    (tmp_path / "copy").mkdir()
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package / "greyfill", tmp_path / "copy" / "greyfill", ignore=ignore)
    # Bound to itself, the whole tree can be made read-only for this process and its children.
    places = f"{tmp_path} {Path(sys.prefix)} {Path(np.__file__).parent}"
    script = (
        f"for place in {places}; do mount --bind $place $place && "
        "mount -o remount,ro,bind $place || exit 7; done; "
        f"exec {sys.executable} -B {code}"
    )
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(tmp_path / "copy")}
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if done.returncode == 7:
        pytest.skip("cannot remount in a namespace here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2.0"


READ_ONLY = """
import tempfile
def refuse(*_, **__): raise PermissionError(13, "read-only")
tempfile.TemporaryFile = refuse  # how numba finds out whether it may write to a folder
from numba.core.caching import CompileResultCacheImpl
CompileResultCacheImpl._locator_classes = CompileResultCacheImpl._locator_classes[:1]
"""
"""Only the folder that was named is looked at, and it cannot be written."""
TOLD = "from greyfill import progress; progress.watch_compiling(lambda kept: print('kept', kept))"


def test_a_folder_of_compiled_code_that_can_only_be_read_is_used(tmp_path: Path) -> None:
    """As in an image, or where another user has compiled."""
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(f"{TOLD}\n{COMPILE}", **place).splitlines() == ["kept True", "2.0"]
    assert run(f"{TOLD}\n{COMPILE}", **place) == "2.0"
    assert run(f"{READ_ONLY}\n{TOLD}\n{COMPILE}", **place) == "2.0"
    for path in tmp_path.rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:-1])
    assert run(f"{READ_ONLY}\n{TOLD}\n{COMPILE}", **place).splitlines() == ["kept False", "2.0"]


def test_a_folder_that_was_named_is_not_mixed_with_another(tmp_path: Path) -> None:
    """What lies beside the sources is not looked at if the folder that was named can be written."""
    assert run(COMPILE) == "2.0"
    told = run(f"{TOLD}\n{COMPILE}", NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert told == ["kept True", "2.0"]
