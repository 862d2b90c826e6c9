"""Files with holes → a frame, and the filled frame → a file that differs only in the holes.

```
path or "-" ── loading ──> bytes            decompressed; formats tells CSV from Parquet …
  ── encodings ──> UTF-8                    the codec and the byte order mark are remembered
  ── delimiters, tokens ──> Grid            where every cell starts and ends
  ── inference ──> typed columns + Style    numbers, truths, dates, text; how they are spelled
  ── csv_text ──> frame + CsvText           the input's bytes and the places of the holes
filled frame
  ── csv_text ──> the input's bytes, with the imputed cells spliced in
  ── atomic ──> written beside and renamed
```

Parquet, Arrow, JSON lines and Excel have types of their own: `typed` reads and writes them with
polars, and their observed cells keep their values and dtypes.
"""

from greyfill.files.atomic import check_output, put
from greyfill.files.formats import Format
from greyfill.files.source import Source, read
from greyfill.files.typed import put_parquet

__all__ = ["Format", "Source", "check_output", "put", "put_parquet", "read"]
