"""The command ``greyfill``: parse, call one function, say what was written.

```
program     the commands, and what becomes of a mistake: one line and an exit code
options     every option once, in groups: TableOptions, MethodChoice, OutputOptions
fill_options  FillOptions: --fill, --not-applicable, --bounds
sheet       FILE + TableOptions ──> Sheet: features, labels, the rest, notes
fill_job    Sheet + MethodChoice ──> a fitted imputer, the filled features, numbers about them
findings    what is worth a look in a table, and the command that takes all of it
console     messages, tables and progress in a terminal
```

One module for each group of commands: impute_command (impute, fit), apply_command, inspect_command,
app_command (`greyfill.app`, the local page), compare_command, worth_command, sensitivity_command,
report_command (report, reproduce), demo_command (demo, datasets), warmup_command.
``with_options`` expands a parameter whose type is a dataclass into the options of its fields, so a
command gets ``table: TableOptions`` and typer sees nine options.

The path of ``greyfill impute``: program → options → impute_command → sheet (reads) → fill_job
(encodes once, fits, fills) → console. What can be wrong is checked on the way before what takes
long to load: options before files, names of columns before cells, all of them before scikit-learn.

Data and ``--json`` go to stdout, everything else to stderr. Exit codes: 0 fine, 1 a check failed,
2 wrong usage or input, 130 interrupted, 141 the reader of a pipe went away, 143 terminated.
"""

from greyfill.cli.program import app

__all__ = ["app"]
