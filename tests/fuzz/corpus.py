"""Sound models to begin with: every kind of test, both tasks, models in leaves that leaves
share or shift, costs.

Random trees have every registered kind; every preset and estimator is fitted to a small
table with numbers, categories, dates and missing values. A kind or preset that is
registered later is here by itself. Tables whose classes jump give models of steps, alone
and in sums; one whose classes lie in patches gives cases.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
from tests.learners.test_case_based import board
from tests.learners.test_steps import stairs
from tests.trees import UNIVARIATE, calibrated_tree, random_tree, shifted_tree

from omnitree import (
    OmniTreeClassifier,
    OmniTreeRegressor,
    TreeClassifier,
    TreeRegressor,
    presets,
)
from omnitree.learners import CaseBased, Univariate
from omnitree.parts.leaves import LEAVES
from omnitree.tree.splits import SPLITS

# Rows, seed and classes of tables for which models of steps are chosen.
STAIRS = {
    "steps": (150, 1, 3),
    "steps, two classes": (300, 2, 2),
    "curves and steps": (300, 4, 3),
    "products and steps": (150, 3, 3),
    "tree and steps": (400, 2, 3),
}


def small_table(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories, an ordered column, truth values, dates; some cells missing."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n).round(2)
    colour = rng.choice(["red", "green", "blue"], n)
    y = (size > 0).astype(int) + (colour == "red")
    frame = pd.DataFrame(
        {
            "size": size,
            "weight": (rng.normal(size=n) + y).round(2),
            "colour": colour,
            "grade": pd.Categorical(rng.choice(list("SML"), n), list("SML"), True),
            "old": rng.random(n) < 0.5,
            "sold": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    for name in ("size", "colour", "sold"):
        frame.loc[rng.choice(n, 4, replace=False), name] = None
    return frame, y


def random_models() -> dict[str, Any]:
    """Estimators around random trees, with every registered kind of test."""
    rng = np.random.default_rng(0)
    trees = {f"random {kind}": random_tree(rng, (kind,), 3) for kind in SPLITS}
    trees["random all"] = random_tree(rng, tuple(SPLITS), 6, models=0.5)
    several = tuple(kind for kind in SPLITS if kind not in UNIVARIATE)
    trees["random calibrated"] = calibrated_tree(rng, several, n_inner=4)
    trees["random shifted"] = shifted_tree(rng, n_inner=4)
    trees["random shifted, two models"] = shifted_tree(rng, ("axis",), 2, n_inner=5)
    out = {}
    for name, tree in trees.items():
        out[name] = TreeClassifier()
        out[name]._set_fitted(tree, np.array(tree.classes))
    return out


def fitted_models(every: bool = True) -> dict[str, Any]:
    """Fitted estimators: all presets, or those that differ most."""
    X, y = small_table()
    labels = np.array(["a", "b", "c"])[y]
    numbers = X["weight"].to_numpy() * 2 + y
    chosen = presets.names() if every else ["c4.5", "lmt", "lmdt", "id-mlp", "qtree"]
    classifiers: dict[str, Any] = {name: presets.make(name) for name in chosen}
    classifiers |= {
        "omni": OmniTreeClassifier(),
        "costs": TreeClassifier(
            cost_matrix=[[0, 1, 2], [3, 0, 1], [1, 1, 0]], smoothing="laplace"
        ),
        "weights": TreeClassifier(class_weight={"a": 1, "b": 2.5, "c": 1}),
        "feature costs": OmniTreeClassifier(feature_costs={"size": 0.5}),
        "surrogates": TreeClassifier(missing="surrogate"),
    }
    regressors: dict[str, Any] = {
        f"numbers, {name} leaves": TreeRegressor(leaves=name, max_leaves=5)
        for name, leaves in LEAVES.items()
        if "regression" in leaves.tasks
    }
    regressors["omni numbers"] = OmniTreeRegressor()
    limited = Univariate(
        monotone={"size": 1}, interactions=[["size", "colour"], ["weight"]]
    )
    regressors["constraints"] = TreeRegressor(limited, max_leaves=5)
    column, small = X[["weight"]].to_numpy(), y.astype(np.int8)
    out = {"arrays": TreeClassifier(max_leaves=4).fit(column, small)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for models, target in ((classifiers, labels), (regressors, numbers)):
            for name, model in models.items():
                out[name] = model.set_params(random_state=0).fit(X, target)
    return out


def step_models() -> dict[str, Any]:
    """Curves that jump, alone and in sums with curves, products and a tree."""
    out = {}
    for name, (n, seed, k) in STAIRS.items():
        X, y = stairs(n, seed, k)
        out[name] = OmniTreeClassifier(random_state=0).fit(X, np.array(list("abc"))[y])
    return out


def case_models() -> dict[str, Any]:
    """A test of cases, whose leaves answer by its sums; few, so that files stay small."""
    X, y = board(200, seed=0)
    tree = TreeClassifier(CaseBased(max_cases=20), max_depth=1, random_state=0)
    return {"cases": tree.fit(X, y)}


def product_models() -> dict[str, Any]:
    """Leaves for numbers whose models have products, within what rows have shown."""
    X, y = small_table(150)
    numbers = (X["size"] * X["weight"]).fillna(0.0) + y
    columns = ["size", "weight", "colour"]
    return {"products": OmniTreeRegressor(random_state=0).fit(X[columns], numbers)}


def documents(every: bool = True) -> dict[str, Any]:
    """Model files, parsed, by name."""
    models = random_models() | fitted_models(every) | step_models()
    models |= case_models() | product_models()
    return {name: json.loads(model.export("json")) for name, model in models.items()}
