"""Fingerprints of everything that a change of structure must leave equal, and its CPU seconds.

``--write`` keeps SHA-256 of fills, draws, intervals, fitted attributes, saved models, reports, and
of what the command prints and writes; ``--check`` computes them again, names what differs, is
missing or is new, and ends with 1 if a fingerprint differs or is missing. Where something is
refused, the message is kept instead.

    python benchmarks/golden.py --write before.json
    python benchmarks/golden.py --check before.json --only hepatitis --no-timings
"""

import argparse
import dataclasses
import gzip
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import greyfill
from greyfill import datasets, evaluation, information, missingness, report
from greyfill.frames import encode

Fact = tuple[str, Callable[[], Any]]
Facts = Iterator[Fact]

FIXTURES = Path(__file__).parents[1] / "tests/persistence/fixtures"
PARTS = {"distance": "heom", "donors": "all_rows", "fill": "plain", "start": "global"}
RECIPES: dict[str, dict[str, Any]] = {
    "once": {**PARTS, "weights": "pair", "schedule": "once"},
    "direct": {**PARTS, "weights": "equal", "schedule": "direct"},
    "sequential": {**PARTS, "donors": "complete_rows", "schedule": "sequential"},
    **{name: {"weights": name} for name in ("ksg", "forest", "distance_correlation")},
}
PEERS = ("sklearn_knn", "sklearn_iterative", "mean", "mean_indicator", "class_mean")
"""Methods that cannot be saved."""
NAMED = ("cgknn", "fwgknn", "gknn", "gbnn", "miknn", "iknn", "sknn", "knni", "mice", *PEERS)
METHODS: dict[str, Callable[..., Any]] = {
    **{name: partial(evaluation.make, name) for name in NAMED},
    "grey": partial(greyfill.GreyImputer, n_cells=60),  # fewer than by default: it is slow
    "grey without labels": partial(greyfill.GreyImputer, n_cells=40, labels="none"),
    "missforest": partial(greyfill.MissForestImputer, n_estimators=8, max_iter=3),
    "mice of labels": partial(greyfill.MICEImputer, 2, labels="predictor", combine="draw"),
    "cgknn by weights": partial(greyfill.CGKNNImputer, 7, labels="weights", add_indicator=True),
    "cgknn of few": partial(greyfill.CGKNNImputer, "cv", max_donors=30, unlabeled="all"),
    **{f"recipe {name}": partial(greyfill.NeighborImputer, **r) for name, r in RECIPES.items()},
}
FORMATS = ("csv", "tsv", "csv.gz", "csv.zst", "parquet", "arrow", "jsonl", "xlsx")
SPENT = re.compile(
    r"\d+(\.\d+)? s\b|(?<=\"seconds\": )[\d.]+|(?<=± )(\d\.\d{4}) +\d\.\d{4} ± \d\.\d{4}(?= )"
)
"""What depends on the clock; in the table of ``compare`` the column behind the error."""
STEADY = {"COLUMNS": "100", "NO_COLOR": "1", "SOURCE_DATE_EPOCH": "0"}


def told(value: Any) -> str:
    """The exact content of a value: floats in hexadecimal, frames with names and dtypes."""
    value = plain(value)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return f"{{{','.join(f'{told(k)}:{told(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(told, value))}]"
    return re.sub(r" at 0x\w+", "", repr(value))


def plain(value: Any) -> Any:
    """Arrays, frames and dataclasses as lists and dicts; anything else as it is."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, value.tolist()]
    if isinstance(value, pl.DataFrame):
        return {f"{s.name} {s.dtype}": s.to_list() for s in value}
    if hasattr(value, "to_pydict"):  # pyarrow
        return [str(value.schema.remove_metadata()), value.to_pydict()]
    if hasattr(value, "iloc"):  # pandas
        return [value.index.tolist(), {f"{n} {c.dtype}": c.tolist() for n, c in value.items()}]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return value


def fingerprint(think: Callable[[], Any]) -> str:
    try:
        return hashlib.sha256(told(think()).encode()).hexdigest()
    except (greyfill.exceptions.GreyfillError, OSError, TypeError, ValueError) as error:
        return SPENT.sub(r"\2", f"{type(error).__name__}: {error}")


@cache
def table(name: str, library: str = "polars") -> tuple[Any, Any, dict[str, Any]]:
    """A table with a tenth of its cells hidden beside its own holes, its labels, its kinds."""
    if name == "mixed":
        X, y, ordinal = mixed(), pl.Series("y", ["well", "ill", "well", "poor"] * 20), None
    else:
        data = datasets.load(name, library=library)
        X, y, ordinal = data.X, data.y, list(data.ordinal_features) or None
    return greyfill.ampute(X, rate=0.1, random_state=1)[0], y, {"ordinal_features": ordinal}


def mixed() -> pl.DataFrame:
    """Columns of every kind that a file can hold, which tell something about each other."""
    n = np.random.default_rng(2).integers(0, 40, 80)
    size = pl.Series(np.array(["S", "M", "L"])[n // 14], dtype=pl.Enum(["S", "M", "L"]))
    columns = {"n": n, "dose": np.round(n / 7 + 0.25, 2), "smear": np.where(n % 3, "neg", "pos")}
    days = [date(2024, 2, 20) + timedelta(days=int(d)) for d in n]
    return pl.DataFrame({**columns, "day": days, "ok": n > 17, "size": size})


def fitted(imputer: Any) -> dict[str, Any]:
    """The public attributes that ``fit`` has set, by name."""
    return {k: v for k, v in sorted(vars(imputer).items()) if k[-1] == "_" and k[0] != "_"}


def imputing(method: str, name: str, library: str = "polars") -> Facts:
    X, y, kinds = table(name, library)
    make = partial(METHODS[method], **kinds)
    imputer = make()
    yield "fit_transform", lambda: imputer.fit_transform(X, y)
    yield "fitted", lambda: fitted(imputer)
    yield "names", imputer.get_feature_names_out
    yield "without labels", lambda: make().fit_transform(X)
    if hasattr(imputer, "draws_"):
        yield "draws_", lambda: imputer.draws_
    if hasattr(imputer, "donors_of"):
        yield "donors_of", lambda: [imputer.donors_of(*cell) for cell in holes(X)]
    if hasattr(imputer, "explain"):
        yield "explain", lambda: [repr(imputer.explain(*cell)) for cell in holes(X)]
    rows = np.arange(len(y))
    old, new = rows[rows % 4 > 0], rows[rows % 4 == 0]
    imputer = make().fit(taken(X, old), taken(y, old))
    yield "new rows", lambda: imputer.transform(taken(X, new))
    yield "one row", lambda: imputer.transform(taken(X, new[:1]))
    if hasattr(imputer, "draw"):
        yield "draw", lambda: imputer.draw(taken(X, new), 2, taken(y, new))
        yield (
            "intervals",
            lambda: getattr(imputer, "_interval_lists", imputer.intervals)(taken(X, new)),
        )
    if method not in PEERS:
        yield from saving(imputer, lambda model: model.transform(taken(X, new)))


def saving(model: Any, use: Callable[[Any], Any]) -> Facts:
    """The file, what it holds after loading, and whether that serves as before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        yield "saved", lambda: (model.save(path), path.read_bytes())[1]
        yield "loaded", lambda: (use(greyfill.load(path)), fitted(greyfill.load(path)))
        yield "loaded is equal", lambda: told(use(greyfill.load(path))) == told(use(model))


def taken(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X.take(rows) if hasattr(X, "take") else X[rows]


def holes(X: Any) -> list[tuple[int, int]]:
    """The first three holes of a table, by row and column."""
    missing = encode(X)[0].missing
    return [(int(i), int(j)) for i, j in np.argwhere(missing)[:3]]


def predicting(name: str) -> Facts:
    X, y, kinds = table(name)
    numbers = np.random.default_rng(3).normal(size=len(y)) + np.arange(len(y)) / 20
    grey = greyfill.GreyImputer(n_cells=40, **kinds)
    yield "imputer, numbers as y", lambda: (grey.fit_transform(X, numbers), fitted(grey))
    yield "draws, numbers as y", lambda: grey.draw(X[:9], 2, numbers[:9])
    classifier = greyfill.GreyClassifier(n_cells=60, **kinds).fit(X, y)
    yield "classifier", lambda: (classifier.predict(X), classifier.predict_proba(X))
    yield from ((f"classifier {n}", f) for n, f in saving(classifier, lambda m: m.predict_proba(X)))
    regressor = greyfill.GreyRegressor(n_cells=60, **kinds).fit(X, numbers)
    yield "regressor", lambda: (regressor.predict(X), fitted(regressor))
    yield from ((f"regressor {n}", f) for n, f in saving(regressor, lambda m: m.predict(X)))


def measuring(name: str) -> Facts:
    """Functions of tables: information, missingness, pooling, protocols."""
    X, y, kinds = table(name)
    held, codes = encode(X, **kinds)[0], np.unique(y.to_numpy(), return_inverse=True)[1]
    for measure in ("parzen", "ksg", "distance_correlation", "forest"):
        chance = {"measure": measure, "n_permutations": 3}
        yield f"{measure}", partial(information.class_information, held, codes, **chance)
        yield f"pair {measure}", partial(information.pair_information, held, 1, **chance)
    for mechanism in (missingness.mcar, missingness.mar, missingness.nmar):
        yield mechanism.__name__, partial(mechanism, held, 0.2, random_state=4)
    yield "Little's test", lambda: missingness.little_test(held)
    yield "pool", lambda: greyfill.pool([1.0, 1.5, 1.2], [0.1, 0.2, 0.15])
    for protocol in (evaluation.honest_protocol, evaluation.paper_protocol):
        yield protocol.__name__, partial(protocol, X, y, "cgknn", n_splits=3, **kinds)


def reporting(method: str, name: str) -> Facts:
    X, y, kinds = table(name)
    imputer = METHODS[method](**kinds)
    summary = report.summarize(imputer, X, imputer.fit_transform(X, y), y, raw_rows=3)
    del summary["versions"]
    yield "summary", lambda: summary
    page = report.make_report(imputer, X, imputer.fit_transform(X, y), y)
    for style in ("json", "markdown", "html"):
        yield style, partial(page.render, style)


def loading() -> Facts:
    rows = np.array([[1.08, np.nan], [np.nan, 2.0], [5.0, np.nan], [np.nan, np.nan]])
    for path in sorted(FIXTURES.glob("*-cgknn.greyfill")):
        yield path.name, partial(greyfill.load(path).transform, rows)


def spreading() -> Facts:
    """Dask and Parquet datasets, where Dask is installed."""
    try:
        import dask.dataframe as dd

        from greyfill.distributed import DaskImputer, impute_dataset
    except ImportError:
        return
    X, y, _ = table("hepatitis", "pandas")
    frame, labels = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=3)
    for method in ("cgknn", "fwgknn", "iknn", "knni"):
        imputer = DaskImputer(METHODS[method]())
        yield method, lambda i=imputer: i.fit_transform(frame, labels).compute()
        yield f"{method} new rows", lambda i=imputer: i.transform(frame).compute()
    with tempfile.TemporaryDirectory() as folder:
        out, (X, y, _) = f"{folder}/out", table("mixed")
        X.with_columns(y).write_parquet(f"{folder}/t.parquet", row_group_size=30)
        cgknn = greyfill.CGKNNImputer(5)
        impute_dataset(f"{folder}/t.parquet", out, cgknn, target="y", n_jobs=1)
        yield "dataset", lambda: pl.read_parquet(f"{out}/*.parquet")


def holed_files(folder: Path) -> list[str]:
    """The mixed table by file name, in the formats that can hold its dates."""
    X, y, _ = table("mixed")
    frame = X.with_columns(pl.col("day", "size").cast(str), y, id=pl.Series(range(7, 87)))
    frame.write_csv(folder / "t.csv")
    frame.write_csv(folder / "t.tsv", separator="\t")
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    typed = frame.with_columns(X["day"])
    typed.write_parquet(folder / "t.parquet")
    typed.write_ipc(folder / "t.arrow")
    typed.write_excel(folder / "t.xlsx")
    return [f"t.{ending}" for ending in FORMATS if (folder / f"t.{ending}").exists()]


def run(folder: Path, *arguments: str) -> list[str]:
    """What the command prints, without seconds; its complaint where it refuses."""
    done = subprocess.run(
        [sys.executable, "-m", "greyfill", *arguments],
        cwd=folder, env={**os.environ, **STEADY}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise ValueError(f"{done.returncode} {done.stderr}")
    return [SPENT.sub(r"\2", done.stdout), SPENT.sub(r"\2", done.stderr)]


def content(path: Path) -> Any:
    """The bytes of a file; the cells of an Excel file, which knows when it was written."""
    return pl.read_excel(path) if path.suffix == ".xlsx" else path.read_bytes()


def commanding(method: str) -> Facts:
    """Files that the command writes; by cgknn in every format, and its pages."""
    with tempfile.TemporaryDirectory() as name:
        folder, formats = Path(name), FORMATS if method == "cgknn" else ("csv", "parquet", "jsonl")
        files, about = holed_files(folder), ("--target", "y", "--id", "id", "-m", method)
        for ending in formats:
            more = ("--save", "model", "--force", "--report", f"{ending}.md")
            out = f"out.{ending}"
            yield (
                f"impute {ending}",
                partial(run, folder, "impute", "t.csv", "-o", out, *about, *more),
            )
            yield out, partial(content, folder / out)
        yield "model", partial(content, folder / "model")
        yield "apply", partial(run, folder, "apply", "model", *files, "--id", "id")
        for file in files:
            filled = folder / file.replace("t.", "t.filled.", 1)
            yield f"applied {file}", partial(content, filled)
        if method == "cgknn":
            yield from paging(folder, about)


def paging(folder: Path, about: tuple[str, ...]) -> Facts:
    """Pages of the command, and a table of JSON lines, whose columns declare no type."""
    table("penguins")[0].write_ndjson(folder / "p.jsonl")
    yield "JSON lines", partial(run, folder, "impute", "p.jsonl", "-m", "grey")
    yield "p.jsonl", partial(content, folder / "p.filled.jsonl")
    for page in ("r.md", "r.json", "r.html"):
        yield f"report {page}", partial(run, folder, "report", "t.csv", "-o", page, *about)
        yield page, partial(content, folder / page)


def examining() -> Facts:
    """What the other commands print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield "datasets", lambda: run(folder, "datasets", "penguins", "-o", "p.csv")
        about = ("p.csv", "--target", "class")
        yield "inspect", lambda: run(folder, "inspect", *about)
        yield "inspect as JSON", lambda: run(folder, "inspect", *about, "--json")
        yield "impute as JSON", lambda: run(folder, "impute", *about, "--json", "--dry-run")
        shifts = (
            "sensitivity",
            *about,
            "-m",
            "cgknn",
            "--column",
            "body_mass_g",
            "--within=Adelie",
        )
        yield "sensitivity", lambda: run(folder, *shifts)
        methods = ("-m", "cgknn,iknn,mice,mean", "--rates", "0.1", "--repeats", "2", "-q")
        yield "compare", lambda: run(folder, "compare", *about, *methods)
        yield "no column", lambda: run(folder, "impute", "p.csv", "--target", "clas")
        yield "no labels", lambda: run(folder, "impute", "p.csv", "-m", "cgknn")
        yield "help", lambda: run(folder, "impute", "--help")


def cases() -> Iterator[tuple[str, Callable[[], Facts]]]:
    for name in (*datasets.names(), "mixed"):
        for method in METHODS:
            yield f"imputers/{name}/{method}", partial(imputing, method, name)
    for library in ("pandas", "pyarrow"):
        for method in ("cgknn", "grey", "mice", "missforest", "mean"):
            yield f"{library}/penguins/{method}", partial(imputing, method, "penguins", library)
    for name in ("hepatitis", "iris", "mixed"):
        yield f"models/{name}", partial(predicting, name)
        yield f"measures/{name}", partial(measuring, name)
    for method in ("cgknn", "grey", "mice", "missforest"):
        yield f"report/{method}", partial(reporting, method, "penguins")
    yield "fixtures", loading
    yield "dask", spreading
    for method in ("cgknn", "grey", "mice"):
        yield f"command/{method}", partial(commanding, method)
    yield "command/others", examining


def fingerprints(only: str) -> dict[str, str]:
    """Every fact of the chosen cases."""
    chosen = ((name, facts) for name, facts in cases() if only in name)
    return {f"{n}: {what}": fingerprint(think) for n, facts in chosen for what, think in facts()}


def least(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """The fewest seconds of up to 7 repeats, which end after 1.5 seconds."""
    found: list[float] = []
    while len(found) < 7 and sum(found) < 1.5:
        start = clock()
        work()
        found.append(clock() - start)
    return round(min(found), 5)


def of_children() -> float:
    """CPU seconds of the processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds() -> dict[str, float]:
    """CPU seconds by name; compiled loops and imports are warm, except in new processes."""
    found = {}
    X, y, kinds = table("hepatitis")
    for method, make in METHODS.items():
        imputer = make(**kinds)
        found[f"fit_transform {method}"] = least(partial(imputer.fit_transform, X, y))
        found[f"one row {method}"] = least(partial(imputer.transform, X[:1]))
    rng = np.random.default_rng(0)
    wide, labels = rng.normal(size=(5_000, 12)), np.arange(5_000) % 2
    wide[:, :4] += labels[:, np.newaxis]
    wide[rng.random(wide.shape) < 0.1] = np.nan
    found["5 000 rows cgknn"] = least(lambda: greyfill.CGKNNImputer(10).fit_transform(wide, labels))
    with tempfile.TemporaryDirectory() as name:
        table("mixed")[0].select("n", "dose", "smear").write_csv(f"{name}/t.csv")
        inspect = partial(run, Path(name), "inspect", "t.csv")
        found["inspect"] = min(least(inspect, of_children) for _ in range(3))
        found["inspect, wall"] = least(inspect, time.perf_counter)
    bare = [sys.executable, "-c", "import greyfill"]
    found["import"] = least(partial(subprocess.run, bare, check=True), of_children)
    return found


def differences(before: dict[str, str], now: dict[str, str]) -> bool:
    """Print what is not as before, and tell whether a fingerprint differs or is missing."""
    differing = [name for name in now if now[name] != before.get(name, now[name])]
    missing = [name for name in before if name not in now]
    for word, names in (
        ("differs", differing), ("missing", missing), ("new", [n for n in now if n not in before])
    ):  # fmt: skip
        for name in names:
            print(f"{word:8}  {name}")
    print(f"{len(now)} compared: {len(differing)} differ, {len(missing)} are missing")
    return bool(differing or missing)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    doing = parser.add_mutually_exclusive_group(required=True)
    doing.add_argument("--write", type=Path, metavar="FILE.json", help="keep what is found")
    doing.add_argument("--check", type=Path, metavar="FILE.json", help="compare with what was kept")
    parser.add_argument("--only", default="", metavar="PART", help="part of the names of cases")
    parser.add_argument("--no-timings", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.update(STEADY)
    now, took = fingerprints(options.only), {} if options.no_timings else seconds()
    if options.write:
        kept = {"fingerprints": now, "seconds": took}
        options.write.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        print(f"wrote {len(now)} fingerprints and {len(took)} timings to {options.write}")
        return 0
    kept = json.loads(options.check.read_text())
    then = {n: f for n, f in kept["fingerprints"].items() if options.only in n.split(": ")[0]}
    for name in took.keys() & kept["seconds"].keys():
        old, new = kept["seconds"][name], took[name]
        print(f"{new / max(old, 1e-5):5.2f} ×  {old:9.5f} → {new:9.5f} s  {name}")
    return int(differences(then, now))


if __name__ == "__main__":
    sys.exit(main())
