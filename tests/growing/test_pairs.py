"""Every missing-value policy with every pruning, refinement and learner.

The tests read the registries, so a new part is tried with all others by being registered.
Settings are quick ones: what is asked here holds for any settings.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from tests import naive

from omnitree import TreeClassifier, TreeRegressor
from omnitree.data.table import Table
from omnitree.growing.missing import MISSING
from omnitree.learners import (
    LEARNERS,
    OC1,
    Boosted,
    CaseBased,
    Functional,
    Multivariate,
    Network,
    Omnivariate,
    Softmax,
)
from omnitree.pruning import PRUNINGS, CostComplexity
from omnitree.refinement import REFINEMENTS, Contest, FeatureElimination
from omnitree.tree.tree import LEAF

N_ROWS = 120
QUICK = {
    "oc1": OC1(restarts=1, jumps=1),
    "boosted": Boosted(folds=2, max_steps=3),
    "case_based": CaseBased(precisions=(2.0,), folds=2, max_cases=12),
    "functional": Functional(steps=2),
    "multivariate": Multivariate(selection="sbe"),
    "network": Network(hidden=2, epochs=3),
    "omnivariate": Omnivariate(candidates=("univariate", "sparse")),
    "softmax": Softmax(penalties=(1.0,), folds=2),
}
QUICK_CHANGES = {
    "cost_complexity": CostComplexity(folds=2),
    "contest": Contest(
        (Boosted(folds=2, max_steps=2),),
        optimise="log_loss",
        folds=2,
        se=0.0,
        min_rows=20,
    ),
    "feature_elimination": FeatureElimination(ties=True),
}
# What cannot keep models in leaves, and what the error says.
REFUSED = {
    ("pruning", "information"): "not their models: choose another pruning, or leaves=",
    ("refinement", "contest"): "use it with leaves='majority'",
    ("refinement", "feature_elimination"): "choose leaves='majority'",
}
CHANGES = [("pruning", name) for name in PRUNINGS] + [
    ("refinement", name) for name in REFINEMENTS
]
NUMBER_LEARNERS = [n for n in LEARNERS if "regression" in LEARNERS[n].tasks]
NUMBER_PRUNINGS = [n for n in PRUNINGS if "regression" in PRUNINGS[n].tasks]


@cache
def rows():
    """Numbers, categories, missing values in all columns but one; weights average one."""
    rng = np.random.default_rng(5)
    signal = rng.integers(-8, 9, size=(N_ROWS, 3)) / 4
    colour = rng.choice(["red", "green", "blue"], size=N_ROWS)
    number = signal[:, 0] + signal[:, 1] * (colour == "red") + rng.normal(size=N_ROWS)
    X = pd.DataFrame(signal, columns=["a", "b", "c"]).assign(colour=colour)
    for column in ("a", "b", "colour"):
        X.loc[rng.random(N_ROWS) < 0.15, column] = None
    weight = np.tile([0.5, 1.5, 0.75, 1.25], N_ROWS // 4)
    return X, np.digitize(number, [-0.7, 0.9]), number, weight


def fitted(task, learner, missing, leaves=None, **changes):
    """An estimator, fitted; parts that need rows held out get some as a prune set."""
    X, classes, number, weight = rows()
    make = TreeClassifier if task == "classification" else TreeRegressor
    y = classes if task == "classification" else number
    registries = {"pruning": PRUNINGS, "refinement": REFINEMENTS}
    parts = {
        slot: QUICK_CHANGES.get(name) or registries[slot][name]()
        for slot, name in changes.items()
    }
    given = {}
    if any(part.needs_share for part in parts.values()):
        given["prune_set"] = X[::3], y[::3]
    learner = QUICK.get(learner, learner)
    if leaves is not None:
        parts["leaves"] = leaves
    model = make(learner, missing=missing, max_depth=3, random_state=0, **parts)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return model.fit(X, y, sample_weight=weight, **given)


@cache
def unpruned(task, learner, missing):
    return fitted(task, learner, missing)


def assert_counts_add_up(tree, total, rtol):
    """The children of a node have its rows, divided ones included."""
    np.testing.assert_allclose(tree.value[0].sum(), total, rtol=rtol)
    for node in np.flatnonzero(tree.kind != LEAF).tolist():
        first = tree.first_child[node]
        below = slice(first, first + tree.n_children[node])
        np.testing.assert_allclose(
            tree.value[below].sum(axis=0), tree.value[node], rtol=rtol, atol=1e-9
        )
        if tree.loss is not None and tree.models is None:
            assert tree.loss[below].sum() <= tree.loss[node] + 1e-9


def assert_answers_row_by_row(model):
    """Rows alone get what they get together and, without models, what the rule says."""
    tree, data = model.tree_, model.tree_.to_dict()
    table = model._encode(rows()[0][:4])
    nothing = np.full((1, table.n_features), np.nan)
    values = np.vstack([table.values, nothing])
    outputs = tree.outputs
    together = tree.predict_value(Table(values, table.schema), outputs)
    for row, answer in zip(values, together, strict=True):
        alone = tree.predict_value(Table(row[None], table.schema), outputs)[0]
        np.testing.assert_array_equal(alone, answer)
        if tree.models is None:
            shares = naive.leaf_shares(data, row.tolist())
            expected = sum(share * outputs[leaf] for leaf, share in shares.items())
            np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=1e-12)


def splits_by_path(tree):
    """The tests of a tree by the branches that lead to them."""
    at, found = {0: ()}, {}
    for node in range(tree.n_nodes):
        if tree.kind[node] != LEAF:
            found[at[node]] = tree.split(node)
            for branch in range(tree.n_children[node]):
                at[int(tree.first_child[node]) + branch] = (*at[node], branch)
    return found


def check(task, learner, missing, slot, name):
    model = fitted(task, learner, missing, **{slot: name})
    tree, plain = model.tree_, unpruned(task, learner, missing).tree_
    # A tie that is broken changes a count by a part in 10^9.
    assert_counts_add_up(tree, N_ROWS, 1e-8 if name == "unassigned_ties" else 1e-10)
    assert_answers_row_by_row(model)
    part = model.get_params(deep=False)[slot]
    if slot == "pruning":
        assert tree.n_leaves <= plain.n_leaves
        assert tree.depth <= plain.depth
    if part.only_cuts:
        before = splits_by_path(plain)
        for path, test in splits_by_path(tree).items():
            assert test == before[path]
    # One policy will do, the one that divides rows, and each part once.
    if missing == "fractional" and (
        slot == "refinement" or learner in ("univariate", "oc1")
    ):
        again = fitted(task, learner, missing, **{slot: name})
        assert again.export("json") == model.export("json")


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize("learner", list(LEARNERS))
def test_classes(learner, missing):
    model = unpruned("classification", learner, missing)
    assert_counts_add_up(model.tree_, N_ROWS, 1e-10)
    assert_answers_row_by_row(model)
    assert model.tree_.n_leaves > 1
    for slot, name in CHANGES:
        check("classification", learner, missing, slot, name)


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize("learner", NUMBER_LEARNERS)
def test_numbers(learner, missing):
    model = unpruned("regression", learner, missing)
    assert_counts_add_up(model.tree_, N_ROWS, 1e-10)
    assert_answers_row_by_row(model)
    assert model.tree_.n_leaves > 1
    for name in NUMBER_PRUNINGS:
        check("regression", learner, missing, "pruning", name)


@pytest.mark.parametrize("missing", list(MISSING))
def test_parts_for_classes_are_refused_for_numbers(missing):
    for slot, name in CHANGES:
        if name not in NUMBER_PRUNINGS:
            with pytest.raises(ValueError, match="is not for regression"):
                fitted("regression", "univariate", missing, **{slot: name})
    for learner in set(LEARNERS) - set(NUMBER_LEARNERS):
        with pytest.raises(ValueError, match="choose another learner"):
            fitted("regression", learner, missing)


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize(("slot", "name"), list(REFUSED))
def test_models_in_leaves_are_refused(slot, name, missing):
    with pytest.raises(ValueError, match=REFUSED[slot, name]):
        fitted(
            "classification", "univariate", missing, leaves="logistic", **{slot: name}
        )
