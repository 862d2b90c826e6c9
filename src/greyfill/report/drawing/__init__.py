"""Plots on matplotlib axes, and their way into the page as svg.

Each function takes a summary, a report or a fitted imputer, draws on ``ax`` or on a figure of its
own, and returns the axes. Blue is observed, vermilion is missing or imputed, everywhere.
"""

from greyfill.report.drawing.curves import convergence, k_curve
from greyfill.report.drawing.distributions import distributions
from greyfill.report.drawing.missing_map import missing_map
from greyfill.report.drawing.relevance import relevance
from greyfill.report.drawing.shifts import sensitivity

__all__ = ["convergence", "distributions", "k_curve", "missing_map", "relevance", "sensitivity"]
