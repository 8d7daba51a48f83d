"""
Several outputs
===============

One network often predicts several numbers, and each may change in a different part of a column. The stretch
takes them as one vector: its map leaves room wherever any of them changes.
"""

# %%
# The yield of a process rises at a temperature of 20, its cost at 80. Their units differ: every output is
# standardised, so that neither counts more for being measured in larger numbers.

import matplotlib.pyplot as plt
import numpy as np

from tabstretch import SupervisedStretchTransformer

rng = np.random.default_rng(0)
temperature = rng.uniform(0, 100, size=(3000, 1))
output = np.tanh((temperature[:, 0] - 20) / 3)
cost = 1000 * np.tanh((temperature[:, 0] - 80) / 3)
Y = np.column_stack([output, cost]) + [0.2, 200] * rng.normal(size=(3000, 2))

# %%
# One stretch for each output, and one for both.

stretch = SupervisedStretchTransformer(n_bins=32, variation="within_fold", value_weight=0.5)
targets = {"yield": Y[:, 0], "cost": Y[:, 1], "both": Y}
grid = np.linspace(0, 100, 400).reshape(-1, 1)
curves, room = {}, {}
for name, target in targets.items():
    stretch.fit(temperature, target)
    curves[name] = stretch.transform(grid).ravel()
    places = stretch.transform([[10.0], [30.0], [70.0], [90.0]]).ravel()
    room[name] = places[1] - places[0], places[3] - places[2]
    print(f"stretched for {name:<6} 10 to 30 gets {room[name][0]:.2f}, 70 to 90 gets {room[name][1]:.2f}")

# %%
# Left, what is to be learned. Right, the three maps.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
styles = {"yield": ("#0072B2", "--"), "cost": ("#E69F00", "-."), "both": ("black", "-")}
for name, values in {"yield": np.tanh((grid - 20) / 3), "cost": np.tanh((grid - 80) / 3)}.items():
    color, style = styles[name]
    left.plot(grid, values, style, color=color, linewidth=2, label=name)
left.set(title="the outputs without noise, each scaled", xlabel="temperature", ylabel="output")
left.legend()
for name, curve in curves.items():
    color, style = styles[name]
    right.plot(grid, curve, style, color=color, linewidth=2, label=f"stretched for {name}")
right.set(title="the maps", xlabel="temperature", ylabel="stretched temperature")
right.legend()
plt.show()

# %%
# Stretched for one output, the map was steep where this one changes; stretched for both, it was steep in both
# places, and less so in each.
