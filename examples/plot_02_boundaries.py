"""
Boundaries of univariate, linear, quadratic and omnivariate trees
=================================================================

The same rows, and what each kind of node can draw: steps, lines, curves, or whichever of
these the rows ask for.
"""

# %%
# Two classes meet along a slanted line on the left, and one lies in a ring of the other
# on the right.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from omnitree import OmniTreeClassifier, presets

rng = np.random.default_rng(0)
left = rng.uniform([-3, -2], [0, 2], (250, 2))
right = rng.uniform([1, -2], [5, 2], (250, 2))
inside = np.hypot(right[:, 0] - 3, right[:, 1]) < 1.3
X = np.vstack([left, right])
y = np.concatenate([left[:, 1] > 1.2 * left[:, 0] + 2, inside])
y = np.where(
    y ^ (rng.random(len(y)) < 0.03), "yes", "no"
)  # three in a hundred are wrong

# %%
# `uni`, `lin` and `qua` are the trees of Yıldız and Alpaydın with one kind of node. The
# default classifier starts with univariate cuts and replaces them by a line or a curve
# where that lowers the held-out error.

trees = {name: presets.make(name, random_state=0) for name in ("uni", "lin", "qua")}
trees["omni"] = OmniTreeClassifier(random_state=0)
figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
for (name, tree), ax in zip(trees.items(), axes.flat, strict=True):
    tree.fit(X, y).plot_boundary(X, y, ax=ax)
    kinds = [f"{n} {kind}" for kind, n in tree.tree_.node_kinds().items() if n]
    ax.set_title(f"{name}: {', '.join(kinds)}", fontsize=10)

# %%
# How many parameters does each tree have, and what is its error on new rows?

for name, tree in trees.items():
    error = 1 - cross_val_score(tree, X, y, cv=5).mean()
    print(f"{name:5} {tree.tree_.n_parameters:4} parameters, error {error:.1%}")
