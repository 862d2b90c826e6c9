"""The folder of a server: nobody else may look into it, and it goes when the server does.

A server removes its own folder; workers do if it was killed (`greyfill.app.worker`); if all of them
were, the next server on this machine does.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

PREFIX = "greyfill-app-"
OWNED = re.compile(rf"{PREFIX}(\d+)-(\d+)-\w+")
MOST_LETTERS = 100


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder (mode 0700) that is removed at the end; those of dead servers are too."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{_born(os.getpid())}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove folders whose server does not run any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        found = OWNED.fullmatch(folder.name)
        if found is None or folder.is_symlink() or not _is_ours(folder):
            continue
        pid, born = map(int, found.groups())
        if _born(pid) != born:  # another process may have the number of a dead one
            shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    getuid = getattr(os, "getuid", None)
    return getuid is None or folder.stat().st_uid == getuid()


def _born(pid: int) -> int | None:
    """When a process began, in hundredths of a second; None where there is none."""
    try:
        return round(100 * float(psutil.Process(pid).create_time()))
    except psutil.Error:
        return None


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
