"""Python code for a pipeline that ``worth`` advises, to be pasted and run."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from greyfill import frames
from greyfill.evaluation.pipelines import BOOSTING, GREY, LINEAR, PIPELINES
from greyfill.frames.columns import NUMBERS
from greyfill.frames.decoder import MOMENTS
from greyfill.table import Bools, Kind

FILLERS = {
    "mean_indicator": ("greyfill.evaluation", "MeanImputer", "add_indicator=True"),
    "grey": ("greyfill", "GreyImputer", ""),
    "grey_indicator": ("greyfill", "GreyImputer", "add_indicator=True"),
}


def column_names(
    X: Any, schema: frames.Schema, kept: Bools
) -> tuple[list[Any], list[Any], list[Any]]:
    """Columns of levels, numbers and moments, as the user names them: arrays have positions."""
    is_array = isinstance(frames.open_table(X), np.ndarray)
    levels: list[Any] = []
    numbers: list[Any] = []
    moments: list[Any] = []
    for place in np.flatnonzero(kept).tolist():
        about = schema.fields[place]
        chosen = levels if about.kind is Kind.CATEGORICAL else numbers
        chosen = moments if about.family in MOMENTS | {frames.Family.TIME} else chosen
        chosen.append(place if is_array else about.name)
    return levels, numbers, moments


def level_orders(X: Any, schema: frames.Schema, kept: Bools) -> dict[Any, list[Any]]:
    """The levels of ordinal columns, lowest first, by the names of `column_names`."""
    is_array = isinstance(frames.open_table(X), np.ndarray)
    return {
        place if is_array else about.name: [
            _plain(level)
            for level in frames.cell_values(np.arange(float(len(about.levels))), about)
        ]
        for place, about in enumerate(schema.fields)
        if kept[place] and about.kind is Kind.ORDINAL
    }


@dataclass(frozen=True)
class Snippet:
    """What the code must know of the table; ``written`` gives that of a pipeline."""

    levels: list[Any]
    numbers: list[Any]
    moments: list[Any]
    classifies: bool
    n_draws: int
    orders: dict[Any, list[Any]] = field(default_factory=dict)
    missing_values: tuple[Any, ...] = ()

    def written(self, name: str) -> str:
        """Code that makes ``model`` and fits it on X and y.

        >>> print(Snippet(["sex"], ["age"], [], True, 5).written("grey_model"))
        from greyfill import GreyClassifier
        <BLANKLINE>
        model = GreyClassifier(categorical_features=['sex'])
        model.fit(X, y)
        """
        pipeline = PIPELINES[name]
        if pipeline.model == GREY:
            grey = "GreyClassifier" if self.classifies else "GreyRegressor"
            return _code([f"from greyfill import {grey}"], f"{grey}({self._kinds()})")
        module, estimator, made = self._estimator(pipeline.model)
        of_model = f"from {module} import {estimator}"
        if pipeline.strategy == "draws":
            imports = ["from greyfill import BaggedDraws, GreyImputer", of_model]
            made = f"BaggedDraws(GreyImputer({self._kinds()}), {made}, n_draws={self.n_draws})"
            return _code(imports, made)
        steps, imports = [], [of_model]
        if pipeline.strategy in FILLERS:
            source, imputer, options = FILLERS[pipeline.strategy]
            imports.append(f"from {source} import {imputer}")
            steps.append(f"{imputer}({', '.join(filter(None, [options, self._kinds()]))})")
        steps.append(self._design(pipeline.strategy, pipeline.model))
        lines = "".join(f"    {step},\n" for step in [*steps, made])
        told = ""
        if self.moments:
            told = f"# Dates were weighed as numbers; this leaves them out: {self.moments!r}\n"
        if self.missing_values and pipeline.strategy not in FILLERS:
            words = _words(self.missing_values)
            told += f"# X must have holes where it has one of these: {words}\n"
        return _code([*imports, *DESIGN], f"make_pipeline(\n{lines})", told)

    def _kinds(self) -> str:
        orders = ", ".join(f"{name!r}: {_words(order)}" for name, order in self.orders.items())
        said = {
            "categorical_features": repr(self.levels) if self.levels else "",
            "ordinal_features": f"{{{orders}}}" if orders else "",
            "missing_values": _words(self.missing_values) if self.missing_values else "",
        }
        return ", ".join(f"{name}={text}" for name, text in said.items() if text)

    def _estimator(self, model: str) -> tuple[str, str, str]:
        if model == LINEAR and self.classifies:
            return (
                "sklearn.linear_model", "LogisticRegression", "LogisticRegression(max_iter=1000)"
            )  # fmt: skip
        if model == LINEAR:
            return "sklearn.linear_model", "Ridge", "Ridge()"
        name = f"HistGradientBoosting{'Classifier' if self.classifies else 'Regressor'}"
        places = list(range(len(self.levels)))
        told = f"categorical_features={places}, " if places else ""
        return "sklearn.ensemble", name, f"{name}({told}random_state=0)"

    def _design(self, strategy: str, model: str) -> str:
        """Levels come first; indicators of holes are numbers."""
        if model == BOOSTING:
            levels = 'OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan'
            levels += ", encoded_missing_value=-1)" if strategy == "level" else ")"
            numbers = "SimpleImputer()" if strategy == "level" else '"passthrough"'
        else:
            levels = 'OneHotEncoder(handle_unknown="ignore", sparse_output=False)'
            numbers = "StandardScaler()"
            if strategy == "level":
                numbers = f"make_pipeline(SimpleImputer(), {numbers})"
        ranked = [
            name
            for name in self.numbers
            if not all(isinstance(level, NUMBERS) for level in self.orders.get(name, ()))
        ]
        orders = ", ".join(_words(self.orders[name]) for name in ranked)
        ranks = f'OrdinalEncoder(categories=[{orders}], handle_unknown="use_encoded_value", '
        ranks += "unknown_value=np.nan)"
        if numbers != '"passthrough"':
            ranks = f"make_pipeline({ranks}, {numbers})"
        plain = [name for name in self.numbers if name not in ranked]
        parts = [
            f"({transformer}, {columns!r})"
            for transformer, columns in ((levels, self.levels), (numbers, plain), (ranks, ranked))
            if columns
        ]
        flags = '"passthrough"' if model == BOOSTING else "StandardScaler()"
        rest = flags if "indicator" in strategy else '"drop"'
        if self.moments and rest == flags:  # of which scikit-learn's scalers know nothing
            parts.append(f'("drop", {self.moments!r})')
        return f"make_column_transformer({', '.join(parts)}, remainder={rest})"


def _plain(value: Any) -> Any:
    """A value without a package, where Python has one that is equal; moments of a zone in UTC.

    >>> _plain(np.int64(-9)), _plain("?"), _plain(np.datetime64("2020-01-01", "ns"))
    (-9, '?', datetime.datetime(2020, 1, 1, 0, 0))
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        coarse = value
        if np.datetime_data(value.dtype)[0] == "ns":
            coarse = value.astype(f"{value.dtype.kind}8[us]")
        item = coarse.item()
        return value if coarse != value or isinstance(item, int) else item
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        return value  # of pandas, which alone has such
    if isinstance(value, datetime) and hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    if isinstance(value, timedelta) and hasattr(value, "to_pytimedelta"):
        return value.to_pytimedelta()
    return value


PACKAGES = ("datetime", "decimal", "fractions", "numpy", "pandas")
"""Those whose values the code writes with the name of the package, and imports."""


def _word(value: Any) -> str:
    """A value as code.

    >>> _word(np.float64("inf")), _word(np.timedelta64(1, "ns")), _word("?")
    ("float('inf')", "numpy.timedelta64(1,'ns')", "'?'")
    """
    plain = _plain(value)
    if isinstance(plain, float) and not np.isfinite(plain):
        return f"float('{plain}')"
    package = type(plain).__module__.partition(".")[0]
    if package not in PACKAGES:
        return repr(plain)
    short = repr(plain).removeprefix("np.").removeprefix(f"{package}.")
    return f"{package}.{short}"


def _words(values: Iterable[Any]) -> str:
    """A list of values as code."""
    return f"[{', '.join(map(_word, values))}]"


DESIGN = [
    "import numpy as np",
    "from sklearn.compose import make_column_transformer",
    "from sklearn.impute import SimpleImputer",
    "from sklearn.pipeline import make_pipeline",
    "from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler",
]


def _code(imports: list[str], model: str, told: str = "") -> str:
    """Imports of what occurs in the model, then the model."""
    # Of orders and words for missing.
    needed = [f"import {package}" for package in PACKAGES if f"{package}." in model]
    for line in imports:
        start, _, names = line.rpartition("import ")
        used = [n for n in names.split(", ") if re.search(rf"\b{n.split()[-1]}\b", model)]
        if used:
            needed.append(f"{start}import {', '.join(used)}")
    return "\n".join([*sorted(needed), "", f"{told}model = {model}", "model.fit(X, y)"])
