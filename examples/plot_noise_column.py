"""
A column of noise
=================

Even where a column says nothing about the target, an estimate of the target along it goes up and down. A
stretch that believed it would give room to nothing. The default, ``shrinkage="auto"``, estimates how much
variation noise alone would show, takes it off, and shrinks towards the stretch that needs no target.
"""

# %%
# Two columns of the same kind. The target depends on the first alone.

import matplotlib.pyplot as plt
import numpy as np

from tabstretch import StretchTransformer, SupervisedStretchTransformer

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 2))
signal = np.tanh(3 * X[:, 0])
y = signal + 0.5 * rng.normal(size=len(X))

# %%
# The column's own shape has no say here (``value_weight=0``), so that mistakes show. Compare with the stretch
# that has never seen the target, whose bins are all equally wide.

options = {"n_bins": 16, "variation": "within_fold", "value_weight": 0}
without = SupervisedStretchTransformer(**options, shrinkage=0).fit(X, y)
shrunk = SupervisedStretchTransformer(**options).fit(X, y)
unsupervised = StretchTransformer(16, value_weight=0).fit(X)
for name, stretch in {"shrinkage=0": without, "shrinkage='auto'": shrunk}.items():
    for column, what in enumerate(("signal", "noise")):
        away = np.abs(stretch.output_widths_[column] - unsupervised.output_widths_[column]).sum() / 2
        print(
            f"{name:<17} {what:<7} {away:.2f} of the range moved, shrinkage {stretch.shrinkage_[column]:.2f}"
        )
print(f"What is said of the column of noise: {shrunk.fallback_[1]}")

# %%
# The same with more and more noise in the target, five draws each: the first column is believed
# less and less.

levels = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
believed = np.empty((len(levels), 5, 2))
for number, level in enumerate(levels):
    for draw in range(5):
        noisy = signal + level * np.random.default_rng(draw).normal(size=len(X))
        believed[number, draw] = SupervisedStretchTransformer(**options).fit(X, noisy).shrinkage_

# %%
# Left and in the middle, the widths of the bins. (The two end bins of the signal are wider than the true
# curve, which is flat there, would have them.) Right, what happens as noise grows.

figure, axes = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
edges = np.arange(17)
for column, (axis, name) in enumerate(zip(axes, ("signal", "noise"), strict=False)):
    axis.stairs(without.output_widths_[column], edges, color="#E69F00", linewidth=2, label="shrinkage=0")
    axis.stairs(shrunk.output_widths_[column], edges, color="#0072B2", linewidth=2, label="shrinkage='auto'")
    axis.axhline(1 / 16, color="black", linestyle=":", label="without the target")
    axis.set(title=f"column of {name}", xlabel="bin", ylabel="width", ylim=(0, 0.3))
    axis.legend()
for column, (name, color, marker) in enumerate((("signal", "#0072B2", "o"), ("noise", "black", "s"))):
    mean, spread = believed[..., column].mean(axis=1), believed[..., column].std(axis=1)
    axes[2].errorbar(levels, mean, spread, marker=marker, color=color, capsize=4, label=f"column of {name}")
axes[2].set(title="shrinkage: mean and spread over draws", xlabel="noise in the target", ylabel="shrinkage")
axes[2].set(xscale="log", ylim=(-0.05, 1.1))
axes[2].legend(loc="center left")
plt.show()

# %%
# The column of noise came out as the unsupervised stretch, and the column of signal kept its shape until
# noise drowned it.
