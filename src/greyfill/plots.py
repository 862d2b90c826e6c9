"""Plots of what an imputer did, on matplotlib axes.

Each function takes a report (or its summary) or, where it has all that is drawn, a fitted
imputer; it draws on ``ax`` or on a figure of its own, and returns the axes. pyplot is not touched.

==================  ===========================================================
``missing_map``     where the holes are
``relevance``       information of each column about the class, or its weight
``k_curve``         the error of every k that was tried
``convergence``     the change in every pass
``distributions``   observed against imputed values of a column
``overimpute``      held-out observed cells of a column against their fills
``sensitivity``     what moves when the imputed cells of a column are shifted
==================  ===========================================================

>>> import numpy as np
>>> from greyfill import KNNIImputer, plots
>>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 4.0]])
>>> plots.relevance(KNNIImputer(n_neighbors=2).fit(X)).get_xlabel()
'weight λ in the distance'
"""

from greyfill.report.charts import (
    convergence,
    distributions,
    k_curve,
    missing_map,
    relevance,
)
from greyfill.report.overimputation import overimpute
from greyfill.report.shift_plot import sensitivity

__all__ = [
    "convergence",
    "distributions",
    "k_curve",
    "missing_map",
    "overimpute",
    "relevance",
    "sensitivity",
]
