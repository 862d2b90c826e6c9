"""Does imputing pay for predicting y? A verdict on a table, and a model that knows its holes.

    python examples/worth_of_imputing.py

The settings are quick ones. Leave them out for a verdict to act on: ``worth(X, y, n_jobs=2)``.
"""

import greyfill
from greyfill.datasets import load

iris = load("iris")
X, _ = greyfill.ampute(iris.X, rate=0.3, random_state=0)

found = greyfill.worth(X, iris.y, n_splits=2, repeats=1, n_inner=2, n_draws=2, progress=False)
print(found)
print(f"\nTo do it:\n\n{found.code}")

model = greyfill.BaggedDraws(n_draws=5).fit(X, iris.y)
some = X[60:100]
share = model.variance_share(some)
for row in share.argsort()[::-1][:3]:
    cells = some.row(int(row), named=True)
    print(f"{share[row]:.0%} of the doubt about {cells} comes from its holes")
