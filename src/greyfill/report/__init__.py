"""A page about what was imputed.

```
imputer, X, filled, y
 → reading      Evidence: both tables as numbers, the classes
 → summarize    one dict of plain numbers and words (columns, holes, facts, cautions, …)
 → drawing      matplotlib axes → svg in the colors of the page
 → render       one self-contained html file, Markdown, or JSON
```
"""

from greyfill.report.document import Report, make_report
from greyfill.report.render import render
from greyfill.report.summarize import summarize

__all__ = ["Report", "make_report", "render", "summarize"]
