"""Walk rows down trees and count their votes: the loops of this room that must be compiled."""

import numpy as np

from greyfill._chained.forest import Nodes, Singles
from greyfill._search.jit import exact
from greyfill.table import Bools, Floats, Ints


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


def _vote(values: Floats, counted: Bools, n_classes: int) -> Floats:
    """The code that most trees that count give a row, the smallest of ties; NaN without any."""
    votes, out = np.zeros(n_classes, dtype=np.intp), np.full(len(values), np.nan)
    for row in range(len(values)):
        best = -1
        for tree in range(values.shape[1]):
            if counted[row, tree]:
                votes[int(values[row, tree])] += 1
        for tree in range(values.shape[1]):
            code = int(values[row, tree])
            if counted[row, tree]:
                more = 1 if best < 0 else votes[code] - votes[best]
                if more > 0 or (more == 0 and code < best):
                    best = code
        for tree in range(values.shape[1]):
            votes[int(values[row, tree])] = 0
        if best >= 0:
            out[row] = best
    return out


walk = exact(_walk)
vote = exact(_vote)
