"""Gzip and Zstandard, block by block."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO, Protocol

from greyfill.exceptions import FileProblemError
from greyfill.files.formats import Compression

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
