"""The errors and warnings of greyfill.

```
GreyfillError
├── ClusterError (RuntimeError)         the machines that should do the work failed
├── FileProblemError (OSError)          a file cannot be opened, read, written or replaced
├── InvalidDataError (ValueError)       the table, the labels or a column cannot be used as given
│   └── InvalidTypeError (TypeError)    it is of a type that cannot be used, such as a sparse matrix
├── InvalidParameterError (ValueError)  a parameter has a value that no method understands
├── MissingPackageError (ImportError)   a package is needed that is not installed
├── NotEnoughMemoryError (MemoryError)  the work would need more memory than is free
├── NotFittedError                      `fit` was not called yet; scikit-learn's NotFittedError, too
└── PersistenceError (ValueError)       an imputer cannot be saved, or a file is not a saved one

GreyfillWarning (UserWarning)
├── EmptyColumnWarning                  a column without any observed value
├── IdentifierWarning                   holes were filled that no other row can tell
└── TargetColumnWarning                 X has a column with the name of y
```
"""

from typing import TYPE_CHECKING, Any


class GreyfillError(Exception):
    """Base of every error that greyfill raises on purpose."""


class ClusterError(GreyfillError, RuntimeError):
    """The machines that should do the work failed: a worker, the scheduler, or the way to them."""


class FileProblemError(GreyfillError, OSError):
    """A file cannot be opened, read, written or replaced."""


class InvalidDataError(GreyfillError, ValueError):
    """The table, the labels or one column cannot be used as given."""


class InvalidTypeError(InvalidDataError, TypeError):
    """The table or the labels are of a type that cannot be used, such as a sparse matrix."""


class InvalidParameterError(GreyfillError, ValueError):
    """A parameter has a value that no method understands."""


class MissingPackageError(GreyfillError, ImportError):
    """A package is needed that is not installed."""


class NotEnoughMemoryError(GreyfillError, MemoryError):
    """The work would need more memory than is free."""


if TYPE_CHECKING:

    class NotFittedError(GreyfillError, ValueError, AttributeError):
        """`fit` was not called yet; it is scikit-learn's NotFittedError, too."""


class PersistenceError(GreyfillError, ValueError):
    """An imputer cannot be saved, or a file is not one that greyfill saved."""


class GreyfillWarning(UserWarning):
    """Base of every warning of greyfill."""


class EmptyColumnWarning(GreyfillWarning):
    """A column has no observed value, so nothing can be learned about it."""


class IdentifierWarning(GreyfillWarning):
    """An identifier, or free text, was filled, though no other row can tell; it fills no other.

    >>> import warnings
    >>> from greyfill.exceptions import IdentifierWarning
    >>> warnings.simplefilter("ignore", IdentifierWarning)
    """


class TargetColumnWarning(GreyfillWarning):
    """X has a column with the name of y: the target was probably left among the features."""


def __getattr__(name: str) -> Any:
    """Make NotFittedError when it is first used: scikit-learn takes its time."""
    if name != "NotFittedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError as Unfitted

    text = "`fit` was not called yet; it is scikit-learn's NotFittedError, too."
    made = type(name, (GreyfillError, Unfitted), {"__doc__": text, "__module__": __name__})
    return globals().setdefault(name, made)  # another thread may have been quicker
