"""The multi-task perceptron: one hidden layer whose outputs are the class and every column.

a = x W + b,  h_0 = tanh(a),  h_j = tanh(a − x_j W_j + c)          x_j: the features of column j
class: softmax(h_0 V_0 + v_0),  column j: h_j V_j + v_j

c is the class's own input, which the outputs of columns see and the output of the class does not;
it is off for rows without a label. Output j never sees input j. The loss is the cross-entropy of
the class plus λ times the mean squared error of the observed cells; missing inputs are the net's
own outputs, renewed in every epoch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from greyfill._systems.layout import FeatureLayout, shares_of, times
from greyfill.table import Bools, Floats, Ints, Table

NEW_PASSES = 5
RATE, DECAY_1, DECAY_2 = 0.02, 0.9, 0.999
"""Adam's steps."""


@dataclass(frozen=True, eq=False)
class NetWeights:
    """The parameters: hidden layer, class input, class output, outputs of all features."""

    inner: Floats
    bias: Floats
    by_class: Floats
    outer: Floats
    offset: Floats
    class_outer: Floats
    class_offset: Floats

    @property
    def parts(self) -> tuple[Floats, ...]:
        """All arrays, in one order."""
        return (
            self.inner, self.bias, self.by_class, self.outer, self.offset, self.class_outer,
            self.class_offset,
        )  # fmt: skip

    @classmethod
    def draw(
        cls, n_features: int, n_hidden: int, n_classes: int, rng: np.random.Generator
    ) -> "NetWeights":
        """Small random numbers."""
        size = 1.0 / np.sqrt(max(n_features, 1))
        return cls(
            inner=rng.normal(0.0, size, (n_features, n_hidden)),
            bias=np.zeros(n_hidden),
            by_class=rng.normal(0.0, 0.3, (n_classes, n_hidden)),
            outer=rng.normal(0.0, 1.0 / np.sqrt(n_hidden), (n_features, n_hidden)),
            offset=np.zeros(n_features),
            class_outer=rng.normal(0.0, 1.0 / np.sqrt(n_hidden), (n_hidden, n_classes)),
            class_offset=np.zeros(n_classes),
        )


@dataclass(frozen=True, eq=False)
class Task:
    """What a net learns: features, which of them are observed targets, classes (−1: none)."""

    x: Floats
    targets: Floats
    seen: Bools
    owners: Ints
    labels: Ints
    share: float
    penalty: float = 1e-4


def loss_and_gradient(weights: NetWeights, task: Task) -> tuple[float, NetWeights]:
    """The loss, and its derivative by every parameter."""
    w, n = weights, max(len(task.x), 1)
    grads = [np.zeros_like(part) for part in w.parts]
    a = task.x @ w.inner + w.bias
    da = np.zeros_like(a)
    loss = 0.0
    labeled = task.labels >= 0
    if w.class_outer.shape[1] > 1 and labeled.any():
        loss, da = _class_loss(w, task, a, labeled, grads)
    given = np.where(labeled[:, np.newaxis], w.by_class[np.maximum(task.labels, 0)], 0.0)
    scale = task.share / max(int(task.seen.sum()), 1)
    toward_class = np.zeros_like(a)
    for first, end in _blocks(task.owners):
        part, rows = slice(first, end), np.flatnonzero(task.seen[:, first])
        if len(rows) == 0:
            continue
        own = task.x[rows, part]
        h = np.tanh(a[rows] - own @ w.inner[part] + given[rows])
        miss = h @ w.outer[part].T + w.offset[part] - task.targets[rows, part]
        loss += scale * float((miss**2).sum())
        back = 2.0 * scale * miss
        grads[3][part] += back.T @ h
        grads[4][part] += back.sum(axis=0)
        inside = (back @ w.outer[part]) * (1.0 - h**2)
        da[rows] += inside
        toward_class[rows] += inside
        grads[0][part] -= own.T @ inside
    grads[0] += task.x.T @ da
    grads[1] += da.sum(axis=0)
    np.add.at(grads[2], task.labels[labeled], toward_class[labeled])
    for place in (0, 2, 3, 5):
        loss += task.penalty * float((w.parts[place] ** 2).sum()) / n
        grads[place] += 2.0 * task.penalty * w.parts[place] / n
    return loss, NetWeights(*grads)


def _class_loss(
    w: NetWeights, task: Task, a: Floats, labeled: Bools, grads: list[Floats]
) -> tuple[float, Floats]:
    """Cross-entropy of the class, and its derivative by the hidden sums."""
    h = np.tanh(a)
    found = shares_of(h @ w.class_outer + w.class_offset)
    rows = np.flatnonzero(labeled)
    picked = found[rows, task.labels[rows]]
    back = np.zeros_like(found)
    back[rows] = found[rows] / len(rows)
    back[rows, task.labels[rows]] -= 1.0 / len(rows)
    grads[5] += h.T @ back
    grads[6] += back.sum(axis=0)
    return float(-np.log(np.maximum(picked, 1e-300)).mean()), (back @ w.class_outer.T) * (1 - h**2)


def _blocks(owners: Ints) -> list[tuple[int, int]]:
    """First feature and end of each column."""
    edges = np.flatnonzero(np.diff(owners, prepend=-1, append=-1)).tolist()
    return list(pairwise(edges))


@dataclass(frozen=True, eq=False)
class Network:
    """A trained net, and the features that stand in holes at first."""

    layout: FeatureLayout
    weights: NetWeights
    start: Floats

    def outputs(self, x: Floats, labels: Ints | None = None) -> Floats:
        """What the net says of every feature of rows, each from the other columns."""
        w = self.weights
        a = times(x, w.inner) + w.bias
        if labels is not None:
            known = (labels >= 0)[:, np.newaxis]
            a = a + np.where(known, w.by_class[np.maximum(labels, 0)], 0.0)
        out = np.empty_like(x)
        for first, end in _blocks(self.layout.owners):
            part = slice(first, end)
            h = np.tanh(a - times(x[:, part], w.inner[part]))
            out[:, part] = times(h, w.outer[part].T) + w.offset[part]
        return out

    def complete(self, table: Table, labels: Ints | None = None) -> Floats:
        """Features of rows, those of holes by the net's own outputs, a few times over."""
        hidden = self.layout.spread(table.missing | table.unseen)
        x = np.where(hidden, self.start, self.layout.encode(table))
        for _ in range(NEW_PASSES if hidden.any() else 0):
            x = np.where(hidden, np.clip(self.outputs(x, labels), 0.0, 1.0), x)
        return x

    def fill(self, table: Table, labels: Ints | None = None) -> Floats:
        """Rows without holes, in the units of the table."""
        found = self.layout.decode(self.complete(table, labels))
        return np.where(table.missing, found, table.values)

    def classes(self, table: Table) -> Floats:
        """Probabilities of the classes."""
        w = self.weights
        h = np.tanh(times(self.complete(table), w.inner) + w.bias)
        return shares_of(times(h, w.class_outer) + w.class_offset)


def train(
    table: Table,
    labels: Ints | None,
    n_classes: int,
    *,
    n_hidden: int,
    share: float,
    max_iter: int,
    rng: np.random.Generator,
    report: Callable[[str], None],
    stops_by_class: bool = False,
) -> tuple[Network, list[float]]:
    """Adam on all rows at once; the weights of least error on a tenth of held-out cells are kept.

    Held-out cells are no targets, but inputs they stay: no output sees its own. A net that is to
    stop by the class holds out the labels of a tenth of the rows as well, and goes by their error.
    """
    layout = FeatureLayout.learn(table)
    hidden = layout.spread(table.missing)
    x = layout.encode(table)
    seen_count = np.maximum((~hidden).sum(axis=0), 1)
    start = np.where(hidden, 0.0, x).sum(axis=0) / seen_count
    codes = np.full(len(x), -1, dtype=np.intp) if labels is None else labels
    kept_out = (rng.random(len(x)) < 0.1) & (codes >= 0) & stops_by_class
    truth, codes = codes, np.where(kept_out, -1, codes)
    held = layout.spread(~table.missing & (rng.random(table.missing.shape) < 0.1))
    weights = NetWeights.draw(x.shape[1], n_hidden, max(n_classes, 1), rng)
    weights.offset[:] = start
    best, history, patience = (np.inf, weights), list[float](), max(max_iter // 10, 10)
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in weights.parts]
    now, last = np.where(hidden, start, x), 0
    for step in range(1, max_iter + 1):
        task = Task(now, x, ~hidden & ~held, layout.owners, codes, share * x.shape[1])
        loss, gradient = loss_and_gradient(weights, task)
        weights = _adam(weights, gradient, moments, step)
        history.append(loss)
        if step % 5 == 0 or step == max_iter:
            found = Network(layout, weights, start).outputs(now, codes)
            error = float(((found - x)[held] ** 2).mean()) if held.any() else loss
            if kept_out.any():
                error = _class_error(weights, now[kept_out], truth[kept_out])
            now = np.where(hidden, np.clip(found, 0.0, 1.0), x)
            if error < best[0]:
                best, last = (error, weights), step
            elif step - last > patience:
                break
    report(f"{len(history)} epochs: loss {history[-1]:.4g}, held-out error {best[0]:.4g}")
    return Network(layout, best[1], start), history


def _class_error(w: NetWeights, x: Floats, labels: Ints) -> float:
    """Cross-entropy of rows that the net was not told the class of."""
    found = shares_of(np.tanh(x @ w.inner + w.bias) @ w.class_outer + w.class_offset)
    return float(-np.log(np.maximum(found[np.arange(len(x)), labels], 1e-300)).mean())


def _adam(
    weights: NetWeights, gradient: NetWeights, moments: list[tuple[Floats, Floats]], step: int
) -> NetWeights:
    """One step; the moments are changed."""
    moved = []
    for part, slope, both in zip(weights.parts, gradient.parts, moments, strict=True):
        both[0][:] += (1 - DECAY_1) * (slope - both[0])
        both[1][:] += (1 - DECAY_2) * (slope**2 - both[1])
        size = np.sqrt(both[1] / (1 - DECAY_2**step)) + 1e-8
        moved.append(part - RATE * both[0] / (1 - DECAY_1**step) / size)
    return NetWeights(*moved)
