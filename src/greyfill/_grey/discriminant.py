"""The class by a normal distribution of each class: linear and quadratic discriminants.

Neighbors and regressions on indicators tell little where classes lie side by side in a table of few
rows; how the features vary together within a class tells more. What a row lacks is integrated out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from greyfill._grey.donor_table import FORMS, ColumnFeatures, Queries
from greyfill._grey.outcomes import Forecast
from greyfill._grey.predictor import ColumnPredictor
from greyfill.table import Bools, Floats, Ints

WIDEST = 128
"""Features, at most: what a row lacks costs their third power."""

LARGEST = 4_000
"""Entries of all covariances, at most, where each class has one of its own."""

RIDGES = (1.0, 20.0)
LENT = (0.1, 0.3)
TEMPERS = np.array([0.3, 0.5, 0.7, 1.0])
WEIGHTS = (0.25, 0.5)
"""At most half: alone it is too sure on small tables; wine lost 40 % of log loss by it."""

SIZES = np.array([0, 1, 2, 4, 8, 16, 32, 64, WIDEST])
"""Rows that lack so many features at most go together."""

FIRST = 100
"""Held-out labels that compare discriminants; all of them decide what the best one counts."""

NO_ROWS = 1e-300
"""The prior of a class without rows."""

LEAST_VARIANCE = 1e-3
"""That of a feature of a column without spread."""


@dataclass(frozen=True)
class Discriminant:
    """How class probabilities are made of normal distributions, and how much these count.

    ``form`` is that of the features. A row of another class counts ``lent`` of one of the class
    in its covariance; infinite: all classes have the same. ``ridge`` rows of independent features
    are added to it. ``temper`` is the power of the probabilities, and ``weight`` their share in the
    mixture with those of a panel.
    """

    form: str
    lent: float
    ridge: float = RIDGES[0]
    temper: float = 1.0
    weight: float = 1.0

    def __str__(self) -> str:
        """The discriminant in words, as ``selection_`` lists it."""
        kind = "linear" if self.lent == np.inf else "quadratic"
        ranks = " of ranks" if self.form == "scores" else ""
        return f"{kind} discriminant{ranks} on all donors, {self.weight:.0%} of the mixture"

    def shares(
        self, predictor: ColumnPredictor, queries: Queries, leave_out: bool = False
    ) -> Floats:
        """Probabilities of the classes; with ``leave_out`` each query is a donor, left out."""
        donors = predictor.donors
        places, columns, normals = predictor._once(
            ("normals", self.form, self.lent, self.ridge), lambda: self._learn(predictor)
        )
        features = queries.features(donors)[FORMS.index(self.form)][:, places]
        own = donors.labels[queries.own_rows] if leave_out else None
        scores = self.temper * normals.scores(features, queries.missing[:, columns], own)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def mixed(self, predictor: ColumnPredictor, queries: Queries, panel: Forecast) -> Forecast:
        """What a panel predicts of the class, mixed with what the discriminant does."""
        return _mixture(panel, self.shares(predictor, queries), self.weight)

    def _learn(self, predictor: ColumnPredictor) -> tuple[Ints, Ints, "ClassNormals"]:
        """The features that count, their columns, and the distributions of the donors'."""
        donors, rows = predictor.donors, predictor.donor_rows
        features = donors.feature_map
        places, owners = features.places(predictor.predictors)
        labels, form = donors.labels[rows], FORMS.index(self.form)
        squares = predictor._once(
            ("squares", self.form),
            lambda: ClassSquares.of(
                donors.features[form][np.ix_(rows[labels == label], places)]
                for label in range(donors.n_classes)
            ),
        )
        every = [_variances(features.columns[j]) for j in predictor.predictors.tolist()]
        normals = ClassNormals.learn(squares, np.concatenate(every), self)
        return places, predictor.predictors[owners], normals


def _variances(column: ColumnFeatures) -> Floats:
    """Variances of the features of a column, as they were scaled to be 1 in all."""
    if len(column.knots):
        return np.ones(1)
    return np.maximum(column.shift * (1.0 - column.shift) / column.spread**2, LEAST_VARIANCE)


def choose_discriminant(
    predictor: ColumnPredictor,
    queries: Queries,
    panel: Forecast,
    truth: Floats,
    powers: Floats,
) -> tuple[Discriminant | None, Forecast]:
    """The best discriminant on held-out labels, and its mixture with what a panel predicts.

    The better form of a linear one also tries a covariance for each class, and the best of these
    another penalty. None where features are too many, or where no mixture makes the labels more
    probable by more than a standard error, each calibrated by the best of some powers.
    """
    donors, outcomes = predictor.donors, panel.outcomes
    width = int(donors.feature_map.widths[predictor.predictors].sum())
    if not donors.splits or not 0 < width <= WIDEST:
        return None, panel
    first = queries.part(np.arange(min(FIRST, len(truth))))

    def tried(one: Discriminant) -> tuple[float, Discriminant]:
        powered = one.shares(predictor, first, leave_out=True) ** TEMPERS[:, None, None]
        powered /= powered.sum(axis=-1, keepdims=True)
        losses = outcomes.loss(powered, truth[:FIRST], "log").mean(axis=1)
        least = int(losses.argmin())
        return float(losses[least]), replace(one, temper=float(TEMPERS[least]))

    def losses(weight: float) -> Floats:
        scaled = powers[:, None, None] * np.log(_mixture(panel, shares, weight).shares())
        every = np.log(np.exp(scaled).sum(axis=-1)) - (scaled * truth).sum(axis=-1)
        return np.asarray(every[every.mean(axis=1).argmin()])

    has_numbers = not donors.is_categorical[predictor.predictors].all()
    best = min((tried(Discriminant(form, np.inf)) for form in FORMS[: 1 + has_numbers]), key=_loss)
    if donors.n_classes * width**2 <= LARGEST:
        form = best[1].form
        best = min([best, *(tried(Discriminant(form, lent)) for lent in LENT)], key=_loss)
    other = replace(best[1], ridge=RIDGES[1], temper=1.0)
    _, how = min(best, tried(other), key=_loss)
    shares = how.shares(predictor, queries, leave_out=True)
    by_weight = {weight: losses(weight) for weight in (0.0, *WEIGHTS)}
    weight = min(by_weight, key=lambda weight: float(by_weight[weight].mean()))
    gain = by_weight[0.0] - by_weight[weight]
    if gain.mean() <= gain.std() / np.sqrt(len(gain)):
        return None, panel
    return replace(how, weight=weight), _mixture(panel, shares, weight)


def _mixture(panel: Forecast, shares: Floats, weight: float) -> Forecast:
    return replace(panel, predicted=(1.0 - weight) * panel.predicted + weight * shares)


def _loss(trial: tuple[float, Discriminant]) -> float:
    return trial[0]


@dataclass(frozen=True, eq=False)
class ClassSquares:
    """Rows of each class, their means, and the sums of squares and products around them."""

    counts: Floats
    means: Floats
    within: Floats

    @classmethod
    def of(cls, features: Iterable[Floats]) -> "ClassSquares":
        """Sum up the features of the rows of each class."""
        found = []
        for rows in features:
            mean = rows.sum(axis=0) / max(len(rows), 1)
            apart = rows - mean
            found.append((float(len(rows)), mean, apart.T @ apart))
        return cls(*(np.array(part) for part in zip(*found, strict=True)))


@dataclass(frozen=True, eq=False)
class ClassNormals:
    """Normal distributions of the features of each class.

    The covariance of class c is (S_c + lent · S + ridge · T) / (n_c + lent · n + ridge), where S_c
    are the squares within the class, S those within all classes, and T the features' variances;
    one for all classes is (S + ridge · T) / (n + ridge). ``inverses`` are those of the numerators,
    ``logs`` the logarithms of their determinants, ``sizes`` the denominators; each has one entry
    for all classes, or one a class.
    """

    counts: Floats
    means: Floats
    inverses: Floats
    logs: Floats
    sizes: Floats
    lent: float

    @classmethod
    def learn(cls, of: ClassSquares, variances: Floats, how: Discriminant) -> "ClassNormals":
        """Learn from the rows of each class, and the variances of the features."""
        total, prior = of.within.sum(axis=0), how.ridge * np.diag(variances)
        if how.lent == np.inf:
            sums, sizes = (total + prior)[np.newaxis], np.array([of.counts.sum() + how.ridge])
        else:
            sums = of.within + how.lent * total + prior
            sizes = of.counts + how.lent * of.counts.sum() + how.ridge
        inverses, logs = np.linalg.inv(sums), np.linalg.slogdet(sums)[1]
        return cls(of.counts, of.means, inverses, logs, sizes, how.lent)

    def scores(self, x: Floats, missing: Bools, own: Ints | None = None) -> Floats:
        """Logarithms of p(class, observed features) of rows, up to a number for each row.

        ``own`` are the classes of rows that were learned from: each is left out for itself. Rows
        that lack about as many features go together, and each is a problem of its own to LAPACK,
        of a size that it alone decides: so no new row depends on the others.
        """
        out, lacking = np.empty((len(x), len(self.counts))), missing.sum(axis=1)
        edges = SIZES if own is None else SIZES[3::2]  # fewer calls; training rows come together
        sizes = np.minimum(edges[np.searchsorted(edges, lacking)], x.shape[1])
        if len(x) == 1:
            return self._scores(x, missing, int(sizes[0]), own)
        for size in set(sizes.tolist()):
            rows = np.flatnonzero(sizes == size)
            labels = None if own is None else own[rows]
            out[rows] = self._scores(x[rows], missing[rows], size, labels)
        return out

    def _scores(self, x: Floats, missing: Bools, size: int, own: Ints | None) -> Floats:
        """Those of rows that lack at most ``size`` features.

        With the inverse P, e = x − μ, 0 at the holes M, and g = P e, the squared distance over what
        is observed is eᵀg − g_Mᵀ P_MM⁻¹ g_M, and |(P⁻¹)_oo| = |P⁻¹| · |P_MM|. A row that leaves the
        squares, P⁻¹ − f d dᵀ, is one more hole, with dᵀg and a border of P d and dᵀP d − 1/f.
        """
        n, inverses, apart = len(x), self.inverses, x[:, np.newaxis] - self.means
        counts, sizes, logs = self.counts, self.sizes, self.logs
        if own is not None:
            of_own, rows = counts[own], np.arange(n)
            gain = (of_own / np.maximum(of_own - 1.0, 1.0))[:, np.newaxis]
            d = apart[rows, own]
            apart[rows, own] *= gain
            is_own = (own[:, np.newaxis] == np.arange(len(counts))).astype(float)
            less = np.ones((n, 1)) if self.lent == np.inf else is_own + self.lent
            counts, sizes, f = counts - is_own, sizes - less, gain * less
        e = np.where(missing[:, np.newaxis], 0.0, apart).reshape(n, len(inverses), -1, x.shape[1])
        g = e @ inverses
        distances = (e * g).sum(axis=-1)
        # the holes first; where there are fewer than ``size``, those that follow count nothing
        holes = np.argsort(~missing, axis=1, kind="stable")[:, :size]
        each = np.arange(n)[:, np.newaxis]
        counted = missing[each, holes][:, np.newaxis]
        pairs = inverses[:, holes[:, :, np.newaxis], holes[:, np.newaxis]].swapaxes(0, 1)
        blocks = np.where(counted[..., np.newaxis] & counted[:, :, np.newaxis], pairs, np.eye(size))
        known = np.where(counted[:, np.newaxis], g[each, :, :, holes].transpose(0, 2, 3, 1), 0.0)
        if own is not None:
            u = d[:, np.newaxis, np.newaxis] @ inverses
            edge = np.where(counted, u[each, :, 0, holes].swapaxes(1, 2), 0.0)
            corner = (u[:, :, 0] * d[:, np.newaxis]).sum(axis=-1) - 1.0 / f
            blocks = _bordered(blocks, edge, corner)
            known = np.concatenate([known, (e * u).sum(axis=-1)[..., np.newaxis]], axis=-1)
            logs = logs + np.log(f)
        if blocks.shape[-1]:
            solved = np.linalg.solve(blocks, known.swapaxes(-1, -2)).swapaxes(-1, -2)
            distances -= (known * solved).sum(axis=-1)
        likely = (sizes[..., np.newaxis] * distances).reshape(n, -1)
        if self.lent < np.inf:  # else the same for all classes
            n_seen = x.shape[1] - missing.sum(axis=1, keepdims=True)
            likely += logs + np.linalg.slogdet(blocks)[1] - n_seen * np.log(sizes)
        return np.asarray(np.log(np.maximum(counts, NO_ROWS)) - 0.5 * likely)


def _bordered(blocks: Floats, edge: Floats, corner: Floats) -> Floats:
    """Symmetric matrices with one more row and column."""
    m = edge.shape[-1]
    out = np.empty((*edge.shape[:-1], m + 1, m + 1))
    out[..., :m, :m], out[..., m, m] = blocks, corner
    out[..., m, :m] = out[..., :m, m] = edge
    return out
