"""Which format a file has: by its name, else by its first bytes."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import PurePath
from typing import Any, BinaryIO, Protocol

from greyfill.exceptions import FileProblemError, InvalidParameterError


class Format(StrEnum):
    """The formats that can be read and written."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    JSON_LINES = "jsonl"
    EXCEL = "excel"


class Compression(StrEnum):
    """The compressions that may be wrapped around a format."""

    GZIP = "gzip"
    ZSTD = "zstd"


FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".psv", ".txt"), Format.CSV),
    **dict.fromkeys((".parquet", ".pq"), Format.PARQUET),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), Format.ARROW),
    **dict.fromkeys((".jsonl", ".ndjson"), Format.JSON_LINES),
    ".xlsx": Format.EXCEL,
}
COMPRESSIONS = {
    ".gz": Compression.GZIP,
    ".zst": Compression.ZSTD,
    ".zstd": Compression.ZSTD,
}
_FORMAT_MAGIC = {
    b"PAR1": Format.PARQUET,
    b"ARROW1": Format.ARROW,
    b"PK\x03\x04": Format.EXCEL,
}
_COMPRESSION_MAGIC = {b"\x1f\x8b": Compression.GZIP, b"\x28\xb5\x2f\xfd": Compression.ZSTD}


@dataclass(frozen=True)
class Layout:
    """The format of a file and its compression; None where the name does not tell."""

    format: Format | None
    compression: Compression | None


def layout_of(name: str) -> Layout:
    """The layout that the extensions of a file name promise.

    >>> layout_of("votes.csv.gz").compression, layout_of("votes.PQ").format
    (<Compression.GZIP: 'gzip'>, <Format.PARQUET: 'parquet'>)
    >>> layout_of("-")
    Layout(format=None, compression=None)
    """
    path = PurePath(name)
    compression = COMPRESSIONS.get(path.suffix.lower())
    if compression is not None:
        path = path.with_suffix("")
    suffix = path.suffix.lower()
    if suffix and suffix not in FORMATS:
        known = ", ".join([*FORMATS, *COMPRESSIONS])
        raise InvalidParameterError(
            f"{name}: the extension {suffix!r} is unknown. The formats are told by {known}: "
            "convert the file to one of them, or rename it if it is one."
        )
    return Layout(FORMATS.get(suffix), compression)


def sniff_format(data: bytes) -> Format:
    """The format that the first bytes look like; CSV has no mark of its own.

    >>> sniff_format(b"PAR1..."), sniff_format(b"a,b")
    (<Format.PARQUET: 'parquet'>, <Format.CSV: 'csv'>)
    """
    if b"".join(data[:80].split()).startswith(b'{"'):
        return Format.JSON_LINES
    return next((f for magic, f in _FORMAT_MAGIC.items() if data.startswith(magic)), Format.CSV)


def sniff_compression(data: bytes) -> Compression | None:
    """The compression whose mark the data carry."""
    return next((c for magic, c in _COMPRESSION_MAGIC.items() if data.startswith(magic)), None)


WRITE_BLOCK = 1 << 20
READ_BLOCK = 1 << 14
"""Few compressed bytes at a time, since they may stand for very many."""


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take some bytes."""
        ...


@contextmanager
def compressing(stream: Sink, compression: Compression | None) -> Iterator[Sink]:
    """A sink for plain bytes; the stream gets them compressed.

    Nothing about time or name is stored, and bytes are compressed in blocks of one size, so that
    equal content gives an equal file, however it was cut.
    """
    if compression is None:
        yield stream
        return
    zipper: Any = (
        zlib.compressobj(wbits=31)
        if compression is Compression.GZIP
        else _zstandard().ZstdCompressor().compressobj()
    )
    blocks = _Blocks(stream, zipper)
    yield blocks
    blocks.finish()


class _Blocks:
    """Gathers bytes into blocks of one size and hands them on, compressed."""

    def __init__(self, stream: Sink, zipper: Any) -> None:
        self._stream, self._zipper = stream, zipper
        self._gathered = bytearray()

    def write(self, data: bytes) -> int:
        """Take some bytes."""
        self._gathered += data
        while len(self._gathered) >= WRITE_BLOCK:
            self._stream.write(self._zipper.compress(bytes(self._gathered[:WRITE_BLOCK])))
            del self._gathered[:WRITE_BLOCK]
        return len(data)

    def finish(self) -> None:
        """Write the rest."""
        self._stream.write(self._zipper.compress(bytes(self._gathered)))
        self._stream.write(self._zipper.flush())


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
