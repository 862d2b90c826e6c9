"""Which format a file has: by its name, else by its first bytes."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from greyfill.exceptions import InvalidParameterError


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
