"""The loop for training rows on a cluster: the steps of the engine, one partition at a time."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.choose_k import HIDDEN_COLUMNS
from greyfill._neighbors.engine import Settings
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Direct, Sequential
from greyfill.distributed import passing
from greyfill.distributed.assembling import Summary, assemble, donor_rows, row_pools
from greyfill.distributed.blocks import Plan
from greyfill.distributed.choosing import choose_k
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.groundwork import Groundwork, lay_groundwork
from greyfill.distributed.hunting import Grounds
from greyfill.distributed.looping import ClusterWork
from greyfill.distributed.meeting import Hunt
from greyfill.distributed.pools import Census, plan_pools
from greyfill.distributed.weighing import weigh
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Ints

POOL_SHARE = 0.25
"""The share of a worker's memory that donors may take when nobody says how many there may be."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What was learned here, and on the workers the fills of each block.

    ``fitted`` is a call that has not been made: it brings all donors to one worker.
    ``leaves_rows`` tells that there are rows without a label, to be filled like new ones.
    """

    summary: Summary
    fills: list[Task]
    fitted: Task
    leaves_rows: bool


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
    base = lay_groundwork(cluster, recipe, settings, rows, n_classes or 1, columns)
    plan = _plan(base, base.targets)
    blocks, without_value = base.start(firsts)
    pools = plan_pools(recipe, base.class_counts)
    census = cluster.fetch(
        [cluster.task(Census.of, block, pools, plan) for block in blocks], "counting donors"
    )
    most = pool_rows or _rows_that_fit(cluster, len(columns))
    grounds = Grounds(cluster, blocks, pools, plan, census, most)
    k, scores = choose_k(grounds, settings, n_classes, _hidden_plan(base, plan))
    own = np.any([c.own for c in census], axis=0)
    work = ClusterWork(grounds, Hunt(plan, pools, grounds.available(k, own)))
    trace = recipe.schedule.run(work, settings.report)
    passes = work.block_passes()
    fallbacks = work.fallbacks() + Counter(
        class_without_value=without_value,
        class_too_small=sum(c.small_class_holes for c in census),
    )
    summary = Summary(
        plan, base.scaler, base.tally.overall(base.teaches), k, scores, trace, dict(fallbacks),
        settings.unlabeled, n_classes is not None, row_pools(pools, base.class_counts),
    )  # fmt: skip
    ends = zip(blocks, passes, strict=True)
    fills = [cluster.task(passing.unscaled, block, last, base.scaler) for block, last in ends]
    kept = cluster.keep([*passes, *fills])
    ends = zip(blocks, kept, strict=False)
    donors = [cluster.task(donor_rows, block, last) for block, last in ends]
    fitted = cluster.task(assemble, donors, summary)
    return Trained(summary, kept[len(passes) :], fitted, base.leaves_rows)


def _plan(base: Groundwork, targets: Ints) -> Plan:
    return Plan(base.recipe, base.columns, weigh(base, targets), targets)


def _hidden_plan(base: Groundwork, plan: Plan) -> Plan:
    """Where cells are hidden to choose k: columns with holes, else some evenly chosen ones."""
    if len(plan.targets):
        return plan
    n_columns = len(base.columns)
    return _plan(base, np.arange(n_columns)[:: -(-n_columns // HIDDEN_COLUMNS)])


def _rows_that_fit(cluster: Cluster, n_columns: int) -> int:
    """How many donors may be on a worker at once: a share of its memory, else all of them."""
    memory = cluster.least_memory
    if memory is None:
        return int(np.iinfo(np.intp).max)
    # exact values, mask, float32 leaves, sorted columns; row numbers and boxes
    bytes_each = n_columns * (8 + 1 + 4 + 8) + 32
    return max(int(POOL_SHARE * memory / bytes_each), 1_000)
