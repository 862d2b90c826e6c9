"""Whether missingness depends on a target: whether the holes of a row tell of its class."""

from dataclasses import dataclass

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats, Ints

SIGNIFICANT = 0.05
N_PERMUTATIONS = 499
RIDGE = 1.0


@dataclass(frozen=True)
class MissingnessTest:
    """Whether where the holes are tells of y, by a permutation test.

    ``explained`` is the share of the squared error of y, or of the indicators of its classes, that
    the mask of holes explains in rows that were left out; chance makes it negative.

    >>> MissingnessTest(0.03, 0.002, 499).words
    'Where the holes are tells of the target: it explains 3.0 % of it (p = 0.002).'
    """

    explained: float
    p_value: float
    n_permutations: int

    @property
    def words(self) -> str:
        """In a sentence."""
        p = f"p = {self.p_value:.3f}" if self.p_value >= 0.001 else "p < 0.001"
        if self.p_value > SIGNIFICANT:
            return f"Where the holes are tells nothing of the target that could be seen ({p})."
        share = max(100 * self.explained, 0.0)
        return f"Where the holes are tells of the target: it explains {share:.1f} % of it ({p})."


def missingness_test(
    missing: Bools,
    y: Floats | Ints,
    n_classes: int = 0,
    random_state: int = 0,
    n: int = N_PERMUTATIONS,
) -> MissingnessTest:
    """Whether where the holes are tells of y: a permutation test.

    ``y`` holds codes of ``n_classes`` classes, or measurements if there are none. A ridge
    regression of y (of the indicators of the classes) on the mask of holes predicts each
    of five folds from the others. Its squared error is compared with that of n tables whose y is
    shuffled, p = (1 + how many have as little error) / (n + 1). All tables are solved at once,
    since the mask, and so the matrix that turns y into predictions, is the same.

    >>> y = np.arange(60) % 2
    >>> holes = np.column_stack([y == 1, np.arange(60) % 3 == 0])  # where a class is, a hole is
    >>> missingness_test(holes, y, n_classes=2).p_value
    0.002
    """
    if (y < 0).any() if n_classes else not np.isfinite(y).all():
        raise InvalidDataError("y has missing values: pass the rows whose y is known")
    if (y == y[:1]).all():  # no y, or one value
        return MissingnessTest(0.0, 1.0, n)
    mask = np.unique(missing[:, missing.any(axis=0)], axis=1).astype(np.float64)
    rng = np.random.default_rng(random_state)
    targets = np.eye(n_classes)[y] if n_classes else np.asarray(y, np.float64)[:, np.newaxis]
    orders = np.array([np.arange(len(y)), *(rng.permutation(len(y)) for _ in range(n))])
    targets = targets[orders].transpose(1, 0, 2).reshape(len(y), -1)
    fold_of = rng.permutation(len(y)) % 5
    errors, spread = np.zeros((2, targets.shape[1]))
    for fold in range(5):
        test = fold_of == fold
        center, mean = mask[~test].mean(axis=0), targets[~test].mean(axis=0)
        slopes = _ridge(mask[~test] - center, targets[~test] - mean)
        errors += ((targets[test] - mean - (mask[test] - center) @ slopes) ** 2).sum(axis=0)
        spread += ((targets[test] - mean) ** 2).sum(axis=0)
    total, usual = errors.reshape(n + 1, -1).sum(axis=1), spread.reshape(n + 1, -1).sum(axis=1)
    explained = 1.0 - total / usual
    p_value = (1 + int((explained[1:] >= explained[0]).sum())) / (n + 1)
    return MissingnessTest(float(explained[0]), p_value, n)


def _ridge(inputs: Floats, targets: Floats) -> Floats:
    gram = inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1])
    return np.asarray(np.linalg.solve(gram, inputs.T @ targets))
