"""Writing a file so that at any moment the old one or the new one is there, never a part.

`writing` and `put` write to a draft, a file that has no name or a hidden one until it is complete.
`check_output`, `check_outputs` and `check_dataset` tell before any work whether that can be done,
and whether two names lead to one file.
"""

import errno
import os
import secrets
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from greyfill.exceptions import FileProblemError, InvalidParameterError
from greyfill.files.inputs import STANDARD_STREAM, naming, shown

_UNNAMED = getattr(os, "O_TMPFILE", 0)
_PRIVATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_POSIX = os.name == "posix"
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2} if _POSIX else {}
_DESCRIPTORS = ("/dev/fd", "/proc/self/fd") if _POSIX else ()


def put(out: str | os.PathLike[str], chunks: Iterable[bytes], *, force: bool = False) -> None:
    """Write bytes to a file as `writing` does."""
    with writing(out, force=force) as stream:
        stream.writelines(chunks)


@contextmanager
def writing(out: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A stream that writes beside the file, and at the end brings it to the disk and renames it.

    An error in between leaves the old file. An existing file is replaced only with ``force`` and
    keeps its permissions, and its owner where the system allows it. A symbolic link stays: the file
    it points to is replaced. A device, a pipe or an open stream such as ``"/dev/stdout"`` is
    written directly; ``"-"`` is standard output.
    """
    name = os.fspath(out)
    if name == STANDARD_STREAM:
        with naming("standard output", "write to"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    check_output(name, force=force)
    with naming(name, "write"):
        if is_special(name):
            with _open_special(name) as stream:
                yield stream
        else:
            with _replacing(os.path.realpath(name), force) as stream:
                yield stream


def _open_special(name: str) -> BinaryIO:
    number = descriptor_of(name)
    if number is None:
        return open(name, "wb")
    sys.stdout.flush()
    return open(os.dup(number), "wb")


@contextmanager
def _replacing(path: str, force: bool) -> Iterator[BinaryIO]:
    old = os.stat(path) if os.path.exists(path) else None
    # A new file gets the usual permissions at once; a replacement is private until it is complete.
    draft = open_draft(os.path.dirname(path), 0o666 if old is None else 0o600)
    try:
        with open(draft.descriptor, "wb") as stream:
            yield stream
            stream.flush()
            if old is not None:
                _take_over(stream.fileno(), old)
            os.fsync(stream.fileno())
            draft.publish(stream, path, replace=force)
    except BaseException:
        draft.discard()
        raise


def _take_over(descriptor: int, old: os.stat_result) -> None:
    """Give a file the owner, where possible, and the permissions of the one that it replaces."""
    if not hasattr(os, "fchown"):
        return
    new = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


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
    out: str | os.PathLike[str], *, source: str | None = None, force: bool = False
) -> None:
    """Refuse an output that could not be written, before any work is done for it."""
    name = os.fspath(out)
    if name == STANDARD_STREAM:
        return
    check_name(name)
    with naming(name, "write"):
        if is_special(name):
            return
        folder = os.path.dirname(os.path.realpath(name))
        if os.path.isdir(name):
            raise FileProblemError(f"Cannot write {name}: it is a folder. Name a file in it.")
        if not os.path.isdir(folder):
            raise FileProblemError(f"Cannot write {name}: there is no folder {folder}.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise FileProblemError(f"Cannot write {name}: no permission to write in {folder}.")
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
    check_apart(source, out)
    check_replaceable(out, endings)


def check_apart(source: str, out: str) -> None:
    """Refuse a folder to write to that lies in the input, or the input in it."""
    if _holds(out, source) or (os.path.isdir(source) and _holds(source, out)):
        raise FileProblemError(
            f"Cannot write {out}: it and the input {source} lie in each other. Name another folder "
            "for the output."
        )


def check_replaceable(out: str, endings: Sequence[str]) -> None:
    """Refuse a folder as output that holds anything but files with these endings."""
    if os.path.exists(out) and not os.path.isdir(out):
        raise FileProblemError(f"Cannot write {out}: it is no folder. Name another one.")
    for folder, _, names in os.walk(out):
        for name in names:
            if not name.lower().endswith(tuple(endings)):
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
    status = _status(name)
    mode = 0 if status is None else status.st_mode
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
        is_null = os.path.samestat(first, os.stat(os.devnull))
        return os.path.samestat(first, second) and not is_null
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
    folded = [unicodedata.normalize("NFC", n).casefold() for n in (name, called)]
    return name == called or (folded[0] == folded[1] and not _tells_case(folder))


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


def _holds(folder: str, name: str) -> bool:
    """Whether a path is a folder, or lies in it."""
    outer, path = _status(folder), Path(os.path.realpath(name))
    inner = [_status(os.fspath(part)) for part in (path, *path.parents)]
    return outer is not None and any(
        os.path.samestat(outer, one) for one in inner if one is not None
    )


def _status(name: str, stream: TextIO | None = None) -> os.stat_result | None:
    """The status of a file, if it exists; ``"-"`` is the stream."""
    stream = sys.stdout if stream is None else stream
    try:
        return os.fstat(stream.fileno()) if name == STANDARD_STREAM else os.stat(name)
    except (OSError, ValueError):  # also a stream that is no file
        return None


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


def open_draft(folder: str, mode: int) -> "Draft":
    """A new draft in a folder; the system takes its umask off the mode."""
    if _UNNAMED:
        with suppress(_UnsupportedError):
            return UnnamedDraft(folder, mode)
    return NamedDraft(folder, mode)


class _UnsupportedError(Exception):
    """The file system has no files without a name."""


class UnnamedDraft:
    """A file without a name, which the system removes with the process."""

    def __init__(self, folder: str, mode: int) -> None:
        try:
            self.descriptor = os.open(folder, _UNNAMED | os.O_WRONLY, mode)
        except OSError as error:
            if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise _UnsupportedError from error
            raise
        self._link = f"/proc/self/fd/{self.descriptor}"
        if not os.path.exists(self._link):
            os.close(self.descriptor)
            raise _UnsupportedError

    def publish(self, stream: BinaryIO, path: str, *, replace: bool) -> None:
        """Give the draft its name, at once; an existing file is an error unless replaced.

        A link never replaces a file. To replace one, the complete draft has a temporary name for
        the moment between two calls of the system.
        """
        folder = os.open(os.path.dirname(path), os.O_RDONLY)  # a dir_fd makes link() follow
        try:
            self._name(path, folder, replace)
            os.fsync(folder)
        finally:
            os.close(folder)

    def _name(self, path: str, folder: int, replace: bool) -> None:
        name = os.path.basename(path)
        try:
            os.link(self._link, name, dst_dir_fd=folder)
        except FileExistsError:
            if not replace:
                raise
            temporary = _temporary_name()
            os.link(self._link, temporary, dst_dir_fd=folder)
            try:
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise

    def discard(self) -> None:
        """Nothing to remove: the system does it."""


class NamedDraft:
    """A hidden file beside the future one."""

    def __init__(self, folder: str, mode: int) -> None:
        self._path = os.path.join(folder, _temporary_name())
        self.descriptor = os.open(self._path, _PRIVATE | _BINARY, mode)

    def publish(self, stream: BinaryIO, path: str, *, replace: bool) -> None:
        """Give the draft its name, at once."""
        stream.close()  # some systems do not rename an open file
        if not replace and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        os.replace(self._path, path)

    def discard(self) -> None:
        """Remove the hidden file if it still exists."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)


Draft = UnnamedDraft | NamedDraft
DRAFTS = ".greyfill-*.tmp"
"""How drafts with a name are called, one of which a killed process may leave."""


def _temporary_name() -> str:
    return DRAFTS.replace("*", secrets.token_hex(8))
