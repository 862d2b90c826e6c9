"""The classifiers that read the filled tables."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from greyfill.exceptions import InvalidParameterError
from greyfill.metrics import MixedNaiveBayes
from greyfill.table import Column, Floats, Ints, Kind

MOST_BINS = 255
MANY_ROWS = 10_000


def naive_bayes(columns: tuple[Column, ...]) -> Any:
    """The paper's classifier; categories are counted, missing cells left out."""
    return MixedNaiveBayes(categorical_features=_categorical(columns))


def logistic_regression(columns: tuple[Column, ...]) -> Any:
    """Indicators of the levels, standardized numbers, and an L2 penalty of 1."""
    levels = _categorical(columns)
    numbers = np.setdiff1d(np.arange(len(columns)), levels)
    cells = ColumnTransformer(
        [
            ("levels", OneHotEncoder(handle_unknown="ignore", sparse_output=False), levels),
            ("numbers", StandardScaler(), numbers),
        ]
    )
    return make_pipeline(cells, LogisticRegression(max_iter=1000))


def gradient_boosting(columns: tuple[Column, ...]) -> Any:
    """Histogram gradient boosting; takes missing cells and up to 255 levels as categories."""
    levels = [j for j in _categorical(columns) if columns[j].n_levels <= MOST_BINS]
    return HistGradientBoostingClassifier(categorical_features=levels or None, random_state=0)


CLASSIFIERS: dict[str, Callable[[tuple[Column, ...]], Any]] = {
    "naive_bayes": naive_bayes,
    "logistic_regression": logistic_regression,
    "gradient_boosting": gradient_boosting,
}
"""Name → a function of the columns that makes the classifier."""


def check_classifiers(names: tuple[str, ...]) -> None:
    """Refuse names that are not in ``CLASSIFIERS``."""
    unknown = [name for name in names if name not in CLASSIFIERS]
    if unknown:
        raise InvalidParameterError(
            f"no classifier is called {unknown[0]!r}; there are {', '.join(CLASSIFIERS)}"
        )


def predict(
    name: str,
    columns: tuple[Column, ...],
    train: Floats,
    labels: Ints,
    test: Floats,
) -> Ints:
    """Learn a classifier from filled training rows and predict the classes of test rows.

    Cells beyond ``columns``, such as indicators, count as numbers. A single class among the
    training rows is predicted for all.
    """
    if (labels == labels[0]).all():
        return np.full(len(test), labels[0])
    extra = (Column("", Kind.NUMERIC),) * (train.shape[1] - len(columns))
    model = CLASSIFIERS[name](columns + extra)
    with _threads_for(len(train)):
        return np.asarray(model.fit(train, labels).predict(test), dtype=np.intp)


def _threads_for(n_rows: int) -> Any:
    """One OpenMP thread for small tables: more only wait for each other on a busy machine."""
    return threadpool_limits(1, "openmp") if n_rows < MANY_ROWS else nullcontext()


def _categorical(columns: tuple[Column, ...]) -> Ints:
    is_categorical = [column.kind is Kind.CATEGORICAL for column in columns]
    return np.flatnonzero(np.array(is_categorical, dtype=bool))
