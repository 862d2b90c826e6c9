"""The paper's simulation with values missing completely at random: four cubes in noise."""

import numpy as np

from greyfill.exceptions import InvalidParameterError
from greyfill.table import Floats, Ints

CENTERS = np.array([[0.0, 0.0, 0.0], [-0.2, -0.4, 0.4], [-0.6, -0.6, 0.5], [0.4, -0.2, -0.2]])
CLASSES = np.array([1, 1, 2, 2])
RADIUS = 0.10


def make_cubes(
    random_state: int | np.random.Generator | None = None,
    n_noise: int = 20,
    n_per_cube: int = 100,
) -> tuple[Floats, Ints]:
    """Draw points from four cubes in two classes, and add columns that tell nothing.

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
