"""What every estimator shares, imputer or model: how tables come in, its help, how it is saved."""

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cache
from inspect import Signature, cleandoc, signature
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn import impute
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from greyfill import frames
from greyfill.checks import (
    OwnParameters,
    check_fitted,
    check_jobs,
    check_seed,
    own_errors,
    refuse_beyond,
    sure_seed,
)
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Table

Record = TypeVar("Record")

ENTRY = re.compile(r"^(\w+(?:, \w+)*) : .*(?:\n+ {4}.*)*", re.MULTILINE)
"""A name or several with their type, and the lines that explain them."""

SECTION = re.compile(r"\n\n(Parameters|Attributes|Examples)\n-+\n|\n\n(?=>>> )")
"""What opens a section; an example at the end needs no title."""

FOR_NEW_ROWS = 28
"""Bytes that new rows need at least for each cell: numbers, holes, the filled copies."""
LESS_AT_ONCE = "Pass the rows in chunks: each counts on its own, so the result is the same."
LESS_IN_FIT = "Fit on a sample of the rows and pass the others later, in chunks; or drop columns."


def root_error(error: float, size: float) -> float:
    """The root of a mean squared error on the scale of a range of this size, never infinite.

    >>> root_error(0.25, 8.0)
    4.0
    """
    return min(math.sqrt(error) * size, sys.float_info.max)


class TableEstimator(OwnParameters, BaseEstimator):
    """Check and encode tables with holes, in ``fit`` and after it."""

    categorical_features: Any
    ordinal_features: Any
    missing_values: Any

    _bytes_per_cell: ClassVar[int] = 60
    """Memory that ``fit`` needs at least for each cell of the table, its copies included."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _schema: frames.Schema
    _kept: Bools

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that holes and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Go back to what was fitted before, or to nothing, if ``fit`` fails."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _open_training(self, X: Any) -> tuple[Table, Any]:
        """The table of ``fit`` in numbers, and what restores its container."""
        check_jobs(getattr(self, "n_jobs", None))
        check_seed(getattr(self, "random_state", None))
        opened = frames.open_table(X)
        self._refuse_too_large(opened.shape, self._bytes_per_cell, LESS_IN_FIT)
        self._check_columns(X, reset=True)
        return frames.encode(
            opened,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
            missing_values=self.missing_values,
        )

    def _open_new(self, X: Any) -> tuple[Table, Any]:
        """New rows in the numbers of the table of ``fit``, and what restores their container."""
        plain = self._plain_rows(X)
        if plain is not None:
            return plain, frames.plain_origin(X, plain, self._schema)
        opened = frames.open_table(X)
        self._refuse_too_large(opened.shape, FOR_NEW_ROWS, LESS_AT_ONCE)
        if not self._surely_fits(opened):
            self._check_columns(X, reset=False)
            self._refuse_other_names(opened)
        return frames.encode(opened, schema=self._schema, missing_values=self.missing_values)

    def _plain_rows(self, X: Any) -> Table | None:
        """The same without a container, of few rows of floats without names; else None."""
        known = self.__dict__
        if "_schema" not in known:  # else scikit-learn would take long to say yes
            check_fitted(self)
        return None if "feature_names_in_" in known else frames.encode_plain(X, self._schema)

    def _surely_fits(self, opened: Any) -> bool:
        """Whether the columns are those of ``fit`` by their names, or without any by their number.

        scikit-learn would say so too, and take longer than the rest of the work on one row.
        """
        names = getattr(self, "feature_names_in_", None)
        if isinstance(opened, np.ndarray):
            return names is None and opened.shape[1] == self.n_features_in_
        return names is not None and frames.has_names(opened, names.tolist())

    def _check_columns(self, X: Any, *, reset: bool) -> None:
        """Remember number and names of the columns, or refuse others than those of ``fit``."""
        with own_errors():
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _refuse_other_names(self, opened: Any) -> None:
        """Refuse other columns than those of ``fit`` by names that scikit-learn does not look at.

        Those are numbers, moments and pairs, as pandas may have them.
        """
        is_array = isinstance(opened, np.ndarray)
        if is_array or any(isinstance(name, str) for name in opened.columns):
            return
        known = self._schema.names
        if hasattr(self, "feature_names_in_") or known == frames.numbered(len(known)):
            return  # scikit-learn has warned, or fit saw an array
        for place, (name, wanted) in enumerate(zip(opened.columns, known, strict=True)):
            if str(name) != wanted:
                raise InvalidDataError(
                    f"Column {place} of X is {name!r}, but fit saw {wanted} there. Pass the "
                    "columns of fit in their order."
                )

    def _refuse_too_large(self, shape: tuple[int, ...], per_cell: int, remedy: str) -> None:
        """Refuse a table that cannot fit in the memory that is free."""
        work = f"The work of {type(self).__name__} on {shape[0]:,} × {shape[1]:,} cells"
        refuse_beyond(shape[0] * shape[1] * per_cell, work, remedy)

    def _refuse_other_rows(self, n_rows: int, n_labels: int) -> None:
        """Refuse labels that cannot be those of the rows."""
        if n_labels != n_rows:
            raise InvalidDataError(
                f"X and y describe different rows: X has {n_rows}, y has {n_labels}"
            )

    def _input_names(self, input_features: Any) -> list[str]:
        """The names of the columns of ``fit``, or those given for them."""
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return (
                [column.name for column in self._schema.columns] if known is None else list(known)
            )
        with own_errors():
            given = list(input_features)
        if known is not None and not np.array_equal(given, known):
            raise InvalidParameterError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise InvalidParameterError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}"
            )
        return given


def parameter(
    *, default: Any, check: Callable[..., Any], auto: bool = False, kw_only: bool = True, **how: Any
) -> Any:
    """Declare a parameter and what refuses a value of it that cannot be.

    ``check`` is called with the name, the value and ``how``, unless the value is "auto" and may be.
    """

    def checked(name: str, value: Any) -> None:
        if not (auto and isinstance(value, str) and value == "auto"):
            check(name, value, **how, **({"otherwise": " or 'auto'"} if auto else {}))

    return field(default=default, kw_only=kw_only, metadata={"check": checked})


def learned(*, empty: Any = None, init: Literal[False] = False) -> Any:
    """Declare an attribute that ``fit`` sets: it is no parameter, and absent before.

    ``empty`` is what it is after ``fit`` where there was nothing to learn; None: absent.
    """
    return field(init=init, metadata={} if empty is None else {"empty": empty})


@dataclass_transform(
    kw_only_default=True, eq_default=False, field_specifiers=(field, parameter, learned)
)
class SavedEstimator(TableEstimator):
    """A table estimator that can be written to a file, with all attributes that it declares.

    What a subclass annotates are its parameters with their defaults, from which ``__init__`` is
    made; they are given by name unless they say ``field(default=…, kw_only=False)``, and a
    `parameter` says what it may be. What is `learned` in ``fit`` is declared beside them. A preset
    declares a parameter again for another default. A docstring explains what is particular;
    ``help`` shows the words of the bases, too: of these two where a class has them.

    Parameters
    ----------
    n_jobs : int, optional
        Threads or processes; None means one, −1 all cores. The result is the same.
    random_state : int, RandomState or None, default=0
        Seed of all that is drawn.

    >>> class Imputer(SavedEstimator):
    ...     k: int = field(default=5, kw_only=False)
    ...     tol: float = 0.1
    ...     n_iter_: int = learned()
    >>> class Preset(Imputer):
    ...     tol: float = 0.2
    >>> print(signature(Preset))
    (k: int = 5, *, tol: float = 0.2) -> None
    >>> Preset(3)
    Preset(k=3)
    """

    cell_styles_: dict[str, Any]
    cell_words_: dict[str, Any]
    cell_folds_: dict[str, Any]
    _sklearn_output_config: dict[str, str]

    _optional: ClassVar[tuple[str, ...]] = (
        "feature_names_in_",
        "cell_styles_",
        "cell_words_",
        "cell_folds_",
        "_sklearn_output_config",
    )
    """Declared attributes that not every fitted estimator has."""

    _unsaved: ClassVar[tuple[str, ...]] = ()
    """Attributes and parameters that a saved file leaves out."""

    _checks: ClassVar[dict[str, Callable[[str, Any], None]]] = {}
    """What refuses strange values, by parameter."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Make ``__init__`` of the parameters, unless a class has its own, and the whole help."""
        super().__init_subclass__(**keywords)
        init: Any = cls.__init__
        is_made = init is object.__init__ or hasattr(init, "__signature__")
        dataclass(init=is_made, kw_only=True, repr=False, eq=False, match_args=False)(cls)
        own = {f.name: f.metadata["check"] for f in fields(cls) if "check" in f.metadata}
        cls._checks = {**cls._checks, **own}
        if is_made:
            init = cls.__init__
            init.__signature__ = _own_first(cls)
        if vars(cls).get("__doc__"):
            cls.__doc__ = full_help(cls)

    def _check_settings(self) -> None:
        """Refuse parameters that cannot be."""
        for name, check in self._checks.items():
            check(name, getattr(self, name))

    def _forget(self) -> None:
        """Be as before any ``fit``, apart from attributes that say what they are of nothing."""
        for attribute in fields(self):
            if not attribute.init:
                self.__dict__.pop(attribute.name, None)
            if "empty" in attribute.metadata:
                setattr(self, attribute.name, copy(attribute.metadata["empty"]))

    def _record(self, kind: type[Record], **more: Any) -> Record:
        """A record of an engine, whose fields are parameters of the same names, a seed, or more."""
        names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
        own = {name: getattr(self, name) for name in names if hasattr(self, name)}
        if "seed" in names and hasattr(self, "random_state"):
            own["seed"] = sure_seed(self.random_state)
        return kind(**own | more)

    def save(self, path: str | Path) -> None:
        """Write what was fitted to a file that ``greyfill.load`` reads without running code."""
        from greyfill.persistence import save

        check_fitted(self)
        save(self, path)


def _own_first(kind: Any) -> Signature:
    """The signature of ``__init__``: what a class declares itself, and then what its bases do."""
    made, fields, depth = signature(kind.__init__), kind.__dataclass_fields__, {"self": -1}
    for place, base in enumerate(kind.__mro__):
        for name, declared in vars(base).get("__dataclass_fields__", {}).items():
            if declared is fields[name]:
                depth[name] = place
    order = sorted(made.parameters.values(), key=lambda p: (p.kind, depth[p.name]))
    return made.replace(parameters=order)


def full_help(kind: type[Any]) -> str:
    """The docstring of a class, with what its bases say of parameters and attributes of theirs.

    Parameters stand in the order of the signature, with the defaults of the class; attributes of
    the class before those of bases.
    """
    helps = [_sections(base.__doc__ or "") for base in kind.__mro__[:-1]]
    explained = _entries(h.get("Parameters", "") for h in helps)
    parameters = [
        re.sub(r"\A(.+)default=\S+", rf"\1default={p.default!r}".replace("'", '"'), explained[name])
        for name, p in signature(kind).parameters.items()
        if name in explained
    ]
    attributes = _entries(h.get("Attributes", "") for h in helps).values()
    sections = {
        "": helps[0][""],
        "Parameters": "\n".join(dict.fromkeys(parameters)),
        "Attributes": "\n".join(dict.fromkeys(attributes)),
        "Examples": helps[0].get("Examples", ""),
    }
    titled = (f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items() if text)
    return "\n\n".join(titled).lstrip("\n")


@cache  # each base is read for each class below it
def _sections(text: str) -> dict[str, str]:
    """The parts of a docstring by title; what is before the first has none."""
    first, *rest = SECTION.split(cleandoc(text))
    titles, bodies = rest[::2], rest[1::2]
    return {"": first, **{t or "Examples": b for t, b in zip(titles, bodies, strict=True)}}


def _entries(texts: Iterable[str]) -> dict[str, str]:
    """The entry of each name, as the first text that has it says."""
    found: dict[str, str] = {}
    for text in texts:
        for entry in ENTRY.finditer(text):
            for name in entry.group(1).split(", "):
                found.setdefault(name, entry.group())
    return found


class MissingIndicator(TableEstimator, impute.MissingIndicator):
    """Where a table has holes, in the columns that had some in ``fit``.

    An imputer has one as ``indicator_``. Parameters and attributes are those of scikit-learn's
    class of this name; the table may be any that an imputer takes, and ``missing_values`` may
    list several values.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [31, 45, None], "sex": ["f", "m", "f"]})
    >>> MissingIndicator(missing_values="?").fit(frame).transform(frame).ravel()
    array([False, False,  True])
    """

    categorical_features: Any = "auto"
    ordinal_features: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns of X that have holes."""
        with self._all_or_nothing():
            table, origin = self._open_training(X)
            self._schema = origin.schema
            self.features_ = self._plain(np.asarray(table.missing.any(axis=0))).features_
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Remember the columns of X that have holes, and return where."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """A boolean column for each of ``features_``, True where X has a hole."""
        table, _ = self._open_new(X)
        holed = np.isin(np.arange(table.n_columns), self.features_)
        with own_errors():
            return self._plain(holed).transform(_with_nan(table.missing))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns of ``transform``."""
        check_fitted(self)
        names = np.asarray(self._input_names(input_features), dtype=object)
        return np.array(flag_names(names[self.features_]), dtype=object)

    def _plain(self, holed: Bools) -> Any:
        """scikit-learn's indicator, fitted where these columns had holes."""
        plain = impute.MissingIndicator(
            features=self.features, sparse=self.sparse, error_on_new=self.error_on_new
        )
        with own_errors():
            return plain.set_output(transform="default").fit(_with_nan(holed[None, :]))


def flag_names(names: Iterable[Any]) -> list[str]:
    """The names of the columns that tell where these columns have holes.

    >>> flag_names(["age"])
    ['missingindicator_age']
    """
    return [f"missingindicator_{name}" for name in names]


def _with_nan(missing: Bools) -> NDArray[np.float64]:
    """Numbers with NaN where a cell is missing."""
    return np.where(missing, np.nan, 0.0)
