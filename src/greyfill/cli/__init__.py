"""The command ``greyfill``: parse, call one function, say what was written.

```
program     the commands, and what becomes of a mistake: one line and an exit code
command     how a command takes groups of options, its file, and OutputOptions
console     messages, tables and progress in a terminal
```

What may be said about a table and a method, and what is done with it, is in `greyfill.jobs`, which
the local page shares. One module for each group of commands: impute_command (impute, fit),
apply_command, inspect_command, app_command (`greyfill.app`, the local page), compare_command,
worth_command, sensitivity_command, report_command (report, reproduce), demo_command (demo,
datasets), warmup_command.
``with_options`` expands a parameter whose type is a dataclass into the options of its fields, so a
command gets ``table: TableOptions`` and typer sees nine options.

The path of ``greyfill impute``: program → impute_command → jobs.sheet (reads) → jobs.fill_job
(encodes once, fits, fills) → console. What can be wrong is checked on the way before what takes
long to load: options before files, names of columns before cells, all of them before scikit-learn.

Data and ``--json`` go to stdout, everything else to stderr. Exit codes: 0 fine, 1 a check failed,
2 wrong usage or input, 130 interrupted, 141 the reader of a pipe went away, 143 terminated.
"""

from greyfill.cli.program import app

__all__ = ["app"]
