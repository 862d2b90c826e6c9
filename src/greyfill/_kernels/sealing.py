"""Files of compiled kernels that are used only as they were written.

The files of numba's cache hold machine code. A flipped bit in one would be executed, and ends the
program, or gives a wrong number, without a word.
"""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import caching

NUMBA_FILE: Any = getattr(caching, "IndexDataCacheFile", object)
NEEDED = ("load", "save", "_load_index", "_load_data", "_open_for_write", "_index_path")
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
    file = getattr(cache, "_cache_file", None)
    if type(file) is NUMBA_FILE and all(hasattr(file, name) for name in NEEDED):
        file.__class__ = SealedFile  # it has the place, the names and the stamp already
