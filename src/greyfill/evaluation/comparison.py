"""The result of a comparison: one long table, and the questions one asks of it."""

from dataclasses import dataclass, field

import polars as pl

from greyfill.evaluation.rendering import as_html, as_text, overview
from greyfill.evaluation.statistics import critical_difference, friedman, mean_ranks, pair_tests
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Floats

RUN = ("data", "mechanism", "rate", "seed")


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
        Nemenyi at 5 %: methods whose mean ranks differ by less cannot be told apart.
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

    The runs on one table share its rows. So tests over them tell whether methods differ *on this
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
        return groups.agg(pl.struct(RUN).n_unique().alias("runs"))

    def summary(self) -> pl.DataFrame:
        """Mean and standard deviation over the seeds, with the number of values and failures."""
        groups = self.results.group_by(
            "data", "mechanism", "rate", "method", "metric", maintain_order=True
        )
        value, error = pl.col("value"), pl.col("error")
        return groups.agg(
            value.mean().alias("mean"),
            value.std().alias("sd"),
            value.count().alias("n"),
            error.count().alias("failed"),
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
        n_runs, n_methods = scores.shape
        return Ranks(
            metric,
            pl.DataFrame(columns).sort("mean_rank", maintain_order=True),
            statistic,
            p_value,
            critical_difference(n_methods, n_runs),
            n_runs,
            left_out,
        )

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
            (methods[t.first], methods[t.second], t.difference, t.statistic, t.p_value, t.p_holm)
            for t in pair_tests(scores)
        ]
        names = ("first", "second", "difference", "statistic", "p_value", "p_holm")
        types = (pl.String, pl.String, *(pl.Float64,) * 4)
        return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")

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
