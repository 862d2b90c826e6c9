"""The loop for training rows on a cluster: the steps of the engine, one partition at a time."""

from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.choose_k import HIDDEN_COLUMNS
from greyfill._neighbors.donors import CompleteRows, RowPool
from greyfill._neighbors.engine import Settings
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.sampling import sample_ranks
from greyfill._neighbors.scaling import Scaler
from greyfill._neighbors.schedule import Direct, Sequential, Trace
from greyfill._neighbors.serving import Fitted
from greyfill.distributed import passing
from greyfill.distributed.blocks import Block, Plan, Share, start_block
from greyfill.distributed.choosing import choose_k
from greyfill.distributed.cluster import Cluster, Task, add_all
from greyfill.distributed.hunting import Grounds
from greyfill.distributed.looping import ClusterWork
from greyfill.distributed.meeting import Hunt
from greyfill.distributed.pools import Census, Pool, plan_pools
from greyfill.distributed.statistics import Ranges, Tally
from greyfill.distributed.weighing import weigh
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Column, Floats, Ints, Table

POOL_SHARE = 0.25
"""The share of a worker's memory that donors may take when nobody says how many there may be."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What is left on the workers: the fills of each block, and all that serves new rows."""

    fills: list[Task]
    fitted: Task
    leaves_rows: bool
    """Whether there are rows without a label, which are filled like new ones."""


def check_recipe(recipe: Recipe) -> None:
    """Refuse what needs the whole table at every step."""
    if isinstance(recipe.schedule, Direct):
        raise InvalidParameterError(
            "on a cluster, the passes cannot be solved as one system (Direct): use UntilStable "
            "with a small tol"
        )
    if isinstance(recipe.schedule, Sequential):
        raise InvalidParameterError(
            "on a cluster, rows cannot be filled one group after another (SKNN, Sequential): every "
            "group would need new pools. Choose another method, or fit on one machine"
        )
    if recipe.distance.holes == "filled":
        raise InvalidParameterError(
            "on a cluster, holes='filled' would search all donors anew in every pass. "
            "Use holes='mask', or fit on one machine"
        )
    if not hasattr(recipe.distance, "survey"):
        raise InvalidParameterError(
            f"on a cluster, distance must be Grey() or Heom(), not {recipe.distance!r}"
        )


def train(
    cluster: Cluster,
    recipe: Recipe,
    settings: Settings,
    rows: list[Task],
    firsts: Ints,
    n_classes: int | None,
    columns: tuple[Column, ...],
    pool_rows: int | None,
) -> Trained:
    """Fill the rows of all partitions; ``n_classes`` is None where there are no labels."""
    check_recipe(recipe)
    ranges = cluster.fetch(
        [cluster.task(Ranges.of, part, n_classes or 1) for part in rows], "finding column ranges"
    )
    group_counts = np.array([r.counts for r in ranges])
    teaches = _teaches(recipe, group_counts.sum(axis=0))
    is_categorical = Table(np.zeros((0, len(columns))), np.zeros((0, len(columns)), bool),
                           columns).is_categorical  # fmt: skip
    scaler = add_all(ranges).scaler(teaches, is_categorical)
    tally = cluster.reduce(
        [cluster.task(Tally.of, part, scaler, teaches) for part in rows], "counting"
    )
    targets = np.flatnonzero(tally.has_holes(teaches))

    def weighed(targets: Ints) -> Plan:
        weights = weigh(cluster, recipe, rows, scaler, tally, teaches, group_counts, columns,
                        targets, settings.random_state)  # fmt: skip
        return Plan(recipe, columns, weights, targets)

    plan = weighed(targets)
    starts, fallbacks = tally.starts(teaches, recipe.start.uses_labels)
    givers = _shares(group_counts, teaches, settings)
    blocks = cluster.keep(
        [
            cluster.task(start_block, part, scaler, teaches, starts, givers[b], int(firsts[b]))
            for b, part in enumerate(rows)
        ]
    )
    pools = plan_pools(recipe, tally.counts[1:])
    census = cluster.fetch(
        [cluster.task(Census.of, block, pools, plan) for block in blocks], "counting donors"
    )
    most = pool_rows or _rows_that_fit(cluster, len(columns))
    grounds = Grounds(cluster, blocks, pools, plan, census, most)
    hidden_plan = plan if len(targets) else weighed(_some_columns(len(columns)))
    k, scores = choose_k(grounds, settings, n_classes, hidden_plan)
    own = np.any([c.own for c in census], axis=0)
    work = ClusterWork(grounds, Hunt(plan, pools, grounds.available(k, own)))
    trace = recipe.schedule.run(work, settings.report)
    fallbacks_found = work.fallbacks()
    fallbacks_found["class_without_value"] += fallbacks
    fallbacks_found["class_too_small"] += sum(c.small_class_holes for c in census)
    summary = Summary(
        plan, scaler, tally.overall(teaches), k, scores, trace, dict(fallbacks_found),
        settings.unlabeled, n_classes is not None, tuple(_row_pools(pools, tally.counts[1:])),
    )  # fmt: skip
    ends = list(zip(blocks, work.block_passes(), strict=True))
    givers_of = [cluster.task(donor_rows, block, last) for block, last in ends]
    fitted, *fills = cluster.keep(
        [
            cluster.task(assemble, givers_of, summary),
            *(cluster.task(passing.unscaled, block, last, scaler) for block, last in ends),
        ]
    )
    return Trained(fills, fitted, bool(tally.counts[~teaches].sum()))


def _teaches(recipe: Recipe, counts: Ints) -> Bools:
    """Which groups of rows (0: no label) give and teach."""
    teaches = np.ones(len(counts), dtype=bool)
    if recipe.uses_labels:
        teaches[0] = False
        if counts[1:].sum() == 0:
            raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
    return teaches


def _shares(group_counts: Ints, teaches: Bools, settings: Settings) -> list[Share]:
    """Which rows of each partition may give: all, or a seeded sample of each class."""
    if settings.max_donors is None:
        return [Share()] * len(group_counts)
    counts = np.where(teaches, group_counts.sum(axis=0), 0)
    ranks = sample_ranks(counts, np.minimum(counts, settings.max_donors), settings.random_state)
    before = np.cumsum(group_counts, axis=0) - group_counts
    return [Share.of(ranks, b, n) for b, n in zip(before, group_counts, strict=True)]


def _rows_that_fit(cluster: Cluster, n_columns: int) -> int:
    """How many donors may be on a worker at once: a share of its memory, else all of them."""
    memory = cluster.least_memory
    if memory is None:
        return int(np.iinfo(np.intp).max)
    # exact values, mask, float32 leaves, sorted columns; row numbers and boxes
    bytes_each = n_columns * (8 + 1 + 4 + 8) + 32
    return max(int(POOL_SHARE * memory / bytes_each), 1_000)


def _some_columns(n_columns: int) -> Ints:
    """Columns to hide cells in where none has a hole."""
    return np.arange(n_columns)[:: -(-n_columns // HIDDEN_COLUMNS)]


@dataclass(frozen=True, eq=False)
class Summary:
    """What a fitted method remembers besides its donors."""

    plan: Plan
    scaler: Scaler
    centers: Floats
    k: int
    scores: dict[int, float]
    trace: Trace
    fallbacks: dict[str, int]
    unlabeled: str
    has_labels: bool
    pools: tuple[RowPool, ...]


def _row_pools(pools: list[Pool], class_counts: Ints) -> list[RowPool]:
    """One pool for each class, or a single one, as the engine has them; without rows yet."""
    nobody = np.zeros(0, dtype=np.intp)
    if all(pool.takers is None for pool in pools):
        return [RowPool(nobody, nobody)]
    small = {label for pool in pools if pool.fallback for label in pool.takers or ()}
    return [
        RowPool(nobody, nobody, int(label), fallback=int(label) in small)
        for label in np.flatnonzero(class_counts)
    ]


def donor_rows(block: Block, after: passing.Pass) -> Block:
    """The rows of a block that give, with their final fills."""
    values = block.values.copy()
    values[block.holes] = after.fills
    filled = replace(block, values=values)
    return filled if block.may_give.all() else filled.only(np.flatnonzero(block.may_give))


def assemble(blocks: list[Block], summary: Summary) -> Fitted:
    """All that serves new rows."""
    values, missing, labels, rows = (
        np.concatenate([getattr(block, name) for block in blocks])
        for name in ("values", "missing", "labels", "rows")
    )
    plan, nowhere = summary.plan, np.zeros(0, dtype=np.intp)
    complete_only = isinstance(plan.recipe.donors, CompleteRows)
    return Fitted(
        recipe=plan.recipe,
        scaler=summary.scaler,
        donors=Table(values, missing, plan.columns),
        rows=rows,
        labels=labels if summary.has_labels else None,
        pools=tuple(_with_givers(p, labels, missing, complete_only) for p in summary.pools),
        weights=plan.weights,
        targets=plan.targets,
        centers=summary.centers,
        n_neighbors=summary.k,
        unlabeled=summary.unlabeled,
        trace=summary.trace,
        k_scores=summary.scores,
        fallbacks=summary.fallbacks,
        spreads=(nowhere, nowhere, np.zeros(0)),
    )


def _with_givers(pool: RowPool, labels: Ints, missing: Bools, complete_only: bool) -> RowPool:
    if pool.label >= 0 and not pool.fallback:
        return replace(pool, givers=np.flatnonzero(labels == pool.label))
    if complete_only:
        return replace(pool, givers=np.flatnonzero(~missing.any(axis=1)))
    return replace(pool, givers=np.arange(len(labels)))
