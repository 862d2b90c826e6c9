"""The folder of a server: nobody else may look into it, and it goes when the server does.

A server removes its own folder; workers do if it was killed (`greyfill.app.worker`); if all of them
were, the next server on this machine does. A server holds a lock on its folder, which the system
takes away when it dies, so a folder that may be in use is never removed.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from greyfill.files.locks import folder_lock

PREFIX = "greyfill-app-"
OWNED = re.compile(rf"{PREFIX}(\d+)-\w+")
MOST_LETTERS = 100


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder (mode 0700) that is removed at the end; those of dead servers are too."""
    remove_abandoned()
    hidden = Path(tempfile.mkdtemp(prefix=f".{PREFIX}{os.getpid()}-"))
    with folder_lock(hidden):
        folder = hidden.rename(hidden.with_name(hidden.name[1:]))  # now others may see it
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove folders whose server does not run any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        found = OWNED.fullmatch(folder.name)
        with suppress(OSError):  # another server may remove it just now
            if found is None or folder.is_symlink() or not _is_ours(folder):
                continue
            with folder_lock(folder) as was_free:
                if was_free or (was_free is None and not psutil.pid_exists(int(found[1]))):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    getuid = getattr(os, "getuid", None)
    return getuid is None or folder.stat().st_uid == getuid()


def plain_name(name: str) -> str:
    r"""A name from a client as the name of a file: no folder, no control character, no option.

    >>> plain_name("../../etc/passwd"), plain_name("C:\\data\\my table.csv"), plain_name("..")
    ('passwd', 'my table.csv', 'table')
    >>> plain_name("-"), plain_name("a\x00b\n.csv"), plain_name("x" * 200 + ".csv.gz")[-9:]
    ('table', 'ab.csv', 'xx.csv.gz')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(c for c in last if c.isprintable()).lstrip(".-~ ").rstrip(". ")
    stem, _, ending = kept.partition(".")
    if len(kept.encode()) > MOST_LETTERS:
        ending = ending if len(ending.encode()) < 20 else ""
        stem = stem.encode()[: MOST_LETTERS - len(ending)].decode(errors="ignore")
        kept = f"{stem}.{ending}" if ending else stem
    return kept or "table"
