"""Make a method of your own from the parts of the family, and see whether it pays.

    python examples/own_recipe.py

A recipe is six parts: distance, column weights, donors, fill, start and schedule. A part that is
not given is that of CGKNN.
"""

import greyfill
from greyfill import AllRows, ClassInformation, GlobalStart, Grey, NeighborImputer, PlainFill
from greyfill.datasets import load

sharper = NeighborImputer(n_neighbors=10, distance=Grey(rho=0.2))
careful = NeighborImputer(
    n_neighbors=10,
    weights=ClassInformation(n_permutations=20),  # subtract what shuffled labels would tell
    donors=AllRows(),
    start=GlobalStart(),
    fill=PlainFill(),
)
result = greyfill.compare(
    load("iris"),
    methods={
        "CGKNN": greyfill.CGKNNImputer(n_neighbors=10),
        "sharper grey": sharper,
        "careful": careful,
    },
    rates=[0.2],
    repeats=3,
    classifiers=None,
    progress=False,
)
print(result)

iris = load("iris")
print("\nweights of the columns, shuffled labels subtracted:")
careful.fit(iris.X, iris.y)
for name, weight in zip(iris.X.columns, careful.feature_weights_, strict=True):
    print(f"  {name:14} {weight:.3f} {'█' * round(40 * weight)}")
