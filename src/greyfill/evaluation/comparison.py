"""The result of a comparison: one long table, its summary, and tests of what differs."""

import math
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import polars as pl
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from greyfill.exceptions import InvalidParameterError
from greyfill.table import Floats
from greyfill.text import as_html, as_text, plural

RUN = ("data", "mechanism", "rate", "seed")
SHOWN_BY_CASE = ("nrmse",)
HIDDEN = ("rmse", "nrmse_all_cells", "wrong_share", "wasserstein", "memory_mib")
NOTHING = "–"
OF_COLUMN = "nrmse["

Rows = list[list[str]]


@dataclass(frozen=True, eq=False)
class Ranks:
    """Mean ranks of the methods over the runs, 1 for the best, and whether they differ at all.

    Attributes
    ----------
    table : polars.DataFrame
        ``method``, ``mean_rank`` and ``mean`` of the metric, best first.
    statistic, p_value : float
        Friedman's test; NaN for fewer than three methods or two runs.
    critical_difference : float
        Nemenyi at 5 %: methods whose mean ranks differ by less are not known to differ.
    n_runs : int
        Runs that were ranked.
    left_out : tuple of str
        Methods without a value in each run.

    >>> import greyfill
    >>> from greyfill.datasets import load
    >>> result = greyfill.compare(
    ...     load("iris"), methods=["mean", "class_mean"], rates=[0.2], repeats=2, classifiers=None
    ... )
    >>> result.ranks("nrmse").table["mean_rank"].to_list()
    [1.0, 2.0]
    """

    metric: str
    table: pl.DataFrame
    statistic: float
    p_value: float
    critical_difference: float
    n_runs: int
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [f"{name:<20} {rank:6.2f}" for name, rank, _ in self.table.iter_rows()]
        test = f"Friedman χ² = {self.statistic:.3g}, p = {self.p_value:.3g}"
        head = f"mean ranks by {self.metric} over {self.n_runs} runs; {test}"
        tail = f"critical difference (Nemenyi, 5 %): {self.critical_difference:.2f}"
        left = [f"left out: {', '.join(self.left_out)}"] if self.left_out else []
        return "\n".join([head, *lines, tail, *left])


@dataclass(frozen=True, eq=False)
class Comparison:
    """How methods did on tables with known holes.

    Parameters
    ----------
    results : polars.DataFrame
        One row for each data set, mechanism, rate, method, seed and metric, with its ``value`` or
        its ``error``; neither where a metric has no meaning. Comparisons of several tables can be
        joined by ``Comparison(polars.concat([first.results, second.results]))``.

    The runs on one table share its rows. So tests over them say whether methods differ *on this
    table*, not on tables at large.

    >>> import greyfill
    >>> from greyfill.datasets import load
    >>> result = greyfill.compare(
    ...     load("iris"), methods=["mean", "class_mean"], rates=[0.2], repeats=2, classifiers=None
    ... )
    >>> result.metrics[:2], result.errors.height
    (('nrmse', 'rmse'), 0)
    >>> result.pairwise("nrmse").select("first", "second").row(0)
    ('mean', 'class_mean')
    """

    results: pl.DataFrame = field(repr=False)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(self.results["metric"].unique(maintain_order=True))

    @property
    def errors(self) -> pl.DataFrame:
        """How often each method failed, and with what message."""
        failed = self.results.filter(pl.col("error").is_not_null())
        groups = failed.group_by("method", "error", maintain_order=True)
        return groups.agg(runs=pl.struct(RUN).n_unique())

    def summary(self) -> pl.DataFrame:
        """Mean and standard deviation over the seeds, with the number of values and failures."""
        by = ("data", "mechanism", "rate", "method", "metric")
        value = pl.col("value")
        return self.results.group_by(by, maintain_order=True).agg(
            mean=value.mean(), sd=value.std(), n=value.count(), failed=pl.col("error").count()
        )

    def ranks(self, metric: str = "nrmse") -> Ranks:
        """Rank the methods in each run, average, and test by Friedman.

        Parameters
        ----------
        metric
            One of ``metrics``; high accuracies and low errors are good.
        """
        scores, methods, left_out = self._scores(metric)
        mean_rank = mean_ranks(scores, higher_is_better(metric))
        columns = {"method": methods, "mean_rank": mean_rank, "mean": scores.mean(axis=0)}
        statistic, p_value = friedman(scores)
        table = pl.DataFrame(columns).sort("mean_rank", maintain_order=True)
        n_runs, n_methods = scores.shape
        nemenyi = critical_difference(n_methods, n_runs)
        return Ranks(metric, table, statistic, p_value, nemenyi, n_runs, left_out)

    def pairwise(self, metric: str = "nrmse") -> pl.DataFrame:
        """Wilcoxon's signed-rank test of each pair of methods over the runs, corrected by Holm.

        Parameters
        ----------
        metric
            One of ``metrics``. ``difference`` is the mean of first − second. With n runs no
            p-value can be below 2^(1−n): six runs cannot tell ten methods apart.
        """
        scores, methods, _ = self._scores(metric)
        rows = [
            vars(test) | {"first": methods[test.first], "second": methods[test.second]}
            for test in pair_tests(scores)
        ]
        figures = ("difference", "statistic", "p_value", "p_holm")
        schema = {"first": pl.String, "second": pl.String} | dict.fromkeys(figures, pl.Float64)
        return pl.DataFrame(rows, schema=schema)

    def by_column(self) -> pl.DataFrame:
        """Which method for which column: the mean NRMSE of each, and the ``best``.

        Of a comparison with ``by_column=True``. A category counts 0 or 1 a cell, so its figure is
        the root of the share that came back wrong. The difference between two methods may be
        chance: a column has few hidden cells.
        """
        chosen = self.results.filter(pl.col("metric").str.starts_with(OF_COLUMN))
        if chosen.is_empty():
            raise InvalidParameterError("no errors of columns: compare with by_column=True")
        named = chosen.with_columns(column=pl.col("metric").str.slice(len(OF_COLUMN)).str.head(-1))
        wide = named.pivot(
            on="method", index="column", values="value", aggregate_function="mean"
        ).sort("column")
        names = [name for name in wide.columns if name != "column"]
        best = [
            min((v, n) for v, n in zip(row, names, strict=True) if v is not None)[1]
            if any(v is not None for v in row)
            else None
            for row in wide.select(names).iter_rows()
        ]
        return wide.with_columns(best=pl.Series(best, dtype=pl.String))

    def _scores(self, metric: str) -> tuple[Floats, list[str], tuple[str, ...]]:
        """Runs × methods of a metric, the methods, and those that lack a value in some run."""
        chosen = self.results.filter(pl.col("metric") == metric)
        if chosen.is_empty():
            raise InvalidParameterError(
                f"no metric is called {metric!r}; there are {', '.join(self.metrics)}"
            )
        wide = chosen.pivot(on="method", index=RUN, values="value").drop(RUN)
        complete = [name for name in wide.columns if wide[name].null_count() == 0]
        left_out = tuple(name for name in wide.columns if name not in complete)
        return wide.select(complete).to_numpy(), complete, left_out

    def __repr__(self) -> str:
        return as_text(*overview(self.results))

    def _repr_html_(self) -> str:
        return as_html(*overview(self.results))


def higher_is_better(metric: str) -> bool:
    """Whether a metric is a score, not an error or a cost."""
    return metric.startswith(("accuracy", "f1"))


def mean_ranks(scores: Floats, higher_is_better: bool = False) -> Floats:
    """Mean over runs of the rank of each method, 1 for the best; ties share their mean rank.

    >>> mean_ranks(np.array([[0.1, 0.2, 0.2], [0.3, 0.4, 0.5]]))
    array([1.  , 2.25, 2.75])
    """
    signed = -scores if higher_is_better else scores
    return np.asarray(rankdata(signed, axis=1).mean(axis=0))


def friedman(scores: Floats) -> tuple[float, float]:
    """χ² statistic and p-value of Friedman's test that all methods rank alike.

    NaN with fewer than three methods or two runs, for which there is no such test.

    >>> friedman(np.array([[1.0, 2.0, 3.0]] * 4))[0]
    8.0
    """
    n_runs, n_methods = scores.shape
    if n_methods < 3 or n_runs < 2:
        return float("nan"), float("nan")
    if (scores == scores[:, :1]).all():
        return 0.0, 1.0
    result = friedmanchisquare(*scores.T)
    return float(result.statistic), float(result.pvalue)


def critical_difference(n_methods: int, n_runs: int, alpha: float = 0.05) -> float:
    """Nemenyi: two methods differ if their mean ranks differ by more than this.

    CD = q_α √(k (k + 1) / (6 N)), q_α the quantile of the studentized range over √2.

    >>> round(critical_difference(5, 30), 3)
    1.114
    """
    if n_methods < 2 or n_runs < 1:
        return float("nan")
    q = studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_runs)))


@dataclass(frozen=True)
class PairTest:
    """The Wilcoxon signed-rank test of two methods, by position.

    ``difference`` is the mean of first − second, ``p_holm`` the p-value after Holm's correction
    over all pairs.
    """

    first: int
    second: int
    difference: float
    statistic: float
    p_value: float
    p_holm: float


def pair_tests(scores: Floats) -> list[PairTest]:
    """Wilcoxon's signed-rank test of each pair of methods, corrected by Holm.

    >>> scores = np.column_stack([np.arange(6.0), np.arange(6.0) + 1, np.arange(6.0)])
    >>> [(t.first, t.second, t.p_value, t.p_holm) for t in pair_tests(scores)]
    [(0, 1, 0.03125, 0.09375), (0, 2, 1.0, 1.0), (1, 2, 0.03125, 0.09375)]
    """
    pairs = list(combinations(range(scores.shape[1]), 2))
    tests = [_signed_rank(scores[:, a] - scores[:, b]) for a, b in pairs]
    corrected = holm(np.array([p for _, p in tests]))
    return [
        PairTest(a, b, float((scores[:, a] - scores[:, b]).mean()), statistic, p, float(p_holm))
        for (a, b), (statistic, p), p_holm in zip(pairs, tests, corrected, strict=True)
    ]


def _signed_rank(differences: Floats) -> tuple[float, float]:
    """Statistic and p-value, exact for few runs without ties; 1 where nothing differs."""
    rounded = np.round(differences, 12)  # the same result, summed in another order, is a tie
    nonzero = rounded[rounded != 0]
    if len(nonzero) == 0:
        return 0.0, 1.0
    result = wilcoxon(nonzero)
    return float(result.statistic), float(result.pvalue)


def holm(p_values: Floats) -> Floats:
    """Holm's correction: p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)).

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(np.minimum(factors * p_values[order], 1.0))
    return corrected


def overview(results: pl.DataFrame) -> tuple[str, Rows, list[str]]:
    """A title, a table of mean ± sd with its head, and remarks on failures.

    The NRMSE has a column for each data set, mechanism and rate; accuracies and seconds are
    averaged over all runs. The best NRMSE comes first.
    """
    cases = results.select("data", "mechanism", "rate").unique(maintain_order=True)
    methods = results["method"].unique(maintain_order=True)
    seeds = results["seed"].n_unique()
    counts = plural(len(methods), "method"), plural(len(cases), "case"), plural(seeds, "seed")
    title = f"{' × '.join(counts)}; mean ± sd"
    columns: dict[str, pl.DataFrame] = {}
    for metric in results["metric"].unique(maintain_order=True):
        chosen = results.filter(pl.col("metric") == metric)
        if metric in SHOWN_BY_CASE:
            for case in cases.iter_rows(named=True):
                matches = [pl.col(name) == value for name, value in case.items()]
                columns[f"{metric} {_label(case, cases)}"] = chosen.filter(matches)
        elif metric not in HIDDEN and not metric.startswith(("f1_", OF_COLUMN)):
            columns[metric] = chosen
    errors = results.filter(pl.col("metric") == "nrmse").group_by("method")
    means = dict(errors.agg(pl.col("value").mean()).iter_rows())
    order = sorted(methods, key=lambda m: math.inf if means.get(m) is None else means[m])
    rows = [[method, *(_cell(c, method) for c in columns.values())] for method in order]
    failed = results.filter(pl.col("error").is_not_null())
    texts = failed.select("method", "error").unique(maintain_order=True)
    remarks = [f"{method} failed: {error}" for method, error in texts.iter_rows()]
    return title, [["method", *columns], *rows], remarks


def _label(case: dict[str, object], cases: pl.DataFrame) -> str:
    """What distinguishes a case from the others; always its rate."""
    parts = [str(case[name]) for name in ("data", "mechanism") if cases[name].n_unique() > 1]
    rate = float(str(case["rate"]))
    return " ".join([*parts, f"{100 * rate:.4g}%"])


def _cell(chosen: pl.DataFrame, method: str) -> str:
    rows = chosen.filter(pl.col("method") == method)
    values = rows["value"].drop_nulls()
    if values.is_empty():
        return "failed" if rows["error"].count() else NOTHING
    mean, sd = values.to_numpy().mean(), values.std()
    return f"{mean:.4f}" if sd is None else f"{mean:.4f} ± {sd:.4f}"
