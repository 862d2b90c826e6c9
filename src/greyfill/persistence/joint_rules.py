"""What must hold in the records of the joint engine."""

import numpy as np

from greyfill._joint.joint_code import JointCode
from greyfill._joint.joint_draws import FittedJoint
from greyfill._joint.joint_normal import JITTER, JointNormal
from greyfill._joint.pattern_lasso import SparseNormal
from greyfill.exceptions import PersistenceError
from greyfill.persistence.record_rules import (
    LARGEST,
    ROUNDING,
    SMALLEST,
    check_record,
    check_rising,
    require,
)
from greyfill.table import Kind

FURTHEST = 1e50
"""Moments and coefficients of standardized columns are smaller than this."""


@check_record.register
def _code(code: JointCode) -> None:
    design, p = code.design, len(code.columns)
    parts = (design.levels, design.shares, code.references)
    require(all(len(part) == p for part in parts), "the design has other columns")
    require(code.references.shape == design.scaler.center.shape == (p,), "the scaler does not fit")
    require(design.scaler.low is not None, "the scaler has no limits")
    widths = [1 if level is None else len(level) for level in design.levels]
    require(np.array_equal(design.edges, np.append(0, np.cumsum(widths))), "edges do not fit")
    for j, (column, level) in enumerate(zip(code.columns, design.levels, strict=True)):
        shares, n = design.shares[j], max(column.n_levels, 1)
        require((level is not None) == (column.kind is Kind.CATEGORICAL), "a code of another kind")
        require(-1 <= code.references[j] < n, "a reference that is no level")
        require(shares.ndim == 1 and (shares >= 0.0).all(), "shares of levels are none")
        if level is not None:
            check_rising(level, n, "levels of a code")
            require(shares.shape == level.shape, "shares do not fit the levels")
    require(code.mean.shape == code.deviation.shape == (design.width,), "no standard")
    sizes = code.deviation[code.deviation != 0.0]
    require((sizes >= SMALLEST).all() and (sizes <= LARGEST).all(), "a deviation that is none")
    require(np.abs(code.mean).max(initial=0.0) <= LARGEST, "a mean is too large")


@check_record.register
def _moments(normal: JointNormal | SparseNormal) -> None:
    mean, covariance, q = normal.mean, normal.covariance, len(normal.columns)
    check_rising(normal.columns, np.iinfo(np.intp).max, "columns of a distribution")
    require(mean.shape == (q,) and covariance.shape == (q, q), "moments do not fit")
    largest = max(np.abs(mean).max(initial=0.0), np.abs(covariance).max(initial=0.0))
    require(largest <= FURTHEST, "a moment is too large")
    if isinstance(normal, SparseNormal):
        require(normal.memory.shape == (q, q), "coefficients do not fit")
        require(np.abs(normal.memory).max(initial=0.0) <= FURTHEST, "a coefficient is too large")
        require(0.0 <= normal.penalty <= LARGEST, f"the penalty is {normal.penalty}")
        uneven = np.abs(covariance - covariance.T).max(initial=0.0)  # its sums are rounded
        require(uneven <= ROUNDING * largest, "a covariance is not symmetric")
    else:
        require((covariance == covariance.T).all(), "a covariance is not symmetric")
    try:
        np.linalg.cholesky(covariance + JITTER * np.eye(q))
    except np.linalg.LinAlgError:
        raise PersistenceError("a covariance that is none") from None


@check_record.register
def _joint(fitted: FittedJoint) -> None:
    require(fitted.thetas, "there is no distribution")
    blocks = fitted.code.blocks
    for theta in fitted.thetas:
        columns = [normal.columns for normal in theta]
        same = len(columns) == len(blocks) and all(map(np.array_equal, columns, blocks))
        require(same, "a distribution of other columns")
    require(0 <= fitted.seed < 2**63, f"the seed is {fitted.seed}")
