"""
A heavy tail: prices
====================

Most houses cost about the same, and a few cost ten times as much. Min-max scaling gives most of its range to
the few. Ranks and logarithms give it to the many, and press the few together. The stretch is a compromise
between value and rank, and ``value_weight`` says which.
"""

# %%
# Two thousand prices, log-normal, in thousands.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, QuantileTransformer

from tabstretch import StretchTransformer

rng = np.random.default_rng(0)
price = np.sort(300 * rng.lognormal(sigma=0.9, size=2000)).reshape(-1, 1)
print(f"median {np.median(price):.0f}, highest {price.max():.0f}")

# %%
# Five ways to bring them onto the range from 0 to 1. None of them sees a target.

ways = {
    "min-max": MinMaxScaler(),
    "logarithm, min-max": make_pipeline(FunctionTransformer(np.log), MinMaxScaler()),
    "quantiles": QuantileTransformer(n_quantiles=256),
    "stretch": StretchTransformer(),
    "stretch, value_weight=0": StretchTransformer(value_weight=0),
}
outputs = {name: way.fit_transform(price).ravel() for name, way in ways.items()}

# %%
# How much of the range do the cheaper half, and the dearest hundredth, get?

cheap, dear = len(price) // 2, len(price) * 99 // 100
print(f"{'':<25}{'cheaper half':>15}{'dearest 1 %':>15}")
for name, output in outputs.items():
    print(f"{name:<25}{output[cheap] - output[0]:>15.3f}{output[-1] - output[dear]:>15.3f}")

# %%
# On top, where each price goes. Below, how many houses there are in each part of the range.

figure, axes = plt.subplots(2, len(ways), figsize=(14, 5), sharex="row", sharey="row", layout="constrained")
for (name, output), (above, below) in zip(outputs.items(), axes.T, strict=True):
    above.plot(price, output, color="#0072B2", linewidth=2)
    above.set(title=name, xlabel="price")
    below.hist(output, bins=20, range=(0, 1), color="#E69F00", edgecolor="white")
    below.set(xlabel="output")
axes[0, 0].set(ylabel="output")
axes[1, 0].set(ylabel="houses")
plt.show()

# %%
# The stretch gave the cheaper half more room than min-max scaling did, and the dearest hundredth more than
# the three others: neither end is lost, and without weight for the value it is the quantile transformation.
