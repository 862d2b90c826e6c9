"""Train a classifier on a table with holes, and judge it without leaking labels.

    python examples/honest_pipeline.py

The imputer stands inside the pipeline: in each fold it learns from the training rows and their
labels, and fills the test rows without any.
"""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from greyfill import GreyImputer
from greyfill.datasets import load

hepatitis = load("hepatitis", library="pandas")


def classifier():
    encode = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(encode, LogisticRegression(max_iter=1000))


honest = cross_val_score(make_pipeline(GreyImputer(), classifier()), hepatitis.X, hepatitis.y)
own = GreyImputer(labels="own")  # fills each row by its own label, too: not for this
filled = own.fit_transform(hepatitis.X, hepatitis.y)
flattering = cross_val_score(classifier(), filled, hepatitis.y)

print(f"accuracy, imputed inside the folds:              {honest.mean():.3f}")
print(f"accuracy, imputed beforehand with every label:   {flattering.mean():.3f}  (flattered)")
