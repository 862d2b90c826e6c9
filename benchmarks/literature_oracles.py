"""Do the systems of the literature give what their references give?

Run: python benchmarks/literature_oracles.py [--write] [--only amelia,weka,iari] [--trees 100]

EMB against R's Amelia (θ without bootstrap, and pooled coefficients of a regression), NORM against
the same, IARI against the errors that its paper prints for Digits, and C4.5 against Weka's J48.
What is not installed is left out, and said. With --write the figures go to
docs/data/literature_oracles.json, from which the page on the literature is made; those of systems
that were left out stay as they were. IARI takes minutes.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from greyfill import EMBImputer, NormImputer, datasets, frames, pool
from greyfill._chained.c45 import grow_column_tree
from greyfill._chained.iari import IARISettings, fit_iari
from greyfill.table import Column, Kind, Table
from greyfill.targets import read_target

DATA = Path(__file__).parents[1] / "docs" / "data" / "literature_oracles.json"
JARS = (os.environ.get("WEKA_JAR", ""), "/usr/share/java/weka.jar")
REGRESSIONS = {
    "africa": ("gdp_pc", ["trade", "civlib", "infl"]),
    "freetrade": ("tariff", ["polity", "pop", "gdp.pc"]),
}
MORE = ("german-credit", "credit-approval", "mammographic", "soybean")
PRINTED = {0.1: (0.154, 0.265), 0.3: (0.289, 0.462), 0.5: (0.400, 0.602)}
"""IARI and mean fill on Digits: root mean square over all cells of standardized columns."""

Row = dict[str, Any]


def row(system: str, oracle: str, ours: str, reference: str, agrees: bool | None) -> Row:
    """One line of the page; ``agrees`` is None where there is no bar."""
    verdict = {None: "no bar", True: "agrees", False: "differs"}[agrees]
    found = {"system": system, "oracle": oracle, "ours": ours, "reference": reference}
    print(f"{system:12} {oracle}: ours {ours}, reference {reference}: {verdict}", flush=True)
    return {**found, "verdict": verdict}


def amelia_rows(m: int) -> list[Row]:
    """EMB and NORM on Amelia's own tables."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder, script = Path(name), Path(__file__).with_suffix(".R")
        subprocess.run(
            ["Rscript", str(script), str(folder), str(m)], check=True, capture_output=True
        )
        version = (folder / "version.txt").read_text()
        for table, formula in REGRESSIONS.items():
            frame = pd.read_csv(folder / f"{table}.csv")
            gap = theta_gap(frame, np.loadtxt(folder / f"{table}_theta.txt"))
            oracle = f"θ without bootstrap, {table}, largest difference in deviations"
            rows.append(row("emb", oracle, f"{gap:.1e}", f"Amelia {version}: 0", gap < 1e-3))
            theirs = np.loadtxt(folder / f"{table}_pooled.txt")
            for system, imputer in (("emb", EMBImputer(m)), ("norm", NormImputer(m))):
                oracle = f"pooled coefficients, {table}"
                rows.append(coefficients_row(system, imputer, frame, oracle, formula, theirs))
    return rows


def theta_gap(frame: pd.DataFrame, theirs: np.ndarray) -> float:
    """The largest difference of mean or covariance; Amelia sorts columns by their holes."""
    model = EMBImputer(1, bootstrap=False, prior=0, tol=1e-9, max_iter=5000)
    fitted = model.fit(frame.to_numpy(float))._fitted
    theta, n = fitted.thetas[0][0], frame.notna().sum().to_numpy()
    scale = np.sqrt((n - 1) / n)  # they divide by n − 1
    order = np.argsort(frame.isna().sum().to_numpy(), kind="stable")
    mean = (theta.mean * scale)[order]
    covariance = (theta.covariance * np.outer(scale, scale))[np.ix_(order, order)]
    return float(max(np.abs(mean - theirs[0, 1:]).max(), np.abs(covariance - theirs[1:, 1:]).max()))


def coefficients_row(
    system: str,
    imputer: Any,
    frame: pd.DataFrame,
    oracle: str,
    formula: tuple[str, list[str]],
    theirs: np.ndarray,
) -> Row:
    """Pooled coefficients; they agree within four Monte-Carlo errors, and standard errors by 15 %.

    ``theirs`` has the estimate, the mean variance and the variance between of each coefficient.
    """
    target, predictors = formula
    estimates, variances = [], []
    for drawn in imputer.fit(frame.astype(float)).draws_:
        x = np.column_stack([np.ones(len(drawn)), drawn[predictors].to_numpy(float)])
        y = drawn[target].to_numpy(float)
        inverse = np.linalg.inv(x.T @ x)
        beta = inverse @ (x.T @ y)
        estimates.append(beta)
        variances.append(((y - x @ beta) ** 2).sum() / (len(y) - x.shape[1]) * np.diag(inverse))
    ours, m = pool(estimates, variances), len(estimates)
    noise = np.sqrt((ours.between + theirs[:, 2]) / m)
    apart = np.abs(ours.estimate - theirs[:, 0]) / noise
    errors = ours.std_error / np.sqrt(theirs[:, 1] + (1 + 1 / m) * theirs[:, 2])
    agrees = bool(apart.max() < 4 and (np.abs(np.log(errors)) < np.log(1.15)).all())
    oracle += ": Monte-Carlo errors apart, ratio of standard errors"
    shown = f"at most {apart.max():.1f}, {errors.min():.2f} … {errors.max():.2f}"
    return row(system, oracle, shown, f"Amelia, {m} imputations: 0, 1", agrees)


def iari_rows(n_trees: int) -> list[Row]:
    """IARI with the class on Digits, 75 % of the columns with holes completely at random."""
    X, y = load_digits(return_X_y=True)
    spread = X.std(axis=0)
    z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    rows = []
    for rate, (printed, printed_mean) in PRINTED.items():
        rng = np.random.default_rng(0)
        hole = rng.random(z.shape) < rate
        hole[:, rng.choice(64, 16, replace=False)] = False
        columns = tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(64))
        table = Table(np.where(hole, 0.0, z), hole, columns)
        _, filled = fit_iari(table, y.astype(np.intp), IARISettings(n_trees), lambda _: None)
        means = np.where(hole, z.mean(axis=0, where=~hole), z)
        ours, mean = (float(np.sqrt(((cells - z) ** 2).mean())) for cells in (filled, means))
        oracle = f"root mean square over all cells of Digits, {rate:.0%} holes, {n_trees} trees"
        shown = f"{ours:.3f} (mean fill {mean:.3f}, ratio {ours / mean:.2f})"
        theirs = f"{printed:.3f} (mean fill {printed_mean:.3f}, ratio {printed / printed_mean:.2f})"
        rows.append(row("iari", oracle, shown, f"printed {theirs}", abs(ours - printed) < 0.02))
    return rows


def labelled_tables() -> dict[str, tuple[Any, Any]]:
    """The bundled tables, and those in the folder GREYFILL_DATA; the last column is the class."""
    found = {name: (data.X, data.y) for name in datasets.names() if (data := datasets.load(name))}
    for path in sorted(Path(os.environ.get("GREYFILL_DATA", "/nowhere")).glob("*.csv")):
        if path.stem in MORE:
            frame = pd.read_csv(path)
            found[path.stem] = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)
    return found


def c45_rows(jar: str, n_folds: int) -> list[Row]:
    """The class of each table by both programs, on the same folds."""
    rows = []
    for name, (X, y) in labelled_tables().items():
        opened = frames.open_table(X)
        table, _ = frames.encode(
            opened, categorical_features="auto", ordinal_features=None, missing_values=None
        )
        codes = read_target(y, needs_classes=True).codes
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(codes, codes)
        wrong = np.array([fold_errors(table, codes, test, jar) for _, test in folds])
        ours, theirs = wrong.sum(axis=0) / len(codes)
        apart = wrong[:, 0] - wrong[:, 1]
        noise = float(apart.std(ddof=1) * np.sqrt(n_folds) / len(codes))
        oracle = f"share of wrong classes, {name}, {n_folds} folds"
        agrees = bool(abs(ours - theirs) <= 2 * noise + 0.01)
        rows.append(row("c45", oracle, f"{ours:.3f}", f"J48 {theirs:.3f}", agrees))
    return rows


def fold_errors(table: Table, codes: np.ndarray, test: np.ndarray, jar: str) -> tuple[int, int]:
    """Wrong classes of the test rows, ours and Weka's."""
    is_test = np.isin(np.arange(len(codes)), test)
    column = Column("class of the row", Kind.CATEGORICAL, int(codes.max()) + 1)
    whole = Table(
        np.column_stack([table.values, codes]), np.column_stack([table.missing, is_test]),
        (*table.columns, column),
    )  # fmt: skip
    last = table.n_columns
    tree = grow_column_tree(whole, last, None)
    rows = table.rows(test)
    hidden = rows.missing | rows.unseen
    found = tree.predict(np.where(hidden, 0.0, rows.values), hidden)
    ours = int((found != codes[test]).sum())
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{part}.arff") for part in ("train", "test")]
        for path, chosen in zip(paths, (~is_test, is_test), strict=True):
            Path(path).write_text(as_arff(table, codes, chosen))
        line = ["java", "-cp", jar, "weka.classifiers.trees.J48", "-C", "0.25", "-M", "2", "-o",
                "-t", paths[0], "-T", paths[1]]  # fmt: skip
        said = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    theirs = re.findall(r"Incorrectly Classified Instances\s+(\d+)", said)[-1]
    return ours, int(theirs)


def as_arff(table: Table, codes: np.ndarray, chosen: np.ndarray) -> str:
    """Rows as Weka reads them: numbers and codes of levels, "?" in holes."""
    lines = ["@relation t"]
    for j, column in enumerate(table.columns):
        levels = ",".join(map(str, range(column.n_levels)))
        is_class = column.kind is Kind.CATEGORICAL
        lines.append(f"@attribute x{j} {f'{{{levels}}}' if is_class else 'numeric'}")
    lines.append(f"@attribute class {{{','.join(map(str, range(int(codes.max()) + 1)))}}}")
    lines.append("@data")
    for values, missing, code in zip(
        table.values[chosen], table.missing[chosen], codes[chosen], strict=True
    ):
        cells = [
            "?" if hole else f"{value:.12g}" for value, hole in zip(values, missing, strict=True)
        ]
        lines.append(",".join([*cells, str(int(code))]))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print what can be compared here."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="amelia,weka,iari")
    parser.add_argument("--imputations", type=int, default=100)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--folds", type=int, default=5)
    given = parser.parse_args()
    wanted, rows = given.only.split(","), list[Row]()
    if "amelia" in wanted and has_amelia():
        rows += amelia_rows(given.imputations)
    jar = next((path for path in JARS if path and Path(path).is_file()), "")
    if "weka" in wanted and jar and shutil.which("java"):
        rows += c45_rows(jar, given.folds)
    elif "weka" in wanted:
        print("left out: C4.5, for want of java and weka.jar (set WEKA_JAR)")
    if "iari" in wanted:
        rows += iari_rows(given.trees)
    if given.write:
        before = json.loads(DATA.read_text(encoding="utf-8")) if DATA.is_file() else []
        done = {one["system"] for one in rows}
        kept = [one for one in before if one["system"] not in done]
        text = json.dumps([*kept, *rows], indent=1, ensure_ascii=False)
        DATA.write_text(text + "\n", encoding="utf-8")


def has_amelia() -> bool:
    """Whether R and its package are there; else it is said."""
    there = shutil.which("Rscript") is not None
    if there:
        ask = ["Rscript", "-e", "library(Amelia)"]
        there = subprocess.run(ask, check=False, capture_output=True).returncode == 0
    if not there:
        print("left out: EMB and NORM, for want of Rscript with Amelia")
    return there


if __name__ == "__main__":
    main()
