"""Tables of any library ⇄ the one `Table` that every method works on.

```
X ── validation.open_table ──> numpy array or narwhals frame        refuses what is no table
  ── columns ──> schema.Cells, one a column                         raw values, holes, family
  ── encoder.learn ──> schema.Schema, grid.Grid                     names, kinds, levels; in fit
  ── encoder.encode ──> Table + schema.Origin                       numbers, codes, mask
filled numbers + Origin
  ── grid ──> on the steps of their column, within bounds
  ── decoder ──> the values of the holes, as the column stores them
  ── pandas_backend / polars_backend / arrow_backend ──> the same library, only holes written
  ── columns.convert ──> another library, where one is wanted
```

What a library raises on the way, `validation.refusing` turns into an error that names the column.
No module outside this package calls a dataframe library for the tables of a user. The three
backends have the functions of `columns.Backend`, and are imported when the first table of their
library arrives.
"""

from greyfill.frames.columns import interval_frame, library_of, long_frame
from greyfill.frames.decoder import cell_values, decode
from greyfill.frames.encoder import (
    as_sentinels,
    encode,
    encode_plain,
    find_excluded,
    merge_schemas,
    numbered,
    plain_origin,
)
from greyfill.frames.schema import Family, Field, Origin, Schema, sorted_levels
from greyfill.frames.validation import (
    check_bounds,
    column_positions,
    has_names,
    is_auto,
    open_table,
    shown,
    with_names,
    with_text_names,
)

__all__ = [
    "Family",
    "Field",
    "Origin",
    "Schema",
    "as_sentinels",
    "cell_values",
    "check_bounds",
    "column_positions",
    "decode",
    "encode",
    "encode_plain",
    "find_excluded",
    "has_names",
    "interval_frame",
    "is_auto",
    "library_of",
    "long_frame",
    "merge_schemas",
    "numbered",
    "open_table",
    "plain_origin",
    "shown",
    "sorted_levels",
    "with_names",
    "with_text_names",
]
