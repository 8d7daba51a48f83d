"""
A layer that learns on
======================

``StretchLayer`` is a fitted stretch as the first layer of a PyTorch network: raw columns go in. With
``learnable=True`` the widths of its bins are parameters. They begin at the fitted stretch and move with the
rest of the network.
"""

# %%
# One column, and a target that rises steeply at 0.8. Every seed draws data and first weights of its own.

import matplotlib.pyplot as plt
import numpy as np
import torch

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch.torch import StretchLayer

N_BINS, N_STEPS, N_SEEDS = 16, 100, 5


def rise(x):
    return np.tanh(12 * (x - 0.8))


def drawn(seed):
    """Return rows to learn from, and others to test on whose target has no noise."""
    rng = np.random.default_rng(seed)
    X, X_test = rng.normal(size=(600, 1)), rng.normal(size=(600, 1))
    columns = X, rise(X) + 0.2 * rng.normal(size=X.shape), X_test, rise(X_test)
    return [torch.tensor(column, dtype=torch.float32) for column in columns]


# %%
# The layer that learns begins at a stretch that has not seen the target, so that there is something to find.
# The same stretch stays fixed in a second network; a third has a fixed one that has seen the target.

options = {"value_weight": 0, "feature_range": (-2, 2)}
blind = StretchTransformer(N_BINS, **options)
supervised = SupervisedStretchTransformer(N_BINS, variation="within_fold", **options)
kinds = {
    "blind, fixed": (blind, False),
    "supervised, fixed": (supervised, False),
    "blind, learnable": (blind, True),
}

# %%
# An ordinary training loop. Widths get steps of their own size; all the rest is the same.


def trained(stretch, learnable, seed):
    """Train a network; return the map of its first layer and the test error after each step."""
    X, y, X_test, y_test = drawn(seed)
    stretch.fit(X.numpy(), y.numpy().ravel())
    torch.manual_seed(seed)
    layers = [torch.nn.Linear(1, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)]
    network = torch.nn.Sequential(StretchLayer.from_estimator(stretch, learnable=learnable), *layers)
    groups = [{"params": list(network[1:].parameters()), "lr": 0.02}]
    if learnable:
        groups.append({"params": list(network[0].parameters()), "lr": 0.05})
    optimizer = torch.optim.Adam(groups)
    errors = []
    for _ in range(N_STEPS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(network(X), y).backward()
        optimizer.step()
        with torch.no_grad():
            errors.append(torch.nn.functional.mse_loss(network(X_test), y_test).sqrt().item())
    return network[0].maps()[0], errors


runs = {name: [trained(*kind, seed) for seed in range(N_SEEDS)] for name, kind in kinds.items()}
for name, seeds in runs.items():
    last = [errors[-1] for _, errors in seeds]
    print(f"{name:<18} error {np.mean(last):.3f} ± {np.std(last):.3f} (mean and spread over seeds)")

# %%
# Left, the test error during training. In the middle, the maps after training, one for each seed. Right, the
# mean widths of the bins, which hold equally many rows.

styles = {"blind, fixed": ("#E69F00", ":"), "supervised, fixed": ("black", "--")}
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
steps = np.arange(1, N_STEPS + 1)
for name, seeds in runs.items():
    color, style = styles.get(name, ("#0072B2", "-"))
    errors = np.array([errors for _, errors in seeds])
    mean, spread = errors.mean(axis=0), errors.std(axis=0)
    left.plot(steps, mean, style, color=color, linewidth=2, label=name)
    left.fill_between(steps, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
    for seed, (map_, _) in enumerate(seeds):
        middle.plot(map_.edges, map_.values, style, color=color, label=name if seed == 0 else None)
    widths = np.mean([np.diff(map_.values) for map_, _ in seeds], axis=0) / 4
    right.stairs(widths, np.arange(N_BINS + 1), color=color, linestyle=style, linewidth=2, label=name)
left.set(title="test error: mean and spread over seeds", xlabel="step", ylabel="error", ylim=(0, None))
middle.axvline(0.8, color="grey", linewidth=1, label="the target rises")
middle.set(title="the maps after training", xlabel="column", ylabel="stretched column")
right.set(title="mean widths of the bins", xlabel="bin", ylabel="share of the range", ylim=(0, None))
for axis in (left, middle, right):
    axis.legend()
plt.show()

# %%
# The widths that could move went to where the target rises, and their networks came closest to it, ahead of
# the supervised stretch that stays fixed; the fixed one that is blind came last.
