"""Entropy and mutual information in bits, and the feature weights made of them.

```
entropy   counts → entropy, histogram information                      eqs (16), (19), (25)
          sums that no order of their terms changes
parzen    a number and a category: I(X; Y) = H(Y) − H(Y|X)             eqs (24)–(29)
          two numbers: the mean of log p(x, y) / p(x)p(y)              eq (22)
measures  a whole table → one number a column, by Parzen windows, nearest neighbors,
          distance correlation or a random forest → weights            eq (30)
```

The path is upwards: `class_information` and `pair_information` choose a measure, which takes its
columns in blocks through `parzen` and `entropy`, whose sums are exact.

Each Parzen estimate has two evaluations with the same meaning: an exact one, O(n²) in bounded
memory, for few rows, and a binned one, O(n log n), above ``EXACT_ROWS`` rows.
"""

from greyfill.information.entropy import entropy, histogram_information
from greyfill.information.measures import (
    MEASURES,
    class_information,
    find_measure,
    forest_importance,
    nearest_information,
    normalize,
    null_corrected,
    pair_information,
    squared_distance_correlation,
)
from greyfill.information.parzen import (
    EXACT_ROWS,
    binned_density_information,
    binned_parzen_information,
    density_information,
    exact_density_information,
    exact_parzen_information,
    parzen_information,
)

__all__ = [
    "EXACT_ROWS",
    "MEASURES",
    "binned_density_information",
    "binned_parzen_information",
    "class_information",
    "density_information",
    "entropy",
    "exact_density_information",
    "exact_parzen_information",
    "find_measure",
    "forest_importance",
    "histogram_information",
    "nearest_information",
    "normalize",
    "null_corrected",
    "pair_information",
    "parzen_information",
    "squared_distance_correlation",
]
