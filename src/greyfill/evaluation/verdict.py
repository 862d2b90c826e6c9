"""What ``worth`` found: gains with their errors, a verdict, and the code that follows from it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import t as student

from greyfill.evaluation.comparison import higher_is_better
from greyfill.evaluation.pipelines import IMPUTING, PIPELINES, PLAIN, READING
from greyfill.evaluation.snippet import Snippet
from greyfill.missingness import MissingnessTest
from greyfill.table import Floats, Ints
from greyfill.text import as_html, as_text, count

LEVEL, N_QUESTIONS = 0.95, 2
LEVEL_OF_ONE = 1.0 - (1.0 - LEVEL) / N_QUESTIONS  # Bonferroni
SHOWN = {"log_loss": "log loss", "accuracy": "accuracy", "rmse": "RMSE"}


@dataclass(frozen=True)
class Gain:
    """How much better a group of pipelines predicts than the plain ones; positive is better.

    ``value`` ± ``error`` is an interval of the metric: points of accuracy (0.01 is one), log loss,
    or units of y. ``matters`` says whether zero is outside.

    >>> Gain("accuracy", 0.004, 0.006).words, Gain("accuracy", 0.004, 0.006).matters
    ('+0.4 ± 0.6 points of accuracy', False)
    """

    metric: str
    value: float
    error: float

    @property
    def matters(self) -> bool:
        """Whether it is larger than its error."""
        return abs(self.value) > self.error

    @property
    def words(self) -> str:
        """With its sign and its unit."""
        if self.metric == "accuracy":
            return f"{_signed(100 * self.value, 1)} ± {100 * self.error:.1f} points of accuracy"
        digits = 3 if self.metric == "log_loss" else _digits(self.error)
        return f"{_signed(self.value, digits)} ± {self.error:.{digits}f} of {SHOWN[self.metric]}"


def _digits(error: float) -> int:
    """Decimals that show two digits of an error."""
    return max(0, 1 - int(np.floor(np.log10(error)))) if 0.0 < error < np.inf else 3


def _signed(value: float, digits: int) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else ("+" if value > 0 else "−") + text


def corrected_error(differences: Floats, n_splits: int, level: float = LEVEL_OF_ONE) -> float:
    """Half the corrected resampled t interval of a mean of J paired differences over folds.

    t · √((1/J + n_test/n_train) s²), with J − 1 degrees of freedom (Nadeau and Bengio 2003); of
    k folds n_test/n_train is 1/(k − 1). Without the second term the training sets, which overlap,
    would count as independent.

    >>> round(corrected_error(np.array([0.0, 1.0, 2.0]), 3, 0.95), 3)
    3.928
    """
    n = len(differences)
    if n < 2:
        return float("inf")
    scale = np.sqrt((1.0 / n + 1.0 / (n_splits - 1)) * np.var(differences, ddof=1))
    return float(student.ppf(0.5 + level / 2.0, n - 1) * scale)


@dataclass(frozen=True, eq=False)
class Worth:
    """Whether imputing pays on a table.

    Attributes
    ----------
    results : polars.DataFrame
        One row for each ``repeat``, ``fold``, ``inner`` fold (null for the outer fold itself),
        ``pipeline`` and ``metric``, with its ``value`` or its ``error``.
    metric : str
        What chose and decided.
    missingness : MissingnessTest
        Whether the holes themselves tell of y.

    >>> import greyfill
    >>> from greyfill.datasets import load
    >>> quick = {"n_splits": 2, "repeats": 1, "n_inner": 2, "n_draws": 2, "progress": False}
    >>> found = greyfill.worth(load("hepatitis"), **quick)
    >>> found.matters
    False
    """

    results: pl.DataFrame = field(repr=False)
    metric: str
    missingness: MissingnessTest
    snippet: Snippet = field(repr=False)
    n_splits: int
    n_rows: int

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(self.results["metric"].unique(maintain_order=True))

    @property
    def errors(self) -> pl.DataFrame:
        """Pipelines that failed, on how many folds, and with what message; they are left out."""
        failed = self.results.filter(pl.col("error").is_not_null())
        return failed.group_by("pipeline", "error", maintain_order=True).agg(
            folds=pl.struct("repeat", "fold", "inner").n_unique()
        )

    @cached_property
    def _names(self) -> list[str]:
        """Pipelines with a score on every fold."""
        lacking = self.results.filter(pl.col("value").is_null())["pipeline"].unique().to_list()
        return [name for name in PIPELINES if name not in lacking]

    @property
    def can_judge(self) -> bool:
        """Whether a plain pipeline and one that imputes have a score on every fold."""
        return bool(self._group(PLAIN) and self._group(IMPUTING))

    def _group(self, group: str) -> list[str]:
        return [name for name in self._names if PIPELINES[name].group == group]

    def _scores(self, metric: str, inner: bool) -> Floats:
        """Outer folds × pipelines, or the means of their inner folds; more is better."""
        chosen = pl.col("inner").is_not_null() if inner else pl.col("inner").is_null()
        rows = self.results.filter(pl.col("metric") == metric, chosen)
        wide = rows.pivot(
            on="pipeline", index=["repeat", "fold"], values="value", aggregate_function="mean"
        ).sort("repeat", "fold")
        scores = wide.select(self._names).to_numpy()
        return np.asarray(scores if higher_is_better(metric) else -scores)

    def _chosen(self, group: str) -> Ints:
        """Of each outer fold, the pipeline of a group that its inner folds chose."""
        places = np.array([self._names.index(name) for name in self._group(group)])
        inner = self._scores(self.metric, inner=True)[:, places]
        return np.asarray(places[inner.argmax(axis=1)])

    @cached_property
    def gains(self) -> dict[str, dict[str, Gain]]:
        """The gain of "imputing" and of "reading" over plain pipelines, for each metric."""
        return {g: self._gains(g) for g in (IMPUTING, READING) if self._group(g)}

    def _gains(self, group: str) -> dict[str, Gain]:
        ours, plain, gains = self._chosen(group), self._chosen(PLAIN), {}
        for metric in self.metrics:
            scores = self._scores(metric, inner=False)
            rows = np.arange(len(scores))
            differences = scores[rows, ours] - scores[rows, plain]
            error = corrected_error(differences, self.n_splits)
            gains[metric] = Gain(metric, float(differences.mean()), error)
        return gains

    @property
    def matters(self) -> bool:
        """Whether imputing, or reading holes, changes more than its error."""
        return any(gains[self.metric].matters for gains in self.gains.values())

    @cached_property
    def winner(self) -> str:
        """The group to take: "plain" unless another one gains more than its error."""
        better = [
            (gains[self.metric].value, group)
            for group, gains in self.gains.items()
            if gains[self.metric].matters and gains[self.metric].value > 0
        ]
        return max(better)[1] if better else PLAIN

    @cached_property
    def take(self) -> str:
        """The pipeline to take: the best of the winning group over all outer folds."""
        return self._best(self.winner)

    def _best(self, group: str) -> str:
        means = self._scores(self.metric, inner=False).mean(axis=0)
        return max(self._group(group), key=lambda name: means[self._names.index(name)])

    @property
    def code(self) -> str:
        """Python code that fits the pipeline to take on X and y."""
        return self.snippet.written(self.take)

    @property
    def verdict(self) -> str:
        """What imputing is worth here, and what to take."""
        imputing = self.gains[IMPUTING]
        both = " and ".join(gain.words for gain in imputing.values())
        sentence = f"Imputing is worth {both} here: {self._judged(imputing)}."
        if READING in self.gains and self.gains[READING][self.metric].matters:
            reading = self.gains[READING][self.metric]
            name = PIPELINES["grey_model"].described(self.snippet.classifies)
            sentence += f" {name}, is worth {reading.words}."
        taken = PIPELINES[self.take].described(self.snippet.classifies)
        return f"{sentence} Take {taken}."

    def _judged(self, gains: dict[str, Gain]) -> str:
        gain = gains[self.metric]
        if not gain.matters:
            return f"it does not matter, as far as {count(self.n_rows)} rows can tell"
        return "it pays" if gain.value > 0 else "it does harm"

    def table(self) -> pl.DataFrame:
        """Every pipeline: its means, and its gain over the best plain one, which has none.

        These gains are not corrected for the choice among many: they are for reading, the
        verdict rests on ``gains``.
        """
        scores = {metric: self._scores(metric, inner=False) for metric in self.metrics}
        means = scores[self.metric].mean(axis=0)
        rows, plain = [], self._names.index(self._best(PLAIN))
        for place in np.argsort(-means, kind="stable").tolist():
            name = self._names[place]
            row: dict[str, Any] = {"pipeline": name, "group": PIPELINES[name].group}
            for metric, values in scores.items():
                sign = 1.0 if higher_is_better(metric) else -1.0
                row[metric] = sign * float(values[:, place].mean())
            ours = scores[self.metric]
            differences = ours[:, place] - ours[:, plain]
            error = corrected_error(differences, self.n_splits, LEVEL)
            rows.append(row | {"gain": float(differences.mean()), "error": error})
        return pl.DataFrame(rows)

    def numbers(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "verdict": self.verdict,
            "matters": self.matters,
            "winner": self.winner,
            "take": self.take,
            "code": self.code,
            "metric": self.metric,
            "level": LEVEL,
            "gains": {
                group: {m: {**vars(gain), "matters": gain.matters} for m, gain in gains.items()}
                for group, gains in self.gains.items()
            },
            "missingness": {**vars(self.missingness), "words": self.missingness.words},
            "shown": [[metric, "n"] for metric in self.metrics],
            "pipelines": [
                row | {"words": PIPELINES[row["pipeline"]].described(self.snippet.classifies)}
                for row in self.table().to_dicts()
            ],
            "errors": self.errors.to_dicts(),
        }

    def overview(self) -> tuple[str, list[list[str]], list[str]]:
        """A title, a table of the pipelines with its head, and remarks: the verdict is the last."""
        table, classifies = self.table(), self.snippet.classifies
        folds = self.results.select("repeat", "fold").n_unique()
        title = f"{table.height} pipelines on {folds} outer folds; gain over the best plain one"
        rows = [["pipeline", *(SHOWN[m] for m in self.metrics), f"gain ({SHOWN[self.metric]})"]]
        for row in table.iter_rows(named=True):
            gain = f"{_signed(row['gain'], 4)} ± {row['error']:.4f}" if row["error"] else ""
            words = PIPELINES[row["pipeline"]].described(classifies)
            rows.append([words, *(f"{row[m]:.4f}" for m in self.metrics), gain])
        remarks = [f"{row[0]} failed: {row[1]}" for row in self.errors.iter_rows()]
        return title, rows, [*remarks, self.missingness.words, self.verdict]

    def __repr__(self) -> str:
        return as_text(*self.overview())

    def _repr_html_(self) -> str:
        return as_html(*self.overview())
