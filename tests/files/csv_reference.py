"""The slow twins of the tokenizer: the cells of a CSV text by its plain definition."""

from itertools import pairwise
from typing import Any

from greyfill.files.tokens import tokenize


def slow_tokenize(body: bytes, delimiter: bytes, newline: bytes) -> list[list[bytes]]:
    r"""All records of a text, each a list of raw cells with their quotes.

    >>> slow_tokenize(b'a,b\r\n1,"x, y"\r\n', b",", b"\n")
    [[b'a', b'b'], [b'1', b'"x, y"']]
    """
    records: list[list[bytes]] = []
    start = 0
    while start < len(body):
        record: list[bytes] = []
        stop = delimiter
        while stop == delimiter:
            end = _cell_end(body, start, delimiter, newline)
            cell, stop = body[start:end], body[end : end + 1]
            record.append(cell.removesuffix(b"\r") if stop == newline == b"\n" else cell)
            start = end + 1
        records.append(record)
    return records


def slow_content(cell: bytes) -> bytes:
    """The text of one cell, without quotes.

    >>> slow_content(b'"a ""b"" c"'), slow_content(b'5" pipe')
    (b'a "b" c', b'5" pipe')
    """
    if not cell.startswith(b'"'):
        return cell
    size = _quote_end(cell, 0)
    return cell[1 : size - 1].replace(b'""', b'"') + cell[size:]


def raw_cells(raw: bytes, reader: Any) -> list[list[bytes]]:
    """The raw cells of a file, laid out as a reader found one like it to be.

    Neither what stands before the table nor lines that are empty, or of zero bytes, are rows.
    """
    body = raw.decode(reader.encoding.codec).encode().removeprefix(b"\xef\xbb\xbf")
    body, newline = body[len(reader.preamble.text) :], bytes([reader.encoding.newline])
    if reader.delimiter == " ":
        tokens = tokenize(body, " ", newline[0])
        spans = zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
        cells = [body[a:b] for a, b in spans]
        return [cells[a:b] for a, b in pairwise(tokens.firsts.tolist())]
    rows = slow_tokenize(body, reader.delimiter.encode(), newline)
    if len(reader.columns) == 1:
        return rows
    return [row for row in rows if len(row) > 1 or row[0].strip(b"\0")]


def _cell_end(body: bytes, start: int, delimiter: bytes, newline: bytes) -> int:
    """Where the cell ends that begins here."""
    end = _quote_end(body, start) if body[start : start + 1] == b'"' else start
    while end < len(body) and body[end : end + 1] not in (delimiter, newline):
        end += 1
    return end


def _quote_end(body: bytes, start: int) -> int:
    """Where the text in quotes ends that begins here, after its closing quote."""
    end = start + 1
    while end < len(body):
        if body[end : end + 2] == b'""':
            end += 2
        elif body[end : end + 1] == b'"':
            return end + 1
        else:
            end += 1
    raise ValueError("a quote is not closed")
