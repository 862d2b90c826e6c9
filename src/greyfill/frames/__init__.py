"""Tables of any library ⇄ the one `Table` that every method works on.

```
X ── doors ──> numpy array or narwhals frame            refuses what is no table
  ── series / arrays / objects ──> Cells per column     raw values, holes, family
  ── learning ──> Schema                                names, kinds, levels (only in fit)
  ── encoding ──> Table + Origin                        numbers, codes, mask
filled numbers + Origin
  ── storing ──> the values of the holes, as the column stores them
  ── pandas_dialect / polars_dialect / arrow_dialect ──> the same library, only holes written
```

What a library raises on the way, `refusing` turns into words that name the column. Nothing outside
this package knows a dataframe library. The three dialects have the same
functions and are imported when the first table of their library arrives.
"""

from greyfill.frames.decoder import cell_values, decode
from greyfill.frames.encoder import encode, merge_schemas
from greyfill.frames.labels import (
    are_continuous,
    class_array,
    encode_labels,
    labels_to_array,
    warn_of_target,
)
from greyfill.frames.schema import Family, Field, Origin, Schema, sorted_levels
from greyfill.frames.validation import open_table, shown

__all__ = [
    "Family",
    "Field",
    "Origin",
    "Schema",
    "are_continuous",
    "cell_values",
    "class_array",
    "decode",
    "encode",
    "encode_labels",
    "labels_to_array",
    "merge_schemas",
    "open_table",
    "shown",
    "sorted_levels",
    "warn_of_target",
]
