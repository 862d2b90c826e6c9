"""Blocks after the last pass → all that a fitted method remembers."""

from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.donors import CompleteRows, RowPool
from greyfill._neighbors.scaling import Scaler
from greyfill._neighbors.schedule import Trace
from greyfill._neighbors.serving import Fitted
from greyfill.distributed.blocks import Block, Plan
from greyfill.distributed.passing import Pass
from greyfill.distributed.pools import Pool
from greyfill.table import Bools, Floats, Ints, Table


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

    @property
    def alone(self) -> Fitted:
        """A fitted method without any donor: little enough to travel with every task."""
        nothing, nobody = np.zeros((0, len(self.plan.columns))), np.zeros(0, dtype=np.intp)
        holes = nothing.astype(bool)
        return assemble([Block(nothing, holes, holes, nobody, nobody, holes[:, 0])], self)


def row_pools(pools: list[Pool], class_counts: Ints) -> tuple[RowPool, ...]:
    """One pool for each class, or a single one, as the engine has them; without rows yet."""
    nobody = np.zeros(0, dtype=np.intp)
    if all(pool.takers is None for pool in pools):
        return (RowPool(nobody, nobody),)
    small = {label for pool in pools if pool.fallback for label in pool.takers or ()}
    return tuple(
        RowPool(nobody, nobody, int(label), fallback=int(label) in small)
        for label in np.flatnonzero(class_counts)
    )


def donor_rows(block: Block, after: Pass) -> Block:
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
