"""How good a fill is: cell by cell, as a distribution, and for a classifier that reads it.

Accuracy and macro-F1 of a classifier are scikit-learn's ``accuracy_score`` and ``f1_score``.
"""

from greyfill.metrics.distributions import distribution_distances
from greyfill.metrics.errors import ImputationErrors, imputation_errors
from greyfill.metrics.naive_bayes import MixedNaiveBayes

__all__ = [
    "ImputationErrors",
    "MixedNaiveBayes",
    "distribution_distances",
    "imputation_errors",
]
