"""Which imputer serves a table: methods by name, honest protocols, and their comparison.

```
X ── frames.encode ──> Table ── ampute ──> holes with a known truth
  ── filling ──> filled cells      by any of METHODS, or a transformer of yours
  ── trials ──> outcomes           errors, costs, accuracy by both protocols; failures too
  ── store ──> Parquet             so that a comparison can be interrupted
  ── Comparison                    summary, ranks, pairwise tests
  ── sensitivity ──> Sensitivity   fills shifted, for holes that are not missing at random
```
"""

from greyfill.evaluation.ampute import ampute
from greyfill.evaluation.compare import compare
from greyfill.evaluation.comparison import Comparison, Ranks
from greyfill.evaluation.protocols import Score, honest_protocol, paper_protocol
from greyfill.evaluation.sensitivity import Sensitivity, sensitivity
from greyfill.imputers.peers import ClassMeanImputer, EncodedImputer, HotDeckImputer, MeanImputer
from greyfill.imputers.registry import METHODS, make

__all__ = [
    "METHODS",
    "ClassMeanImputer",
    "Comparison",
    "EncodedImputer",
    "HotDeckImputer",
    "MeanImputer",
    "Ranks",
    "Score",
    "Sensitivity",
    "ampute",
    "compare",
    "honest_protocol",
    "make",
    "paper_protocol",
    "sensitivity",
]
