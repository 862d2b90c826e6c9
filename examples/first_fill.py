"""Fill the holes of the bundled hepatitis table and show what was done."""

from greyfill import CGKNNImputer
from greyfill.datasets import load

hepatitis = load("hepatitis")
imputer = CGKNNImputer(n_jobs=2)
filled = imputer.fit_transform(hepatitis.X, hepatitis.y)

holes = sum(imputer.imputed_counts_.values())
rows, columns = filled.shape
print(f"{rows} patients × {columns} columns: {holes} holes filled, 0 left")
print(f"k = {imputer.n_neighbors_}, stable after {imputer.n_iter_} passes\n")

print(f"{'column':16} {'filled':>6}  weight")
ranked = sorted(zip(filled.columns, imputer.feature_weights_, strict=True), key=lambda c: -c[1])
for name, weight in ranked:
    print(f"{name:16} {imputer.imputed_counts_[name]:6}  {weight:.3f} {'█' * round(100 * weight)}")

print("\nThe first patient before and after:")
before, after = hepatitis.X.row(0, named=True), filled.row(0, named=True)
for name in before:
    if before[name] is None:
        print(f"  {name}: missing → {after[name]}")

assert filled.null_count().sum_horizontal().item() == 0
