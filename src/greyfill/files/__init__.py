"""Files with holes → a frame, and the filled frame → a file that differs only in the holes.

```
path or "-" ── inputs ──> bytes in blocks      decompressed; formats tells CSV from Parquet …
  ── inputs ──> UTF-8                          the codec and the byte order mark are remembered
  ── dialect, tokens ──> cell_grid             where every cell starts and ends
  ── column_types ──> types                    numbers, truths, dates, text; holes are null
  ── csv_text ──> frame and holes              the input's bytes and the places of the holes
filled frame
  ── styles, csv_text ──> the input's bytes    with the imputed cells spliced in
  ── formats, atomic ──> a file                compressed, written beside the old one and renamed
```

`table_file` is the way in and the way out: `read` takes a table as a whole, `open_batches` part by
part in bounded memory, and both give the same bytes. The other modules in the order of the path:

* `inputs`: a file or a stream, decompressed, in blocks and as often as needed, and its bytes
  ⇄ UTF-8, such that going back gives the same bytes;
* `formats`: the one table of formats, compressions, extensions and first bytes;
* `sample` and `dialect`: its first lines, its delimiter, and whether it has a header;
* `peek`: the names of the columns at once, to answer a mistake before any cell is read;
* `tokens` and `cell_grid`: its cells, and the rows that they make;
* `vocabulary` and `words`: words and numbers that mean missing, and where they do;
* `column_types` and `type_fits`: the type of a column, by all its cells;
* `guesses`: what was taken for granted, and how to undo it;
* `doubtful_rows`: rows without a value, and remarks below the table;
* `styles`: how a column writes its values, also as a model learned it from another file;
* `csv_text`: a CSV file as bytes, frame and holes;
* `preamble`: what stands before the table, such as a title or the head of ARFF;
* `polars_formats`: Parquet, Arrow and JSON, whose columns have types of their own;
* `json_formats`: JSON, whose cells have types, and a cell that its column cannot hold;
* `sheets` and `workbook_parts`: workbooks, of which only the holes of one sheet are changed;
* `new_books`: a new workbook of a table that was none, and what a sheet cannot hold;
* `statistics_formats`: SPSS, Stata and SAS, with labels and codes for missing;
* `origins`: both of them, read, and which writer makes an output;
* `atomic` and `locks`: whether an output can be written, and writing it at once or not at all.
"""

from typing import TYPE_CHECKING

from greyfill.checks import load_late

if TYPE_CHECKING:
    from greyfill.files.atomic import Output, check_output, check_outputs, put
    from greyfill.files.formats import Format
    from greyfill.files.guesses import sentences
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
    "sentences",
]

_HOMES = {
    "atomic": ("Output", "check_output", "check_outputs", "put"),
    "formats": ("Format",),
    "guesses": ("sentences",),
    "polars_formats": ("put_parquet",),
    "styles": ("LearnedTypes",),
    "table_file": ("Batch", "Batches", "Source", "open_batches", "read"),
}

__getattr__ = load_late(__name__, _HOMES)
