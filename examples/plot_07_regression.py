"""
A number as the answer: linear leaves
=====================================

A tree that answers a number may have a constant in each leaf, or a linear model. With models
in the leaves the tests look for the bends of the target, and few leaves do.
"""

# %%
# A target with a bend: it falls with `x` until 4 and rises afterwards, and depends on
# `z`.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from omnitree import OmniTreeRegressor, TreeRegressor

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0, 10, (300, 2)), columns=["x", "z"])
y = 2 * np.abs(X["x"] - 4) + 0.3 * X["z"] + rng.normal(0, 0.4, 300)

constant = TreeRegressor(max_leaves=12, random_state=0).fit(X, y)
model = OmniTreeRegressor(random_state=0).fit(X, y)
print(f"constants: {constant.tree_.n_leaves} leaves")
print(f"OmniTreeRegressor chose: {model.kind_}, {model.tree_.n_leaves} leaves")

# %%
# The tree as text: the bend, and the slopes on its two sides.

print(model.describe())

# %%
# The predictions of both along `x`, with `z` in the middle of its range.

line = pd.DataFrame({"x": np.linspace(0, 10, 400), "z": 5.0})
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.scatter(X["x"], y, s=8, color="0.7")
ax.plot(line["x"], constant.predict(line), label="constants")
ax.plot(line["x"], model.predict(line), label="linear leaves")
ax.set(xlabel="x", ylabel="target")
ax.legend()

# %%
# The rows as the first test sees them, and an explanation with a goal: what would have
# to change for a prediction above 10?

model.plot_node(0, X, y)
print(model.explain(X.iloc[0], goal="above 10"))
