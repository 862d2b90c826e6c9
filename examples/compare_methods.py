"""Which imputer serves the hepatitis table? Hide known cells, fill them, and compare.

    python examples/compare_methods.py

An imputer of scikit-learn joins by standing in an ``EncodedImputer``, which scales its numbers and
encodes its categories.
"""

from sklearn.impute import KNNImputer

import greyfill
from greyfill.datasets import load
from greyfill.evaluation import EncodedImputer

result = greyfill.compare(
    load("hepatitis"),
    methods={
        "CGKNN": greyfill.CGKNNImputer(n_neighbors=10),
        "IKNN": greyfill.IKNNImputer(n_neighbors=10),
        "scikit-learn": EncodedImputer(KNNImputer(n_neighbors=10)),
        "mean": "mean",
    },
    rates=[0.2],
    repeats=3,
    progress=False,
)
print(result, "\n")
print(result.ranks("nrmse"), "\n")
print(result.ranks("accuracy_naive_bayes_honest"))
