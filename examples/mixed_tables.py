"""Fill a pandas and a polars table with numbers, ranks, categories, booleans and dates.

python examples/mixed_tables.py
"""

import datetime as dt

import pandas as pd
import polars as pl

from greyfill import GreyImputer

ROWS = {
    "visits": [3, 5, None, 4, 9, 8],
    "smoker": [True, None, True, False, False, False],
    "stage": ["early", "middle", None, "middle", "late", "late"],
    "seen": [dt.date(2024, 1, 3), dt.date(2024, 1, 20), None, None, dt.date(2024, 3, 1), None],
    "town": ["Bonn", "Bonn", "Köln", None, "Köln", "Köln"],
    "dose": [1.5, 1.0, 1.2, None, 2.5, 2.4],
}
STAGES = ["early", "middle", "late"]

in_polars = pl.DataFrame(ROWS).with_columns(pl.col("stage").cast(pl.Enum(STAGES)))
in_pandas = pd.DataFrame(ROWS).astype({"visits": "Int64", "smoker": "boolean"})
in_pandas["stage"] = pd.Categorical(in_pandas["stage"], STAGES, ordered=True)
in_pandas["seen"] = pd.to_datetime(in_pandas["seen"])
in_pandas.index = list("abcdef")

imputer = GreyImputer(ordinal_features=["stage"])
print(imputer.fit_transform(in_polars), "\n")

filled = imputer.fit_transform(in_pandas)
print(filled.to_string(), "\n")
print(pd.DataFrame({"type before": in_pandas.dtypes, "type after": filled.dtypes}))
