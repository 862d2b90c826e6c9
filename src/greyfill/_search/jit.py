"""How kernels are compiled, and kept in files that are used only as they were written.

A kernel is decorated by `exact` or `fast`, or by `exact_inner` or `fast_inner` where only kernels
call it; those are compiled with their callers (`modules`). Files of compiled code are sealed by a
hash; where one is damaged or cannot be written, the kernel is compiled in this process instead.
Files that another user left in a folder that this process cannot write to are used, too: those of
an image, or of an installation for all.
"""

import hashlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core import caching

from greyfill import progress
from greyfill._search.modules import is_known, kernel_compiler

KERNELS: list[Any] = []
"""The kernels of this process that Python calls."""

COMPILER, INNER_COMPILER = kernel_compiler(), kernel_compiler(of_inner=True)

NUMBA_FILE: Any = getattr(caching, "IndexDataCacheFile", object)
NEEDED = (
    "load", "save", "_load_index", "_load_data", "_open_for_write", "_index_path", "_source_stamp",
)  # fmt: skip
"""What is extended here; a numba without it keeps its files as it likes."""


class SealedFile(NUMBA_FILE):  # type: ignore[misc]
    """Index and data files of numba that end with the SHA-256 of all bytes before.

    What does not fit its seal counts as absent, so it is compiled and written again. Data also
    hold the key that they were saved under: two processes may give two signatures the same file.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep a compiled kernel under its signature."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """The kernel of a signature, or None."""
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def _load_index(self) -> Any:
        return super()._load_index() if is_sealed(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if is_sealed(self._data_path(name)) else None

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(path) as stream:  # writes beside and renames
            stream.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def is_sealed(path: str) -> bool:
    """Whether a file exists and ends with the SHA-256 of all bytes before."""
    try:
        raw = Path(path).read_bytes()
    except OSError:
        return False
    size = hashlib.sha256().digest_size
    return hashlib.sha256(raw[:-size]).digest() == raw[-size:]


def seal(cache: Any) -> None:
    """Let a kernel's cache keep sealed files, where numba keeps them in the way that is known."""
    file: Any = getattr(cache, "_cache_file", None)
    if type(file) is NUMBA_FILE and all(hasattr(file, name) for name in NEEDED):
        file.__class__ = SealedFile  # it has the place and the names already
        file._source_stamp = file._source_stamp, _sources()


@cache
def _sources() -> list[tuple[str, int, int]]:
    """What a kernel may call: numba looks only at the file of the kernel itself."""
    found = [(path.name, path.stat()) for path in Path(__file__).parent.glob("*.py")]
    return sorted((name, about.st_mtime_ns, about.st_size) for name, about in found)


def _compile(**flags: Any) -> Any:
    """Decorate with ``njit``; without a cache that works, compile anew in each process."""

    def decorate(function: Any) -> Any:
        options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **flags}
        if "no_cpython_wrapper" in flags:  # kept with the kernels that call it, not alone
            return njit(pipeline_class=INNER_COMPILER, **options)(function)
        options["pipeline_class"] = COMPILER
        try:
            kernel = njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no place to write its cache
            kernel = njit(**options)(function)
        cache = getattr(kernel, "_cache", None)
        seal(cache)
        if cache is not None:
            cache.load_overload = _Loading(function, cache.cache_path, cache.load_overload)
            cache.save_overload = _OptionalStep(cache.save_overload)
        KERNELS.append(kernel)
        return kernel

    return decorate


class _Loading:
    """How a compiled kernel is found: in its own folder, else in one that can only be read."""

    def __init__(self, function: Any, folder: str | None, load: Callable[..., Any]) -> None:
        self._function, self._folder = function, folder
        self._steps = _OptionalStep(load), _OptionalStep(self._load_shared)

    def __call__(self, signature: Any, context: Any) -> Any:
        for step in self._steps:
            found = step(signature, context)
            if found is not None:
                return found
        progress.tell_of_compiling(is_kept=self._folder is not None)
        return None

    def _load_shared(self, signature: Any, context: Any) -> Any:
        """What is in the folders that numba passed over, because it could not write there."""
        for place in caching.CompileResultCacheImpl._locator_classes:
            try:
                cache = _read_only(place)(self._function)
            except (RuntimeError, OSError):  # there is no such folder
                continue
            if cache.cache_path == self._folder:
                return None
            seal(cache)
            found = cache.load_overload(signature, context)
            if found is not None:
                return found
        return None


@cache
def _read_only(place: Any) -> Any:
    """Numba's cache in a kind of folder that need not be writable."""
    locator = type(place.__name__, (place,), {"ensure_cache_path": _check_folder})
    keeper = caching.CompileResultCacheImpl
    reader = type(keeper.__name__, (keeper,), {"_locator_classes": [locator]})
    return type("ReadOnlyCache", (caching.FunctionCache,), {"_impl_class": reader})


def _check_folder(locator: Any) -> None:
    os.stat(locator.get_cache_path())


class _OptionalStep:
    """A function of the cache that does nothing where the cache is broken."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        try:
            return self._function(*args)
        except Warning:  # a kernel that cannot be cached, where warnings are errors
            raise
        except Exception:  # full disks, damaged files, withdrawn permissions: compile instead
            return None


exact = _compile()
"""Floating point as written, so that results equal the reference bit for bit."""

fast = _compile(fastmath=True)
"""Sums may be reordered. No value inside is ever NaN or infinite."""

IN_PLACE = {"_nrt": False} if is_known() else {}

exact_in_place = _compile(**IN_PLACE)
"""Like `exact`, but it writes into what it is given: without arrays of its own a kernel compiles
and starts sooner."""

fast_in_place = _compile(fastmath=True, **IN_PLACE)
"""Like `fast`, but it writes into what it is given."""

exact_inner = _compile(no_cpython_wrapper=True)
"""Like `exact`, but only for kernels to call: what a call from Python needs is not compiled."""

fast_inner = _compile(no_cpython_wrapper=True, fastmath=True)
"""Like `fast`, but only for kernels to call."""

ZERO: Any = np.intp(0)
ONE: Any = np.intp(1)
"""Numbers that are no literals: a kernel is compiled once more for each literal it is given."""
