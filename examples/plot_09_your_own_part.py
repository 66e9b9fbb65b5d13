"""
Extending omnitree with a part of your own
==========================================

Every part of a tree is a small class, and a new one works as soon as it is written: wherever
a name is taken, an object is taken, too. Here is a new split learner, one that draws random
directions and keeps the best.
"""

# %%
# A learner gets a node and gives back a fitted test, or ``None`` to leave the node a
# leaf. ``node.view("linear")`` holds the node's rows as a matrix: categories as columns
# of +1 and -1, missing values filled in. A merit scores tables of counts, branches times
# classes, many at once. Constructor arguments are the whole state of a part, so that
# ``clone`` and ``GridSearchCV`` know it; what is random comes from ``rng``.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score

from omnitree import TreeClassifier
from omnitree.growing.learner import SplitLearner
from omnitree.growing.part import number
from omnitree.parts.merit import MERITS
from omnitree.parts.threshold import Exhaustive
from omnitree.parts.threshold.base import Projected


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
        rows, merit = node.view("linear"), MERITS.resolve(self.merit)
        n = int(number("n", self.n, 1))
        directions = rng.normal(size=(rows.n_columns, n))
        # The learner puts no classes into groups: all are on one side.
        everything = np.ones((n, rows.n_classes), dtype=bool)
        projected = Projected(rows, rows.project(directions), everything)
        cuts = Exhaustive().find(projected, merit)
        if np.isnan(cuts).all():
            return None
        scores = np.where(np.isnan(cuts), -np.inf, merit(projected.counts(cuts)))
        best = int(scores.argmax())
        weights = directions[:, best]
        # The projection is that of the rows around their mean.
        threshold = float(cuts[best] + rows.mean @ weights)
        return rows.split(weights, threshold, float(scores[best]))


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
# A line in the registry of its folder (``learners/__init__.py``) would give it a name,
# for ``learner="random_directions"``, for ``omnitree parts`` and for saved models, and
# would put it through the tests that all learners pass. :doc:`../contributing` shows
# the same for a merit, a pruning and a preset.
