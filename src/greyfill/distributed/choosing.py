"""Choose k on a cluster, by the rules and the samples of one machine."""

import numpy as np

from greyfill._neighbors.choose_k import (
    MAX_K,
    SAMPLE_ROWS,
    best_k,
    by_classification,
    hidden_ranks,
)
from greyfill._neighbors.engine import Settings, k_rule
from greyfill._neighbors.linking import informed
from greyfill._neighbors.prepared import Prepared, overall_weights
from greyfill._neighbors.sampling import even_sizes, sample_ranks
from greyfill.distributed.blocks import (
    Block,
    Plan,
    Share,
    count_hideable,
    hide_cells,
    join_blocks,
)
from greyfill.distributed.hunting import Grounds
from greyfill.distributed.meeting import Hunt, Meetings, Met
from greyfill.distributed.passing import averages, winners
from greyfill.distributed.pools import Census
from greyfill.table import Floats, Ints, Table


def choose_k(
    grounds: Grounds, settings: Settings, n_classes: int | None, hidden_plan: Plan
) -> tuple[int, dict[int, float]]:
    """A fixed k, or the best one with the error of each k that was tried.

    ``n_classes`` is None where there are no labels. ``hidden_plan`` names the columns in which
    cells are hidden, and their weights.
    """
    wanted = settings.n_neighbors
    rule = k_rule(wanted, None if n_classes is None else set(range(n_classes)))
    if rule is None:
        return int(wanted), {}
    if rule == "cv" and n_classes is not None:
        errors = _classification_errors(grounds, settings, n_classes)
    else:
        errors = _hidden_errors(grounds, settings, hidden_plan)
    scores = {k: float(error) for k, error in enumerate(errors, start=1)}
    return best_k(scores), scores


def _classification_errors(grounds: Grounds, settings: Settings, n_classes: int) -> Floats:
    """`by_classification` on the stratified sample that one machine would draw."""
    cluster, plan = grounds.cluster, grounds.plan
    tasks = [cluster.task(_classifiable_counts, b, plan, n_classes) for b in grounds.blocks]
    counts = np.array(cluster.fetch(tasks, "counting classes"))
    informed_only = bool((counts[:, 0].sum(axis=0) > 0).sum() > 1)
    usable = counts[:, 0] if informed_only else counts[:, 1]
    total = usable.sum(axis=0)
    if total.sum() > SAMPLE_ROWS:
        settings.report(f"k is chosen on a stratified sample of {SAMPLE_ROWS} rows")
    ranks = sample_ranks(total, even_sizes(total, SAMPLE_ROWS), settings.random_state)
    before = np.cumsum(usable, axis=0) - usable
    sample = [
        cluster.task(_pick, block, plan, informed_only, Share.of(ranks, before[b], usable[b]))
        for b, block in enumerate(grounds.blocks)
    ]
    task = cluster.task(_judge_sample, sample, plan, settings.random_state, settings.n_jobs)
    errors: Floats = cluster.fetch([task], "choosing k")[0]
    return errors


def _classifiable(block: Block, plan: Plan, informed_only: bool) -> Ints:
    usable = block.labels >= 0
    if informed_only:
        usable = usable & informed(block.missing, overall_weights(plan.weights))
    return np.flatnonzero(usable)


def _classifiable_counts(block: Block, plan: Plan, n_classes: int) -> Ints:
    """Rows of each class with an observed cell that counts, and all rows of each class."""
    return np.array(
        [
            np.bincount(block.labels[_classifiable(block, plan, some)], minlength=n_classes)
            for some in (True, False)
        ]
    )


def _pick(block: Block, plan: Plan, informed_only: bool, share: Share) -> Block:
    rows = _classifiable(block, plan, informed_only)
    return block.only(rows[share.rows(block.labels[rows])])


def _judge_sample(
    blocks: list[Block], plan: Plan, random_state: int | None, n_jobs: int | None
) -> Floats:
    sample = join_blocks(blocks)
    table = Table(np.where(sample.missing, 0.0, sample.values), sample.missing, plan.columns)
    prepared = Prepared(
        plan.recipe, table, sample.values, sample.labels, plan.weights, plan.targets,
        sample.may_give, n_jobs,
    )  # fmt: skip
    return by_classification(prepared, sample.labels, random_state)


def _hidden_errors(grounds: Grounds, settings: Settings, plan: Plan) -> Floats:
    """Errors of known cells, each hidden in its row alone, for k = 1, 2, …."""
    cluster = grounds.cluster
    tasks = [cluster.task(count_hideable, block, plan.targets) for block in grounds.blocks]
    counts = np.array(cluster.fetch(tasks, "counting known cells"))
    ranks, ends = hidden_ranks(int(counts.sum()), settings.random_state), np.cumsum(counts)
    hidden = [
        cluster.task(hide_cells, block, plan.targets, _between(ranks, ends[b] - counts[b], ends[b]))
        for b, block in enumerate(grounds.blocks)
    ]
    takers = cluster.keep([cluster.task(join_blocks, hidden)])
    census = cluster.task(Census.of, takers[0], grounds.pools, plan)
    own = cluster.fetch([census], "hiding cells")[0].own
    hunt = Hunt(plan, grounds.pools, grounds.available(MAX_K, own))
    meetings = grounds.hunt(takers, hunt)
    task = cluster.task(_judge_hidden, takers[0], meetings[0], plan)
    errors: Floats = cluster.fetch([task], "choosing k")[0]
    return errors


def _between(ranks: Ints, first: int, last: int) -> Ints:
    """The ranks of a partition that holds first … last, counted from its own first."""
    return ranks[np.searchsorted(ranks, first) : np.searchsorted(ranks, last)] - first


def _judge_hidden(block: Block, meetings: Meetings, plan: Plan) -> Floats:
    met = list(meetings.values())
    k_max = max((m.distances.shape[1] for m in met), default=1)
    return np.array([_hidden_error(block, met, plan, k) for k in range(1, k_max + 1)])


def _hidden_error(block: Block, meetings: list[Met], plan: Plan, k: int) -> float:
    errors = [_squared_errors(block, met, plan, k) for met in meetings]
    return float(np.concatenate(errors).mean()) if errors else 0.0


def _squared_errors(block: Block, met: Met, plan: Plan, k: int) -> Floats:
    by_number, by_vote = plan.recipe.fill.weigh(met.distances[:, :k])
    votes, given = plan.is_categorical[met.columns], met.given[:, :k]
    truth = block.values[met.rows[met.slots], met.columns]
    guess = np.empty(len(truth))
    guess[~votes] = averages(given[~votes], by_number[met.slots[~votes]])
    guess[votes] = winners(given[votes], by_vote[met.slots[votes]], plan.n_levels)
    return np.where(votes, guess != truth, (guess - truth) ** 2)
