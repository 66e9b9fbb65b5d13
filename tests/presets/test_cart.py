"""CART against scikit-learn, and its own features: sets of categories and surrogates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests import naive
from tests.tables import random_sample

from omnitree import presets

CRITERIA = {
    "gini": ("gini", naive.gini),
    "gain": ("entropy", naive.gain),
    "entropy": ("entropy", naive.gain),
}


def quantised(rng, n, d):
    """Numbers that float32, which scikit-learn uses, holds exactly; some columns coarse."""
    X = np.round(rng.normal(size=(n, d)) * 2**18) / 2**20
    coarse = rng.random(d) < 0.4
    X[:, coarse] = np.round(X[:, coarse] * 8) / 8
    return X


def assert_same_partition(ours, theirs, X, y, weight, merit):
    """The same rows in the same leaves, but below exact ties.

    Both trees are walked together. Where they divide the rows of a node differently, both
    tests must have the same merit; what lies below cannot be compared.
    """

    def worth(left, rows):
        table = np.zeros((2, y.max() + 1))
        for side, part in enumerate((rows[left], rows[~left])):
            table[side] = np.bincount(
                y[part], weights=weight[part], minlength=table.shape[1]
            )
        return merit(table)

    compared = 0
    stack = [(0, 0, np.arange(len(y)))]
    while stack:
        a, b, rows = stack.pop()
        leaf = theirs.children_left[b] < 0
        if ours.kind[a] == 0 or leaf:
            # scikit-learn goes on in a pure node if rounding leaves it some impurity.
            assert (ours.kind[a] == 0) == leaf or len(set(y[rows])) == 1
            continue
        split = ours.split(a)
        left_a = X[rows, split.feature] <= split.threshold
        left_b = X[rows, theirs.feature[b]] <= theirs.threshold[b]
        if (left_a == left_b).all():
            compared += 1
            first = int(ours.first_child[a])
            stack.append((first, theirs.children_left[b], rows[left_a]))
            stack.append((first + 1, theirs.children_right[b], rows[~left_a]))
        else:
            assert worth(left_a, rows) == pytest.approx(worth(left_b, rows), abs=1e-9)
    return compared


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("merit", list(CRITERIA))
def test_same_partition_as_sklearn(merit, weighted, rng):
    criterion, by_hand = CRITERIA[merit]
    compared = 0
    for _ in range(60):
        n, d, k = rng.integers(5, 150), rng.integers(1, 6), rng.integers(2, 5)
        X = quantised(rng, n, d)
        y = np.digitize(
            X[:, 0] + 0.2 * rng.normal(size=n), np.linspace(-0.2, 0.2, k - 1)
        )
        y[:k] = np.arange(k)
        weight = rng.integers(1, 5, size=n) if weighted else np.ones(n)
        weight = weight * (
            1 + (rng.random(n) if rng.random() < 0.5 and weighted else 0)
        )
        ours = presets.make("cart", merit=merit, pruning=None)
        ours.fit(X, y, sample_weight=weight)
        theirs = DecisionTreeClassifier(criterion=criterion, random_state=0)
        theirs.fit(X, y, sample_weight=weight)
        compared += assert_same_partition(
            ours.tree_, theirs.tree_, X, y, weight, by_hand
        )
    assert compared > 500


def without_ties(rng, merit, n=400):
    """Both trees on noisy data; small nodes, which could have ties, are avoided."""
    while True:
        X = quantised(rng, n, 5)
        y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.2)
        y = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), y)
        weight = 1 + rng.random(n)
        ours = presets.make("cart", merit=merit, pruning=None, max_depth=3)
        ours.fit(X, y, sample_weight=weight)
        tree = ours.tree_
        if tree.value.sum(axis=1)[tree.kind != 0].min() > 40:
            break
    theirs = DecisionTreeClassifier(
        criterion=CRITERIA[merit][0], max_depth=3, random_state=0
    )
    return ours, theirs.fit(X, y, sample_weight=weight)


def test_importances_equal_sklearn(rng):
    for _ in range(10):
        ours, theirs = without_ties(rng, "gini")
        np.testing.assert_allclose(
            ours.feature_importances_, theirs.feature_importances_, atol=1e-9
        )
        assert ours.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("merit", ["gini", "entropy"])
def test_predictions_equal_sklearn(merit, rng):
    for _ in range(5):
        ours, theirs = without_ties(rng, merit)
        new = quantised(rng, 2000, 5)
        np.testing.assert_allclose(
            ours.predict_proba(new), theirs.predict_proba(new), atol=1e-12
        )


def test_two_sets_of_categories():
    letters = list("abcdefgh") * 10
    y = [c in "bdg" for c in letters]
    frame = pd.DataFrame({"letter": letters})
    clf = presets.make("cart", pruning=None).fit(frame, y)
    assert clf.tree_.n_leaves == 2
    assert clf.tree_.node_kinds()["subset"] == 1
    assert clf.score(frame, y) == 1


def test_surrogates_stand_in():
    """A copy of the tested column decides if its value is missing; its mirror, turned."""
    rng = np.random.default_rng(0)
    a = rng.permutation(200) / 200
    X = np.column_stack([a, a + 1, -a])
    y = (a > 0.5).astype(int)
    X[rng.random(200) < 0.3, 0] = np.nan
    X[rng.random(200) < 0.3, 1] = np.nan
    clf = presets.make("cart", pruning=None).fit(X, y)
    assert clf.score(X, y) == 1
    first = clf.tree_.split(0)
    assert first.surrogates
    for j in range(3):
        lonely = np.full((2, 3), np.nan)
        lonely[:, j] = [[0.1, 0.9], [1.1, 1.9], [-0.1, -0.9]][j]
        assert clf.predict(lonely).tolist() == [0, 1]
    nothing = np.full((1, 3), np.nan)
    larger = int(clf.tree_.value[2].sum() > clf.tree_.value[1].sum())
    assert clf.tree_.missing[0] == larger
    assert clf.predict(nothing) == [clf.tree_.value[1 + larger].argmax()]


def test_surrogates_agree_better_than_the_majority(rng):
    """Every surrogate, on the rows that it and its main test know."""
    seen = 0
    for _ in range(30):
        sample = random_sample(rng, n=60, d=4, missing_share=0.2, weight="one")
        clf = presets.make("cart", pruning=None).fit(sample.frame, sample.y)
        tree = clf.tree_.to_dict()

        def branches(holder, rows, values=sample.values, schema=tree["schema"]):
            kind, test = holder["kind"], holder["test"]
            return [naive.branch_of(kind, test, values[r], schema) for r in rows]

        rows = {0: list(range(60))}
        for node in tree["nodes"]:
            if node["kind"] == "leaf":
                continue
            here = rows[node["id"]]
            for row in here:
                b = naive.branch_at(node, sample.values[row], tree["schema"])
                rows.setdefault(node["children"][b], []).append(row)
            main = branches(node, here)
            for other in node.get("surrogates", []):
                assert other["test"]["feature"] != node["test"]["feature"]
                both = zip(main, branches(other, here), strict=True)
                known = [(m, s) for m, s in both if m >= 0 and s >= 0]
                agree = sum(m == s for m, s in known)
                majority = max(sum(m == b for m, _ in known) for b in (0, 1))
                assert agree > majority
                seen += 1
    assert seen > 50
