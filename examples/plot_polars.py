"""
Polars in, polars out
=====================

The transformers take polars tables as they are. ``set_output`` asks for polars tables back, and
``TableStretch`` returns whatever kind it was given, other columns included.
"""

# %%
# Trips of a taxi: two numbers, some of them missing, and a text.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from tabstretch import StretchTransformer, TableStretch

rng = np.random.default_rng(0)
trips = pl.DataFrame(
    {
        "distance": rng.lognormal(1, 0.8, size=2000),
        "tip": rng.exponential(2, size=2000),
        "payment": rng.choice(["card", "cash"], size=2000),
    }
).with_columns(tip=pl.when(pl.col("payment") == "card").then("tip"))
print(trips.head(4))

# %%
# Numbers alone: without ``set_output`` the result would be an array.

stretch = StretchTransformer().set_output(transform="polars")
stretched = stretch.fit_transform(trips.select("distance", "tip"))
print(type(stretched), stretched.columns)

# %%
# The whole table. Text stays as it is, in its place.

table = TableStretch(StretchTransformer()).fit(trips)
print(table.transform(trips).head(4))

# %%
# The way back is exact but for rounding. What was null comes back as NaN, which polars tells from null:
# ``fill_nan(None)`` makes it null again.

back = table.inverse_transform(table.transform(trips))
largest = (back["distance"] - trips["distance"]).abs().max()
print(f"largest difference {largest:.1e}")
print(f"tips: {trips['tip'].null_count()} null before, {back['tip'].is_nan().sum()} NaN after")
back = back.with_columns(pl.col("tip").fill_nan(None))
print(f"and {back['tip'].null_count()} null again")

# %%
# The distances before and after, drawn from the polars columns.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.hist(trips["distance"], bins=30, color="#E69F00", edgecolor="white")
left.set(title="before", xlabel="distance", ylabel="trips")
right.hist(stretched["distance"], bins=30, color="#0072B2", edgecolor="white")
right.set(title="after", xlabel="stretched distance", ylabel="trips")
plt.show()

# %%
# The tables came back as polars tables with their names and texts, nulls came back as NaN, and the crowd of
# short trips has spread out.
