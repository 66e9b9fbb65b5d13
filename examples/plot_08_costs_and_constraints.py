"""
Costs of errors, costs of tests, and rules a tree must keep
===========================================================

An answer is not only right or wrong: some errors cost more than others, some features are
dear to measure, and some ways of depending on a feature are absurd whatever the data say.
"""

# %%
# Tumours again. Suppose that missing a malignant one costs ten times as much as a false
# alarm: the tree then predicts the class with the lowest expected cost.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import cross_val_predict

from omnitree import OmniTreeClassifier, TreeClassifier
from omnitree.learners import Univariate

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
for costs in (None, [[0, 1], [10, 0]]):
    clf = TreeClassifier(pruning="cost_complexity", cost_matrix=costs, random_state=0)
    table = confusion_matrix(y, cross_val_predict(clf, X, y, cv=5))
    print(costs, "benign called malignant:", table[0, 1], "overlooked:", table[1, 0])

# %%
# The dearer an overlooked tumour, the fewer are overlooked, and the more false alarms there
# are: the choice is yours, and it is explicit.

prices = (1, 2, 5, 10, 20)
alarms, overlooked = [], []
for price in prices:
    costs = [[0, 1], [price, 0]]
    clf = TreeClassifier(pruning="cost_complexity", cost_matrix=costs, random_state=0)
    table = confusion_matrix(y, cross_val_predict(clf, X, y, cv=5))
    alarms.append(table[0, 1])
    overlooked.append(table[1, 0])
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.plot(prices, alarms, marker="o", label="false alarms")
axis.plot(prices, overlooked, marker="o", label="overlooked tumours")
axis.set(xscale="log", xlabel="cost of an overlooked tumour", ylabel="held-out rows")
axis.set_xticks(prices, [str(price) for price in prices])
axis.legend()
plt.show()

# %%
# ``feature_costs`` makes the tree prefer cheap features, and ``cost_weight`` says how
# strongly. Here every "worst" feature is twenty times as expensive as the others.

dear = {name: 20.0 if name.startswith("worst") else 1.0 for name in X.columns}
for weight in (0, 20):
    learner = Univariate(cost_weight=weight)
    clf = TreeClassifier(learner=learner, feature_costs=dear, max_leaves=5).fit(X, y)
    asked = X.columns[clf.feature_importances_ > 0].tolist()
    print(f"{sum(dear[name] for name in asked):g} for", ", ".join(asked))

# %%
# ``monotone`` excludes tests that would let the prediction fall where it must rise: a
# larger tumour must never be a reason to call it benign. ``interactions`` lists the groups
# of features that may occur together on one path. `OmniTreeClassifier` has both options too.

size = ["mean radius", "mean texture", "mean concavity"]
ruled = OmniTreeClassifier(
    monotone=dict.fromkeys(size, 1), interactions=[size], random_state=0
).fit(X[size], y == "malignant")
print(ruled.describe())

free = TreeClassifier(max_leaves=8).fit(X[size], y == "malignant")
learner = Univariate(monotone=dict.fromkeys(size, 1))
kept = TreeClassifier(learner=learner, max_leaves=8).fit(X[size], y == "malignant")
for name, clf in (("free", free), ("monotone", kept)):
    small, large = X[size].copy(), X[size].copy()
    large["mean radius"] += 5
    falls = clf.predict_proba(large)[:, 1] < clf.predict_proba(small)[:, 1] - 1e-9
    print(f"{name}: a larger radius lowers the risk of {falls.sum()} of {len(X)} rows")
