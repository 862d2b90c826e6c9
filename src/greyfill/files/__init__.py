"""Files with holes → a frame, and the filled frame → a file that differs only in the holes.

```
path or "-" ── loading ──> bytes in blocks  decompressed; formats tells CSV from Parquet …
  ── encodings ──> UTF-8                    the codec and the byte order mark are remembered
  ── delimiters, tokens ──> grid            where every cell starts and ends
  ── looks, inference ──> types and styles  numbers, truths, dates, text; how they are spelled
  ── csv_text ──> frame and holes           the input's bytes and the places of the holes
filled frame
  ── csv_text ──> the input's bytes, with the imputed cells spliced in
  ── compressing, atomic ──> written beside and renamed; outputs tells before whether it can be
```

`source` reads and writes a table as a whole, `batches` part by part in bounded memory; both go this
way and give the same bytes. `learned` is what a model tells about new rows: how their fills are
written. Parquet, Arrow, JSON lines and Excel have types of their own: `typed`
and `scanning` read them with polars and `writing` writes them; observed cells keep their values and
dtypes.
"""

from greyfill.files.atomic import Output, check_output, check_outputs, put
from greyfill.files.formats import Format
from greyfill.files.polars_formats import put_parquet
from greyfill.files.styles import LearnedTypes
from greyfill.files.table_file import Batch, Batches, Source, open_batches, read

__all__ = [
    "Batch",
    "Batches",
    "Format",
    "LearnedTypes",
    "Output",
    "Source",
    "check_output",
    "check_outputs",
    "open_batches",
    "put",
    "put_parquet",
    "read",
]
