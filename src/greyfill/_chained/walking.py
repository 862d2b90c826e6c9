"""Walk rows down trees: the one loop of this room that must be compiled."""

import numpy as np

from greyfill._chained.forest import Nodes, Singles
from greyfill._kernels.jit import exact
from greyfill.table import Floats, Ints


def _walk(
    x: Singles,
    roots: Ints,
    feature: Nodes,
    threshold: Floats,
    left: Nodes,
    right: Nodes,
    value: Floats,
) -> Floats:
    """The value of the leaf that each row reaches in each tree.

    At a node a row goes left when x[feature] ≤ threshold; feature −1 marks a leaf.
    """
    reached = np.empty((len(x), len(roots)))
    for row in range(len(x)):
        for tree in range(len(roots)):
            node = roots[tree]
            while feature[node] >= 0:
                goes_left = x[row, feature[node]] <= threshold[node]
                node = left[node] if goes_left else right[node]
            reached[row, tree] = value[node]
    return reached


walk = exact(_walk)
