"""Which outputs can be written without the loss of another file: asked before any work is done."""

import os
import stat
import sys
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

from greyfill.exceptions import FileProblemError, InvalidParameterError
from greyfill.files.loading import STANDARD_STREAM, shown
from greyfill.files.problems import naming


@dataclass(frozen=True)
class Output:
    """A file to be written, and the input whose filled form it is: that one it may replace."""

    name: str
    source: str | None = None


def check_outputs(
    outputs: Sequence[Output], inputs: Sequence[str] = (), *, force: bool = False
) -> None:
    """Refuse outputs that could not be written, or would replace each other or an input."""
    if "" in (*inputs, *(output.source for output in outputs)):
        raise FileProblemError("The name of an input is empty. Name a file.")
    check_distinct(outputs, inputs)
    for output in outputs:
        check_output(output.name, source=output.source, force=force)


def check_distinct(outputs: Sequence[Output], inputs: Sequence[str] = ()) -> None:
    """Refuse outputs that are the same file as each other or as an input, whatever the names."""
    for number, output in enumerate(outputs):
        others = (*outputs[:number], *outputs[number + 1 :])
        for name in (*inputs, *(other.source for other in others if other.source is not None)):
            if _is_file_read(output.name, name):
                raise FileProblemError(
                    f"Cannot write {output.name}: it is the same file as {shown(name)}, which is "
                    "read. Give the output another name."
                )
        for other in outputs[:number]:
            if _are_one_output(output.name, other.name):
                raise _twice(other.name, output.name)


def check_output(
    out: str | os.PathLike[str],
    *,
    source: str | None = None,
    force: bool = False,
) -> None:
    """Refuse an output that could not be written, before any work is done for it."""
    name = os.fspath(out)
    if name == STANDARD_STREAM:
        return
    check_name(name)
    with naming(name, "write"):
        if is_special(name):
            return
        _check_folder_of(name)
        with suppress(FileNotFoundError):
            os.stat(name)  # a name that is too long, links in a circle
    if os.path.lexists(name) and not force:
        is_input = source is not None and _is_file_read(name, source)
        what = "is the input" if is_input else "exists already"
        raise FileProblemError(
            f"Cannot write {name}: it {what}. To replace it, say so: --force (force=True)."
        )


def check_name(name: str) -> None:
    """Refuse an output without a name."""
    if not name:
        raise FileProblemError("The name of an output is empty. Name a file.")


def check_dataset(source: str, out: str, endings: Sequence[str]) -> None:
    """Refuse a folder as output whose replacement would remove its input or foreign files."""
    check_name(out)
    if _holds(out, source) or (os.path.isdir(source) and _holds(source, out)):
        raise FileProblemError(
            f"Cannot write {out}: it and the input {source} lie in each other. Name another folder."
        )
    if os.path.exists(out) and not os.path.isdir(out):
        raise FileProblemError(f"Cannot write {out}: it is no folder. Name another one.")
    for folder, _, names in os.walk(out):
        for name in names:
            if not name.endswith(tuple(endings)):
                raise FileProblemError(
                    f"Cannot replace {out}: {os.path.join(folder, name)} does not belong to a "
                    "dataset. Name another folder, or remove that file."
                )


def is_special(name: str) -> bool:
    """Whether it is written directly: a device, a pipe, or a stream that is open already."""
    number = descriptor_of(name)
    if number is not None:
        os.fstat(number)
        return True
    mode = _mode(_status(name))
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise FileProblemError(f"Cannot write {name}: it is a disk or a socket. Name a file.")
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def descriptor_of(name: str) -> int | None:
    """The open stream that a name stands for.

    To open such a name would empty the file behind it, even where a shell appends to that file.

    >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/5"), descriptor_of("votes.csv")
    (1, 5, None)
    """
    if name in _STREAMS:
        return _STREAMS[name]
    folder, number = os.path.split(name)
    return int(number) if folder in _DESCRIPTORS and number.isdecimal() else None


_POSIX = os.name == "posix"
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2} if _POSIX else {}
_DESCRIPTORS = ("/dev/fd", "/proc/self/fd") if _POSIX else ()


def _check_folder_of(name: str) -> None:
    folder = os.path.dirname(os.path.realpath(name))
    if os.path.isdir(name):
        raise FileProblemError(f"Cannot write {name}: it is a folder. Name a file in it.")
    if not os.path.isdir(folder):
        raise FileProblemError(f"Cannot write {name}: there is no folder {folder}.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileProblemError(f"Cannot write {name}: no permission to write in {folder}.")


def _is_file_read(out: str, name: str) -> bool:
    """Whether an output is the very file that is read; one can read and write the same terminal."""
    written, read = _status(out), _status(name, sys.stdin)
    if written is None or read is None or not stat.S_ISREG(written.st_mode):
        return False
    return os.path.samestat(written, read)


def _are_one_output(one: str, other: str) -> bool:
    """Whether two names are or will be the same file; whatever goes to the null device is lost."""
    first, second = _status(one), _status(other)
    if first is not None and second is not None:
        return os.path.samestat(first, second) and not _is_null(first)
    return first is None and second is None and _will_be_one(one, other)


def _will_be_one(one: str, other: str) -> bool:
    """Whether two names that do not exist yet are the same, in a folder that may ignore case."""
    (folder, name), (place, called) = (os.path.split(os.path.realpath(n)) for n in (one, other))
    here, there = _status(folder), _status(place)
    if here is not None and there is not None:
        if not os.path.samestat(here, there):
            return False
    elif folder != place:
        return False
    return name == called or (_folded(name) == _folded(called) and not _tells_case(folder))


def _tells_case(folder: str) -> bool:
    """Whether a folder surely tells capitals from small letters: a name in it has no second one.

    Nothing is written to find out, so an empty folder counts as one that does not.
    """
    with suppress(OSError):
        names = set(os.listdir(folder))
        for name in filter(str.isascii, names):
            other = name.swapcase()
            if other != name:
                return other in names or not os.path.lexists(os.path.join(folder, other))
    return False


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _holds(folder: str, name: str) -> bool:
    """Whether a path is a folder, or lies in it."""
    outer, path = _status(folder), os.path.realpath(name)
    parts = [path]
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        parts.append(path)
    inner = [status for status in map(_status, parts) if status is not None]
    return outer is not None and any(os.path.samestat(outer, status) for status in inner)


def _status(name: str, stream: TextIO | None = None) -> os.stat_result | None:
    """What the system knows of a file, if it exists; ``"-"`` is the stream."""
    stream = sys.stdout if stream is None else stream
    try:
        return os.fstat(stream.fileno()) if name == STANDARD_STREAM else os.stat(name)
    except (OSError, ValueError):  # also a stream that is no file
        return None


def _mode(status: os.stat_result | None) -> int:
    return 0 if status is None else status.st_mode


def _is_null(status: os.stat_result) -> bool:
    return os.path.samestat(status, os.stat(os.devnull))


def _twice(one: str, other: str) -> InvalidParameterError:
    if STANDARD_STREAM in (one, other):
        return InvalidParameterError(
            "Only one thing can go to standard output. Name a file for the table (-o OUT)."
        )
    if one == other:
        return InvalidParameterError(f"{one} would be written twice. Give it another name.")
    return InvalidParameterError(
        f"{one} and {other} are the same file, which would be written twice. Give one of them "
        "another name."
    )
