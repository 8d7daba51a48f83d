"""
What was fitted: a table and a picture
======================================

Both transformers tell what they found, as a table with a row for each column. ``StretchDisplay`` draws one
column: the target along it, the map, and the target along the stretched column.
"""

# %%
# Disease progression of 442 patients, ten columns in their own units.

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from tabstretch import StretchDisplay, StretchTransformer, SupervisedStretchTransformer

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)

# %%
# Without the target, there is little to tell: how many bins ties have left.

plain = StretchTransformer().fit(X)
print(plain.summary()["n_bins"].to_string())

# %%
# With the target: how far its estimate moves along each column, how smooth it has become, and which columns
# showed no more than noise would.

supervised = SupervisedStretchTransformer(target_type="continuous").fit(X, y)
table = supervised.summary()
print(table[["total_variation", "energy_before", "energy_after", "shrinkage"]].round(3).to_string())
print(table["fallback"].dropna().to_string())

# %%
# The body mass index, with few bins so that each can be seen. The band shows how much patients differ.

few_bins = SupervisedStretchTransformer(n_bins=8, target_type="continuous").fit(X, y)
StretchDisplay.from_estimator(few_bins, X, y, feature="bmi")
plt.show()

# %%
# The predicted progression rises fastest at an index between 25 and 28, and there the map is steepest.
