"""A table, about to be filled: what is left alone, what is filled, by which imputer.

```
fill        a frame, an array or a file ──> Filled; the one call of the package
OpenedFill  a table encoded once, what of it is left alone, an imputer about to learn from it
Filled      the table without holes and, computed when asked for, mask, cells, intervals, draws
```

The command ``greyfill impute`` is `OpenedFill` and `Filled` with files around them.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from time import perf_counter
from typing import Any

import narwhals as nw
import numpy as np

from greyfill import files, frames
from greyfill.applicability import find_inapplicable, with_levels
from greyfill.checks import is_number, is_whole
from greyfill.column_notes import Words, collected_warnings, in_python, notes_on_columns
from greyfill.exceptions import GreyfillError, InvalidDataError, InvalidParameterError
from greyfill.filled import Filled, empty_places, rejoined, unfilled, with_empty
from greyfill.folds import Folds, find_folds, with_folds
from greyfill.imputers.registry import DEFAULT, make
from greyfill.table import Bools
from greyfill.text import fallbacks, plural

READING = (
    "numeric_columns", "delimiter", "decimal", "encoding", "date_order", "header", "sheet",
    "ragged", "strict",
)  # fmt: skip
"""What may be said about the reading of a file."""


def fill(
    table: Any,
    target: Any = None,
    *,
    method: str = DEFAULT,
    ignore: Sequence[str] = (),
    fill: Sequence[str] = (),
    fold: Sequence[str] = (),
    not_applicable: Sequence[str] | Mapping[str, str | None] = (),
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    categorical_features: Any = "auto",
    ordinal_features: Any = None,
    missing_values: Any = None,
    indicators: bool = False,
    **settings: Any,
) -> Filled:
    """Fill the holes of a table, and tell which, by what, and how sure that is.

    You get a `Filled`: ``table`` is your table without holes, in the library it came in, with
    every observed cell as it was. ``mask`` says which cells were filled, ``cells`` lists each of
    them with its limits and its donors, ``draws(5)`` fills the table five times by chance,
    ``report.save("page.html")`` writes it all up, ``notes`` is what you should read before you go
    on. Identifiers, free text and constants are left as they are: ``left_alone`` names them, with
    reasons.

    Parameters
    ----------
    table : frame, array, list of rows, or path
        A table of pandas, polars, pyarrow or numpy. A file of any format that the command reads
        becomes a table of polars.
    target : str or array-like, optional
        The column with the classes, or what is to be predicted: it helps to fill and is never
        filled itself. For a table without names, the labels themselves.
    method : str, default="grey"
        A method as the command calls it: "grey" tunes itself, "cgknn" is the paper's.
    ignore : list of str
        More columns that are neither used nor filled.
    fill : list of str
        Columns that are filled although they look like identifiers, free text or constants. No
        other column is filled by them, unless they are named in ``categorical_features`` or
        ``ordinal_features``, too.
    fold : list of str
        Columns whose levels are one where they differ only by blanks around them or by capitals.
        A hole gets the more frequent spelling; observed cells keep theirs.
    not_applicable : list of str, or dict of str to level
        Columns that do not apply to the rows which lack them together with others: these cells
        stay empty, or get a level. Of a column that is lacking on its own, all holes.
    bounds : dict of column to (low, high), optional
        Limits of fills and draws; None on a side means no limit.
    categorical_features, ordinal_features, missing_values
        As in `GreyImputer`. Places of columns are those in the table, as in all parameters.
    indicators : bool, default=False
        Add a column for each one with holes that says where they were.
    **settings
        More parameters of the imputer, such as ``random_state``, ``n_jobs`` or ``time_budget``;
        and for a file, what the command says about its reading: ``delimiter``, ``decimal``,
        ``encoding``, ``date_order`` ("dmy" or "mdy"), ``header`` (whether the first line has the
        names), ``sheet`` (a name or a number), ``numeric_columns`` (quantities that look like
        identifiers or missing), ``ragged`` (rows may have more cells than names) and ``strict``
        (nothing is guessed). What is not said is found out.

    Examples
    --------
    >>> import polars as pl
    >>> import greyfill
    >>> doses = [1, 2, 3, 4, 5, 6, None, 8, 9, 10]
    >>> levels = [2.1, 4.2, None, 7.9, 10.1, 12.0, 14.1, 15.8, 18.2, None]
    >>> filled = greyfill.fill(pl.DataFrame({"dose": doses, "level": levels}))
    >>> filled.table["dose"][6]
    7
    >>> filled.cells.select("row", "column").rows()
    [(6, 'dose'), (2, 'level'), (9, 'level')]
    """
    kinds = {"categorical_features": categorical_features, "ordinal_features": ordinal_features}
    cells = {"bounds": bounds, "add_indicator": indicators, "missing_values": missing_values}
    reading = {name: settings.pop(name) for name in READING if name in settings}
    imputer = _make(method, kinds | cells, settings)
    source = None
    if isinstance(table, str | os.PathLike):
        words, others = _words_of(missing_values)
        source = _read(table, categorical_features, words, reading, ignore)
        imputer.missing_values = missing_values = others or None  # the words are holes by now
        named = _names_of(ignore, source.frame, "ignore")
        ignore = [*named, *(name for name in source.nested if name not in named)]
    elif reading:
        raise InvalidParameterError(
            f"{', '.join(reading)}: only for a file, and the table is a {type(table).__name__}"
        )
    whole = frames.open_table(table if source is None else source.frame)
    whole, names = frames.with_text_names(nw.to_native(whole, pass_through=True))
    target = str(target) if names is not None and _is_name(target, names) else target
    kinds = {name: _by_name(columns, whole) for name, columns in kinds.items()}
    imputer.set_params(**_taken(kinds | {"bounds": _by_name(bounds, whole)}, imputer.get_params()))
    chosen = _names_of(not_applicable, whole, "not_applicable")
    given = not_applicable.values() if isinstance(not_applicable, Mapping) else ()
    levels = dict(zip(chosen, given, strict=False))
    features = _split(whole, target, ignore)[0]
    rows = find_inapplicable(features, chosen, "not_applicable", missing_values)
    whole = with_levels(whole, levels, rows, "not_applicable")
    holes = frames.as_sentinels(missing_values)
    folds = find_folds(whole, _names_of(fold, whole, "fold"), "fold", missing_values=holes)
    X, y = _split(with_folds(whole, folds, holes), target, ignore)
    insisted = _names_of(_by_name(_listed(fill), whole), X, "fill")
    kept_empty = {name: where for name, where in rows.items() if levels.get(name) is None}
    told = _given_a_kind(insisted, X, kinds)
    opened = OpenedFill(X, y, imputer, insisted=insisted, told=told, kept_empty=kept_empty)
    return opened.run(whole=whole, source=source, folds=folds, names=names)


class OpenedFill:
    """A table that was encoded, and an imputer that is about to learn from it.

    ``insisted`` are columns that are filled whatever they look like, though they fill no other;
    ``told`` those that the user gave a kind, so that they are no identifiers. ``kept_empty`` has
    the rows to which columns do not apply: these may fill others, but the cells stay empty.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        imputer: Any,
        *,
        insisted: Collection[str] = (),
        told: Collection[str] = (),
        kept_empty: Mapping[str, Bools] | None = None,
        words: Words | None = None,
    ) -> None:
        self._X, self._y, self._imputer = X, y, imputer.set_output(transform="default")
        self._kept_empty, self._words = kept_empty or {}, words or Words()
        self._started = perf_counter()
        with collected_warnings() as self._messages:
            self._opened = imputer._open_training(X)
        table, origin = self._opened
        frames.check_bounds(imputer.bounds, origin.schema.fields, self._words.bounds)
        found = frames.find_excluded(table, origin.schema)
        known = {*insisted, *told}
        self.left_alone = {name: why for name, why in found.items() if name not in known}
        self.schema = origin.schema.without(np.isin(origin.schema.names, list(self.left_alone)))
        imputer.leave_alone = self.left_alone
        self._muted = [name for name in found if name in insisted and name not in told]
        self._opened = table.mute(self._muted), origin

    def notes(self) -> list[str]:
        """What is left alone and why, and the cells that may not apply."""
        names, known = self.schema.names, {*self.left_alone, *self._kept_empty}
        missing: Bools = self._opened[0].missing
        told: list[str] = [*notes_on_columns(missing, names, self.left_alone, known, self._words)]
        for name, rows in self._kept_empty.items():
            others = int(missing[:, names.index(name)].sum() - rows.sum())
            missed = f", {plural(others, 'other hole')} of it counted as missing" if others else ""
            where = plural(int(rows.sum()), "row")
            told.append(
                f"Column {name!r} does not apply to {where}: these cells stay empty{missed}."
            )
        return told

    def run(
        self,
        progress: Callable[..., None] | None = None,
        *,
        whole: Any = None,
        source: files.Source | None = None,
        folds: Folds | None = None,
        names: Any = None,
    ) -> Filled:
        """Fit the imputer and fill the rows that it learns from.

        ``whole`` is the table that X is a part of, ``source`` the file that it was read from;
        ``folds`` are the columns of X that have one spelling where the whole has several, ``names``
        those of the whole where they are no text.
        """
        imputer, X, folds = self._imputer, self._X, folds or {}
        with collected_warnings() as messages, imputer._reporting_to(progress):
            filled = imputer._fit_opened(X, self._y, self._opened)
        if folds:  # for greyfill apply
            imputer.cell_folds_ = {name: dict(found) for name, found in folds.items()}
        whole = X if whole is None else whole
        imputer._refuse_taken_names(getattr(whole, "column_names", getattr(whole, "columns", ())))
        features = unfilled(X, with_empty(X, filled, imputer), self._kept_empty)
        holes = self._opened[0].missing & ~np.isin(self.schema.names, list(self.left_alone))
        holes &= imputer._kept | imputer.keep_empty_features
        for name, rows in self._kept_empty.items():
            holes[rows, self.schema.names.index(name)] = False
        noted = [*(source.notes if source else ()), *self.notes(), *self._messages, *messages]
        if self._words == Words():  # the command has lines of its own for them
            noted = [*map(in_python, noted), *(found["text"] for found in fallbacks(imputer))]
        table = rejoined(whole, features, imputer, folds, names)
        if isinstance(features, np.ndarray):  # as the imputer gives it
            features = np.delete(features, empty_places(imputer), axis=1)
        return Filled(
            table=table,
            imputer=imputer,
            left_alone=self.left_alone,
            notes=tuple(dict.fromkeys(noted)),
            seconds=perf_counter() - self._started,
            features=features,
            _X=X,
            _y=self._y,
            _whole=whole,
            _holes=holes,
            _kept_empty=self._kept_empty,
            _source=source,
            _folds=folds,
            _muted=self._muted,
            _columns=names,
        )


def _make(method: str, known: dict[str, Any], settings: dict[str, Any]) -> Any:
    """The imputer of a method; a parameter that it has not is refused in words."""
    takes = make(method).get_params(deep=False)
    for name in settings:
        if name == "leave_alone":
            raise InvalidParameterError(
                "leave_alone is found by fill itself: name more columns that are neither used nor "
                "filled in ignore, and those to fill all the same in fill"
            )
        if name not in takes:
            raise InvalidParameterError(
                f"the method {method!r} has no parameter {name!r}; it has {', '.join(takes)}"
            )
    given = known | {"n_jobs": -1} | settings
    return make(method, **_taken(given, takes))


def _taken(given: Mapping[str, Any], takes: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in takes}


def _read(
    path: str | os.PathLike[str],
    categorical: Any,
    words: list[str],
    reading: dict[str, Any],
    ignored: Any,
) -> files.Source:
    """A file whose columns of categories are read as texts, and ignored ones where they must."""
    listed = [] if frames.is_auto(categorical) else _listed(categorical)
    named = [column for column in listed if isinstance(column, str)]
    numeric = _listed(reading.pop("numeric_columns", ()))

    def chosen(columns: Sequence[str]) -> tuple[list[str], list[str]]:
        frames.column_positions(named, tuple(columns), "categorical_features")
        frames.column_positions(numeric, tuple(columns), "numeric_columns")
        return named, numeric

    if reading.get("sheet") is not None:
        reading["sheet"] = str(reading["sheet"])

    def chosen_else(columns: Sequence[str]) -> tuple[list[str], list[str]]:
        texts, numbers = chosen(columns)
        places = frames.column_positions(_listed(ignored), tuple(columns), "ignore")
        return [*texts, *(columns[j] for j in places)], numbers

    try:
        try:
            return files.read(path, na_values=words, choose_types=chosen, **reading)
        except InvalidDataError:  # perhaps of a column that is not used
            if not _listed(ignored) or not os.path.isfile(path):  # a pipe is read once
                raise
            return files.read(path, na_values=words, choose_types=chosen_else, **reading)
    except GreyfillError as error:
        error.args = (in_python(str(error)),)
        raise


def _words_of(missing_values: Any) -> tuple[list[str], list[Any]]:
    """Texts and numbers for missing as a file has them, and the others, such as dates.

    >>> _words_of([-999, -999.0, "?", True])
    (['-999', '-999', '?'], [True])
    """
    words, others = list[str](), list[Any]()
    for value in frames.as_sentinels(missing_values):
        if isinstance(value, str):
            words.append(value)
        elif isinstance(value, np.timedelta64) or not (is_number(value) or type(value) is Decimal):
            others.append(value)
        else:
            words.append(str(int(value) if value == value // 1 else value))
    return words, others


def _split(whole: Any, target: Any, ignore: Any) -> tuple[Any, Any]:
    """The features and the labels of a table."""
    if not isinstance(target, str) and not _listed(ignore):
        return whole, target
    if isinstance(whole, np.ndarray):
        raise InvalidParameterError(
            "a table without column names has no column to name in target or ignore: pass the "
            "labels themselves as target, and leave other columns out of the table"
        )
    ignored = _names_of(ignore, whole, "ignore")
    table = nw.from_native(whole, eager_only=True)
    targets = _names_of([target], whole, "target") if isinstance(target, str) else []
    y = table[target].to_native() if targets else target
    left_out = {*ignored, *targets}
    names = [name for name in table.columns if name not in left_out]
    if not names:
        raise InvalidDataError("no column is left to fill beside the target and those to ignore")
    return table.select(names).to_native(), y


def _names_of(given: Any, frame: Any, parameter: str) -> list[str]:
    """The names of columns that are given by name or position; others are refused."""
    listed = _listed(given)
    if not listed:
        return []
    names = _column_names(frame)
    return [names[j] for j in frames.column_positions(listed, names, parameter)]


def _by_name(given: Any, whole: Any) -> Any:
    """Columns by name that are given by their place in the whole table: the features have others.

    >>> import polars as pl
    >>> _by_name({1: (0, 9), "b": (0, 1)}, pl.DataFrame({"y": ["no"], "a": [1], "b": [2]}))
    {'a': (0, 9), 'b': (0, 1)}
    """
    if isinstance(whole, np.ndarray) or isinstance(given, str) or not isinstance(given, Iterable):
        return given
    names = _column_names(whole)
    places = dict(enumerate(names)) | {j - len(names): name for j, name in enumerate(names)}
    named = [places.get(item, item) if is_whole(item) else item for item in given]
    return dict(zip(named, given.values(), strict=True)) if isinstance(given, Mapping) else named


def _listed(given: Any) -> list[Any]:
    """Columns as a list: one alone is a list of one, None is none.

    >>> _listed("age"), _listed(("age", "pay")), _listed(None)
    (['age'], ['age', 'pay'], [])
    """
    if given is None:
        return []
    is_one = isinstance(given, str) or not isinstance(given, Iterable)
    return [given] if is_one else list(given)


def _is_name(target: Any, names: Any) -> bool:
    """Whether a target names a column of a frame whose names are no text."""
    is_one = isinstance(target, tuple | date) and target in list(names)
    return is_one or bool(np.isscalar(target))


def _given_a_kind(insisted: Collection[str], X: Any, kinds: Mapping[str, Any]) -> list[str]:
    """Those of some columns that were given a kind, so that they are no identifiers."""
    names = _column_names(X) if insisted else ()
    places = {
        j
        for parameter, given in kinds.items()
        if names and given is not None and not frames.is_auto(given)
        for j in frames.column_positions(given, names, parameter)
    }
    return [name for name in insisted if names.index(name) in places]


def _column_names(frame: Any) -> tuple[str, ...]:
    if isinstance(frame, np.ndarray):
        return frames.encode(frame)[1].schema.names
    return tuple(nw.from_native(frame, eager_only=True).columns)
