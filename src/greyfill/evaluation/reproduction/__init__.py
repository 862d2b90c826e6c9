"""The paper run again, and held against its printed numbers.

```
paper ── printed numbers          claims ── what the paper says of them
scenarios ── tables with holes    runs ── one method on one of them    facts ── what needs no fill
plan ── which runs ──> running ──> results ── long tables, mean ± sd
results + claims ──> verdicts     results + paper ──> grids, figures
all of them ──> sections ──> page ── Markdown and HTML
```
"""

from greyfill.evaluation.reproduction.plan import Plan
from greyfill.evaluation.reproduction.running import Reproduction, reproduce

__all__ = ["Plan", "Reproduction", "reproduce"]
