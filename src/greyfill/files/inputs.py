"""From a path or standard input to bytes: decompressed, in blocks and again, as UTF-8 and back."""

import codecs
import errno
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import BinaryIO, Self

from greyfill.exceptions import (
    FileProblemError,
    GreyfillError,
    InvalidDataError,
    InvalidParameterError,
)
from greyfill.files.formats import (
    DAMAGED,
    Compression,
    Format,
    decompressed,
    found_compression,
)
from greyfill.files.guesses import Guess
from greyfill.text import plural

STANDARD_STREAM = "-"
LF, CR = 10, 13
BLOCK = 1 << 22
"""Bytes that are read at a time."""

_REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of the path is no folder",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the disk is read-only",
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.ELOOP: "its symbolic links go in a circle",
    errno.EEXIST: "it exists already; --force (force=True) replaces it",
    errno.EBADF: "the stream is closed, or not open for this",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EPIPE: "its reader went away",
}


@contextmanager
def naming(name: str, deed: str) -> Iterator[None]:
    """Turn an error of the system into one that names the file.

    >>> with naming("votes.csv", "read"):
    ...     raise FileNotFoundError(errno.ENOENT, "gone")
    Traceback (most recent call last):
    greyfill.exceptions.FileProblemError: Cannot read votes.csv: there is no such file or folder.
    """
    try:
        yield
    except FileProblemError:
        raise
    except OSError as error:
        problem = FileProblemError(f"Cannot {deed} {name}: {reason(error)}.")
        problem.errno = error.errno
        raise problem from error


def reason(error: OSError) -> str:
    """What the system could not do, in words."""
    return _REASONS.get(error.errno or 0, error.strerror or str(error))


_PYTHON = re.compile(r"(--[a-z-]+(?: \S+)?) \([a-z_]+=\w*\)")
"""A flag and, in parentheses, what it is called in Python."""


def in_words(error: BaseException) -> str:
    """What went wrong, as a sentence."""
    if isinstance(error, MemoryError) and not isinstance(error, GreyfillError):
        return "not enough memory. Give fewer rows, or a machine with more."
    if isinstance(error, GreyfillError) or not isinstance(error, OSError):
        return _PYTHON.sub(r"\1", str(error))
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{reason(error)}"


def shown(name: str) -> str:
    """How messages call a file."""
    return "standard input" if name == STANDARD_STREAM else name or "a file without a name"


def refuse_sheet(sheet: str | None, format: Format, name: str) -> None:
    """Refuse the name of a sheet for a file that is no workbook."""
    if sheet is not None and not format.is_book:
        raise InvalidParameterError(
            f"{shown(name)} is a {format} file, which has no sheets: leave --sheet away."
        )


class NoRowsError(InvalidDataError):
    """A table without rows; its columns are known."""

    def __init__(self, message: str, columns: Iterable[str]) -> None:
        super().__init__(message)
        self.columns = list(columns)


class Input:
    """A file that can be read in blocks, from its start, as often as one likes.

    What can be read only once, standard input or a pipe, goes to a temporary file first: to the
    disk, not to the memory.
    """

    def __init__(self, name: str, expected: Compression | None) -> None:
        self.name = name
        self._stack, self._stamp = ExitStack(), _stamp(name)
        with naming(shown(name), "read"):
            self._stream: BinaryIO = self._stack.enter_context(_seekable(name))
            self.compression = found_compression(self._stream.read(8), expected)
            is_empty = self._stream.tell() == 0
        if self.compression is None and expected is not None and not is_empty:
            self._stack.close()
            raise InvalidDataError(f"{shown(name)} is no {expected} file, though its name says so.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def plain_path(self) -> str:
        """A plain file with its bytes, decompressed: its own, or one that goes with the input."""
        if self.compression is None and self.name != STANDARD_STREAM and os.path.isfile(self.name):
            return os.path.realpath(self.name)
        spool = NamedTemporaryFile(prefix="greyfill-")  # noqa: SIM115  (closed with the input)
        self._stack.enter_context(spool)
        spool.writelines(self.blocks())
        spool.flush()
        return spool.name

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Refuse what was made of a file that changed since it was opened."""
        try:
            yield
        except Exception as error:
            self._check_unchanged(error)
            raise
        self._check_unchanged(None)

    def _check_unchanged(self, error: Exception | None) -> None:
        if _stamp(self.name) != self._stamp:
            raise FileProblemError(
                f"Cannot read {shown(self.name)}: it changed while it was read. Try again when "
                "nobody writes to it."
            ) from error

    def head(self, size: int) -> bytes:
        """The first bytes, decompressed."""
        return next(self.blocks(size), b"")

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """The bytes from the start, decompressed, in blocks of about this size."""
        try:
            with naming(shown(self.name), "read"):
                self._stream.seek(0)
                yield from decompressed(self._stream, self.compression, size)
        except InvalidDataError as error:
            raise InvalidDataError(f"{shown(self.name)}: {error}") from None
        except DAMAGED as error:
            raise InvalidDataError(
                f"{shown(self.name)} is a damaged or cut off {self.compression} file: {error}."
            ) from error


def _stamp(name: str) -> tuple[int, ...]:
    """Tells a plain file from what it becomes by a change."""
    try:
        seen = os.stat(name)
    except OSError:
        return ()
    is_plain = name != STANDARD_STREAM and stat.S_ISREG(seen.st_mode)
    return (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns) if is_plain else ()


def _seekable(name: str) -> BinaryIO:
    if name != STANDARD_STREAM and Path(name).is_file():
        return open(name, "rb")
    spool = TemporaryFile()  # noqa: SIM115  (closed with the input)
    try:
        if name == STANDARD_STREAM:
            shutil.copyfileobj(sys.stdin.buffer, spool)
        else:
            with open(name, "rb") as stream:
                shutil.copyfileobj(stream, spool)
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return spool


_BOMS = {  # the mark of UTF-16-LE begins that of UTF-32-LE, so the longer ones come first
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
_WITHOUT_BOM = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_NO_FILES = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
"""Codecs of Python for names and literals, not for the text of a file."""

_NOT_IN_CP1252 = b"\x81\x8d\x8f\x90\x9d"
_HEAD = 4096
MOST_ZEROS = 0.5
"""The share of zero bytes above which a file is no text."""

Blocks = Callable[[], Iterable[bytes]]
"""Reads a file from its start, in blocks."""


@dataclass(frozen=True)
class Encoding:
    """The codec of a file, the byte order mark before its text, and the byte that ends a line."""

    codec: str
    mark: bytes = b""
    newline: int = LF
    note: str = ""
    zero_lines: tuple[int, ...] = ()

    @property
    def guesses(self) -> Iterator[Guess]:
        """What zero bytes were taken for."""
        if self.zero_lines:
            first, *others = self.zero_lines
            more = f" and {plural(len(others), 'more line')}" if others else ""
            text = f"Zero bytes in line {first}{more}: taken as blanks, kept as they are."
            yield Guess("zeros", text, "If the file was cut off, get it anew.")

    def decode(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The bytes of a file → UTF-8 without the mark."""
        blocks = without_first(blocks, len(self.mark))
        if self.codec == "utf-8":
            yield from blocks
            return
        decoder = codecs.getincrementaldecoder(self.codec)()
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()


class Encoder:
    """UTF-8 in whole characters → the bytes of a file, with its mark, part by part."""

    def __init__(self, encoding: Encoding) -> None:
        self._mark = encoding.mark
        self._codec = (
            None if encoding.codec == "utf-8" else codecs.getincrementalencoder(encoding.codec)()
        )

    def encode(self, chunk: bytes) -> bytes:
        """The bytes of some more text."""
        mark, self._mark = self._mark, b""
        return mark + (chunk if self._codec is None else self._codec.encode(chunk.decode()))

    def encode_all(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The bytes of all chunks of a text, and those that end it."""
        yield from map(self.encode, chunks)
        yield self.finish()

    def finish(self) -> bytes:
        """The bytes that end the text."""
        return self._mark + (b"" if self._codec is None else self._codec.encode("", final=True))


def find_encoding(
    blocks: Blocks, name: str, encoding: str | None = None, *, strict: bool = False
) -> Encoding:
    """Find the encoding, unless it is given, and check that all bytes obey it.

    A byte order mark decides; else UTF-8 if the bytes are valid, else Windows-1252 (or Latin-1
    where that has no letter), which the note says. Bytes that are mostly good UTF-8 with a few
    broken places are refused, and so are zero bytes, but for some in what is sure to be text.

    >>> find_encoding(lambda: ["naïve".encode("cp1252")], "words.csv").codec
    'cp1252'
    """
    head = first_bytes(blocks(), _HEAD)
    codec = _marked(head) if encoding is None else _named(encoding, head)
    if codec is not None:
        mark = _BOMS.get(codec, b"")
        mark = mark if head.startswith(mark) else b""
        return _checked(codec, mark, blocks, name, zeros=not strict)
    if (wide := _wide(head)) is not None:
        return _checked(wide, b"", blocks, name)
    try:
        return _checked("utf-8", b"", blocks, name, zeros=not strict)
    except _UndecodableError:
        if _is_damaged_utf8(blocks()):
            raise
    is_latin = any(letter in block for block in blocks() for letter in _NOT_IN_CP1252)
    codec = "latin-1" if is_latin else "cp1252"
    note = f"{name} is not UTF-8; it was read, and will be written, as {codec}."
    return _checked(codec, b"", blocks, name, note)


class _UndecodableError(InvalidDataError):
    """Some bytes are no text in an encoding."""


def first_bytes(blocks: Iterable[bytes], size: int) -> bytes:
    """So many bytes from the start of a file, or all that there are."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= size:
            break
    return head[:size]


def without_first(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The bytes of a file but for so many at its start."""
    for block in blocks:
        yield block[size:]
        size = max(0, size - len(block))


def _marked(head: bytes) -> str | None:
    return next((codec for codec, mark in _BOMS.items() if head.startswith(mark)), None)


def _named(encoding: str, head: bytes) -> str:
    try:
        codec = codecs.lookup(encoding).name
        if codec in _NO_FILES:
            raise LookupError
        "".encode(codec)
    except (LookupError, ValueError) as error:  # also a name that no codec can have
        raise InvalidParameterError(
            f"The encoding {encoding!r} is unknown, or not one of text files. "
            "Name another one, such as utf-8, utf-16 or cp1252."
        ) from error
    marked = _marked(head)
    if codec in _WITHOUT_BOM:
        same = marked is not None and marked.startswith(codec.removesuffix("-sig"))
        return marked if marked is not None and same else _WITHOUT_BOM[codec]
    return codec


def _wide(head: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of plain letters is zero."""
    low, high = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half and high > 0.5 * half and not low:
        return "utf-16-le"
    return "utf-16-be" if half and low > 0.5 * half and not high else None


def _checked(
    codec: str, mark: bytes, blocks: Blocks, name: str, note: str = "", *, zeros: bool = False
) -> Encoding:
    """Read all bytes once: they must be text, and encoding the text must give them back.

    A text may have some zero bytes if ``zeros`` says so.
    """
    decoder, twin = codecs.getincrementaldecoder(codec)(), _Twin(codec, name)
    line, offset, has_lf, has_cr = 1, len(mark), False, False
    zero_lines: list[int] = []
    n_zeros = n_letters = 0
    for block in _and_none(without_first(blocks(), len(mark))):
        waiting = len(decoder.getstate()[0])  # bytes of a letter that the last block cut
        try:
            text = decoder.decode(block or b"", final=block is None)
        except UnicodeDecodeError as error:
            before = bytes(error.object[: error.start]).decode(codec, errors="ignore")
            line += before.count("\n")
            raise _UndecodableError(
                f"{name}, line {line}: byte 0x{error.object[error.start]:02x} at offset "
                f"{offset - waiting + error.start} is not valid {codec}. "
                "Name the right one, --encoding NAME, or repair the file."
            ) from error
        twin.check(block, text)
        if "\0" in text:
            zero_lines += [n for n, words in enumerate(text.split("\n"), line) if "\0" in words]
            n_zeros += text.count("\0")
        n_letters += len(text)
        if zero_lines and (not zeros or (block is None and n_zeros > n_letters * MOST_ZEROS)):
            raise InvalidDataError(
                f"{name} has a zero byte in line {zero_lines[0]}, so it is no text. "
                "If it is a Parquet, Arrow or Excel file, give it that extension."
            )
        offset += len(block or b"")
        line += text.count("\n")
        has_lf, has_cr = has_lf or "\n" in text, has_cr or "\r" in text
    newline = CR if has_cr and not has_lf else LF
    return Encoding(codec, mark, newline, note, tuple(dict.fromkeys(zero_lines)))


def _and_none(blocks: Iterable[bytes]) -> Iterator[bytes | None]:
    yield from blocks
    yield None


class _Twin:
    """Encodes the text again beside its decoding and compares."""

    def __init__(self, codec: str, name: str) -> None:
        self._codec, self._name = codec, name
        self._encoder = codecs.getincrementalencoder(codec)(errors="replace")
        self._given, self._made = b"", b""

    def check(self, block: bytes | None, text: str) -> None:
        """Compare as much as both sides have; None is the end."""
        if self._codec == "utf-8":
            return
        self._given += block or b""
        self._made += self._encoder.encode(text, final=block is None)
        size = min(len(self._given), len(self._made))
        is_whole = text.encode(errors="ignore").decode() == text  # no half letters, as of UTF-7
        is_same = is_whole and self._given[:size] == self._made[:size]
        self._given, self._made = self._given[size:], self._made[size:]
        if not is_same or (block is None and (self._given or self._made)):
            raise InvalidDataError(
                f"{self._name}: the encoding {self._codec} cannot give back all bytes as they "
                "were. Convert the file to UTF-8."
            )


def _is_damaged_utf8(blocks: Iterable[bytes]) -> bool:
    """Whether more letters outside ASCII are good UTF-8 than not."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
    good = bad = 0
    for block in _and_none(blocks):
        text = decoder.decode(block or b"", final=block is None)
        import numpy as np  # takes its time, which a file that cannot be read need not cost

        letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        n_bad = int(((letters >= 0xDC80) & (letters <= 0xDCFF)).sum())
        good, bad = good + int((letters > 0x7F).sum()) - n_bad, bad + n_bad
    return good > bad
