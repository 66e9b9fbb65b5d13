"""
Reading an oblique tree
=======================

A test on many features is a sum of weights times values, compared with a threshold. Four
views make it readable: the weights in units of deviation, the rows as the test sees them,
the contributions of one row, and fewer features.
"""

# %%
# A linear discriminant tree on measurements of breast tumours.

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from omnitree import presets

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
clf = presets.make("ldt", random_state=0).fit(X, y)
print(clf.describe())

# %%
# The features have different units, so the sizes of their weights say little. With
# ``standardised=True`` each weight is that of the feature in units of its standard
# deviation, and the largest weight has the largest effect. Long sums show their largest
# terms; ``full=True`` shows all.

print(clf.describe(standardised=True))

# %%
# The training rows as the test sees them: the distribution of each class along the sum,
# and the cut.

clf.plot_node(0, X, y)

# %%
# For one tumour: the contribution of each feature to the sum, and the distance to the
# other branch. The last line is the smallest change to a few features that gives another
# prediction.

print(clf.explain(X.iloc[20]))

# %%
# A sum of thirty correlated terms is hard to interpret. ``max_features_per_test`` limits
# the number of features per test.

short = presets.make("ldt", max_features_per_test=3, random_state=0).fit(X, y)
print(short.describe())

# %%
# How much accuracy does that cost? Both trees on new rows:

for name, tree in (("all features", clf), ("three", short)):
    print(f"{name:12} {1 - cross_val_score(tree, X, y, cv=10).mean():.1%} wrong")
