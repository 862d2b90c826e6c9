"""Training on a cluster: the steps of the engine, one partition at a time, and its passes."""

from collections import Counter, deque
from dataclasses import dataclass
from itertools import chain
from operator import getitem

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
)
from greyfill._neighbors.links import Prepared, overall_weights, searchable
from greyfill._neighbors.new_rows import FittedRecipe
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Direct, Sequential, Trace
from greyfill.distributed import passes as pass_work
from greyfill.distributed.blocks import (
    Block,
    BlockPlan,
    Share,
    count_hideable,
    hide_cells,
    ranks_within,
    sample_shares,
)
from greyfill.distributed.cluster import FAN_IN, Cluster, Task
from greyfill.distributed.passes import MovedHoles
from greyfill.distributed.pools import (
    BlockCounts,
    ByPool,
    DonorParts,
    NearestDonors,
    SearchPlan,
    plan_pools,
)
from greyfill.distributed.reductions import TalliedTable, column_weights, tally_table
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Column, Floats, Ints, Table

BUNCH = 4
"""So many passes are started and read at once, since a round trip costs as much as a pass; after
the very first pass, which may be the only one. Two bunches are under way, the last in vain."""

FEW_HOLES = 800_000
"""A pass over so many holes takes one worker less time than several need to exchange what moved."""

POOL_SHARE = 0.25
"""The share of a worker's memory that donors may take where ``pool_rows`` is None."""


@dataclass(frozen=True)
class Bunch:
    """Passes under way: for each of them, where the fills of each group of blocks will be.

    ``onward`` is what the next bunch needs besides the last of them: which holes moved, or,
    with a single group, all passes. ``outcomes`` is how all of them ended.
    """

    passes: list[list[Task]]
    onward: list[Task]
    outcomes: list[Task]


@dataclass(frozen=True)
class FinishedPass:
    """A pass that is over: the fills of each group of blocks, its largest change, its digest."""

    passes: list[Task]
    change: float
    digest: bytes


class ClusterWork:
    """The holes of every block, on the workers.

    Blocks that one worker holds make their passes together: a pass then is one task for each
    worker, and one with the holes of donors that moved. A table with few holes goes to one worker
    for its passes, where several of them are one task.
    """

    missing: Bools = np.zeros((0, 0), dtype=bool)

    def __init__(self, parts: DonorParts, plan: SearchPlan) -> None:
        self._cluster, self._plan, self._parts = parts.cluster, plan, parts
        self._groups: list[list[int]] = []
        self._grouped: list[Task] = []
        self._started: deque[Bunch] = deque()
        self._newest: Bunch | None = None
        self._finished: deque[FinishedPass] = deque()
        self._last: FinishedPass | None = None

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""
        if not self._groups:
            self._group_blocks(self._link_holes())
        if not self._finished:
            self._finished.extend(self._finish_bunch())
        self._last = self._finished.popleft()
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

    def descend(self, tol: float, max_iter: int, both_ways: bool) -> Trace:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def block_passes(self) -> list[Task]:
        """The last pass of each block; those that were started after it are called off."""
        assert self._last is not None
        self._started.clear()
        self._newest = None
        self._finished.clear()
        found: dict[int, Task] = {}
        for group, passes in zip(self._groups, self._last.passes, strict=True):
            for place, block in enumerate(group):
                found[block] = self._cluster.task(getitem, passes, place)
        return [found[block] for block in sorted(found)]

    def fallbacks(self) -> Counter[str]:
        """Cells that could not be filled by the rule."""
        tasks = [self._cluster.task(self._plan.fallbacks, block) for block in self._parts.blocks]
        return sum(self._cluster.fetch(tasks, "counting fallbacks"), Counter[str]())

    def _link_holes(self) -> list[Task]:
        """Search the donors of all blocks, and weigh what they give."""
        parts, plan = self._parts, self._plan
        nearest = parts.search(parts.blocks, plan)
        parts.release()
        each = zip(parts.blocks, nearest, parts.first_holes, strict=True)
        linked = self._cluster.keep(
            [
                self._cluster.task(pass_work.link_holes, block, by_pool, plan.plan, int(first))
                for block, by_pool, first in each
            ]
        )
        self._cluster.wait(linked, "weighing donors")
        return linked

    def _group_blocks(self, linked: list[Task]) -> None:
        """Bring blocks together that make their passes together."""
        if self._cluster.is_remote and self._parts.n_holes <= FEW_HOLES:
            self._groups = [list(range(len(linked)))]
        else:
            self._groups = self._cluster.together(linked)
        groups = [[linked[block] for block in group] for group in self._groups]
        self._grouped = self._cluster.keep(
            [self._cluster.task(pass_work.as_group, group) for group in groups]
        )

    def _finish_bunch(self) -> list[FinishedPass]:
        """Wait for a bunch of passes while the next one is under way."""
        size, ahead = (BUNCH, 2) if self._cluster.is_remote and self._last is not None else (1, 1)
        while len(self._started) < ahead:
            self._newest = self._start(size, self._newest)
            self._started.append(self._newest)
        bunch = self._started.popleft()
        found = zip(*self._cluster.fetch(bunch.outcomes, "filling holes"), strict=True)
        return [
            FinishedPass(passes, *pass_work.join_outcomes(list(chain.from_iterable(outcomes))))
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
            moved = [task(pass_work.moved_holes, *pair) for pair in pairs]
            moved = self._cluster.tree(MovedHoles.join, moved, most=FAN_IN)
            passes.append(states)
        outcomes = [
            task(pass_work.outcomes_of, list(own), group)
            for own, group in zip(zip(*passes, strict=True), self._groups, strict=True)
        ]
        kept = self._cluster.keep([*chain.from_iterable(passes), *moved, *outcomes])
        n = len(self._groups)
        made = [kept[first : first + n] for first in range(0, size * n, n)]
        return Bunch(made, kept[size * n : -n], kept[-n:])

    def _start_alone(self, size: int, before: Bunch | None) -> Bunch:
        """The same where all blocks are on one worker."""
        task, last = self._cluster.task, before.onward[0] if before else []
        run = task(pass_work.passes_alone, self._grouped[0], last, size)
        run, outcomes = self._cluster.keep([run, task(pass_work.outcomes_of, run, self._groups[0])])
        return Bunch([[task(getitem, run, n)] for n in range(size)], [run], [outcomes])


def choose_k(
    parts: DonorParts, settings: RecipeSettings, n_classes: int | None, hidden_plan: BlockPlan
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
        task = _classification_task(parts, settings, n_classes)
    else:
        task = _hidden_task(parts, settings, hidden_plan)
    errors = parts.cluster.fetch([task], "choosing k")[0]
    scores = {k: float(error) for k, error in enumerate(errors, start=1)}
    return best_k(scores, wanted), scores


def _classification_task(parts: DonorParts, settings: RecipeSettings, n_classes: int) -> Task:
    """`by_classification` on the stratified sample that one machine would draw."""
    cluster, plan = parts.cluster, parts.plan
    tasks = [cluster.task(_classifiable_counts, b, plan, n_classes) for b in parts.blocks]
    counts = np.array(cluster.fetch(tasks, "counting classes"))
    informed_only = bool((counts[:, 0].sum(axis=0) > 0).sum() > 1)
    usable = counts[:, 0] if informed_only else counts[:, 1]
    total = usable.sum(axis=0)
    if total.sum() > SAMPLE_ROWS:
        settings.report(f"k is chosen on a stratified sample of {SAMPLE_ROWS} rows")
    shares = sample_shares(usable, even_sizes(total, SAMPLE_ROWS), settings.random_state)
    sample = [
        cluster.task(_pick, block, plan, informed_only, share)
        for block, share in zip(parts.blocks, shares, strict=True)
    ]
    return cluster.task(_sample_errors, sample, plan, settings.random_state, settings.n_jobs)


def _classifiable(block: Block, plan: BlockPlan, informed_only: bool) -> Ints:
    usable = block.labels >= 0
    if informed_only:
        usable = usable & searchable(block.missing, overall_weights(plan.weights))
    return np.flatnonzero(usable)


def _classifiable_counts(block: Block, plan: BlockPlan, n_classes: int) -> Ints:
    """Rows of each class with an observed cell that counts, and all rows of each class."""
    rows = (_classifiable(block, plan, informed_only) for informed_only in (True, False))
    return np.array([np.bincount(block.labels[some], minlength=n_classes) for some in rows])


def _pick(block: Block, plan: BlockPlan, informed_only: bool, share: Share) -> Block:
    rows = _classifiable(block, plan, informed_only)
    return block.take(rows[share.rows(block.labels[rows])])


def _sample_errors(
    blocks: list[Block], plan: BlockPlan, random_state: int | None, n_jobs: int | None
) -> Floats:
    sample = Block.join(blocks)
    table = Table(np.where(sample.missing, 0.0, sample.values), sample.missing, plan.columns)
    prepared = Prepared(
        plan.recipe, table, sample.values, sample.labels, plan.weights, plan.targets,
        sample.is_donor, n_jobs,
    )  # fmt: skip
    return by_classification(prepared, sample.labels, random_state)


def _hidden_task(parts: DonorParts, settings: RecipeSettings, plan: BlockPlan) -> Task:
    """Errors of known cells, each hidden in its row alone, for k = 1, 2, …."""
    cluster = parts.cluster
    tasks = [cluster.task(count_hideable, block, plan.targets) for block in parts.blocks]
    counts = np.array(cluster.fetch(tasks, "counting known cells"))
    ranks, ends = hidden_ranks(int(counts.sum()), settings.random_state), np.cumsum(counts)
    hidden = [
        cluster.task(hide_cells, block, plan.targets, ranks_within(ranks, end - count, end))
        for block, count, end in zip(parts.blocks, counts, ends, strict=True)
    ]
    blocks = cluster.keep([cluster.task(Block.join, hidden)])
    task = cluster.task(BlockCounts.of, blocks[0], parts.pools, plan)
    own = cluster.fetch([task], "hiding cells")[0].own
    nearest = parts.search(blocks, parts.search_plan(plan, MAX_K, own))
    return cluster.task(_errors_by_k, blocks[0], nearest[0], plan)


def _errors_by_k(block: Block, by_pool: ByPool, plan: BlockPlan) -> Floats:
    k_max = max((nearest.distances.shape[1] for nearest in by_pool.values()), default=1)
    errors = np.zeros(k_max)
    for k in range(1, k_max + 1):
        squares = [_squared_errors(block, nearest, plan, k) for nearest in by_pool.values()]
        errors[k - 1] = np.concatenate(squares).mean() if squares else 0.0
    return errors


def _squared_errors(block: Block, nearest: NearestDonors, plan: BlockPlan, k: int) -> Floats:
    by_number, by_vote = plan.recipe.fill.weigh(nearest.distances[:, :k])
    votes, given, slots = plan.is_categorical[nearest.columns], nearest.given[:, :k], nearest.slots
    truth = block.values[nearest.rows[slots], nearest.columns]
    guess = np.empty(len(truth))
    guess[~votes] = pass_work.averages(given[~votes], by_number[slots[~votes]])
    guess[votes] = pass_work.winners(given[votes], by_vote[slots[votes]], plan.n_levels)
    return np.where(votes, guess != truth, (guess - truth) ** 2)


@dataclass(frozen=True, eq=False)
class Trained:
    """What was learned here, and on the workers the fills of each block.

    ``light`` has no donors, so that it can travel with every task. ``fitted`` is a call that has
    not been made: it brings all donors to one worker. ``has_unused`` says that there are rows
    without a label, to be filled like new ones.
    """

    light: FittedRecipe
    fills: list[Task]
    fitted: Task
    has_unused: bool


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
    table = tally_table(cluster, recipe, settings, rows, n_classes or 1, columns)
    plan = _plan(table, table.targets)
    blocks, without_value = table.start(firsts)
    pools = plan_pools(recipe, table.class_counts)
    counts = cluster.fetch(
        [cluster.task(BlockCounts.of, block, pools, plan) for block in blocks], "counting donors"
    )
    most = pool_rows or _rows_that_fit(cluster, len(columns))
    parts = DonorParts(cluster, blocks, pools, plan, counts, most)
    k, scores = choose_k(parts, settings, n_classes, _hidden_plan(table, plan))
    own = np.any([c.own for c in counts], axis=0)
    work = ClusterWork(parts, parts.search_plan(plan, k, own))
    trace = recipe.schedule.run(work, settings.report)
    passes = work.block_passes()
    too_small = sum(c.small_class_holes for c in counts)
    before = Counter(class_without_value=without_value, class_too_small=too_small)
    no_rows, no_cells = np.zeros(0, dtype=np.intp), np.zeros((0, len(columns)))
    light = FittedRecipe(
        recipe, table.scaler, Table(no_cells, no_cells.astype(bool), columns), no_rows,
        labels=None if n_classes is None else no_rows,
        pools=pass_work.row_pools(pools, table.class_counts),
        weights=plan.weights, targets=plan.targets, centers=table.tally.overall(table.in_use),
        n_neighbors=k, unlabeled=settings.unlabeled, trace=trace, k_scores=scores,
        fallbacks=dict(work.fallbacks() + before), spreads=(no_rows, no_rows, np.zeros(0)),
    )  # fmt: skip
    ends = zip(blocks, passes, strict=True)
    fills = [cluster.task(pass_work.unscaled, block, last, table.scaler) for block, last in ends]
    kept = cluster.keep([*passes, *fills])
    ends = zip(blocks, kept, strict=False)
    donors = [cluster.task(pass_work.filled_donors, block, last) for block, last in ends]
    fitted = cluster.task(pass_work.with_donors, donors, light)
    return Trained(light, kept[len(passes) :], fitted, table.has_unused)


def _plan(table: TalliedTable, targets: Ints) -> BlockPlan:
    return BlockPlan(table.recipe, table.columns, column_weights(table, targets), targets)


def _hidden_plan(table: TalliedTable, plan: BlockPlan) -> BlockPlan:
    """Where cells are hidden to choose k: columns with holes, else some evenly chosen ones."""
    if len(plan.targets):
        return plan
    n_columns = len(table.columns)
    return _plan(table, np.arange(n_columns)[:: -(-n_columns // HIDDEN_COLUMNS)])


def _rows_that_fit(cluster: Cluster, n_columns: int) -> int:
    """How many donors may be on a worker at once: a share of its memory, else all of them."""
    memory = cluster.least_memory
    if memory is None:
        return int(np.iinfo(np.intp).max)
    # exact values, mask, float32 leaves, sorted columns; row numbers and boxes
    bytes_each = n_columns * (8 + 1 + 4 + 8) + 32
    return max(int(POOL_SHARE * memory / bytes_each), 1_000)
