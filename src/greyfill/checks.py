"""What is checked before any work, and scikit-learn's conventions with errors of greyfill.

Is a parameter a number, a choice, a seed; is a package installed (``is_…``, ``check_…``)? Is there
enough memory (`refuse_beyond`)? The system does not say no to a program that takes too much: it
ends it later, without a word, so work that is bound to fail is refused before it starts. What
scikit-learn raises about an input becomes greyfill's error of the same type (`own_errors`,
`check_fitted`, and two mixins for estimators). scikit-learn is imported where it is used,
and public names of packages on their first use (`load_late`).
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self, TypeGuard

from greyfill import exceptions
from greyfill.exceptions import (
    GreyfillError,
    InvalidDataError,
    InvalidParameterError,
    InvalidTypeError,
    MissingPackageError,
    NotEnoughMemoryError,
)


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a parameter is an integer, of Python or numpy; True and False are none.

    >>> is_whole(3), is_whole("3"), is_whole(2.5), is_whole(True)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a parameter is a real number, of Python or numpy; True and False are none.

    >>> is_number(0.5), is_number("0.5"), is_number(None)
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def check_whole(name: str, value: Any, least: int = 1, otherwise: str = "") -> int:
    """A whole number that is not too small, or an error that says what is wanted.

    >>> check_whole("n", 5)
    5
    >>> check_whole("max_donors", "all", otherwise=", or None for all rows")
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: max_donors must be an integer, at least 1, or \
None for all rows, not 'all'
    """
    if not is_whole(value) or value < least:
        raise InvalidParameterError(
            f"{name} must be an integer, at least {least}{otherwise}, not {value!r}"
        )
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of those that mean something.

    >>> check_choice("labels", "all", ("donors", "none"))
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: labels must be one of ('donors', 'none'), not 'all'
    """
    if not isinstance(value, str) or value not in choices:
        raise InvalidParameterError(f"{name} must be one of {choices}, not {value!r}")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False.

    >>> check_flag("add_indicator", "yes")
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: add_indicator must be True or False, not 'yes'
    """
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(f"{name} must be True or False, not {value!r}")


def check_number(
    name: str,
    value: Any,
    least: float = 0.0,
    most: float = sys.float_info.max,
    is_open: bool = False,
    otherwise: str = "",
) -> float:
    """A number of at least, or if ``is_open`` above, a limit and at most another.

    >>> check_number("tol", 0.1)
    0.1
    >>> check_number("rho", 2, most=1.0, is_open=True)
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: rho must be a number, above 0 and at most 1, not 2
    """
    fits = is_number(value) and least <= value <= most and not (is_open and value == least)
    if not fits:
        above = f"{'above' if is_open else 'at least'} {least:g}"
        below = f" and at most {most:g}" if most < sys.float_info.max else ""
        raise InvalidParameterError(
            f"{name} must be a number, {above}{below}{otherwise}, not {value!r}"
        )
    return float(value)


def check_seconds(name: str, value: Any) -> None:
    """Refuse a time that is neither a positive number of seconds nor None, for no limit.

    >>> check_seconds("time_budget", 0)
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: time_budget must be a positive number of seconds, \
or None for no limit, not 0
    """
    if value is not None and not (is_number(value) and value > 0.0):
        raise InvalidParameterError(
            f"{name} must be a positive number of seconds, or None for no limit, not {value!r}"
        )


def check_share(name: str, value: Any) -> float:
    """A number between 0 and 1, both excluded.

    >>> check_share("level", 90)
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: level must lie between 0 and 1, not 90
    """
    if not is_number(value) or not 0.0 < value < 1.0:
        raise InvalidParameterError(f"{name} must lie between 0 and 1, not {value!r}")
    return float(value)


def check_jobs(n_jobs: Any) -> None:
    """Refuse a number of threads that means nothing.

    >>> check_jobs(0)
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: n_jobs must be a number of threads, -1 for \
all cores, or None for one, not 0
    """
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise InvalidParameterError(
            f"n_jobs must be a number of threads, -1 for all cores, or None for one, not {n_jobs!r}"
        )


def check_seed(random_state: Any) -> None:
    """Refuse what seeds no draw.

    >>> check_seed(-1)
    Traceback (most recent call last):
        ...
    greyfill.exceptions.InvalidParameterError: random_state must be None, a non-negative integer \
or a RandomState, not -1
    """
    import numpy as np

    if random_state is None or isinstance(random_state, np.random.RandomState):
        return
    if not is_whole(random_state) or random_state < 0:
        raise InvalidParameterError(
            "random_state must be None, a non-negative integer or a RandomState, "
            f"not {random_state!r}"
        )


def seed_of(random_state: Any) -> int | None:
    """A whole number for a seed or a generator; None for None.

    >>> seed_of(7), seed_of(None)
    (7, None)
    """
    check_seed(random_state)
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    return None if random_state is None else int(random_state)


def sure_seed(random_state: Any) -> int:
    """A whole number for a seed, a generator or None, by a draw.

    >>> sure_seed(7) == sure_seed(7)
    True
    """
    from sklearn.utils import check_random_state

    check_seed(random_state)
    if is_whole(random_state) and random_state >= 2**32:  # more than a RandomState takes
        random_state = random_state % 2**32
    return int(check_random_state(random_state).randint(2**31 - 1))


def whole_seed(random_state: Any) -> int:
    """A whole number as it is; for a generator or None, a draw.

    >>> whole_seed(7)
    7
    """
    seed = seed_of(random_state)
    return sure_seed(None) if seed is None else seed


def check_installed(package: str, user: str, install: str | None = None) -> None:
    """Refuse to begin what an absent package would end.

    >>> check_installed("numpy", "An array")
    >>> check_installed("nowhere", "A Nowhere frame")
    Traceback (most recent call last):
        ...
    greyfill.exceptions.MissingPackageError: A Nowhere frame needs the package nowhere: \
pip install nowhere
    """
    if find_spec(package) is None:
        raise MissingPackageError(
            f"{user} needs the package {package}: pip install {install or package}"
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
    from sklearn.exceptions import NotFittedError as Unfitted  # takes its time

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
    from sklearn.utils.validation import check_is_fitted

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


MEMINFO = Path("/proc/meminfo")
STATM = Path("/proc/self/statm")
CGROUP = Path("/sys/fs/cgroup")
SMALL = 2**24
"""Fewer bytes are not worth the question how many are free."""
IS_LINUX = sys.platform == "linux"
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def refuse_beyond(needed: int, work: str, remedy: str) -> None:
    """Refuse work that needs more bytes than are free; do nothing where that is not known.

    >>> refuse_beyond(1, "Counting", "Count less.")
    >>> refuse_beyond(10**18, "Counting", "Count less.")
    Traceback (most recent call last):
    greyfill.exceptions.NotEnoughMemoryError: Counting needs at least 888.2 PiB of memory, ...
    """
    if needed < SMALL:
        return
    free = free_bytes()
    if free is not None and needed > free:
        raise NotEnoughMemoryError(
            f"{work} needs at least {in_words(needed)} of memory, but {in_words(free)} are free. "
            f"{remedy}"
        )


def free_bytes() -> int | None:
    """What this process may still take: the least of machine, container and its own limits."""
    return min(_limits(), default=None)


def in_words(size: int) -> str:
    """A number of bytes in the unit that suits it.

    >>> in_words(1536), in_words(12)
    ('1.5 KiB', '12.0 bytes')
    """
    number, place = float(size), 0
    while number >= 1024 and place < len(UNITS) - 1:
        number, place = number / 1024, place + 1
    return f"{number:.1f} {UNITS[place]}"


def _limits() -> Iterator[int]:
    for limit in (_machine, _container, _address_space):
        with suppress(OSError, ValueError, StopIteration, ImportError):
            yield max(limit(), 0)


def _machine() -> int:
    """Memory of the machine that can be had without swapping."""
    if not IS_LINUX:
        from psutil import virtual_memory

        return int(virtual_memory().available)
    lines = MEMINFO.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def _container() -> int:
    """What a control group leaves; pages of files count as free, since they can be dropped."""
    most = int((CGROUP / "memory.max").read_text(encoding="ascii"))  # "max" is no number
    used = int((CGROUP / "memory.current").read_text(encoding="ascii"))
    lines = (CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    cached = next(int(line.split()[1]) for line in lines if line.startswith("inactive_file"))
    return most - used + cached


def _address_space() -> int:
    """What is left of the limit that ``ulimit -v`` sets."""
    if sys.platform == "win32":
        raise OSError("no such limit")
    from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, getrlimit

    most = getrlimit(RLIMIT_AS)[0]
    if most == RLIM_INFINITY:
        raise ValueError("no limit")
    return most - int(STATM.read_text(encoding="ascii").split()[0]) * getpagesize()


def load_late(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that imports a name from its module on first use.

    >>> load_late("greyfill", {"pooling": ("pool",)})("pool").__name__
    'pool'
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        module = sys.modules[package]
        if name not in home_of:  # with the module Python adds "Did you mean …?"
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}", name=name, obj=module
            )
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(module, name, value)
        return value

    return get
