"""
Fitting on a Dask cluster
=========================

``tabstretch.dask`` fits where the partitions are. Each worker compresses its own, the results are merged in
pairs, and only the fitted transformer travels back. Its transform is lazy.
"""

# %%
# A cluster of two workers inside this process. A real one has an address: ``Client("tcp://...")``.

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from dask.distributed import Client

import tabstretch.dask
from tabstretch import SupervisedStretchTransformer

client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")

rng = np.random.default_rng(0)
houses = pd.DataFrame({"area": rng.gamma(3, 30, size=40_000), "age": rng.poisson(30, size=40_000)})
houses["price"] = np.tanh((houses["area"] - 60) / 10) + 0.3 * rng.normal(size=len(houses))

# %%
# The same rows in 1, 4 and 16 partitions. The target is named, and is not stretched.

stretch = SupervisedStretchTransformer(variation="within_fold")
columns = ["area", "age"]
reference = SupervisedStretchTransformer(variation="within_fold").fit(houses[columns], houses["price"])
grid = np.linspace(houses["area"].min(), houses["area"].max(), 500)
curves = {}
for n_partitions in (1, 4, 16):
    table = dd.from_pandas(houses, npartitions=n_partitions)
    tabstretch.dask.fit(stretch, table, "price", client=client)
    curves[n_partitions] = stretch.maps_[0](grid)
    apart = np.abs(stretch.output_widths_[0] - reference.output_widths_[0]).sum() / 2
    print(f"{n_partitions:>2} partitions: widths {apart:.5f} from those of fit")

# %%
# Transform lazily: nothing is computed before ``compute``.

stretched = tabstretch.dask.transform(stretch, table[columns])
print(type(stretched).__name__, "in", stretched.npartitions, "partitions")
print(stretched.compute().describe().loc[["min", "mean", "max"]].round(3))
client.close()

# %%
# The maps of the area, and how far they are from that of ``fit``.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
expected = reference.maps_[0](grid)
left.plot(grid, expected, color="lightgrey", linewidth=6, label="fit, without Dask")
styles = {1: ("#E69F00", "-"), 4: ("#0072B2", "--"), 16: ("black", ":")}
for n_partitions, curve in curves.items():
    color, style = styles[n_partitions]
    label = f"{n_partitions} partition{'s' if n_partitions > 1 else ''}"
    left.plot(grid, curve, style, color=color, label=label)
    right.plot(grid, curve - expected, style, color=color, label=label)
left.set(title="the maps", xlabel="area", ylabel="stretched area")
right.set(title="difference from fit", xlabel="area", ylabel="difference of outputs")
right.ticklabel_format(axis="y", scilimits=(0, 0))
for axis in (left, right):
    axis.legend()
plt.show()

# %%
# However the rows were partitioned, the map was that of ``fit`` within the promised tolerance of 0.01.
