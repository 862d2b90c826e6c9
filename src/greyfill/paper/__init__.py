"""The paper run again, and held against its printed numbers.

What the paper says is data, what a run measures is long tables, and only `verdicts` joins the two.

- `printed`: the tables of the paper, figure by figure, and what stands out in them.
- `runs`: the five settings (a table, how holes are made in it, how its RMSE is read), a single run
  of one method on one of them, and the plan that lists the runs.
- `results`: the long tables that the runs fill, and mean ± standard error over seeds out of them.
- `verdicts`: the rules that decide a claim by results, each a function of what the claim is about.
- `claims`: the sentences of the paper, and some of ours, each with its rule.
- `grids`, `figures`: results beside printed numbers, as tables of text and as pictures.
- `forensics`: how the printed errors grow, which convention meets them, which figures recur.
- `reproduction`: `reproduce` carries out a plan, judges the claims, and writes the pages.

```
plan ── runs, in parallel ──> Results ──┬── claims + verdicts ──┐
printed ────────────────────────────────┼── grids ──────────────┼── sections ──> Markdown and HTML
                                        └── forensics, figures ─┘
```
"""

from greyfill.paper.reproduction import Reproduction, reproduce, tally
from greyfill.paper.runs import ReproductionPlan

__all__ = ["Reproduction", "ReproductionPlan", "reproduce", "tally"]
