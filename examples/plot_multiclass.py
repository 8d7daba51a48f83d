"""
Several classes
===============

With classes, what varies along a column is the vector of their probabilities. A column gets room wherever any
class takes over from another, and one map serves them all.
"""

# %%
# Three growers of wine, told apart by thirteen measurements. Labels may be of any kind; here they are text.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from tabstretch import StretchDisplay, SupervisedStretchTransformer

X, y = load_wine(return_X_y=True, as_frame=True)
grower = np.array(["first grower", "second grower", "third grower"])[y]
stretch = SupervisedStretchTransformer(n_bins=16, value_weight=0.5).fit(X, grower)
print(stretch.target_type_, stretch.classes_)
print(stretch.summary()[["total_variation", "energy_before", "energy_after"]].round(2).to_string())

# %%
# The colour of the wine: how the mean predicted probabilities change when only this column moves. A bin has
# the same colour in the three panels on the left.

StretchDisplay.from_estimator(stretch, X, grower, feature="color_intensity")
plt.show()

# %%
# The room went to the intensities around which the predicted probabilities change, for whichever of the three
# growers that was.
