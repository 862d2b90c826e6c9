"""Any bytes as a file: read and written back byte for byte, or refused in words.

    pip install atheris
    python benchmarks/fuzz_files.py --seconds 120
    python benchmarks/fuzz_files.py crash-…          run one input again

The first byte chooses the options. A CSV file that is read must come back as it was when nothing
is filled, and keep its rows when every hole is.
"""

import tempfile
from pathlib import Path

from fuzzing import fuzz, instrumented

instrumented()

import io

import polars as pl

from greyfill import files
from greyfill.exceptions import GreyfillError

FOLDER = Path(tempfile.mkdtemp(prefix="greyfill-fuzz-"))
OPTIONS = (
    {},
    {"na_values": ["?", "-999"]},
    {"delimiter": ";", "decimal": ","},
    {"encoding": "latin-1"},
    {"text_columns": ["a"]},
    {"numeric_columns": ["a"]},
)
FORMATS = (None, *files.Format)


def seeds() -> list[bytes]:
    frame = pl.DataFrame({"a": [1, None, 3], "b": ["x", None, "y"], "c": [0.5, 1.5, None]})
    made = []
    for number, write in enumerate((pl.DataFrame.write_parquet, pl.DataFrame.write_ipc,
                                    pl.DataFrame.write_ndjson)):  # fmt: skip
        buffer = io.BytesIO()
        write(frame, buffer)
        made.append(bytes([number]) + buffer.getvalue())
    texts = (
        "a,b\n1,x\n,y\n3,\n", "a;b\r\n1,5;2024-01-01\r\n;2024-02-02T10:00:00Z\r\n",
        'a\tb\n"q ""u""\nv"\t?\n-999\ttrue\n', "\ufeffa,b\n0.10,+5\n,1e-7\n", "a|b\n007|\n008|NA\n",
    )  # fmt: skip
    made += [b"\0" + text.encode() for text in texts]
    made += [b"\3" + "a,b\né,1\n,2\n".encode("latin-1"), b"\0" + "a,b\n1,\n".encode("utf-16")]
    return made


def one_input(data: bytes) -> None:
    first, content = (data[0], data[1:]) if data else (0, b"")
    options = OPTIONS[first % len(OPTIONS)]
    format = FORMATS[first // len(OPTIONS) % len(FORMATS)]
    name, out = FOLDER / "in", FOLDER / "out"
    name.write_bytes(content)
    try:
        source = files.read(name, format=format, **options)
        source.write(source.frame, out, force=True)
        if source.format is files.Format.CSV:
            assert out.read_bytes() == content, "an unfilled file has changed"
        filled = source.frame.with_columns(
            column.fill_null(column.drop_nulls()[0]) for column in source.frame if column.count()
        )
        source.write(filled, out, force=True)
        again = files.read(out, format=source.format, **options)
    except GreyfillError:
        return
    assert again.frame.height == source.frame.height
    assert again.frame.columns == source.frame.columns


if __name__ == "__main__":
    fuzz(__doc__, one_input, seeds())
