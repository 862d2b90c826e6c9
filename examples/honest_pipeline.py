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


def log_loss(model, X):
    return -cross_val_score(model, X, hepatitis.y, scoring="neg_log_loss").mean()


honest = log_loss(make_pipeline(GreyImputer(), classifier()), hepatitis.X)
own = GreyImputer(labels="own")  # fills each row by its own label, too: not for this
filled = own.fit_transform(hepatitis.X, hepatitis.y)
flattering = log_loss(classifier(), filled)

print(f"log loss, imputed inside the folds:              {honest:.3f}")
print(f"log loss, imputed beforehand with every label:   {flattering:.3f}  (flattered)")
