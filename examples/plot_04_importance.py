"""
Which features matter, and at which level
=========================================

`plot_importance` divides the importance of every feature by the level of the tree at which
it is tested: near the root it decides for many rows, further down it refines.
"""

# %%
# Wines from three growers, classified by C4.5, which tests one feature at a time ...

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from omnitree import presets

data = load_wine(as_frame=True)
X, y = data.data, data.target_names[data.target]
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for ax, name in zip(axes, ("c4.5", "lmdt"), strict=True):
    clf = presets.make(name, random_state=0).fit(X, y)
    clf.plot_importance(ax=ax, max_features=8)
    ax.set_title(f"{name}: {clf.tree_.n_leaves} leaves")

# %%
# ... and by a linear machine decision tree, which combines several: each feature gets a
# share by weight times standard deviation among the rows of the node. The values are those
# of ``feature_importances_``, as in scikit-learn.

shares = dict(zip(X.columns, clf.feature_importances_.round(3).tolist(), strict=True))
print({name: share for name, share in shares.items() if share})
