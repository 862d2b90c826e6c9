"""A regression coefficient with an honest standard error: impute many times, fit each, pool.

    python examples/multiple_imputation.py

One filled table passes guesses off as measurements, so its standard errors are too small. Several
draws vary as much as the missing values could, and Rubin's rules carry that into the answer.
"""

import numpy as np
import polars as pl

import greyfill
from greyfill.datasets import load

TERMS = ("intercept", "AGE", "BILIRUBIN", "PROTIME")


def regress_albumin(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of ALBUMIN on the other columns by least squares, and their variances."""
    design = np.column_stack([np.ones(len(table)), *(table[name].to_numpy() for name in TERMS[1:])])
    albumin = table["ALBUMIN"].to_numpy()
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ albumin
    residuals = albumin - design @ beta
    return beta, np.diag(inverse) * (residuals @ residuals) / (len(table) - len(beta))


hepatitis = load("hepatitis")
X = hepatitis.X.select("AGE", "BILIRUBIN", "ALK_PHOSPHATE", "SGOT", "ALBUMIN", "PROTIME")
imputer = greyfill.GreyImputer(random_state=0).fit(X)

single, single_variance = regress_albumin(imputer.transform(X))
estimates, variances = zip(*map(regress_albumin, imputer.draw(X, 20)), strict=True)
pooled = greyfill.pool(estimates, variances, df_complete=len(X) - len(TERMS))

print("ALBUMIN on        one filled table      20 draws, pooled      missing information")
for j, name in enumerate(TERMS):
    alone = f"{single[j]:8.4f} ± {np.sqrt(single_variance[j]):.4f}"
    joint = f"{pooled.estimate[j]:8.4f} ± {pooled.std_error[j]:.4f}"
    print(f"{name:14}    {alone}    {joint}    {pooled.fraction_missing[j]:12.0%}")
