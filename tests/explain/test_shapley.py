"""Shapley values: equal to the definition, on every kind of test."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from tests import curved
from tests.tables import random_sample
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree import OmniTreeRegressor, TreeClassifier, presets
from omnitree.data.table import Table
from omnitree.explain.shapley import MOST_FEATURES, shapley_values
from omnitree.export.model import Model
from omnitree.tree.splits import SPLITS


def by_definition(answer, row, background):
    """Shapley values from all subsets of features; `answer` takes a table of rows."""
    d = len(row)
    subsets = [s for n in range(d + 1) for s in combinations(range(d), n)]
    mixed = np.tile(background, (len(subsets), 1, 1))
    for m, subset in enumerate(subsets):
        mixed[m][:, list(subset)] = row[list(subset)]
    answers = answer(mixed.reshape(-1, d)).reshape(len(subsets), len(background), -1)
    worth = dict(zip(subsets, answers.mean(axis=1), strict=True))
    out = np.zeros((d, answers.shape[-1]))
    for subset in subsets[:-1]:
        weight = factorial(len(subset)) * factorial(d - len(subset) - 1)
        for j in set(range(d)) - set(subset):
            larger = tuple(sorted((*subset, j)))
            out[j] += weight / factorial(d) * (worth[larger] - worth[subset])
    return out


def check(clf, rows, background):
    """The values of a fitted estimator are those of the definition, and add up."""
    outputs = clf._node_outputs()

    def answer(values):
        return clf.tree_.predict_value(Table(values, clf.tree_.schema), outputs)

    found = clf.shapley_values(rows, background)
    cells, others = clf._encode(rows).values, clf._encode(background).values
    values = found.values.reshape(*found.values.shape[:2], -1)
    for i, row in enumerate(cells):
        expected = by_definition(answer, row, others)
        np.testing.assert_allclose(values[i], expected, atol=1e-9 * abs(expected).max())
    total = values.sum(axis=1) + found.base_values.reshape(len(cells), -1)
    np.testing.assert_allclose(total, answer(cells), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", SPLITS)
def test_every_kind_of_test(kind, rng):
    tree = random_tree(rng, (kind, "axis"), n_inner=6)
    values = random_rows(rng, 12)  # some cells are missing
    model = Model(tree.to_dict())

    def answer(cells):
        return tree.predict_value(Table(cells, SCHEMA), tree.class_shares)

    found = shapley_values(model, values[:3], values[3:])
    for i in range(3):
        expected = by_definition(answer, values[i], values[3:])
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
@pytest.mark.parametrize("leaves", ["majority", "logistic"])
def test_missing_values_and_leaf_models(missing, leaves, rng):
    sample = random_sample(rng, n=120, d=4, k=3, missing_share=0.2)
    clf = TreeClassifier(leaves=leaves, missing=missing, max_depth=3, random_state=0)
    clf.fit(sample.frame, sample.y)
    check(clf, sample.frame[:4], sample.frame[4:12])


@pytest.mark.parametrize("background", [1, 7])
def test_baseline_and_many_rows(background):
    X, y = load_iris(return_X_y=True, as_frame=True)
    for preset in ("cart", "ldt", "lmdt"):
        clf = presets.make(preset, random_state=0, pruning=None).fit(X, y)
        check(clf, X[::50], X[5 : 150 : 145 // background][:background])


def test_curves():
    X, y = curved.iris()
    clf = curved.curved_tree(X, y, one_sum=False)
    check(clf, X[40:160:60], X[:3])


def test_numbers():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    clf = OmniTreeRegressor(random_state=0).fit(X, y)
    found = clf.shapley_values(X[:2], X[100:104])
    assert found.values.shape == (2, 10) and found.base_values.shape == (2,)
    assert found.feature_names == list(X.columns)
    check(clf, X[:2], X[100:102])


def test_fifteen_features_in_one_test(rng):
    d = MOST_FEATURES
    X = pd.DataFrame(rng.normal(size=(200, d)), columns=[f"x{j}" for j in range(d)])
    y = np.where(X @ rng.normal(size=d) > 0, "a", "b")
    clf = presets.make("ldt", random_state=0, pruning=None, max_leaves=2).fit(X, y)
    assert len(clf.tree_.to_dict()["nodes"][0]["test"]["columns"]) == d
    outputs = clf._node_outputs()
    cells = X.to_numpy()
    found = clf.shapley_values(X[:1], X[1:2])
    # The definition over 2^15 subsets, by their bits.
    bits = (np.arange(1 << d)[:, None] >> np.arange(d)) & 1 == 1
    mixed = np.where(bits, cells[0], cells[1])
    worth = clf.tree_.predict_value(Table(mixed, clf.tree_.schema), outputs)
    size = bits.sum(axis=1)
    weight = np.array([factorial(s) * factorial(d - s - 1) for s in range(d)])
    weight = weight / factorial(d)
    for j in range(d):
        without = np.flatnonzero(~bits[:, j])
        gain = worth[without | (1 << j)] - worth[without]
        expected = weight[size[without]] @ gain
        np.testing.assert_allclose(found.values[0, j], expected, atol=1e-10)


def test_refuses(rng):
    X = rng.normal(size=(300, MOST_FEATURES + 1))
    y = X @ rng.normal(size=X.shape[1]) > 0
    clf = presets.make("ldt", random_state=0, pruning=None).fit(X, y)
    with pytest.raises(ValueError, match=r"node 0 looks at 16 features.*at most 15"):
        clf.shapley_values(X[:1], X[1:2])
    same = X[:1].copy()
    same[0, 3] += 1.0  # only one feature differs
    assert clf.shapley_values(same, X[:1]).values.shape == (1, 16, 2)
    with pytest.raises(ValueError, match="minimum of 1"):
        clf.shapley_values(X[:1], X[:0])
