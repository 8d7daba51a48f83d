"""
A layer that learns on
======================

``StretchLayer`` is a fitted stretch as the first layer of a PyTorch network: raw columns go in. With
``learnable=True`` the widths of its bins are parameters. They begin at the fitted stretch and move with the
rest of the network.
"""

# %%
# One column, and a target that rises steeply in one place. The stretch is fitted without the target, so that
# there is something left to find.

import matplotlib.pyplot as plt
import numpy as np
import torch

from tabstretch import StretchTransformer
from tabstretch.torch import StretchLayer

N_BINS, N_STEPS, N_SEEDS = 16, 150, 5
rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 1))
truth = np.tanh(12 * (X[:, 0] - 0.8))
y = truth + 0.2 * rng.normal(size=len(X))
train, test = slice(0, 600), slice(600, None)
stretch = StretchTransformer(N_BINS, value_weight=0, feature_range=(-2, 2)).fit(X[train])
inputs, targets = (torch.tensor(values, dtype=torch.float32) for values in (X, y))

# %%
# An ordinary training loop. Widths get steps of their own size; all the rest is the same for both networks,
# the first weights included.


def trained(learnable, seed):
    """Train a network; return it with its test errors, measured against the target without noise."""
    torch.manual_seed(seed)
    layers = [torch.nn.Linear(1, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)]
    network = torch.nn.Sequential(StretchLayer.from_estimator(stretch, learnable=learnable), *layers)
    widths = {"params": list(network[0].parameters()), "lr": 0.05}
    others = {"params": list(network[1:].parameters()), "lr": 0.02}
    optimizer = torch.optim.Adam([others, widths] if learnable else [others])
    errors = []
    for _ in range(N_STEPS):
        optimizer.zero_grad()
        loss = torch.mean((network(inputs[train]).squeeze(1) - targets[train]) ** 2)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            predicted = network(inputs[test]).squeeze(1).numpy()
        errors.append(np.sqrt(np.mean((predicted - truth[test]) ** 2)))
    return network, errors


runs = {
    name: [trained(learnable, seed) for seed in range(N_SEEDS)]
    for name, learnable in {"fixed": False, "learnable": True}.items()
}
for name, seeds in runs.items():
    last = [errors[-1] for _, errors in seeds]
    print(f"{name:<10} error {np.mean(last):.3f} ± {np.std(last):.3f} (mean and spread over {N_SEEDS} seeds)")

# %%
# ``layer.maps()`` gives the maps as they are now. Left, the test error during training; in the middle, the map
# before and after, of all seeds; right, the widths of its bins.

styles = {"fixed": ("black", "--"), "learnable": ("#0072B2", "-")}
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
for name, seeds in runs.items():
    color, style = styles[name]
    errors = np.array([errors for _, errors in seeds])
    mean, spread = errors.mean(axis=0), errors.std(axis=0)
    steps = np.arange(1, N_STEPS + 1)
    left.plot(steps, mean, style, color=color, linewidth=2, label=name)
    left.fill_between(steps, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
    maps = [network[0].maps()[0] for network, _ in seeds]
    for number, map_ in enumerate(maps):
        middle.plot(map_.edges, map_.values, style, color=color, label=name if number == 0 else None)
    widths = np.mean([np.diff(map_.values) for map_ in maps], axis=0)
    right.stairs(widths / 4, np.arange(N_BINS + 1), color=color, linestyle=style, linewidth=2, label=name)
left.set(title="test error: mean and spread over seeds", xlabel="step", ylabel="error", ylim=(0, None))
middle.axvline(0.8, color="grey", linestyle=":", label="where the target rises")
middle.set(title="the map after training, five seeds", xlabel="column", ylabel="stretched column")
rises = np.searchsorted(stretch.bin_edges_[0], 0.8) - 0.5
right.axvline(rises, color="grey", linestyle=":", label="where the target rises")
right.set(title="mean width of the bins", xlabel="bin", ylabel="share of the range", ylim=(0, None))
for axis in (left, middle, right):
    axis.legend()
plt.show()

# %%
# LAST
