"""Make holes on purpose, and test whether given holes came by chance alone.

In ``mechanisms``, a mechanism gives each cell a score η, and a draw turns scores into holes at a
wanted rate::

    mcar   η = 0                          (4)
    mar    η = cells that stay observed   (5)   ─→  draw  ─→  mask  ─→  hide
    nmar   η = the cell's own value       (6)

``little`` goes the other way: a table with its holes ─→ patterns ─→ Little's test of (4);
``dependence`` tests whether the holes of a row tell of its target.
"""

from greyfill.missingness.dependence import MissingnessTest, missingness_test
from greyfill.missingness.little import LittleResult, little_test
from greyfill.missingness.mechanisms import hide, mar, mcar, nmar

__all__ = [
    "LittleResult", "MissingnessTest", "hide", "little_test", "mar", "mcar", "missingness_test",
    "nmar",
]  # fmt: skip
