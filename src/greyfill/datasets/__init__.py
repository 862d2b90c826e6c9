"""Tables to try the methods on: bundled real ones, and the two simulations of the paper.

========================  =====================================================
``load(name)``            votes, hepatitis, penguins or iris, with its column kinds
``names()``               what ``load`` knows
``make_cubes``            four cubes in two classes, among irrelevant columns
``make_gaussian_classes`` normal classes, each with its own mean and correlations
========================  =====================================================

The bundled tables have the holes they came with; ``greyfill.missingness`` makes new ones.
"""

from greyfill.datasets.bundled import Dataset, load, names
from greyfill.datasets.cubes import make_cubes
from greyfill.datasets.gaussian import make_gaussian_classes

__all__ = ["Dataset", "load", "make_cubes", "make_gaussian_classes", "names"]
