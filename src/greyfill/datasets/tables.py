"""Bundled tables by `load`, and the two simulations of the paper: cubes and normal classes."""

import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np

from greyfill.checks import check_installed
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Floats, Ints

Library = Literal["polars", "pandas", "pyarrow"]

_DATA = files("greyfill.datasets") / "data"

CENTERS = np.array([[0.0, 0.0, 0.0], [-0.2, -0.4, 0.4], [-0.6, -0.6, 0.5], [0.4, -0.2, -0.2]])
CLASSES = np.array([1, 1, 2, 2])
RADIUS = 0.10


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its class labels, the kinds of its columns, and where it comes from.

    ``X`` and ``y`` are a frame and a column of the chosen library; ``target`` is the
    name of ``y``. Columns that are neither categorical nor ordinal are numeric.

    >>> iris = load("iris", library="pandas")
    >>> iris.X.shape, iris.target, iris.categorical_features
    ((150, 4), 'class', ())
    """

    name: str
    X: Any = field(repr=False)
    y: Any = field(repr=False)
    target: str
    categorical_features: tuple[str, ...]
    ordinal_features: tuple[str, ...]
    description: str = field(repr=False)
    source: str = field(repr=False)
    licence: str = field(repr=False)


def names() -> tuple[str, ...]:
    """List the names of the tables of :func:`load`.

    >>> names()
    ('votes', 'hepatitis', 'penguins', 'iris')
    """
    return tuple(_sources())


def load(name: str, *, library: Library = "polars") -> Dataset:
    """Load one of the bundled tables as a frame with a label for each row.

    Parameters
    ----------
    name
        One of :func:`names`.
    library
        The frame library of ``X`` and ``y``. Categories are strings. Whole numbers stay whole,
        except in a pandas column with holes, which is ``float64`` as pandas itself would read it.

    Examples
    --------
    >>> votes = load("votes")
    >>> votes.X.shape, votes.X.null_count().sum_horizontal().item()
    ((435, 16), 392)
    >>> votes.y.value_counts(sort=True).rows()
    [('democrat', 267), ('republican', 168)]
    >>> load("penguins").ordinal_features
    ('year',)
    """
    sources = _sources()
    for parameter, value, valid in (
        ("name", name, tuple(sources)),
        ("library", library, get_args(Library)),
    ):
        if value not in valid:
            raise InvalidParameterError(f"{parameter}={value!r} is not one of {', '.join(valid)}")
    check_installed(library, f"A table of {library}")
    about = sources[name]
    columns = _iris() if name == "iris" else _read(name, about)
    frame = nw.from_dict(columns, backend=library)
    return Dataset(
        name=name,
        X=frame.drop(about["target"]).to_native(),
        y=frame[about["target"]].to_native(),
        target=about["target"],
        categorical_features=tuple(about["categorical_features"]),
        ordinal_features=tuple(about["ordinal_features"]),
        description=about["description"],
        source=about["source"],
        licence=about["licence"],
    )


def _sources() -> dict[str, dict[str, Any]]:
    text = (_DATA / "sources.json").read_text(encoding="utf-8")
    sources: dict[str, dict[str, Any]] = json.loads(text)
    return sources


def _read(name: str, about: dict[str, Any]) -> dict[str, list[Any]]:
    """Read the columns of a bundled file: categories as text, numbers as polars infers them."""
    import polars as pl

    text = dict.fromkeys([*about["categorical_features"], about["target"]], pl.String)
    content = (_DATA / f"{name}.csv").read_bytes()
    frame = pl.read_csv(content, schema_overrides=text, infer_schema_length=None)
    return frame.to_dict(as_series=False)


def _iris() -> dict[str, list[Any]]:
    """Take iris from scikit-learn, so that no copy has to be bundled."""
    from sklearn.datasets import load_iris

    iris = load_iris()
    sizes = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    columns = {size: iris.data[:, j].tolist() for j, size in enumerate(sizes)}
    return {**columns, "class": iris.target_names[iris.target].tolist()}


def make_cubes(
    random_state: int | np.random.Generator | None = None,
    n_noise: int = 20,
    n_per_cube: int = 100,
) -> tuple[Floats, Ints]:
    """Draw points from four cubes in two classes, and add irrelevant columns.

    A point of cube c is uniform on Π_j [c_j − 0.1, c_j + 0.1], j = 1, 2, 3. The paper's *radius*
    of 0.10 is read as half a side. Every further column is uniform on [−1, 1]. Class 1 has the
    cubes at (0, 0, 0) and (−0.2, −0.4, 0.4); class 2 those at (−0.6, −0.6, 0.5) and
    (0.4, −0.2, −0.2).

    Parameters
    ----------
    random_state
        Seed or generator; the same seed gives the same points.
    n_noise
        Number of irrelevant columns.
    n_per_cube
        Number of points in each cube.

    Returns
    -------
    X, y
        4 · ``n_per_cube`` rows in the order of the cubes, 3 + ``n_noise`` columns; classes 1 and 2.

    Examples
    --------
    >>> X, y = make_cubes(random_state=0)
    >>> X.shape, y[[0, 100, 200, 300]].tolist()
    ((400, 23), [1, 1, 2, 2])
    """
    if n_noise < 0 or n_per_cube < 1:
        raise InvalidParameterError(
            f"n_noise={n_noise} must be 0 or more and n_per_cube={n_per_cube} 1 or more"
        )
    rng = np.random.default_rng(random_state)
    cube = np.repeat(np.arange(len(CENTERS)), n_per_cube)
    points = CENTERS[cube] + rng.uniform(-RADIUS, RADIUS, size=(len(cube), 3))
    noise = rng.uniform(-1.0, 1.0, size=(len(cube), n_noise))
    return np.hstack([points, noise]), CLASSES[cube].astype(np.intp)


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
    rows = []
    for _ in range(n_classes):
        mean = rng.uniform(-1.0, 1.0, size=n_features)
        factor = _correlation_factor(n_features, rng)
        rows.append(mean + rng.standard_normal((n_per_class, n_features)) @ factor.T)
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
