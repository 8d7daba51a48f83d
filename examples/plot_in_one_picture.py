"""
In one picture
==============

What a stretch does, on the table of the README: an income with a heavy tail and an age with a threshold. Each
column is scaled as usual on the left, and stretched on the right.
"""

# %%
# The target follows the logarithm of income, and jumps at 65 years. Nobody tells the stretch.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import MinMaxScaler

from tabstretch import SupervisedStretchTransformer

rng = np.random.default_rng(0)
income, age = rng.lognormal(3.5, 1, size=4000), rng.uniform(18, 90, size=4000)
y = np.log(income) + 2 * (age > 65) + rng.normal(0, 0.5, size=4000)
X = np.column_stack([income, age])

scaled = MinMaxScaler().fit_transform(X)
stretched = SupervisedStretchTransformer().fit_transform(X, y)

# %%
# Lines are means of rows with neighbouring values, after the part that is due to the other column was taken
# off; dots are rows.

parts = np.column_stack([np.log(income), 2.0 * (age > 65)])
noise = y - parts.sum(axis=1)
figure, axes = plt.subplots(2, 2, figsize=(11, 5.5), sharey="row", layout="constrained")
for j, (name, color) in enumerate({"income": "#E69F00", "age": "#0072B2"}.items()):
    rows = np.argsort(X[:, j])
    for axis, values, how in zip(axes[j], (scaled, stretched), ("scaled", "stretched"), strict=True):
        own = parts[:, j] + noise
        axis.plot(values[::4, j], own[::4], ".", color="lightgrey", markersize=2)
        groups = np.array_split(rows, 100)
        means = [(values[group, j].mean(), own[group].mean()) for group in groups]
        axis.plot(*np.transpose(means), color=color, linewidth=2)
        axis.set(title=f"{name}, {how}", xlabel=f"{how} {name}")
    axes[j, 0].set(ylabel="its part of the target")
plt.show()

# %%
# How much of the range do most incomes get, and the years around the threshold?

most = (income > np.quantile(income, 0.05)) & (income < np.quantile(income, 0.95))
near = np.abs(age - 65) < 2
for how, values in {"scaled": scaled, "stretched": stretched}.items():
    shares = np.ptp(values[most, 0]), np.ptp(values[near, 1])
    print(f"{how}: nine tenths of incomes {shares[0]:.2f}, ages 63 to 67 {shares[1]:.2f}")

# %%
# Scaled, nearly all incomes shared a sliver of the range, over which the target climbed steeply, and the jump
# was a wall; stretched, both got more room, and what was left to learn is gentler.
