"""
A tree in five minutes
======================

Fit the default classifier, read the tree, explain a prediction, and save the model.
"""

# %%
# The table may have numbers, categories, booleans, dates and missing values; nothing
# needs to be encoded.
# Here are penguins of three species; 19 values are missing.

from tempfile import TemporaryDirectory

from sklearn.model_selection import train_test_split

from omnitree import OmniTreeClassifier, load, save
from omnitree.lab import data

penguins = data.load("penguins")
X, y = penguins.X, penguins.y
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=1 / 3, random_state=0, stratify=y
)
clf = OmniTreeClassifier(random_state=0).fit(X_train, y_train)
print(f"{clf.score(X_test, y_test):.1%} of new rows right")

# %%
# The tree as text. Each node is as complex as its data require; where several kinds of
# test were tried, a line says why this one was chosen.

print(clf.describe())

# %%
# And as a plot.

clf.plot()

# %%
# Why is this penguin assigned to its species, and what would change the prediction?

print(clf.explain(X_test.iloc[[7]]))

# %%
# Models are saved as JSON, without pickle. ``to_html`` writes the explorer: a page for the
# browser that works offline, to unfold the tree, follow rows and try values.

with TemporaryDirectory() as folder:
    save(clf, f"{folder}/model.json")
    page = clf.to_html(f"{folder}/tree.html", X_test, y_test)
    same = load(f"{folder}/model.json").predict(X_test) == clf.predict(X_test)
    print(same.all(), page.stat().st_size // 1000, "kB")
