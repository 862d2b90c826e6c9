"""What must hold in the records of the chained and the joint engine, and of the other systems."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from greyfill._chained import draws, iari, methods, missforest
from greyfill._chained.c45 import C45Tree, FittedC45, branches_of
from greyfill._chained.chain import ChainPlan, ColumnModel, FittedChains
from greyfill._chained.design import Design
from greyfill._chained.forest import Forest
from greyfill._chained.methods import Count, LeafDonors
from greyfill._chained.regressions import Line
from greyfill._joint.joint_model import FittedJoint, JointCode
from greyfill._joint.joint_normal import JITTER, JointNormal, SparseNormal
from greyfill._systems.column_models import Cart, ColumnModels, GreyRidge, Machine
from greyfill._systems.deck import Deck, ShellDonors
from greyfill._systems.layout import FeatureLayout
from greyfill._systems.network import Network
from greyfill._systems.prototypes import Clusters, Prototypes
from greyfill.exceptions import PersistenceError
from greyfill.persistence import record_rules as rules
from greyfill.persistence.record_rules import LARGEST, check_codes, check_record, require
from greyfill.table import FAR, Column, Floats, Kind, SymmetricScaler, Table

MOST_CLUSTERS, MOST_RIDGES = 10_000, 100
"""A file holds clusters, but of ridges only their number: each takes memory as the table does."""

FURTHEST = 1e50
"""Moments and coefficients of standardized columns are smaller than this."""


@check_record.register
def _chained_scaler(scaler: SymmetricScaler) -> None:
    require(np.all(scaler.half_range > 0.0), "a scaler without a range")
    sizes = {np.shape(part) for part in (scaler.center, scaler.half_range)}
    sizes |= {np.shape(part) for part in (scaler.low, scaler.high) if part is not None}
    require(len(sizes) == 1 and len(next(iter(sizes))) <= 1, "the scaler does not fit")
    require((scaler.low is None) == (scaler.high is None), "the scaler lacks a limit")


@check_record.register
def _line(line: Line) -> None:
    require(line.slope.ndim == 1, "a slope is no list")
    largest = max(abs(line.offset), np.abs(line.slope).max(initial=0.0))
    require(largest <= LARGEST, "a coefficient is too large")


@check_record.register
def _match(match: draws.MeanMatch) -> None:
    n = len(match.spots)
    require(n > 0 and match.spots.shape == (n,), "a match without predictions")
    require((np.diff(match.spots) > 0).all() and np.abs(match.spots).max() <= LARGEST, "spots")
    _check_donors(match, n)


def _check_donors(model: draws.MeanMatch | LeafDonors, n: int) -> None:
    """Some donors for each of n places, side by side."""
    starts, donors = model.starts, model.donors
    require(starts.shape == (n + 1,) and donors.ndim == 1, "donors do not fit")
    require(starts[0] == 0 and starts[-1] == len(donors), "donors do not fit")
    require((np.diff(starts) > 0).all(), "a place without donors")


@check_record.register
def _normal(normal: draws.Normal) -> None:
    require(0.0 <= normal.sigma <= LARGEST, "a deviation that is none")
    require(np.ndim(normal.scaler.center) == 0, "the scaler is not of one column")


@check_record.register
def _sample(sample: draws.Sample) -> None:
    require(sample.observed.ndim == 1 and len(sample.observed) > 0, "a sample of nothing")


@check_record.register
def _levels_model(model: draws.Binary | draws.Multinomial | draws.Ordered) -> None:
    n = len(model.levels)
    require(model.levels.shape == (n,) and n >= 2, "a choice among less than two levels")
    if isinstance(model, draws.Binary):
        require(n == 2, "two levels are needed")
    elif isinstance(model, draws.Multinomial):
        require(len(model.lines) == n - 1, "lines do not fit the levels")
    else:
        require(model.thresholds.shape == (n - 1,), "thresholds do not fit the levels")
        require((np.diff(model.thresholds) >= 0).all(), "thresholds fall")


@check_record.register
def _column_model(model: ColumnModel) -> None:
    fitted, column = model.model, model.column
    slopes = [line.slope for line in getattr(fitted, "lines", ())]
    slopes += [fitted.line.slope] if hasattr(fitted, "line") else []
    fits = all(slope.shape == model.predictors.shape for slope in slopes)
    tree = getattr(fitted, "tree", None)
    fits = fits and (tree is None or tree.feature.max() < len(model.predictors))
    require(fits and model.predictors.ndim == 1, "a model does not fit its predictors")
    if column.kind is Kind.CATEGORICAL:  # ranks of ordered levels are rounded to one
        names = ("value", "observed", "donors", "levels")
        known = [getattr(fitted, name) for name in names if hasattr(fitted, name)]
        require(known, "a category that is drawn as a number")
        check_codes(np.atleast_1d(known[0]), column.n_levels, f"column {column.name!r}")


@check_record.register
def _plan(plan: ChainPlan) -> None:
    table, design = plan.table, plan.design
    learned = Design.learn(table)
    check_observed(table, table.values)
    same = _same_scaler(design.scaler, learned.scaler)
    same = same and _equal_parts(design.levels, learned.levels)
    same = same and _equal_parts(design.shares, learned.shares)
    require(same and np.array_equal(design.edges, learned.edges), "the design does not fit")
    require(len(plan.methods) == table.n_columns, "methods do not fit the columns")
    pairs = zip(plan.methods, table.columns, strict=True)
    fits = all(name in methods.BY_KIND[column.kind] for name, column in pairs)
    require(fits, "a method does not fit its column")
    for j, predictors in plan.predictors.items():
        require(0 <= j < table.n_columns, "predictors of a column that does not exist")
        rules.check_rising(predictors, learned.width, "predictors")
    cap = plan.max_predictors
    require(cap == "auto" or (isinstance(cap, int) and cap >= 1), f"max_predictors is {cap!r}")
    require(1 <= plan.n_iter <= rules.MOST_PASSES, f"n_iter is {plan.n_iter}")
    if plan.starts is not None:
        require(plan.starts.shape == (table.n_columns,), "starts do not fit the columns")
        check_observed(table, np.where(table.missing, plan.starts, table.values))
    inside = all(0 <= j < table.n_columns and a <= b for j, (a, b) in plan.limits.items())
    require(inside, "limits do not fit the columns")


def check_observed(table: Table, values: Floats) -> None:
    """Codes of levels that exist in the cells of a table in its own units; none without a value."""
    require(values.shape == table.values.shape, "values do not fit the table")
    require((~table.missing).any(axis=0).all(), "a column has no observed value")
    check_cells(table.columns, values)


def check_cells(columns: tuple[Column, ...], values: Floats) -> None:
    """Codes of levels that exist in all cells; an unknown level is none of them."""
    for j, column in enumerate(columns):
        if column.kind is not Kind.NUMERIC:
            check_codes(values[:, j], column.n_levels, f"column {column.name!r}")


def check_fills(columns: tuple[Column, ...], values: Floats) -> None:
    """As `check_cells`, but a rank may lie between two levels: at last it is rounded to one."""
    is_rank = np.array([column.kind is Kind.ORDINAL for column in columns], dtype=bool)
    check_cells(columns, np.where(is_rank, np.rint(values), values))


def _equal_parts(mine: Sequence[Any], theirs: Sequence[Any]) -> bool:
    return len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))


def _same_scaler(scaler: SymmetricScaler, learned: SymmetricScaler) -> bool:
    names = ("center", "half_range", "low", "high")
    pairs = [(getattr(scaler, name), getattr(learned, name)) for name in names]
    return all(np.array_equal(mine, theirs) for mine, theirs in pairs if mine is not None)


@check_record.register
def _mice(fitted: FittedChains) -> None:
    plan, table = fitted.plan, fitted.plan.table
    require(fitted.chains, "there is no chain")
    require(0 <= fitted.seed < 2**63, f"the seed is {fitted.seed}")
    rules.check_order(fitted.order, table.n_rows)
    for chain in fitted.chains:
        require(chain.drawn.shape == (int(table.missing.sum()),), "draws do not fit the holes")
        require(chain.traces.shape == (plan.n_iter, len(plan.targets), 2), "traces do not fit")
        values = table.values.copy()
        values[table.missing] = chain.drawn
        check_observed(table, values)
        for j, model in chain.models.items():
            fits = 0 <= j < table.n_columns and model.column == table.columns[j]
            require(fits, "a strange model")
            rules.check_rising(model.predictors, plan.design.width, "predictors of a model")


@check_record.register
def _forest(forest: Forest) -> None:
    n = len(forest.feature)
    nodes = (forest.feature, forest.threshold, forest.left, forest.right, forest.value)
    require(all(part.shape == (n,) for part in nodes), "nodes do not fit each other")
    require(forest.roots.ndim == 1 and len(forest.roots) > 0, "a forest without a tree")
    rules.check_rows(forest.roots, n, "roots")
    inner = np.flatnonzero(forest.feature >= 0)
    for children in (forest.left[inner], forest.right[inner]):
        require((children > inner).all() and (children < n).all(), "a child before its parent")
    require(np.abs(forest.value).max(initial=0.0) <= FAR, "a value is too large")


@check_record.register
def _missforest(fitted: missforest.FittedForests) -> None:
    table, tried = fitted.table, fitted.settings.max_features
    _check_forests(fitted, fitted.state.values)
    require(tried is None or tried >= 1, "no features")
    for j, grown in fitted.state.grown.items():
        require(0 <= j < table.n_columns, "a forest of a column that does not exist")
        _check_forest(grown.forest, table.columns[j], table.n_columns - 1)


def _check_forests(fitted: missforest.FittedForests | iari.FittedChain, values: Floats) -> None:
    """What forests were grown on, and how."""
    table, settings = fitted.table, fitted.settings
    check_observed(table, values)
    require((values == table.values)[~table.missing].all(), "observed cells differ")
    require(_same_scaler(fitted.scaler, SymmetricScaler.learn(table)), "the scaler does not fit")
    rules.check_order(fitted.order, table.n_rows)
    rules.check_jobs(settings.n_jobs)
    require(settings.seed >= 0, f"the seed is {settings.seed}")
    require(1 <= settings.n_estimators <= rules.MOST_TREES, f"{settings.n_estimators} trees")


def _check_forest(forest: Forest, column: Column, n_features: int) -> None:
    """Whether a forest reads the other columns and answers in values of its own."""
    require(forest.feature.max() < n_features, "a tree reads a column that does not exist")
    votes = column.kind is Kind.CATEGORICAL
    require(votes or forest.n_classes == 0, "votes for a number")
    if votes:
        check_codes(forest.value, column.n_levels, f"column {column.name!r}")
        require(0 <= forest.n_classes <= column.n_levels, "votes for levels that do not exist")
        leaves = forest.value[forest.feature < 0]
        counted = forest.n_classes > leaves.max() or len(forest.roots) == 1
        require(counted, "votes that nobody counts")


@check_record.register
def _leaf_donors(model: LeafDonors) -> None:
    n = model.starts.size - 1
    require(n >= 1, "no donors")
    _check_donors(model, n)
    require(len(model.tree.roots) == 1 and model.tree.n_classes == 0, "no single tree")
    check_codes(model.tree.value[model.tree.feature < 0], n, "a tree")


@check_record.register
def _iari(fitted: iari.FittedChain) -> None:
    table = fitted.table
    _check_forests(fitted, fitted.filled)
    require(fitted.settings.order in iari.ORDERS, "settings that do not exist")
    for step in fitted.steps:
        rules.check_rows(np.array([step.column]), table.n_columns, "columns of a chain")
        rules.check_rows(step.reads, table.n_columns, "columns of a forest")
        _check_forest(step.forest, table.columns[step.column], len(step.reads))
    chained = sorted(step.column for step in fitted.steps)
    holed = np.flatnonzero(table.missing.any(axis=0)).tolist()
    require(chained == holed, "the chain leaves out a column")


@check_record.register
def _quinlan_tree(tree: C45Tree) -> None:
    n = len(tree.attribute)
    nodes = (tree.attribute, tree.cut, tree.child, tree.parts)
    require(n > 0 and all(part.shape == (n,) for part in nodes), "nodes do not fit each other")
    require(tree.shares.ndim == 2 and tree.shares.shape == tree.sums.shape, "shares do not fit")
    require(tree.shares.shape[0] == n and tree.shares.shape[1] > 0, "shares do not fit")
    require((tree.shares >= 0.0).all() and np.abs(tree.sums).max() <= FAR, "no shares of classes")
    require((np.abs(tree.shares.sum(axis=1) - 1.0) <= rules.ROUNDING).all(), "no shares of classes")
    require((tree.parts >= 0.0).all() and (tree.parts <= 1.0).all(), "no shares of cases")
    require(tree.branches.ndim == 1 and (tree.branches >= 0).all(), "no branches")
    inner = np.flatnonzero(tree.attribute >= 0)
    require((tree.attribute < len(tree.branches)).all(), "a test of a column that does not exist")
    widths = np.maximum(tree.branches[tree.attribute[inner]], 2)
    first = tree.child[inner]
    require((first > inner).all() and (first + widths <= n).all(), "a child before its parent")
    # Each node has one parent, so that as many nodes wait as there are, at most.
    require(np.array_equal(first, np.cumsum(widths) - widths + 1), "a child of two parents")
    require(n == 1 + widths.sum(), "a node without a parent")
    cases = np.add.reduceat(tree.parts, first) if len(first) else np.ones(1)
    require((np.abs(cases - 1.0) <= rules.ROUNDING).all(), "branches that lose cases")


@check_record.register
def _quinlan(fitted: FittedC45) -> None:
    table = fitted.table
    check_observed(table, table.values)
    for j, found in fitted.trees.items():
        require(0 <= j < table.n_columns, "a tree of a column that does not exist")
        others = [branches_of(table.columns[k]) for k in table.others(j)]
        require(found.tree.branches.tolist() == others, "a tree of other columns")
        is_class = table.columns[j].kind is Kind.CATEGORICAL
        require((found.scaler is None) == is_class, "a tree of another kind")
        if found.scaler is not None:
            require(np.ndim(found.scaler.center) == 0, "the scaler is not of one column")
        else:
            require(found.codes.shape == (found.tree.shares.shape[1],), "codes do not fit the tree")
            check_codes(found.codes, table.columns[j].n_levels, f"column {table.columns[j].name!r}")


@check_record.register
def _code(code: JointCode) -> None:
    design, p = code.design, len(code.columns)
    parts = (design.levels, design.shares, code.references)
    require(all(len(part) == p for part in parts), "the design has other columns")
    require(code.references.shape == design.scaler.center.shape == (p,), "the scaler does not fit")
    require(design.scaler.low is not None, "the scaler has no limits")
    widths = [1 if level is None else len(level) for level in design.levels]
    require(np.array_equal(design.edges, np.append(0, np.cumsum(widths))), "edges do not fit")
    for j, (column, level) in enumerate(zip(code.columns, design.levels, strict=True)):
        shares, n = design.shares[j], max(column.n_levels, 1)
        require((level is not None) == (column.kind is Kind.CATEGORICAL), "a code of another kind")
        require(-1 <= code.references[j] < n, "a reference that is no level")
        require(shares.ndim == 1 and (shares >= 0.0).all(), "shares of levels are none")
        if level is not None:
            rules.check_rising(level, n, "levels of a code")
            require(shares.shape == level.shape, "shares do not fit the levels")
    require(code.mean.shape == code.deviation.shape == (design.width,), "no standard")
    sizes = code.deviation[code.deviation != 0.0]
    require(
        (sizes >= rules.SMALLEST).all() and (sizes <= LARGEST).all(), "a deviation that is none"
    )
    require(np.abs(code.mean).max(initial=0.0) <= LARGEST, "a mean is too large")


@check_record.register
def _moments(normal: JointNormal | SparseNormal) -> None:
    mean, covariance, q = normal.mean, normal.covariance, len(normal.columns)
    rules.check_rising(normal.columns, np.iinfo(np.intp).max, "columns of a distribution")
    require(mean.shape == (q,) and covariance.shape == (q, q), "moments do not fit")
    largest = max(np.abs(mean).max(initial=0.0), np.abs(covariance).max(initial=0.0))
    require(largest <= FURTHEST, "a moment is too large")
    if isinstance(normal, SparseNormal):
        require(normal.memory.shape == (q, q), "coefficients do not fit")
        require(np.abs(normal.memory).max(initial=0.0) <= FURTHEST, "a coefficient is too large")
        require(0.0 <= normal.penalty <= LARGEST, f"the penalty is {normal.penalty}")
        uneven = np.abs(covariance - covariance.T).max(initial=0.0)  # its sums are rounded
        require(uneven <= rules.ROUNDING * largest, "a covariance is not symmetric")
    else:
        require((covariance == covariance.T).all(), "a covariance is not symmetric")
    try:
        np.linalg.cholesky(covariance + JITTER * np.eye(q))
    except np.linalg.LinAlgError:
        raise PersistenceError("a covariance that is none") from None


@check_record.register
def _joint(fitted: FittedJoint) -> None:
    require(fitted.thetas, "there is no distribution")
    blocks = fitted.code.blocks
    for theta in fitted.thetas:
        same = _equal_parts([normal.columns for normal in theta], blocks)
        require(same, "a distribution of other columns")
    require(0 <= fitted.seed < 2**63, f"the seed is {fitted.seed}")


@check_record.register
def _layout(layout: FeatureLayout) -> None:
    n = len(layout.columns)
    require(len(layout.levels) == len(layout.scaler.low) == n, "the layout does not fit")
    parts = zip(layout.columns, layout.levels, layout.scaler.is_categorical, strict=True)
    for column, levels, votes in parts:
        is_class = column.kind is Kind.CATEGORICAL
        require(votes == is_class and (len(levels) > 0) == is_class, "levels do not fit")
        rules.check_rising(levels, max(column.n_levels, 1), "levels of a layout")


@check_record.register
def _clusters(clusters: Clusters) -> None:
    centers, width = clusters.centers, int(clusters.layout.edges[-1])
    require(centers.ndim == 2 and centers.shape[1] == width, "centers do not fit")
    require(1 <= len(centers) <= MOST_CLUSTERS, f"{len(centers)} clusters")
    require(np.abs(centers).max() <= 1.0 + rules.ROUNDING, "a center lies outside")
    require(1.0 < clusters.fuzziness <= 10.0, f"fuzziness is {clusters.fuzziness}")


LIMITS: dict[type, dict[str, tuple[float, float]]] = {
    Count: {"most": (0.0, LARGEST)},
    ShellDonors: {"k": (1, np.inf)},
    Machine: {"penalty": (rules.SMALLEST, LARGEST), "epsilon": (0.0, LARGEST)},
    Cart: {"min_leaf": (1, np.inf)},
    GreyRidge: {
        "n_clusters": (1, MOST_RIDGES),
        "fuzziness": (np.nextafter(1.0, 2.0), 10.0),
        "rho": (rules.SMALLEST, 1.0),
        "ridge": (rules.SMALLEST, LARGEST),
    },
}
"""Between which limits the numbers of a record lie."""


@check_record.register
def _limited(record: Count | ShellDonors | Machine | Cart | GreyRidge) -> None:
    for name, (low, high) in LIMITS[type(record)].items():
        value = getattr(record, name)
        require(low <= value <= high, f"{name} is {value}")


@check_record.register
def _deck(deck: Deck) -> None:
    table, n, p = deck.donors, deck.donors.n_rows, deck.donors.n_columns
    require(n > 0 and p > 0, "a deck without donors")
    check_cells(table.columns, np.where(table.missing, 0.0, table.values))
    require(deck.labels.shape == (n,) and (deck.labels >= -1).all(), "labels do not fit")
    rules.check_rising(deck.cell_columns, p, "columns of the cells")
    require(deck.centers.shape == (p,), "centers do not fit the columns")
    check_fills(table.columns, deck.centers[np.newaxis])
    require(np.array_equal(deck.scaler.is_categorical, table.is_categorical), "scaler")
    require(0 <= deck.seed < 2**63, f"the seed is {deck.seed}")


@check_record.register
def _column_models(models: ColumnModels) -> None:
    table = models.table
    check_observed(table, table.values)
    require(models.values.shape == table.values.shape, "fills do not fit the table")
    check_fills(table.columns, models.values)
    require((models.values == table.values)[~table.missing].all(), "observed cells differ")
    require(0 <= models.seed < 2**32, f"the seed is {models.seed}")


@check_record.register
def _network(network: Network) -> None:
    w, d = network.weights, int(network.layout.edges[-1])
    h, c = w.bias.shape[0] if w.bias.ndim == 1 else 0, len(w.class_offset)
    shapes = ((d, h), (h,), (c, h), (d, h), (d,), (h, c), (c,))
    require(h >= 1 and c >= 1, "a net without units")
    fits = all(part.shape == shape for part, shape in zip(w.parts, shapes, strict=True))
    require(fits and network.start.shape == (d,), "weights do not fit each other")
    require(all(np.abs(part).max(initial=0.0) <= FAR for part in w.parts), "a weight is too large")
    require(np.abs(network.start).max() <= 1.0 + rules.ROUNDING, "a start lies outside")


@check_record.register
def _prototypes(prototypes: Prototypes) -> None:
    centers, layout = prototypes.centers, prototypes.layout
    require(centers.ndim == 2 and centers.shape[1] == int(layout.edges[-1]), "centers do not fit")
    require(len(centers) >= 1 and np.abs(centers).max() <= 2.0, "a prototype lies outside")
    given = prototypes.given
    require(given.shape == centers.shape and np.abs(given).max() <= 2.0, "values do not fit")
    require(prototypes.labels.shape == (len(centers),), "classes of prototypes do not fit")
    require((prototypes.labels >= 0).all(), "a prototype without a class")
    require(prototypes.relevance.shape == (len(layout.columns),), "relevances do not fit")
    rules.check_weights(prototypes.relevance, len(layout.columns))
