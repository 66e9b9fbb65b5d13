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
# The weights belong to features in different units, so their sizes say little. With
# ``standardised=True`` each is the weight of the feature in units of its standard
# deviation: now the largest one counts most. Long sums show their largest terms;
# ``full=True`` shows all.

print(clf.describe(standardised=True))

# %%
# What the test sees of the training rows: where the classes lie along the sum, and the
# cut.

clf.plot_node(0, X, y)

# %%
# For one tumour, what each feature adds to the sum and how far it is from the other
# side. The last line is the smallest change of a few features that gives another
# answer, checked by predicting it.

print(clf.explain(X.iloc[20]))

# %%
# A sum of thirty terms that hang together is hard to defend. ``max_features_per_test``
# asks for tests that can be read.

short = presets.make("ldt", max_features_per_test=3, random_state=0).fit(X, y)
print(short.describe())

# %%
# What does that cost? Both, on rows they have not seen:

for name, tree in (("all features", clf), ("three", short)):
    print(f"{name:12} {1 - cross_val_score(tree, X, y, cv=10).mean():.1%} wrong")
