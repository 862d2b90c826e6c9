"""scikit-learn's conventions, with errors that are greyfill's as well."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from sklearn.exceptions import NotFittedError as Unfitted
from sklearn.utils.validation import check_is_fitted

from greyfill import exceptions
from greyfill.exceptions import (
    GreyfillError,
    InvalidDataError,
    InvalidParameterError,
    InvalidTypeError,
)


@contextmanager
def own_errors(wrong_value: type[GreyfillError] = InvalidDataError) -> Iterator[None]:
    """Raise what scikit-learn says about an input as greyfill's error of the same type.

    >>> with own_errors():
    ...     raise ValueError("X has 3 features, but 2 are expected")
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidDataError: X has 3 features, but 2 are expected
    """
    try:
        yield
    except GreyfillError:
        raise
    except Unfitted as error:  # is a ValueError, too
        raise exceptions.NotFittedError(str(error)) from None
    except (ValueError, OverflowError) as error:
        raise wrong_value(str(error)) from error
    except TypeError as error:
        raise InvalidTypeError(str(error)) from error


def check_fitted(estimator: Any, attributes: str | None = None) -> None:
    """Refuse to use what was never fitted."""
    with own_errors():
        check_is_fitted(estimator, attributes)


class OwnParameters:
    """Before scikit-learn's BaseEstimator: an unknown parameter is an InvalidParameterError."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``part__name`` sets that of a part."""
        with own_errors(InvalidParameterError):
            super().set_params(**params)  # type: ignore[misc]
        return self


class OwnScore:
    """Before scikit-learn's ClassifierMixin or RegressorMixin: bad rows are an InvalidDataError."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predicted classes, or R² of the predicted numbers."""
        with own_errors():
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
