"""One door in, one door out: everything that an imputer shares, whatever its method."""

import sys
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import TransformerMixin

from greyfill import exceptions, frames, targets
from greyfill.checks import (
    check_choice,
    check_fitted,
    check_flag,
    check_installed,
    check_whole,
    is_whole,
)
from greyfill.exceptions import (
    EmptyColumnWarning,
    IdentifierWarning,
    InvalidDataError,
    InvalidParameterError,
)
from greyfill.exclusion import CONSTANT
from greyfill.imputers.estimator import (
    MissingIndicator,
    SavedEstimator,
    flag_names,
    learned,
    parameter,
)
from greyfill.progress import LOGGER
from greyfill.table import Bools, Floats, Ints, Table
from greyfill.targets import Meaning, read_target

OUTPUTS = ("default", "pandas", "polars")

AnyTable = TypeVar("AnyTable")
"""What comes out is of the type that came in, unless ``set_output`` says otherwise."""


def _check_verbosity(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        check_whole(name, value, least=0)


class BaseImputer(TransformerMixin, SavedEstimator, auto_wrap_output_keys=None, metaclass=ABCMeta):
    """Check, encode, drop empty columns, let the method fill a Table, and restore the container.

    A method implements ``_fit_table``, and ``_fill_table`` unless its ``_fitted`` fills. It sees a
    Table whose columns all have an observed value, and class codes (−1: no label) or None.

    Parameters
    ----------
    categorical_features : "auto" or list of names, indices or a mask, default="auto"
        Columns to treat as unordered categories besides strings, categories and booleans.
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered; a fill is one of the levels.
    missing_values : scalar or list, optional
        Values that mean "missing" besides NaN, None, NA and null, such as "?" or -999.
    add_indicator : bool, default=False
        Append a boolean column for each column that had holes in ``fit``.
    keep_empty_features : bool, default=False
        Keep columns without any observed value, filled with zero or a neutral level.
    round_to_grid : bool, default=True
        Move fills to the grid of their column: whole where all observed numbers are whole, tens
        where they are tens, steps of 0.005, or one of at most 12 numbers that occur often.
    bounds : dict of name or index to (low, high), optional
        Limits of the fills and draws of numeric columns; None on a side means no limit.
    leave_alone : "auto", list of names or indices, or dict of them to reasons, optional
        Columns that are neither used nor filled: "auto" finds identifiers, free text and constants.
        ``left_alone_`` has them, with reasons. By default every column is filled, and an
        `IdentifierWarning` names those that should not be; they fill no other column (``unused_``).
        An empty list treats all columns alike.
    verbose : int, default=0
        0 is silent. With 1, stderr shows how the work goes.

    Attributes
    ----------
    imputed_counts_ : dict of str to int
        Cells filled in each column of the training table.
    left_alone_ : dict of str to str
        The columns that ``leave_alone`` left as they are, and why.
    unused_ : dict of str to str
        The columns that no other was filled by, and why.
    indicator_ : MissingIndicator or None
        With ``add_indicator``, tells where a table has holes in the columns that had some in
        ``fit``; scikit-learn's, for the tables that this imputer takes.
    """

    categorical_features: Any = "auto"
    ordinal_features: Any = None
    missing_values: Any = None
    add_indicator: bool = parameter(default=False, check=check_flag)
    keep_empty_features: bool = parameter(default=False, check=check_flag)
    round_to_grid: bool = parameter(default=True, check=check_flag)
    bounds: Any = None
    leave_alone: Any = None
    verbose: int = parameter(default=0, check=_check_verbosity)

    imputed_counts_: dict[str, int] = learned()
    left_alone_: dict[str, str] = learned()
    unused_: dict[str, str] = learned()
    _flagged: Bools = learned()
    _fitted: Any = learned()

    _optional = (*SavedEstimator._optional, "left_alone_", "unused_", "_fitted")
    _unsaved: ClassVar[tuple[str, ...]] = ("_reported",)
    _progress: ClassVar[Any] = None

    @abstractmethod
    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from a table and return its values without holes."""

    def _fit_nothing(self) -> None:
        """Set the fitted attributes of a table without any observed value."""

    def _fill_table(self, table: Table) -> Floats:
        """The values of new rows without holes, by what was fitted."""
        filled: Floats = self._fitted.fill(table)
        return filled

    def _fill_labeled(self, table: Table, y: Any, classes: tuple[Any, ...]) -> Floats:
        """The values of training rows that are no donors; here as those of new rows.

        ``classes`` are those of ``fit`` in the order of their codes.
        """
        return self._fill_table(table)

    @property
    def _needs_labels(self) -> bool:
        """Whether ``fit`` cannot work without y."""
        return False

    @property
    def _sees_own_labels(self) -> bool:
        """Whether a training row is filled with the help of its own label."""
        return self._needs_labels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X and, where the method uses them, their labels y.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            numpy, pandas, polars or pyarrow; numbers, strings, categories, booleans, dates.
        y : array-like of shape (n_rows,), optional
            Class labels. A row whose label is missing is treated like a new row.
        """
        self._learn(X, y)
        return self

    def fit_transform(self, X: AnyTable, y: Any = None, **fit_params: Any) -> AnyTable:
        """Learn from X and return it without holes, in the container it came in.

        What y may do is said by the parameter ``labels``, where there is one: `GreyImputer` fills
        a row by what the labels of *other* rows teach, the neighbor methods by its own as well. So
        the result differs from ``fit(X, y).transform(X)``, which treats the same rows as new ones.
        """
        if fit_params:
            raise InvalidParameterError(f"fit_transform takes only X and y: {sorted(fit_params)}")
        filled: AnyTable = self._finish(X, y, *self._learn(X, y))
        return filled

    def _fit_opened(self, X: Any, y: Any, opened: tuple[Table, Any]) -> Any:
        """``fit_transform`` of a table of which `_open_training` made ``opened``."""
        return self._finish(X, y, *self._learn(X, y, opened))

    def _finish(self, X: Any, y: Any, origin: Any, mask: Bools, filled: Floats) -> Any:
        result = self._restore(origin, mask, filled)
        self._reported = X, result, y
        return result

    def transform(self, X: AnyTable) -> AnyTable:
        """Return X without holes, in the container it came in.

        Each row is filled on its own, without a label, from the rows of ``fit`` only: one row
        gives the same answer as a batch.
        """
        table, origin = self._open_new(X)
        filled = table.values
        if np.count_nonzero(self._kept):
            filled = self._put_back(table, self._fill_table(table.select(self._kept)))
        result: AnyTable = self._restore(origin, table.missing, filled)
        return result

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the output columns: the input's, less empty ones, plus indicators."""
        check_fitted(self)
        names = np.asarray(self._input_names(input_features), dtype=object)
        shown = names if self.keep_empty_features else names[self._shown]
        return np.array([*shown, *self._flag_names(names)], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container of the output.

        Parameters
        ----------
        transform : "default", "pandas", "polars" or None
            "default" gives back the container that came in; None leaves the setting unchanged.
        """
        if transform is not None:
            check_choice("transform", transform, OUTPUTS)
            if transform != "default":
                check_installed(transform, f"Output as a table of {transform}")
            # scikit-learn's clone copies an attribute of this name.
            self._sklearn_output_config = {"transform": transform}
        return self

    @property
    def indicator_(self) -> MissingIndicator | None:
        """Where a table has holes, in the columns that had some in ``fit``.

        A fitted ``sklearn.impute.MissingIndicator`` for the tables that this imputer takes; None
        without ``add_indicator``.
        """
        check_fitted(self)
        if not self.add_indicator and not self._flagged.any():
            return None
        indicator = MissingIndicator(missing_values=self.missing_values, error_on_new=False)
        indicator._schema, indicator.features_ = self._schema, np.flatnonzero(self._flagged)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(indicator, name, getattr(self, name))
        return indicator

    @property
    def schema_(self) -> frames.Schema:
        """The columns as ``fit`` learned them.

        ``schema_.fields`` has for each its name, its kind (numeric, ordinal, categorical), how it
        is stored (family), and its levels.
        """
        check_fitted(self)
        return self._schema

    @property
    def report_(self) -> Any:
        """What the last ``fit_transform`` did, as a page that shows itself in a notebook.

        Until then the imputer refers to the table and its filled copy; pickles and saved files
        do not contain them.
        """
        check_fitted(self)
        if not hasattr(self, "_reported"):
            raise exceptions.NotFittedError(
                "report_ needs the rows that were filled: call fit_transform"
            )
        from greyfill.report import make_report

        return make_report(self, *self._reported)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the tables that only ``report_`` needs."""
        state = dict(super().__getstate__())
        state.pop("_reported", None)
        return state

    def __sklearn_tags__(self) -> Any:
        """Whether y is needed, beside what every estimator has."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels
        return tags

    def _learn(
        self, X: Any, y: Any, opened: tuple[Table, Any] | None = None
    ) -> tuple[Any, Bools, Floats]:
        """Fit, and return what restores the training rows."""
        with self._all_or_nothing():
            self._check_settings()
            self._forget()
            self.__dict__.pop("_reported", None)
            table, origin = opened or self._open_training(X)
            labels = self._encode_labels(y, table.n_rows)
            targets.warn_of_target(y, origin.schema.names)
            self.left_alone_ = self._choose_left_alone(table, origin.schema)
            self.unused_ = self._choose_unused(table, origin.schema)
            table = table.mute(self.unused_)
            self._remember_columns(origin.schema, table.missing.sum(axis=0), table.n_rows)
            origin = replace(origin, schema=self._schema)
            filled = table.values
            if self._kept.any():
                filled = self._put_back(table, self._fit_table(table.select(self._kept), labels))
            else:
                self._fit_nothing()
            self._keep_training(origin, table.missing)
            return origin, table.missing, filled

    def _choose_left_alone(self, table: Table, schema: frames.Schema) -> dict[str, str]:
        """The columns to leave alone, with reasons."""
        if self.leave_alone is None:
            return {}
        if frames.is_auto(self.leave_alone):
            return frames.find_excluded(table, schema)
        places = frames.column_positions(self.leave_alone, schema.names, "leave_alone")
        reasons = dict.fromkeys(places, "named in leave_alone")
        if isinstance(self.leave_alone, Mapping):
            reasons = dict(zip(places, map(str, self.leave_alone.values()), strict=True))
        return {schema.names[j]: reasons[j] for j in sorted(reasons)}

    def _choose_unused(self, table: Table, schema: frames.Schema) -> dict[str, str]:
        """The columns that no other is filled by, with reasons; a warning about those with holes.

        None if all columns are such: then there is nothing else to go by.
        """
        if self.leave_alone is not None:
            return {}
        found = frames.find_excluded(table, schema)
        doubtful = {name: why for name, why in found.items() if why != CONSTANT}
        holed = [c.name for j, c in enumerate(table.columns) if table.missing[:, j].any()]
        filled = [f"{name!r} ({why})" for name, why in doubtful.items() if name in holed]
        if filled:
            warnings.warn(
                f"filled {len(filled)} column(s) whose holes no other row can tell: "
                f"{', '.join(filled[:5])}{' …' if len(filled) > 5 else ''}; "
                "leave_alone='auto' leaves them as they are",
                IdentifierWarning,
                stacklevel=4,
            )
        return doubtful if len(doubtful) < table.n_columns else {}

    @property
    def _kept_fields(self) -> list[frames.Field]:
        """What is known of the columns that have an observed value and are filled."""
        return [f for f, kept in zip(self._schema.fields, self._kept, strict=True) if kept]

    @property
    def _shown(self) -> Bools:
        """The columns that come out without ``keep_empty_features``."""
        if not self.left_alone_:
            return self._kept
        return np.asarray(self._kept | np.isin(self._schema.names, list(self.left_alone_)))

    def _remember_columns(self, schema: frames.Schema, holes: Ints, n_rows: int) -> None:
        """Keep the columns, which of them are filled and flagged, and how many cells that are."""
        left = np.isin(schema.names, list(self.left_alone_))
        bounds = frames.check_bounds(self.bounds, schema.fields)
        self._schema = schema.limited(to_grid=self.round_to_grid, bounds=bounds).without(left)
        self._kept = np.asarray(holes < n_rows) & ~left
        if not self._shown.all() and not self.keep_empty_features:
            dropped = [schema.names[j] for j in np.flatnonzero(~self._shown)]
            warnings.warn(
                f"dropped {len(dropped)} column(s) without any observed value: {dropped[:5]}"
                f"{' …' if len(dropped) > 5 else ''}; keep_empty_features=True keeps them",
                EmptyColumnWarning,
                stacklevel=4,
            )
        self._count_holes(holes)
        self._refuse_taken_names(schema.names)

    def _count_holes(self, holes: Ints) -> None:
        """Keep which columns are flagged, and how many cells are filled in each."""
        names = self._schema.names
        self._flagged = (holes > 0) & self.add_indicator
        is_left = np.isin(names, list(self.left_alone_))
        counts = holes * (self._kept | self.keep_empty_features) * ~is_left
        self.imputed_counts_ = dict(zip(names, counts.tolist(), strict=True))

    def _put_back(self, table: Table, kept: Floats) -> Floats:
        """The values of the whole table, with those of the kept columns."""
        if kept.shape == table.values.shape:
            return kept
        filled = table.values.copy()
        filled[:, self._kept] = kept
        return filled

    def _keep_training(self, origin: Any, mask: Bools) -> None:
        """Keep more of the training table than filling new rows needs; usually nothing."""

    def _encode_labels(self, y: Any, n_rows: int) -> Ints | None:
        """Class codes, or None where there are no classes and none are needed."""
        if y is None:
            self._refuse_no_labels()
            return None
        target = read_target(y, needs_classes=self._needs_labels)
        self._refuse_other_rows(n_rows, len(target.codes))
        return target.codes if self._takes(target.meaning) else None

    def _refuse_no_labels(self) -> None:
        if self._needs_labels:
            raise InvalidDataError(
                f"This {type(self).__name__} estimator requires y to be passed, but the "
                "target y is None. Pass the class labels, or set labels='none'."
            )

    def _takes(self, meaning: Meaning) -> bool:
        """Whether the method can use such labels; refuse a response where it needs classes."""
        if meaning is not Meaning.RESPONSE:
            return True
        if self._needs_labels:
            raise InvalidDataError(
                "Unknown label type: y is continuous, but this method needs classes. "
                "Take GreyImputer, which uses measurements too, bin y "
                "(sklearn.preprocessing.KBinsDiscretizer), or set labels='none'."
            )
        return False

    def _flag_names(self, names: Any) -> list[str]:
        """The names of the indicator columns."""
        return flag_names(np.asarray(names, dtype=object)[self._flagged])

    def _refuse_taken_names(self, names: Iterable[str]) -> None:
        """Refuse to overwrite a column of a table by an indicator."""
        taken = sorted({*self._flag_names(self._schema.names)} & {*names})
        if taken:
            raise InvalidDataError(
                f"add_indicator would add a column {taken[0]!r}, but the table already has one. "
                "Rename that column, or drop it."
            )

    def _restore(self, origin: Any, mask: Bools, filled: Floats) -> Any:
        """The container that came in, with only the holes rewritten."""
        indicators = {}
        if np.count_nonzero(self._flagged):  # a fraction of the time of any()
            flags = self._flag_names(self._input_names(None))
            indicators = dict(zip(flags, mask[:, self._flagged].T, strict=True))
        if self.left_alone_:
            left = np.isin(self._schema.names, list(self.left_alone_))
            origin = replace(origin, missing=origin.missing & ~left)
        config = getattr(self, "_sklearn_output_config", {})
        library = config.get("transform", get_config()["transform_output"])
        return frames.decode(
            filled,
            origin,
            kept=None if self.keep_empty_features else self._shown,
            indicators=indicators or None,
            library=None if library == "default" else str(library),
        )

    def _row_number(self, row: Any, X: Any = None) -> int:
        """A row by its number, or by its label in the index of X or of the filled table."""
        table = getattr(self, "_reported", (None,))[0] if X is None else X
        index: Any = getattr(table, "index", None)
        if is_whole(row) or not hasattr(index, "get_loc"):
            return check_whole("row", row, least=0)
        place = index.get_loc(row) if row in index else None
        if not is_whole(place):
            raise InvalidParameterError(f"no single row has the label {row!r} in the index of X")
        return int(place)

    def _find_cell(self, row: int, column: int | str) -> tuple[int, int]:
        """Check a row; the number of a column in ``fit``, and among the columns that are kept."""
        check_whole("row", row, least=0)
        names = [field.name for field in self._schema.fields]
        j = names.index(column) if isinstance(column, str) and column in names else column
        if not is_whole(j) or not 0 <= j < len(names) or not self._kept[j]:
            raise InvalidParameterError(f"no column {column!r} with observed values; have {names}")
        return j, int(self._kept[:j].sum())

    @contextmanager
    def _reporting_to(self, progress: Callable[[str], None] | None) -> Iterator[None]:
        """Hand each message about the work to a function, too."""
        self.__dict__["_progress"] = progress
        try:
            yield
        finally:
            self.__dict__.pop("_progress", None)

    def _report(self, message: str) -> None:
        """Tell how the work goes: to whoever shows it, in the log, on stderr if ``verbose``."""
        if self._progress is not None:
            self._progress(message)
        line = f"[{type(self).__name__}] {message}"
        LOGGER.info(line)
        if self.verbose:
            print(line, file=sys.stderr)


BaseImputer.left_alone_ = BaseImputer.unused_ = {}  # what files of older versions have
