"""What must hold in the records of the joint engine."""

import numpy as np

from greyfill._joint.joint_code import JointCode
from greyfill._joint.joint_draws import FittedJoint
from greyfill._joint.joint_normal import JITTER, JointNormal
from greyfill._joint.pattern_lasso import FittedSparse, SparseNormal
from greyfill.exceptions import PersistenceError
from greyfill.persistence.record_rules import LARGEST, SMALLEST, check_record, check_rising, require
from greyfill.table import Column, Floats, Ints, Kind

FURTHEST = 1e50
"""Moments and coefficients of standardized columns are smaller than this."""


@check_record.register
def _code(code: JointCode) -> None:
    design, p = code.design, len(code.references)
    parts = (design.levels, design.shares)
    require(all(len(part) == p for part in parts) and len(design.edges) == p + 1, "no design")
    widths = [1 if level is None else len(level) for level in design.levels]
    require((design.edges == np.append(0, np.cumsum(widths))).all(), "the design does not fit")
    for level, shares in zip(design.levels, design.shares, strict=True):
        require(shares.ndim == 1 and (shares >= 0.0).all(), "shares of levels are none")
        require(level is None or shares.shape == level.shape, "shares do not fit the levels")
    require(design.scaler.low is not None, "the scaler has no limits")
    require(design.scaler.center.shape == (p,), "the scaler does not fit")
    require(code.mean.shape == code.deviation.shape == (design.width,), "no standard")
    sizes = code.deviation[code.deviation != 0.0]
    require((sizes >= SMALLEST).all() and (sizes <= LARGEST).all(), "a deviation that is none")
    require(np.abs(code.mean).max(initial=0.0) <= LARGEST, "a mean is too large")


def check_code(code: JointCode, columns: tuple[Column, ...]) -> None:
    """Whether a code is that of these columns."""
    require(len(code.references) == len(columns), "the code has other columns")
    for column, level, reference in zip(columns, code.design.levels, code.references, strict=True):
        n = max(column.n_levels, 1)
        require((level is not None) == (column.kind is Kind.CATEGORICAL), "a code of another kind")
        require(-1 <= reference < n, "a reference that is no level")
        if level is not None:
            check_rising(level, n, "levels of a code")


def _check_moments(columns: Ints, mean: Floats, covariance: Floats) -> None:
    q = len(columns)
    check_rising(columns, np.iinfo(np.intp).max, "columns of a distribution")
    require(mean.shape == (q,) and covariance.shape == (q, q), "moments do not fit")
    largest = max(np.abs(mean).max(initial=0.0), np.abs(covariance).max(initial=0.0))
    require(largest <= FURTHEST, "a moment is too large")


@check_record.register
def _normal(normal: JointNormal) -> None:
    _check_moments(normal.columns, normal.mean, normal.covariance)
    require((normal.covariance == normal.covariance.T).all(), "a covariance is not symmetric")
    try:
        np.linalg.cholesky(normal.covariance + JITTER * np.eye(len(normal.mean)))
    except np.linalg.LinAlgError:
        raise PersistenceError("a covariance that is none") from None


@check_record.register
def _joint(fitted: FittedJoint) -> None:
    require(fitted.thetas, "there is no distribution")
    for theta in fitted.thetas:
        _check_blocks(fitted.code, [normal.columns for normal in theta])
    low, high = fitted.bounds
    require(low.shape == high.shape == fitted.code.references.shape, "bounds do not fit")
    require((low <= high).all() and 0 <= fitted.seed < 2**63, "no bounds, or no seed")


@check_record.register
def _sparse(normal: SparseNormal) -> None:
    _check_moments(normal.columns, normal.mean, normal.covariance)
    require(normal.memory.shape == normal.covariance.shape, "coefficients do not fit")
    require(np.abs(normal.memory).max(initial=0.0) <= FURTHEST, "a coefficient is too large")
    require(0.0 <= normal.penalty <= LARGEST, f"the penalty is {normal.penalty}")


@check_record.register
def _pattern_lasso(fitted: FittedSparse) -> None:
    _check_blocks(fitted.code, [normal.columns for normal in fitted.normals])


def _check_blocks(code: JointCode, columns: list[Ints]) -> None:
    same = len(columns) == len(code.blocks) and all(map(np.array_equal, columns, code.blocks))
    require(same, "a distribution of other columns")
