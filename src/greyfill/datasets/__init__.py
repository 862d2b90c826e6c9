"""Tables to try the methods on: bundled real ones, and the two simulations of the paper.

========================  =====================================================
``load(name)``            votes, hepatitis, penguins or iris, with its column kinds
``names()``               the names of these tables
``make_cubes``            four cubes in two classes, among irrelevant columns
``make_gaussian_classes`` normal classes, each with its own mean and correlations
========================  =====================================================

The bundled tables have the holes they came with; ``greyfill.missingness`` makes new ones.
"""

from greyfill.datasets.tables import Dataset, load, make_cubes, make_gaussian_classes, names

__all__ = ["Dataset", "load", "make_cubes", "make_gaussian_classes", "names"]
