"""A page about what was imputed.

```
imputer, X, filled, y
 → reading      Evidence: both tables as numbers, the classes
 → summarize    one dict of plain numbers and words (columns, holes, facts, cautions, …)
 → charts       matplotlib axes → svg in the colors of the page
 → render       one self-contained html file, Markdown, or JSON
```
"""

from greyfill.report.document import Report, make_report, render
from greyfill.report.summary import summarize

__all__ = ["Report", "make_report", "render", "summarize"]
