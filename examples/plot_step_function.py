"""
A threshold in the target
=========================

Below a threshold one thing happens, above it another. A small network needs large weights for so steep a
step, and finds them slowly. The stretch gives the values around the threshold more room, so that what is left
to learn is a gentler slope.
"""

# %%
# A benefit is paid up to an income of 30: one column, a step, and noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tabstretch import SupervisedStretchTransformer


def benefit(income):
    return 2.0 * (income < 30) + 0.01 * income


rng = np.random.default_rng(0)
income = rng.gamma(4, 12, size=(1500, 1))
y = benefit(income.ravel()) + 0.3 * rng.normal(size=len(income))

# %%
# There are no other columns to hold still, so that the variation along the column alone is all there is.

ways = {
    "min-max": MinMaxScaler(),
    "stretch": SupervisedStretchTransformer(variation="within_fold"),
}
for name, way in ways.items():
    low, high = way.fit(income, y).transform([[25.0], [35.0]]).ravel()
    print(f"{name}: incomes from 25 to 35 get {high - low:.2f} of the range")

# %%
# The same network behind either: sixteen hidden units, eight seeds. After each pass over the data its fit is
# compared with the step itself, without noise.

N_PASSES, N_SEEDS = 60, 8
grid = np.linspace(*np.quantile(income, [0.001, 0.999]), 500).reshape(-1, 1)
truth = benefit(grid.ravel())
errors = {name: np.empty((N_SEEDS, N_PASSES)) for name in ways}
fits = {name: np.empty((N_SEEDS, len(grid))) for name in ways}
for name, way in ways.items():
    scaler = StandardScaler().fit(way.transform(income))
    column, column_of_grid = (scaler.transform(way.transform(values)) for values in (income, grid))
    for seed in range(N_SEEDS):
        network = MLPRegressor(hidden_layer_sizes=(16,), learning_rate_init=0.01, random_state=seed)
        for number in range(N_PASSES):
            fits[name][seed] = network.partial_fit(column, y).predict(column_of_grid)
            errors[name][seed, number] = np.sqrt(np.mean((fits[name][seed] - truth) ** 2))
    last = errors[name][:, -1]
    print(f"{name}: error {last.mean():.3f} ± {last.std():.3f} (mean and spread over seeds)")

# %%
# Left, where incomes go. Then the fits after the last pass, and the error after each.

colors = {"min-max": "#E69F00", "stretch": "#0072B2"}
figure, axes = plt.subplots(1, 4, figsize=(16, 4), layout="constrained")
first, *middle, last = axes
passes = np.arange(1, N_PASSES + 1)
for axis, name in zip(middle, ways, strict=True):
    color = colors[name]
    first.plot(grid, ways[name].transform(grid), color=color, linewidth=2, label=name)
    axis.plot(income, y, ".", color="lightgrey", markersize=2, zorder=0)
    axis.plot(grid, fits[name].T, color=color, linewidth=1, label=["networks, eight seeds"] + [None] * 7)
    axis.plot(grid, truth, "--", color="black", linewidth=1.5, label="truth")
    axis.set(
        title=f"networks behind {name}", xlabel="income", ylabel="benefit", xlim=(0, 145), ylim=(-0.8, 3.5)
    )
    axis.legend(loc="upper right")
    mean, spread = errors[name].mean(axis=0), errors[name].std(axis=0)
    last.plot(passes, mean, color=color, linewidth=2, label=name)
    last.fill_between(passes, mean - spread, mean + spread, color=color, alpha=0.25, linewidth=0)
first.axvline(30, color="grey", linestyle=":", label="threshold")
first.set(title="the maps", xlabel="income", ylabel="output")
first.legend()
last.set(
    title="error: mean and spread over seeds", xlabel="passes over the data", ylabel="error", ylim=(0, 1)
)
last.legend()
plt.show()

# %%
# Behind the stretch, which gave the threshold several times the room, the same network followed the step more
# closely after every pass but the first few.
