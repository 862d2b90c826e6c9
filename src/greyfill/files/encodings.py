"""Bytes of any encoding ⇄ UTF-8, such that going back gives the same bytes."""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from greyfill.exceptions import InvalidDataError, InvalidParameterError

_BOMS = {  # the mark of UTF-16-LE begins that of UTF-32-LE, so the longer ones come first
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
_WITHOUT_BOM = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


@dataclass(frozen=True, eq=False)
class Encoded:
    """The text of a file as UTF-8, its codec, and the byte order mark that stood before it."""

    body: bytes
    codec: str
    mark: bytes = b""
    note: str = ""

    def encode(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """UTF-8 in whole characters → the bytes of a file, with its mark."""
        yield self.mark
        if self.codec == "utf-8":
            yield from chunks
            return
        encoder = codecs.getincrementalencoder(self.codec)()
        for chunk in chunks:
            yield encoder.encode(chunk.decode())
        yield encoder.encode("", final=True)


def decode(raw: bytes, name: str, encoding: str | None = None) -> Encoded:
    """Find the encoding, unless it is given, and bring the text into UTF-8.

    A byte order mark decides; else UTF-8 if the bytes are valid, else Windows-1252 (or Latin-1
    where that has no letter), which the note says. Bytes that are mostly good UTF-8 with a few
    broken places are refused.

    >>> text = decode("naïve".encode("cp1252"), "words.csv")
    >>> text.codec, text.body.decode()
    ('cp1252', 'naïve')
    """
    codec = _marked(raw) if encoding is None else _named(encoding, raw)
    note = ""
    if codec is None:
        codec = _guessed(raw, name)
        if codec in ("cp1252", "latin-1"):
            note = f"{name} is no UTF-8; it was read, and will be written, as {codec}."
    mark = _BOMS.get(codec, b"")
    mark = mark if raw.startswith(mark) else b""
    body = _to_utf8(raw[len(mark) :], codec, name, len(mark))
    _refuse_binary(body, name)
    return Encoded(body, codec, mark, note)


def _marked(raw: bytes) -> str | None:
    return next((codec for codec, mark in _BOMS.items() if raw.startswith(mark)), None)


def _named(encoding: str, raw: bytes) -> str:
    try:
        codec = codecs.lookup(encoding).name
        "".encode(codec)
    except LookupError as error:
        raise InvalidParameterError(f"The encoding {encoding!r} is unknown.") from error
    marked = _marked(raw)
    if codec in _WITHOUT_BOM:
        same = marked is not None and marked.startswith(codec.removesuffix("-sig"))
        return marked if marked is not None and same else _WITHOUT_BOM[codec]
    return codec


def _guessed(raw: bytes, name: str) -> str:
    wide = _wide(raw[:4096])
    if wide is not None:
        return wide
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if _is_damaged_utf8(raw):
            raise _undecodable(raw, name, "utf-8", error.start) from error
    else:
        return "utf-8"
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of plain letters is zero."""
    low, high = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if half and high > 0.5 * half and not low:
        return "utf-16-le"
    return "utf-16-be" if half and low > 0.5 * half and not high else None


def _is_damaged_utf8(raw: bytes) -> bool:
    """Whether more letters outside ASCII are good UTF-8 than not."""
    text = raw.decode("utf-8", errors="surrogateescape")
    strange = [letter for letter in text if letter > "\x7f"]
    bad = sum("\udc80" <= letter <= "\udcff" for letter in strange)
    return len(strange) - bad > bad


def _to_utf8(raw: bytes, codec: str, name: str, offset: int) -> bytes:
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError as error:
        raise _undecodable(raw, name, codec, error.start, offset) from error
    if codec == "utf-8":
        return raw
    if text.encode(codec, errors="replace") != raw:
        raise InvalidDataError(
            f"{name}: the encoding {codec} cannot give back all bytes as they were. "
            "Convert the file to UTF-8."
        )
    return text.encode()


def _undecodable(
    raw: bytes, name: str, codec: str, start: int, offset: int = 0
) -> InvalidDataError:
    line = raw[:start].decode(codec, errors="ignore").count("\n") + 1
    return InvalidDataError(
        f"{name}, line {line}: byte 0x{raw[start]:02x} at offset {start + offset} is not valid "
        f"{codec}. Name the right encoding (encoding=, --encoding), or repair the file."
    )


def _refuse_binary(body: bytes, name: str) -> None:
    place = body.find(b"\0")
    if place >= 0:
        line = body.count(b"\n", 0, place) + 1
        raise InvalidDataError(
            f"{name} has a zero byte in line {line}, so it is no text. "
            "If it is a Parquet, Arrow or Excel file, give it that extension."
        )
