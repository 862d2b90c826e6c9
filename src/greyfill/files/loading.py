"""From a path or standard input to decompressed bytes."""

import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from gzip import BadGzipFile
from gzip import decompress as gunzip
from importlib import import_module
from pathlib import Path
from typing import Any

from greyfill.exceptions import FileProblemError, InvalidDataError
from greyfill.files.formats import Compression, sniff_compression
from greyfill.files.problems import naming

STANDARD_STREAM = "-"


def load(name: str, promised: Compression | None) -> bytes:
    """All bytes of a file or of standard input, decompressed."""
    with naming(shown(name), "read"):
        raw = sys.stdin.buffer.read() if name == STANDARD_STREAM else Path(name).read_bytes()
    return _decompress(raw, name, promised)


def shown(name: str) -> str:
    """How messages call a file."""
    return "standard input" if name == STANDARD_STREAM else name


def _decompress(raw: bytes, name: str, promised: Compression | None) -> bytes:
    compression = sniff_compression(raw)
    if compression is None:
        if promised is not None and raw:
            raise InvalidDataError(f"{shown(name)} is no {promised} file, though its name says so.")
        return raw
    try:
        return gunzip(raw) if compression is Compression.GZIP else _unzstd(raw)
    except (EOFError, BadGzipFile, zlib.error) as error:
        raise InvalidDataError(
            f"{shown(name)} is a damaged or cut off {compression} file: {error}."
        ) from error


def compressed(chunks: Iterable[bytes], compression: Compression | None) -> Iterator[bytes]:
    """The same bytes, compressed; nothing about time or name is stored, so equal stays equal."""
    if compression is None:
        yield from chunks
        return
    zipper: Any = (
        zlib.compressobj(wbits=31)
        if compression is Compression.GZIP
        else _zstandard().ZstdCompressor().compressobj()
    )
    for chunk in chunks:
        yield zipper.compress(chunk)
    yield zipper.flush()


def _unzstd(raw: bytes) -> bytes:
    """All frames of a Zstandard file; a cut off last frame is an error."""
    zstandard = _zstandard()
    unzipper = zstandard.ZstdDecompressor()
    parts, rest = [], raw
    try:
        while rest:
            frame = unzipper.decompressobj()
            parts.append(frame.decompress(rest))
            if not frame.eof:
                raise EOFError("the last frame is not complete")
            rest = frame.unused_data
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from error
    return b"".join(parts)


def _zstandard() -> Any:
    try:
        return import_module("zstandard")
    except ImportError as error:
        raise FileProblemError(
            'Zstandard files need one more package: pip install "greyfill[zstd]"'
        ) from error


def joined(chunks: Iterable[bytes], size: int = 1 << 20) -> Iterator[bytes]:
    """The same bytes in blocks of about this size."""
    block = io.BytesIO()
    for chunk in chunks:
        block.write(chunk)
        if block.tell() >= size:
            yield block.getvalue()
            block = io.BytesIO()
    yield block.getvalue()
