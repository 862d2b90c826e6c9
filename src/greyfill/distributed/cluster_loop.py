"""The loop for training rows on a cluster: the steps of the engine, one partition at a time."""

from collections import Counter, deque
from dataclasses import dataclass
from itertools import chain

import numpy as np

from greyfill._neighbors.engine import RecipeSettings
from greyfill._neighbors.k_selection import (
    HIDDEN_COLUMNS,
    MAX_K,
    SAMPLE_ROWS,
    best_k,
    by_classification,
    even_sizes,
    hidden_ranks,
    k_rule,
    sample_ranks,
)
from greyfill._neighbors.links import Prepared, overall_weights, searchable
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Direct, Sequential
from greyfill.distributed import passes as pass_work
from greyfill.distributed.blocks import (
    Block,
    BlockPlan,
    Share,
    count_hideable,
    hide_cells,
    join_blocks,
)
from greyfill.distributed.cluster import FAN_IN, Cluster, Task
from greyfill.distributed.passes import Summary, assemble, averages, donor_rows, row_pools, winners
from greyfill.distributed.pools import Census, Grounds, Hunt, Meetings, Met, plan_pools
from greyfill.distributed.reductions import Groundwork, lay_groundwork, weigh
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Column, Floats, Ints, Table

BUNCH = 4
"""So many passes are started and judged at once, since a round trip costs as much as a pass; after
the very first pass, which may be the only one. Two bunches are under way, the last in vain."""

FEW_HOLES = 800_000
"""A pass over so many holes takes one worker less time than several need to tell each other what
moved."""


@dataclass(frozen=True)
class Bunch:
    """Passes under way: for each of them, where the fills of each group of blocks will be.

    ``onward`` is what the next bunch must know besides the last of them: which holes moved, or,
    with a single group, all passes. ``outcomes`` is how all of them ended.
    """

    passes: list[list[Task]]
    onward: list[Task]
    outcomes: list[Task]


@dataclass(frozen=True)
class Judged:
    """A pass that is over: the fills of each group of blocks, its largest change, its digest."""

    passes: list[Task]
    change: float
    digest: bytes


class ClusterWork:
    """The holes of every block, on the workers.

    Blocks that one worker holds make their passes together: a pass then is one task for each
    worker, and one that tells the others which holes of donors moved. A table with few holes goes
    to one worker for its passes, where several of them are one task.
    """

    missing: Bools = np.zeros((0, 0), dtype=bool)

    def __init__(self, grounds: Grounds, hunt: Hunt) -> None:
        self._cluster, self._hunt, self._grounds = grounds.cluster, hunt, grounds
        self._linked: list[Task] = []
        self._fallbacks: list[Task] = []
        self._groups: list[list[int]] = []
        self._grouped: list[Task] = []
        self._started: deque[Bunch] = deque()
        self._newest: Bunch | None = None
        self._judged: deque[Judged] = deque()
        self._last: Judged | None = None

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""
        if not self._linked:
            self._linked = self._link()
            self._groups = self._group()
            self._grouped = self._cluster.keep(
                [
                    self._cluster.task(pass_work.as_group, [self._linked[block] for block in group])
                    for group in self._groups
                ]
            )
        if not self._judged:
            self._judged.extend(self._judge())
        self._last = self._judged.popleft()
        return self._last.change

    def state(self) -> bytes:
        """A digest of the current values of the holes."""
        assert self._last is not None
        return self._last.digest

    def solve_numbers(self) -> float:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def fill_for_good(self, takers: Ints) -> None:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def block_passes(self) -> list[Task]:
        """The last pass of each block; those that were started after it are called off."""
        assert self._last is not None
        self._started.clear()
        self._newest = None
        self._judged.clear()
        found: dict[int, Task] = {}
        for group, passes in zip(self._groups, self._last.passes, strict=True):
            for place, block in enumerate(group):
                found[block] = self._cluster.task(pass_work.pass_of, passes, place)
        return [found[block] for block in sorted(found)]

    def fallbacks(self) -> Counter[str]:
        """Cells that could not be filled by the rule."""
        total: Counter[str] = Counter()
        for found in self._cluster.fetch(self._fallbacks, "counting fallbacks"):
            total.update(found)
        return total

    def _link(self) -> list[Task]:
        meetings = self._grounds.hunt(self._grounds.blocks, self._hunt)
        self._grounds.leave()
        task = self._cluster.task
        linked = [
            task(pass_work.settle, block, met, self._hunt, int(first))
            for block, met, first in zip(
                self._grounds.blocks, meetings, self._grounds.first_holes, strict=True
            )
        ]
        kept = self._cluster.keep([*linked, *(task(pass_work.fallbacks_of, one) for one in linked)])
        linked, self._fallbacks = kept[: len(linked)], kept[len(linked) :]
        self._cluster.wait(linked, "weighing donors")
        return linked

    def _judge(self) -> list[Judged]:
        """Wait for a bunch of passes while the next one is under way."""
        size, ahead = (BUNCH, 2) if self._cluster.is_remote and self._last is not None else (1, 1)
        while len(self._started) < ahead:
            self._newest = self._start(size, self._newest)
            self._started.append(self._newest)
        bunch = self._started.popleft()
        found = zip(*self._cluster.fetch(bunch.outcomes, "filling holes"), strict=True)
        return [
            Judged(passes, *pass_work.join_outcomes(list(chain.from_iterable(outcomes))))
            for passes, outcomes in zip(bunch.passes, found, strict=True)
        ]

    def _start(self, size: int, before: Bunch | None) -> Bunch:
        """Have some passes made after those before, without waiting for any of them."""
        if len(self._groups) == 1:
            return self._start_alone(size, before)
        task = self._cluster.task
        states: list[Task] = before.passes[-1] if before else [None] * len(self._groups)
        moved: list[Task] = before.onward if before else []
        passes = []
        for _ in range(size):
            pairs = zip(self._grouped, states, strict=True)
            states = [task(pass_work.next_passes, blocks, last, moved) for blocks, last in pairs]
            pairs = zip(self._grouped, states, strict=True)
            moved = self._join([task(pass_work.moved_cells, *pair) for pair in pairs])
            passes.append(states)
        outcomes = [
            task(pass_work.outcomes_of, list(own), group)
            for own, group in zip(zip(*passes, strict=True), self._groups, strict=True)
        ]
        kept = self._cluster.keep([*chain.from_iterable(passes), *moved, *outcomes])
        n = len(self._groups)
        return Bunch(
            [kept[first : first + n] for first in range(0, size * n, n)],
            kept[size * n : -n],
            kept[-n:],
        )

    def _start_alone(self, size: int, before: Bunch | None) -> Bunch:
        """The same where all blocks are on one worker."""
        task, last = self._cluster.task, before.onward[0] if before else []
        run = task(pass_work.passes_alone, self._grouped[0], last, size)
        run, outcomes = self._cluster.keep([run, task(pass_work.outcomes_of, run, self._groups[0])])
        return Bunch([[task(pass_work.nth, run, n)] for n in range(size)], [run], [outcomes])

    def _group(self) -> list[list[int]]:
        """Which blocks make their passes together."""
        if self._cluster.is_remote and self._grounds.n_holes <= FEW_HOLES:
            return [list(range(len(self._linked)))]
        return self._cluster.together(self._linked)

    def _join(self, moved: list[Task]) -> list[Task]:
        """What moved on many workers, by a tree of tasks."""
        while len(moved) > FAN_IN:
            moved = [
                self._cluster.task(pass_work.join_moved, moved[start : start + FAN_IN])
                for start in range(0, len(moved), FAN_IN)
            ]
        return moved


def choose_k(
    grounds: Grounds, settings: RecipeSettings, n_classes: int | None, hidden_plan: BlockPlan
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


def _classification_errors(grounds: Grounds, settings: RecipeSettings, n_classes: int) -> Floats:
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


def _classifiable(block: Block, plan: BlockPlan, informed_only: bool) -> Ints:
    usable = block.labels >= 0
    if informed_only:
        usable = usable & searchable(block.missing, overall_weights(plan.weights))
    return np.flatnonzero(usable)


def _classifiable_counts(block: Block, plan: BlockPlan, n_classes: int) -> Ints:
    """Rows of each class with an observed cell that counts, and all rows of each class."""
    return np.array(
        [
            np.bincount(block.labels[_classifiable(block, plan, some)], minlength=n_classes)
            for some in (True, False)
        ]
    )


def _pick(block: Block, plan: BlockPlan, informed_only: bool, share: Share) -> Block:
    rows = _classifiable(block, plan, informed_only)
    return block.only(rows[share.rows(block.labels[rows])])


def _judge_sample(
    blocks: list[Block], plan: BlockPlan, random_state: int | None, n_jobs: int | None
) -> Floats:
    sample = join_blocks(blocks)
    table = Table(np.where(sample.missing, 0.0, sample.values), sample.missing, plan.columns)
    prepared = Prepared(
        plan.recipe, table, sample.values, sample.labels, plan.weights, plan.targets,
        sample.may_give, n_jobs,
    )  # fmt: skip
    return by_classification(prepared, sample.labels, random_state)


def _hidden_errors(grounds: Grounds, settings: RecipeSettings, plan: BlockPlan) -> Floats:
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


def _judge_hidden(block: Block, meetings: Meetings, plan: BlockPlan) -> Floats:
    met = list(meetings.values())
    k_max = max((m.distances.shape[1] for m in met), default=1)
    return np.array([_hidden_error(block, met, plan, k) for k in range(1, k_max + 1)])


def _hidden_error(block: Block, meetings: list[Met], plan: BlockPlan, k: int) -> float:
    errors = [_squared_errors(block, met, plan, k) for met in meetings]
    return float(np.concatenate(errors).mean()) if errors else 0.0


def _squared_errors(block: Block, met: Met, plan: BlockPlan, k: int) -> Floats:
    by_number, by_vote = plan.recipe.fill.weigh(met.distances[:, :k])
    votes, given = plan.is_categorical[met.columns], met.given[:, :k]
    truth = block.values[met.rows[met.slots], met.columns]
    guess = np.empty(len(truth))
    guess[~votes] = averages(given[~votes], by_number[met.slots[~votes]])
    guess[votes] = winners(given[votes], by_vote[met.slots[votes]], plan.n_levels)
    return np.where(votes, guess != truth, (guess - truth) ** 2)


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
    settings: RecipeSettings,
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
    fills = [cluster.task(pass_work.unscaled, block, last, base.scaler) for block, last in ends]
    kept = cluster.keep([*passes, *fills])
    ends = zip(blocks, kept, strict=False)
    donors = [cluster.task(donor_rows, block, last) for block, last in ends]
    fitted = cluster.task(assemble, donors, summary)
    return Trained(summary, kept[len(passes) :], fitted, base.leaves_rows)


def _plan(base: Groundwork, targets: Ints) -> BlockPlan:
    return BlockPlan(base.recipe, base.columns, weigh(base, targets), targets)


def _hidden_plan(base: Groundwork, plan: BlockPlan) -> BlockPlan:
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
