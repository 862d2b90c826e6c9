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
from greyfill._kernels.jit import _Forgiving

NO_LOCATOR = """
from numba.core import caching
base = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # as versions call it
for cls in (base, *base.__subclasses__()):
    cls._locator_classes = []
"""
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))"
"""Files of more than 2 KiB cannot be written, as if the disk were full."""


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
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


@pytest.mark.parametrize("error", [OSError("gone"), EOFError()])
def test_a_cache_that_cannot_be_read_counts_as_empty(error: Exception) -> None:
    def load(*_: object) -> None:
        raise error

    assert _Forgiving(load)("signature", "target") is None
    assert _Forgiving(lambda *_: "kernel")("signature", "target") == "kernel"


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
