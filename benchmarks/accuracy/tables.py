"""The tables: three of scikit-learn and ten of the folder ``GREYFILL_DATA``.

The folder holds ``NAME.csv`` beside ``NAME.schema.json``. Its iris is left out, since it is
scikit-learn's but for two rows. Of bank-marketing there is also a sample of 1 000 rows, which
stands for it wherever all methods are ranked: some need many minutes for a fill of the whole.
``exam:NAME`` is a table of the folder ``GREYFILL_EXAM``, in the same form; ``examination.py`` says
what these are for.
"""

import csv
import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from greyfill.evaluation.trials import Data
from greyfill.table import Column, Kind, Table

OF_SKLEARN = ("iris", "wine", "breast_cancer")
OF_FOLDER = (
    "glass",
    "hepatitis",
    "penguins",
    "voting",
    "horse-colic",
    "mammographic",
    "credit-approval",
    "soybean",
    "german-credit",
)
BANK, BANK_SAMPLE, SAMPLE_ROWS = "bank-marketing", "bank-1000", 1000
RANKED = (*OF_SKLEARN, *OF_FOLDER, BANK_SAMPLE)
ALL = (*RANKED, BANK)
EXAM = "exam:"


@cache
def load(name: str) -> Data:
    """A table with all cells that are known, and the class of each row."""
    if name in OF_SKLEARN:
        return _of_sklearn(name)
    if name == BANK_SAMPLE:
        whole = load(BANK)
        assert whole.labels is not None
        rows = np.random.default_rng(0).choice(whole.table.n_rows, SAMPLE_ROWS, replace=False)
        rows.sort()
        return Data(name, whole.table.rows(rows), whole.labels[rows])
    return _of_folder(name)


def of_examination() -> list[str]:
    """The names of the tables of the folder ``GREYFILL_EXAM``."""
    files = Path(os.environ.get("GREYFILL_EXAM", "")).glob("*.schema.json")
    return [f"{EXAM}{name}" for name in sorted(f.name.removesuffix(".schema.json") for f in files)]


def source(name: str) -> str:
    """Where a table of a folder is from, as its schema tells."""
    return str(_schema(name)["source"])


def is_numeric(name: str) -> bool:
    """Whether all columns of a table are numbers."""
    return all(column.kind is Kind.NUMERIC for column in load(name).table.columns)


def _of_sklearn(name: str) -> Data:
    bunch = getattr(datasets, f"load_{name}")()
    columns = tuple(Column(str(column), Kind.NUMERIC) for column in bunch.feature_names)
    cells = np.asarray(bunch.data, dtype=np.float64)
    return Data(name, Table(cells, np.zeros(cells.shape, dtype=bool), columns), bunch.target)


def _file(name: str, ending: str) -> Path:
    """A file of a table that lies in a folder."""
    variable = "GREYFILL_EXAM" if name.startswith(EXAM) else "GREYFILL_DATA"
    name = name.removeprefix(EXAM)
    folder = Path(os.environ.get(variable, ""))
    if not (folder / f"{name}.csv").exists():
        sys.exit(f"set {variable} to a folder with {name}.csv and {name}.schema.json")
    return folder / f"{name}.{ending}"


def _schema(name: str) -> dict[str, Any]:
    return dict(json.loads(_file(name, "schema.json").read_text(encoding="utf-8")))


def _of_folder(name: str) -> Data:
    schema = _schema(name)
    with _file(name, "csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    read = [_column(rows, column, schema) for column in schema["columns"]]
    cells = np.column_stack([values for values, _ in read])
    missing = np.isnan(cells)
    table = Table(np.where(missing, 0.0, cells), missing, tuple(column for _, column in read))
    _, labels = np.unique([row[schema["target"]] for row in rows], return_inverse=True)
    return Data(name.removeprefix(EXAM), table, labels)


def _column(rows: list[dict[str, str]], name: str, schema: dict) -> tuple[np.ndarray, Column]:
    """Numbers, or codes of the levels in the schema's order; NaN for an empty cell."""
    texts, kind = [row[name] for row in rows], Kind(schema["columns"][name])
    if kind is Kind.NUMERIC:
        return np.array([float(text) if text else np.nan for text in texts]), Column(name, kind)
    seen = [level for level in schema["levels"][name] if level in set(texts)]
    codes = {level: code for code, level in enumerate(seen)}
    values = np.array([codes[text] if text else np.nan for text in texts], dtype=np.float64)
    return values, Column(name, kind, len(seen))
