"""
Curves: what each value of a feature adds
=========================================

A line cannot say that a feature matters only in its middle, or that more of it stops
helping. An additive test adds up curves of single features instead. Words tell the range and
the effect of each feature; pictures show the whole curve with the rows under it.
"""

# %%
# Wines from three growers. Some cells are missing: a curve has a value of its own for them.

import numpy as np
from sklearn.datasets import load_wine

from omnitree import TreeClassifier
from omnitree.learners import Softmax

data = load_wine(as_frame=True)
X, y = data.data.iloc[:, [0, 6, 9, 12]], data.target_names[data.target]
X = X.mask(np.random.default_rng(0).random(X.shape) < 0.05)

clf = TreeClassifier(Softmax("curves"), max_depth=1, random_state=0).fit(X, y)
print(clf.describe())

# %%
# One panel per feature, the largest effect first. A diamond is the value for missing cells.

clf.plot_node(0, X, y)

# %%
# For one wine: what each feature adds to the lead of its class, and what would change it.

print(clf.explain(X.iloc[70]))

# %%
# Beyond the first and the last knot a curve stays as it is, so a value far away from the
# training rows cannot run away with the answer.

far = X.iloc[[70]].assign(proline=1e9)
print(clf.predict_proba(X.iloc[[70]].assign(proline=1700.0)), clf.predict_proba(far))
