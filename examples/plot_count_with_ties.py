"""
Counts with ties
================

A count has few values and many ties, so that most quantiles are equal. Equal edges are merged: ``n_bins`` is
the most bins there can be, and ``n_bins_`` tells how many there are. Where each value has an edge of its own,
the stretch decides how far apart neighbouring counts are.
"""

# %%
# Complaints of four thousand customers. Some cancel whatever happens, many more after the first complaint,
# and those after it matter little.

import matplotlib.pyplot as plt
import numpy as np

from tabstretch import StretchTransformer, SupervisedStretchTransformer

rng = np.random.default_rng(0)
complaints = rng.poisson(1.5, size=4000)
cancels = rng.random(4000) < np.where(complaints == 0, 0.1, 0.5 + 0.02 * complaints)
X = complaints.reshape(-1, 1)

# %%
# However many bins are asked for, there is at most one between each count and the next. Few bins merge to
# fewer, since several quantiles fall on the same count.

for n_bins in (4, 8, 16, 64):
    stretch = StretchTransformer(n_bins).fit(X)
    edges = " ".join(f"{edge:.0f}" for edge in stretch.bin_edges_[0])
    print(f"n_bins={n_bins:<3} n_bins_={stretch.n_bins_[0]}  edges: {edges}")

# %%
# Three stretches, all with a bin from each count to the next. By rank alone all steps are the same, the
# target alone makes the first one large, and by default the target is weighed against the value.

stretches = {
    "rank alone": StretchTransformer(value_weight=0).fit(X),
    "target alone": SupervisedStretchTransformer(variation="within_fold", value_weight=0).fit(X, cancels),
    "target and value": SupervisedStretchTransformer(variation="within_fold").fit(X, cancels),
}

# %%
# Left, the data. Right, where the counts go; the first four have their number.

counts, customers = np.unique(complaints, return_counts=True)
share = [cancels[complaints == count].mean() for count in counts]
error = np.sqrt(np.multiply(share, np.subtract(1, share)) / customers)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
left.bar(counts, customers, color="#E69F00")
left.set(title="customers", xlabel="complaints", ylabel="customers")
many = customers >= 30  # the share of fewer says little
middle.errorbar(counts[many], np.array(share)[many], 2 * error[many], fmt="o-", color="black", capsize=4)
middle.set(title="share that cancels, ± 2 standard errors", xlabel="complaints", ylabel="share", ylim=(0, 1))
for place, stretch in enumerate(stretches.values()):
    values = stretch.transform(counts.reshape(-1, 1)).ravel()
    right.plot(values, np.full(len(values), place), "|-", markersize=22, color="#0072B2")
    for count, value in zip(counts[:4], values[:4], strict=True):
        right.text(value, place + 0.17, count, ha="center")
right.set(title="where the counts go", xlabel="output", ylim=(-0.5, 2.5))
right.set_yticks(range(len(stretches)), stretches)
plt.show()

# %%
# Sixty-four bins became one for each step between counts, and the step from no complaint to the first, where
# the target jumps, got most of the room when the target decided.
