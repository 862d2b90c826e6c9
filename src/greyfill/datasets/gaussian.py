"""The paper's simulation with values missing at random: normal classes."""

import numpy as np

from greyfill.exceptions import InvalidParameterError
from greyfill.table import Floats, Ints


def make_gaussian_classes(
    random_state: int | np.random.Generator | None = None,
    n_per_class: int = 100,
    n_features: int = 5,
    n_classes: int = 4,
) -> tuple[Floats, Ints]:
    """Draw classes from normal distributions, each with its own mean and correlations.

    X⁽ᵏ⁾ ~ N(μ⁽ᵏ⁾, Σ⁽ᵏ⁾) with μ⁽ᵏ⁾ uniform on [−1, 1]ᵖ and Σ⁽ᵏ⁾ a correlation matrix drawn as
    by :func:`random_correlation`, so that every column has variance 1 within a class.

    Parameters
    ----------
    random_state
        Seed or generator; the same seed gives the same means, correlations and points.
    n_per_class
        Number of rows of each class.
    n_features
        Number of columns p.
    n_classes
        Number of classes m.

    Returns
    -------
    X, y
        ``n_classes`` · ``n_per_class`` rows in the order of the classes 1 … m.

    Examples
    --------
    >>> X, y = make_gaussian_classes(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((400, 5), [1, 2, 3, 4])
    """
    if min(n_per_class, n_features, n_classes) < 1:
        raise InvalidParameterError(
            f"n_per_class={n_per_class}, n_features={n_features} and n_classes={n_classes} "
            "must be 1 or more"
        )
    rng = np.random.default_rng(random_state)
    rows = [_draw_class(n_per_class, n_features, rng) for _ in range(n_classes)]
    labels = np.repeat(np.arange(1, n_classes + 1, dtype=np.intp), n_per_class)
    return np.vstack(rows), labels


def random_correlation(n_features: int, rng: np.random.Generator) -> Floats:
    """Draw a correlation matrix, uniformly over all of them, from partial correlations.

    The partial correlation z_ij of columns i > j given columns 0 … j − 1 is independent of the
    others and (z_ij + 1) / 2 ~ Beta((p − j)/2, (p − j)/2). The rows of the Cholesky factor follow,

        L_ij = z_ij √Π_{l<j} (1 − z_il²),   L_ii = √Π_{l<i} (1 − z_il²),

    and R = L Lᵀ is positive definite by construction. Each correlation then has
    (r + 1) / 2 ~ Beta(p/2, p/2).

    References
    ----------
    Joe, H. (2006). Generating random correlation matrices based on partial correlations.
    Journal of Multivariate Analysis 97, 2177–2189. The order of conditioning is that of the C-vine
    in Lewandowski, Kurowicka and Joe (2009), which leads to the same distribution.

    Examples
    --------
    >>> R = random_correlation(3, np.random.default_rng(0))
    >>> np.diag(R)
    array([1., 1., 1.])
    >>> bool(np.linalg.eigvalsh(R).min() > 0)
    True
    """
    factor = _correlation_factor(n_features, rng)
    correlation = factor @ factor.T
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _correlation_factor(n_features: int, rng: np.random.Generator) -> Floats:
    factor = np.eye(n_features)
    for i in range(1, n_features):
        shape = (n_features - np.arange(i)) / 2
        partial = 2 * rng.beta(shape, shape) - 1
        unexplained = np.cumprod(np.r_[1.0, 1 - partial**2])
        factor[i, : i + 1] = np.r_[partial, 1.0] * np.sqrt(unexplained)
    return factor


def _draw_class(n_rows: int, n_features: int, rng: np.random.Generator) -> Floats:
    mean = rng.uniform(-1.0, 1.0, size=n_features)
    factor = _correlation_factor(n_features, rng)
    return mean + rng.standard_normal((n_rows, n_features)) @ factor.T
