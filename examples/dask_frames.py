"""Fill a Dask frame partition by partition; needs ``pip install "greyfill[dask]"``.

    python examples/dask_frames.py

Here threads of this process do the work. With ``dask.distributed.Client(...)`` of a cluster, the
same lines run on its workers.
"""

import dask
import dask.dataframe as dd

from greyfill import CGKNNImputer
from greyfill.datasets import load
from greyfill.distributed import DaskImputer

penguins = load("penguins", library="pandas")
table = penguins.X.assign(species=penguins.y)
lazy = dd.from_pandas(table, npartitions=4)

imputer = DaskImputer(CGKNNImputer(n_neighbors=10))
with dask.config.set(scheduler="threads"):
    filled = imputer.fit_transform(lazy.drop(columns="species"), lazy["species"]).compute()

alone = CGKNNImputer(n_neighbors=10).fit_transform(penguins.X, penguins.y)
print(f"{lazy.npartitions} partitions, {penguins.X.isna().sum().sum()} holes filled, such as:")
print(filled.loc[penguins.X["sex"].isna(), ["body_mass_g", "sex"]].head(3))
print(f"cells that differ from those of one machine: {int((filled != alone).sum().sum())}")
