"""Entropy and mutual information in bits, and the feature weights made of them.

::

    blocks.py     bounded memory
    sums.py       sums that no order of their terms changes
    entropy.py    counts → entropy, histogram information              eqs (16), (19), (25)
    windows.py    columns → units of their Parzen window; fine grids   eq (26)
    parzen.py     a number and a category: I(X; Y) = H(Y) − H(Y|X)     eqs (24)–(29)
    pairs.py      two numbers: the mean of log p(x, y) / p(x)p(y)      eq (22)
    nearest.py    any pair by nearest neighbors (KSG), no bandwidth
    distances.py  any pair by distance correlation
    forest.py     all columns at once by a random forest
    relevance.py  a whole table → one number a column → weights        eq (30)

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
from greyfill.information.pairs import (
    binned_density_information,
    density_information,
    exact_density_information,
)
from greyfill.information.parzen import (
    EXACT_ROWS,
    binned_parzen_information,
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
