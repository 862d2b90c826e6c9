"""A file, what a user says about it, and what is done with it: under the command and the page.

```
TableOptions, FillOptions, MethodChoice ──> Sheet ──> FillJob ──> FilledSheet
what may be said, each with its flag       a file    the work    what came of it, in numbers
```

* `options`, `fill_options`: what may be said about a table, a method, and the cells to fill;
* `sheet`: a file and what was said about its columns → features, labels, the rest, and notes;
* `fill_job`: learn from a sheet, fill it, fill others like it;
* `findings`: what only the owner of a table can settle, and the finished command;
* `inspection`: all that can be told before a fill, as ``greyfill inspect`` and the page show it.

Nothing is printed here: `greyfill.cli` prints, `greyfill.app` has a page.
"""
