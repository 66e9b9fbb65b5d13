"""
Extending omnitree with a part of your own
==========================================

Every part of a tree is a small class, and a new one works as soon as it is written: wherever
a name is taken, an object is taken, too. Here is a new split learner, one that draws random
directions and keeps the best.
"""

# %%
# A learner gets a node and gives back a fitted test, or ``None`` to leave the node a
# leaf. ``node.columns`` holds the node's rows as a matrix: categories as columns of +1 and
# -1, missing values filled in. ``node.project`` weights these columns, ``best_cut`` finds
# the best place to cut the sums, and ``node.split_at`` makes a test of it. Constructor
# arguments are the whole state of a part, so that ``clone`` and ``GridSearchCV`` know it;
# what is random comes from ``rng``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score

from omnitree import TreeClassifier
from omnitree.growing.learner import SplitLearner
from omnitree.parts.merit import MERITS
from omnitree.parts.threshold import best_cut


class RandomDirections(SplitLearner):
    """The best of some random directions, each cut at its best.

    Parameters
    ----------
    n : int, default=30
        How many directions are tried.
    merit : str or Merit, default="gain"
    """

    def __init__(self, n=30, merit="gain"):
        self.n = n
        self.merit = merit

    def fit(self, node, rng):
        """Best of the random tests for one node."""
        merit, best = MERITS.resolve(self.merit), None
        for w in rng.normal(size=(self.n, node.columns.shape[1])):
            cut = best_cut(node, node.project(w), merit)
            if cut is not None and (best is None or cut[1] > best.merit):
                best = node.split_at(w, *cut)
        return best


# %%
# That is all: growing, missing values, pruning, descriptions, plots and exports work as for
# every other tree.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.iloc[:, :6], np.where(y, "benign", "malignant")
clf = TreeClassifier(learner=RandomDirections(), max_leaves=4, random_state=0)
print(clf.fit(X, y).describe())

# %%
# It is searched over like any other part, and can be compared with them.

search = GridSearchCV(clf, {"learner__n": [3, 30]}, cv=3).fit(X, y)
print("best:", search.best_params_)
for learner in ("univariate", RandomDirections(), "linear"):
    tree = TreeClassifier(learner=learner, max_leaves=4, random_state=0)
    error = 1 - cross_val_score(tree, X, y, cv=3).mean()
    print(f"{getattr(learner, 'label', learner)}: {error:.1%} wrong")

# %%
# What it draws between two features: oblique lines, found by chance.

two = X[["mean radius", "mean texture"]]
figure, axis = plt.subplots(figsize=(5.5, 4), layout="constrained")
clf.fit(two, y).plot_boundary(two, y, ax=axis)
plt.show()

# %%
# ``omnitree.register("learner", "random_directions", RandomDirections)`` gives it a name,
# for ``learner="random_directions"`` and for ``omnitree parts``; a package can do this by an
# entry point. Models with it save and load. :doc:`../contributing` shows a merit, a pruning,
# a new kind of test and a preset.
