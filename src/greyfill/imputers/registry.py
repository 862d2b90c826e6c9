"""Every method that can be compared, by its short name."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from sklearn.impute import KNNImputer
from sklearn.preprocessing import FunctionTransformer

from greyfill import imputers
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.chained import MICEImputer, MissForestImputer
from greyfill.imputers.peers import ClassMeanImputer, EncodedImputer, HotDeckImputer, MeanImputer


def _sklearn_knn(n_neighbors: int = 5, **kwargs: Any) -> EncodedImputer:
    return EncodedImputer(KNNImputer(n_neighbors=n_neighbors, keep_empty_features=True), **kwargs)


def _sklearn_iterative(
    max_iter: int = 10, random_state: int | None = 0, **kwargs: Any
) -> EncodedImputer:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    numbers = IterativeImputer(
        max_iter=max_iter, random_state=random_state, keep_empty_features=True
    )
    return EncodedImputer(numbers, **kwargs)


def _mean_indicator(**kwargs: Any) -> MeanImputer:
    return MeanImputer(**{"add_indicator": True, **kwargs})


def _native() -> FunctionTransformer:
    return FunctionTransformer(feature_names_out="one-to-one")


METHODS: dict[str, Callable[..., Any]] = {
    "cgknn": imputers.CGKNNImputer,
    "fwgknn": imputers.FWGKNNImputer,
    "gknn": imputers.GKNNImputer,
    "gbnn": imputers.GBNNImputer,
    "miknn": imputers.MIKNNImputer,
    "iknn": imputers.IKNNImputer,
    "sknn": imputers.SKNNImputer,
    "knni": imputers.KNNIImputer,
    "mice": MICEImputer,
    "missforest": MissForestImputer,
    "grey": imputers.GreyImputer,
    "sklearn_knn": _sklearn_knn,
    "sklearn_iterative": _sklearn_iterative,
    "mean": MeanImputer,
    "mean_indicator": _mean_indicator,
    "class_mean": ClassMeanImputer,
    "hot_deck": HotDeckImputer,
    "native": _native,
}
"""Short name → a callable that makes the imputer; "native" leaves the holes as they are."""

if find_spec("miceforest"):
    from greyfill.imputers.peers import MiceForestImputer

    METHODS["miceforest"] = MiceForestImputer


def make(name: str, **kwargs: Any) -> Any:
    """Make an imputer by its short name.

    Parameters
    ----------
    name
        One of ``METHODS``.
    kwargs
        Parameters of the imputer.

    >>> make("cgknn", n_neighbors=5)
    CGKNNImputer(n_neighbors=5)
    >>> make("median")
    Traceback (most recent call last):
    greyfill.exceptions.InvalidParameterError: no method is called 'median'; there are cgknn, ...
    """
    if name not in METHODS:
        raise InvalidParameterError(f"no method is called {name!r}; there are {', '.join(METHODS)}")
    return METHODS[name](**kwargs)
