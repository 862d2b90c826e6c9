"""The command ``greyfill``: parse, call one function, say what was written.

```
options     what all commands share on the command line
reading     FILE and the wishes about its columns ──> Sheet: features, labels, the rest
choosing    a name and its settings ──> an imputer, or what is wrong with the choice
filling     Sheet + imputer ──> a filled file and the numbers about it
showing     the numbers ──> tables in a terminal
errors      a user's mistake ──> one line and an exit code
```

One file for each group of commands, which only parses, and where the work is longer one that does
it: imputing → jobs, applying → serving, inspecting → examining, comparing → matching, starting
(demo, datasets) → bundled, reporting, reproducing. Heavy imports wait until a command runs.

Data and ``--json`` go to stdout, everything else to stderr. Exit codes: 0 fine, 1 a check failed,
2 wrong usage or input, 130 interrupted, 141 the reader of a pipe went away, 143 terminated.
"""

from greyfill.cli.program import app

__all__ = ["app"]
