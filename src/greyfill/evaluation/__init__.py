"""Which imputer serves a table, and how far its fills can be trusted.

Holes with a known truth are made, filled by methods of the registry or by transformers of yours,
and judged; a failure is a result too.

- `ampute`: cells hidden in a table of any library, by one of three mechanisms.
- `protocols`: how a method is run on a `Table`; accuracy by the paper's protocol, which leaks
  labels into test rows, and by an honest one; the folds and the classifiers of both.
- `trials`: one mask and one method: errors, costs, accuracies by both protocols.
- `compare`: the grid of trials, in several processes, kept in a Parquet file so that a comparison
  can be interrupted.
- `comparison`: its result: summary, ranks, pairwise tests, and a table for people.
- `worth`: whether imputing pays for predicting y: nested cross-validation of `pipelines`, its
  `verdict`, and the `snippet` of code that follows it; it keeps its scores as `compare` does.
- `pooled_model`: a model on each of several draws, pooled.
- `sensitivity`: fills shifted step by step, for holes that are not missing at random; `shift` moves
  the cells, `estimate` has what is estimated, its interval and where that tips.

```
X ── frames.encode ──> Table ── ampute ──> holes ── protocols ──> fills, accuracy
                       compare: trials of all methods ──> Comparison
X with holes, y ── pipelines on nested folds ──> Worth
X with holes ── protocols ──> draws ── shift ──> estimate ──> Sensitivity
```
"""

from greyfill.evaluation.ampute import ampute
from greyfill.evaluation.compare import compare
from greyfill.evaluation.comparison import Comparison, Ranks
from greyfill.evaluation.pooled_model import PooledModel, with_draws
from greyfill.evaluation.protocols import Score, honest_protocol, paper_protocol
from greyfill.evaluation.sensitivity import Sensitivity, sensitivity
from greyfill.evaluation.verdict import Gain, Worth
from greyfill.evaluation.worth import worth
from greyfill.imputers.peers import ClassMeanImputer, EncodedImputer, MeanImputer
from greyfill.imputers.registry import METHODS, make
from greyfill.missingness import MissingnessTest

__all__ = [
    "METHODS",
    "ClassMeanImputer",
    "Comparison",
    "EncodedImputer",
    "Gain",
    "MeanImputer",
    "MissingnessTest",
    "PooledModel",
    "Ranks",
    "Score",
    "Sensitivity",
    "Worth",
    "ampute",
    "compare",
    "honest_protocol",
    "make",
    "paper_protocol",
    "sensitivity",
    "with_draws",
    "worth",
]
