"""The paper run again, and held against its printed numbers.

```
paper ── printed numbers          claims ── what the paper says of them
scenarios ── tables with holes    runs ── one method on one of them    facts ── what needs no fill
plan ── which runs ──> running ──> results ── long tables, mean ± sd
results + claims ──> verdicts     results + paper ──> grids, figures
all of them ──> sections ──> page ── Markdown and HTML
```
"""

from greyfill.paper.reproduction import Reproduction, reproduce
from greyfill.paper.runs import ReproductionPlan

__all__ = ["Reproduction", "ReproductionPlan", "reproduce"]
