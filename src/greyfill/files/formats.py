"""The formats and compressions of files: by name, else by first bytes; bytes to and from blocks.

`Format` and `Compression` are the one table of names, extensions and first bytes.
"""

import bz2
import gzip
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import PurePath
from typing import IO, Any, BinaryIO, Protocol, Self, cast

from greyfill.exceptions import FileProblemError, InvalidDataError, InvalidParameterError


class _Listed(StrEnum):
    """Names, the extensions that stand for them, and the bytes that such data begin with."""

    extensions: tuple[str, ...]
    magic: bytes

    def __new__(cls, name: str, extensions: tuple[str, ...], magic: bytes = b"") -> Self:
        member = str.__new__(cls, name)
        member._value_, member.extensions, member.magic = name, extensions, magic
        return member

    @classmethod
    def by_extension(cls, extension: str) -> Self | None:
        """The one that has this extension, in capitals or not."""
        return next((one for one in cls if extension.lower() in one.extensions), None)

    @classmethod
    def by_magic(cls, data: bytes) -> Self | None:
        """The one that data with these first bytes are."""
        return next((one for one in cls if one.magic and data.startswith(one.magic)), None)


class Format(_Listed):
    """The formats that can be read and written."""

    CSV = "csv", (".csv", ".tsv", ".tab", ".psv", ".txt", ".data", ".dat")
    PARQUET = "parquet", (".parquet", ".pq"), b"PAR1"
    ARROW = "arrow", (".arrow", ".feather", ".ipc"), b"ARROW1"
    JSON_LINES = "jsonl", (".jsonl", ".ndjson")
    JSON = "json", (".json",)
    EXCEL = "excel", (".xlsx", ".xlsm"), b"PK\x03\x04"
    XLS = "xls", (".xls",), b"\xd0\xcf\x11\xe0"
    ODS = "ods", (".ods",)
    ARFF = "arff", (".arff",)
    SPSS = "spss", (".sav", ".zsav"), b"$FL"
    STATA = "stata", (".dta",), b"<stata_dta>"
    SAS = "sas", (".sas7bdat",), b"\0" * 12 + b"\xc2\xea\x81\x60"
    XPORT = "xport", (".xpt", ".xport"), b"HEADER RECORD*******LIB"

    @property
    def is_text(self) -> bool:
        """Whether its cells are text, of which every byte is kept."""
        return self in (Format.CSV, Format.ARFF)

    @property
    def is_book(self) -> bool:
        """Whether it is a workbook with sheets."""
        return self in (Format.EXCEL, Format.XLS, Format.ODS)

    @property
    def is_coded(self) -> bool:
        """Whether it is a file of a statistics program."""
        return self in (Format.SPSS, Format.STATA, Format.SAS, Format.XPORT)

    @property
    def written_as(self) -> "Format":
        """The format in which a filled table is written: some can only be read."""
        others = {
            Format.XLS: Format.EXCEL, Format.ODS: Format.EXCEL,
            Format.SAS: Format.CSV, Format.XPORT: Format.CSV,
        }  # fmt: skip
        return others.get(self, self)

    def about_writing(self) -> Iterator[str]:
        """A sentence about one that is written as another."""
        if self.written_as is not self:
            other = f"written as {self.written_as.extensions[0]}"
            yield f"{self} files can only be read: it is {other}, values without formats."


class Compression(_Listed):
    """The compressions that may be wrapped around a format."""

    GZIP = "gzip", (".gz",), b"\x1f\x8b"
    ZSTD = "zstd", (".zst", ".zstd"), b"\x28\xb5\x2f\xfd"
    BZIP2 = "bzip2", (".bz2",), b"BZh"
    XZ = "xz", (".xz",), b"\xfd7zXZ\0"
    ZIP = "zip", (".zip",)


def found_compression(head: bytes, expected: Compression | None) -> Compression | None:
    r"""The compression of data with these first bytes; of zip the name tells, not a workbook.

    >>> found_compression(b"BZh9", None), found_compression(b"PK\x03\x04", Compression.ZIP)
    (<Compression.BZIP2: 'bzip2'>, <Compression.ZIP: 'zip'>)
    """
    if expected is Compression.ZIP and head.startswith(Format.EXCEL.magic):
        return expected
    return Compression.by_magic(head)


@dataclass(frozen=True)
class Layout:
    """The format of a file and its compression; None where the name does not tell."""

    format: Format | None
    compression: Compression | None


def layout_of(name: str) -> Layout:
    """The layout that the extensions of a file name stand for.

    >>> layout_of("votes.csv.gz").compression, layout_of("votes.PQ").format
    (<Compression.GZIP: 'gzip'>, <Format.PARQUET: 'parquet'>)
    >>> layout_of("-")
    Layout(format=None, compression=None)
    """
    path = PurePath(name)
    compression = Compression.by_extension(path.suffix)
    if compression is not None:
        path = path.with_suffix("")
    return Layout(Format.by_extension(path.suffix), compression)


def output_layout(name: str, source: str, format: Format) -> Layout:
    """The layout of an output for a table that was read: that of its name, else of the input.

    >>> output_layout("votes.filled.names", "votes.names", Format.CSV).format
    <Format.CSV: 'csv'>
    """
    check_extension(name, source)
    layout = layout_of(name)
    found = layout.format or format.written_as
    check_conversion(name, format, found)
    return Layout(found, layout.compression)


def check_extension(name: str, source: str) -> None:
    """Refuse an output whose extension means nothing and is not that of the input."""
    suffix, format = _suffix(name), Format.by_extension(_suffix(name))
    if suffix and format is None and suffix != _suffix(source):
        known = ", ".join(e for one in (*Format, *Compression) for e in one.extensions)
        raise InvalidParameterError(
            f"{name}: the extension {suffix!r} is unknown. The formats are told by {known}."
        )
    if format is not None and format.written_as is not format:
        other = PurePath(name).with_suffix(format.written_as.extensions[0])
        raise InvalidParameterError(
            f"{name}: {format} files can only be read. Name another output, such as {other}."
        )

    origin, macros = Format.by_extension(_suffix(source)), ".xlsm"
    is_other = format is Format.EXCEL and (suffix == macros) != (_suffix(source) == macros)
    if is_other and (suffix == macros or origin is Format.EXCEL):
        other = PurePath(name).with_suffix(".xlsx" if suffix == macros else macros)
        raise InvalidParameterError(
            f"{name}: a workbook with macros stays one, and no other becomes one. Name another "
            f"output, such as {other}."
        )
    if format is not None and origin is not None:
        check_conversion(name, origin, format)


def check_conversion(name: str, source: Format, format: Format) -> None:
    """Refuse an output in a format that only files of this format can become."""
    if (format.is_coded or format is Format.ARFF) and format is not source:
        raise InvalidParameterError(
            f"{name}: a table of another format cannot become a {format} file. Name another "
            f"output, such as {PurePath(name).with_suffix('.csv')}."
        )


def _suffix(name: str) -> str:
    path = PurePath(name)
    return (path.with_suffix("") if Compression.by_extension(path.suffix) else path).suffix.lower()


def found_format(layout: Layout, head: bytes) -> Format:
    """The format of an input: by its name, else by its first bytes, which also tell workbooks."""
    if layout.format is None or layout.format is Format.XLS or layout.format is Format.ODS:
        return sniff_format(head)  # a file called .xls is often text, or a newer workbook
    return layout.format


def sniff_format(data: bytes) -> Format:
    r"""The format that the first bytes look like; CSV has no mark of its own.

    >>> sniff_format(b"PAR1..."), sniff_format(b"a,b"), sniff_format(b"% cars\n@relation cars\n")
    (<Format.PARQUET: 'parquet'>, <Format.CSV: 'csv'>, <Format.ARFF: 'arff'>)
    """
    start = b"".join(data[:80].split())
    if start.startswith(b'{"'):
        return Format.JSON_LINES
    if start.startswith(b"[{"):
        return Format.JSON
    found = Format.by_magic(data)
    if found is Format.EXCEL and b"opendocument.spreadsheet" in data[:120]:
        return Format.ODS
    is_arff = re.match(rb"(\s*%[^\n]*\n|\s*\n)*\s*@relation\b", data[:HEAD], re.IGNORECASE)
    return found or (Format.ARFF if is_arff else Format.CSV)


HEAD = 1 << 14
"""So many first bytes tell a format."""


WRITE_BLOCK = 1 << 20
READ_BLOCK = 1 << 14
"""Few compressed bytes at a time, since they may stand for very many."""


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take some bytes."""
        ...


@contextmanager
def compressing(
    stream: Sink, compression: Compression | None, member: str = "table"
) -> Iterator[Sink]:
    """A sink for plain bytes; the stream gets them compressed, in a zip file as this member.

    Nothing about time or name is stored, and bytes are compressed in blocks of one size, so that
    equal content gives an equal file, however it was cut.
    """
    if compression is None:
        yield stream
        return
    makers: dict[Compression, Callable[[], Any]] = {
        Compression.GZIP: lambda: zlib.compressobj(wbits=31),
        Compression.ZSTD: lambda: _zstandard().ZstdCompressor().compressobj(),
        Compression.BZIP2: bz2.BZ2Compressor,
        Compression.XZ: lzma.LZMACompressor,
        Compression.ZIP: lambda: _Zipper(stream, member),
    }
    zipper = makers[compression]()
    blocks = _Blocks(stream, zipper)
    yield blocks
    stream.write(zipper.compress(bytes(blocks.gathered)))
    stream.write(zipper.flush())


class _Zipper:
    """A zip file with one member; what it writes by itself goes to the stream at once."""

    def __init__(self, stream: Sink, member: str) -> None:
        self._stream = stream
        self._file = zipfile.ZipFile(cast(IO[bytes], self), "w")
        about = zipfile.ZipInfo(member)
        about.compress_type = zipfile.ZIP_DEFLATED
        self._member = self._file.open(about, "w", force_zip64=True)

    def write(self, data: bytes) -> int:
        self._stream.write(data)
        return len(data)

    def compress(self, data: bytes) -> bytes:
        self._member.write(data)
        return b""

    def flush(self) -> bytes:
        if self._member.closed:  # the zip file itself flushes what it writes to
            return b""
        self._member.close()
        self._file.close()
        return b""


class _Blocks:
    """Gathers bytes into blocks of one size and hands them on, compressed."""

    def __init__(self, stream: Sink, zipper: Any) -> None:
        self._stream, self._zipper = stream, zipper
        self.gathered = bytearray()

    def write(self, data: bytes) -> int:
        self.gathered += data
        while len(self.gathered) >= WRITE_BLOCK:
            self._stream.write(self._zipper.compress(bytes(self.gathered[:WRITE_BLOCK])))
            del self.gathered[:WRITE_BLOCK]
        return len(data)


DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""What is raised for compressed data that are not whole."""


def decompressed(stream: BinaryIO, compression: Compression | None, size: int) -> Iterator[bytes]:
    """The plain bytes of a stream, in blocks of about this size."""
    if compression is Compression.ZSTD:
        yield from unzstd(stream)
        return
    with _opened(stream, compression) as plain:
        try:
            while block := plain.read(size):
                yield block
        except OSError as error:
            if compression is not Compression.BZIP2:
                raise
            raise EOFError(str(error)) from error


@contextmanager
def _opened(stream: BinaryIO, compression: Compression | None) -> Iterator[Any]:
    """A stream of the plain bytes; the one below stays open."""
    if compression is None:
        yield stream
    elif compression is Compression.ZIP:
        with zipfile.ZipFile(stream) as book, book.open(_only_member(book)) as member:
            yield member
    else:
        opens: dict[Compression, Any] = {
            Compression.GZIP: gzip.open,
            Compression.BZIP2: bz2.open,
            Compression.XZ: lzma.open,
        }
        with opens[compression](stream) as plain:
            yield plain


def _only_member(book: zipfile.ZipFile) -> str:
    """The one file in a zip file; folders and what systems add do not count."""
    names = [n for n in book.namelist() if not n.endswith("/") and not n.startswith("__MACOSX/")]
    if len(names) != 1:
        shown = ", ".join(map(repr, names[:6])) + (", …" if len(names) > 6 else "")
        raise InvalidDataError(
            f"the zip file holds {len(names)} files: {shown}. Only one can be read: take it out."
        )
    return names[0]


def unzstd(stream: BinaryIO) -> Iterator[bytes]:
    """All frames of a Zstandard file; a cut off last frame is an error."""
    zstandard = _zstandard()
    unzipper = zstandard.ZstdDecompressor()
    frame: Any = None
    try:
        while raw := stream.read(READ_BLOCK):
            while raw:
                frame = unzipper.decompressobj() if frame is None else frame
                if data := frame.decompress(raw):
                    yield data
                raw, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from error
    if frame is not None:
        raise EOFError("the last frame is not complete")


def _zstandard() -> Any:
    try:
        return import_module("zstandard")
    except ImportError as error:
        raise FileProblemError(
            'Zstandard files need one more package: pip install "greyfill[zstd]"'
        ) from error
