"""A page about what was imputed: numbers first, pictures and words from the numbers alone.

```
imputer, X, filled, y
 → evidence        both tables as numbers, the classes; what the fitted imputer keeps of its work
 → summary         one dict of plain numbers and words, which JSON can hold
     column_summary    its columns, patterns of holes and uncertain cells
     held_out          trust by column, and held-out cells against their fills
 → document        one self-contained html page, Markdown, or JSON, from templates
     svg               the plots of the page, in its colors
         charts            each plot on matplotlib axes; `greyfill.plots` offers the same
         overimputation    the plot of held-out cells
         shift_plot        the plot of a sensitivity analysis
         tips              what is told of a place in a plot
```

The summary does not grow with the rows, and shows no row unless ``raw_rows`` says so. Everything
after it reads the summary alone, so a report that was saved as JSON renders to the same page.
Names and values stay as they are in the summary; the templates escape them. matplotlib is imported
for html only.
"""

from greyfill.report.document import Report, make_report, render
from greyfill.report.summary import summarize

__all__ = ["Report", "make_report", "render", "summarize"]
