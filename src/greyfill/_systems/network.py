"""The net of `MultiTaskMLPImputer`, whose help has the outputs of columns and the loss.

The class is softmax(h_0 V_0 + v_0) with h_0 = tanh(x W + b), which does not see the class's input.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import softmax

from greyfill._systems.layout import FeatureLayout, times
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
        return tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def draw(
        cls, n_features: int, n_hidden: int, n_classes: int, rng: np.random.Generator
    ) -> "NetWeights":
        """Small random numbers."""
        size, size_out = 1.0 / np.sqrt(max(n_features, 1)), 1.0 / np.sqrt(n_hidden)
        inner = rng.normal(0.0, size, (n_features, n_hidden))
        by_class = rng.normal(0.0, 0.3, (n_classes, n_hidden))
        outer = rng.normal(0.0, size_out, (n_features, n_hidden))
        class_outer = rng.normal(0.0, size_out, (n_hidden, n_classes))
        bias, offset, class_offset = map(np.zeros, (n_hidden, n_features, n_classes))
        return cls(inner, bias, by_class, outer, offset, class_outer, class_offset)


@dataclass(frozen=True, eq=False)
class Task:
    """What a net learns: features, which of them are observed targets, classes (−1: none)."""

    x: Floats
    targets: Floats
    seen: Bools
    edges: Ints
    labels: Ints
    share: float
    penalty: float = 1e-4


def loss_and_gradient(weights: NetWeights, task: Task) -> tuple[float, NetWeights]:
    """The loss, and its derivative by every parameter."""
    w, n = weights, max(len(task.x), 1)
    slope = NetWeights(*map(np.zeros_like, w.parts))
    a, labeled = task.x @ w.inner + w.bias, task.labels >= 0
    loss, da = _class_loss(w, task, a, np.flatnonzero(labeled), slope)
    given = np.where(labeled[:, np.newaxis], w.by_class[np.maximum(task.labels, 0)], 0.0)
    scale = task.share / max(int(task.seen.sum()), 1)
    toward_class = np.zeros_like(a)
    for first, end in pairwise(task.edges.tolist()):
        part, rows = slice(first, end), np.flatnonzero(task.seen[:, first])
        if len(rows) == 0:
            continue
        own = task.x[rows, part]
        h = np.tanh(a[rows] - own @ w.inner[part] + given[rows])
        miss = h @ w.outer[part].T + w.offset[part] - task.targets[rows, part]
        loss += scale * float((miss**2).sum())
        back = 2.0 * scale * miss
        slope.outer[part] += back.T @ h
        slope.offset[part] += back.sum(axis=0)
        inside = (back @ w.outer[part]) * (1.0 - h**2)
        da[rows] += inside
        toward_class[rows] += inside
        slope.inner[part] -= own.T @ inside
    slope.inner[:] += task.x.T @ da
    slope.bias[:] += da.sum(axis=0)
    np.add.at(slope.by_class, task.labels[labeled], toward_class[labeled])
    for name in ("inner", "by_class", "outer", "class_outer"):
        values = getattr(w, name)
        loss += task.penalty * float((values**2).sum()) / n
        getattr(slope, name)[:] += 2.0 * task.penalty * values / n
    return loss, slope


def _class_loss(
    w: NetWeights, task: Task, a: Floats, rows: Ints, slope: NetWeights
) -> tuple[float, Floats]:
    """Cross-entropy of the class of labeled rows, and its derivative by the hidden sums."""
    if w.class_outer.shape[1] == 1 or len(rows) == 0:
        return 0.0, np.zeros_like(a)
    h = np.tanh(a)
    found = softmax(h @ w.class_outer + w.class_offset, axis=1)
    back = np.zeros_like(found)
    back[rows] = found[rows] / len(rows)
    back[rows, task.labels[rows]] -= 1.0 / len(rows)
    slope.class_outer[:] += h.T @ back
    slope.class_offset[:] += back.sum(axis=0)
    loss = cross_entropy(found[rows], task.labels[rows])
    return loss, (back @ w.class_outer.T) * (1 - h**2)


def cross_entropy(shares: Floats, labels: Ints) -> float:
    """Mean −log of the share of the right class."""
    return float(-np.log(np.maximum(shares[np.arange(len(labels)), labels], 1e-300)).mean())


def class_shares(w: NetWeights, x: Floats, product: Callable[..., Floats] = np.matmul) -> Floats:
    """Probabilities of the classes of completed rows."""
    h = np.tanh(product(x, w.inner) + w.bias)
    return np.asarray(softmax(product(h, w.class_outer) + w.class_offset, axis=1))


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
        for first, end in pairwise(self.layout.edges.tolist()):
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
        return class_shares(self.weights, self.complete(table), times)


def train(
    table: Table,
    labels: Ints | None,
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
    start = np.where(hidden, 0.0, x).sum(axis=0) / np.maximum((~hidden).sum(axis=0), 1)
    codes = np.full(len(x), -1, dtype=np.intp) if labels is None else labels
    kept_out = (rng.random(len(x)) < 0.1) & (codes >= 0) & stops_by_class
    truth, codes = codes, np.where(kept_out, -1, codes)
    held = layout.spread(~table.missing & (rng.random(table.missing.shape) < 0.1))
    weights = NetWeights.draw(x.shape[1], n_hidden, max(int(truth.max()) + 1, 1), rng)
    weights.offset[:] = start
    best, history, patience = (np.inf, weights), list[float](), max(max_iter // 10, 10)
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in weights.parts]
    now, last = np.where(hidden, start, x), 0
    for step in range(1, max_iter + 1):
        task = Task(now, x, ~hidden & ~held, layout.edges, codes, share * x.shape[1])
        loss, gradient = loss_and_gradient(weights, task)
        weights = _adam(weights, gradient, moments, step)
        history.append(loss)
        if step % 5 == 0 or step == max_iter:
            outputs = Network(layout, weights, start).outputs(now, codes)
            error = float(((outputs - x)[held] ** 2).mean()) if held.any() else loss
            if kept_out.any():
                found = class_shares(weights, now[kept_out])
                error = cross_entropy(found, truth[kept_out])
            now = np.where(hidden, np.clip(outputs, 0.0, 1.0), x)
            if error < best[0]:
                best, last = (error, weights), step
            elif step - last > patience:
                break
    report(f"{len(history)} epochs: loss {history[-1]:.4g}, held-out error {best[0]:.4g}")
    return Network(layout, best[1], start), history


def _adam(weights: NetWeights, gradient: NetWeights, moments: Any, step: int) -> NetWeights:
    """One step; the moments, two of each part, are changed."""
    moved = []
    for part, slope, both in zip(weights.parts, gradient.parts, moments, strict=True):
        both[0][:] += (1 - DECAY_1) * (slope - both[0])
        both[1][:] += (1 - DECAY_2) * (slope**2 - both[1])
        size = np.sqrt(both[1] / (1 - DECAY_2**step)) + 1e-8
        moved.append(part - RATE * both[0] / (1 - DECAY_1**step) / size)
    return NetWeights(*moved)
