"""Does ``with_draws`` pool as R's mice does? Run: python benchmarks/pooled_models_vs_r.py

Twenty draws of GreyImputer of one simulated table go to R as CSV files. There ``lm`` and ``glm``
are fitted on each and pooled by mice; here ``LinearRegression`` and ``LogisticRegression`` by
``with_draws``. Prints the largest relative difference of each figure. Needs Rscript with mice.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression

from greyfill import GreyImputer, with_draws

SCRIPT = Path(__file__).with_suffix(".R")
OURS = ["estimate", "std_error", "df", "fmi", "low", "high", "p_value"]
THEIRS = ["estimate", "std.error", "df", "fmi", "2.5 %", "97.5 %", "p.value"]


def simulated(n: int = 200) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Columns x, w and sex with holes, a response and two classes."""
    rng = np.random.default_rng(0)
    x, w, sex = rng.normal(size=n), rng.normal(size=n), rng.random(n) < 0.5
    y = x + 0.5 * w + sex + rng.normal(size=n)
    classes = (rng.random(n) < 1 / (1 + np.exp(-x - 0.5 * sex))).astype(int)
    frame = pd.DataFrame({"x": x, "w": w, "sex": np.where(sex, "m", "f")})
    return frame.mask(rng.random(frame.shape) < 0.25), y, classes


def main() -> None:
    X, y, classes = simulated()
    draws = GreyImputer().fit(X, y).draw(X, 20, y)
    with tempfile.TemporaryDirectory() as folder:
        for number, draw in enumerate(draws):
            path = Path(folder) / f"draw{number:02d}.csv"
            draw.assign(y=y, **{"class": classes}).to_csv(path, index=False)
        subprocess.run(["Rscript", str(SCRIPT), folder], check=True)
        for name, model, target in (
            ("linear", LinearRegression(), y),
            ("logistic", LogisticRegression(C=np.inf), classes),
        ):
            theirs = pd.read_csv(Path(folder) / f"{name}.csv")[THEIRS]
            ours = with_draws(draws, model, target).table.select(OURS).to_numpy()
            gaps = np.abs(ours / theirs.to_numpy() - 1.0).max(axis=0)
            shown = ", ".join(f"{figure} {gap:.1e}" for figure, gap in zip(OURS, gaps, strict=True))
            print(f"{name}: largest relative difference from mice: {shown}")


if __name__ == "__main__":
    main()
