"""Analytic cuts of all columns at once against one column after another."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import node_of
from tests.naive_analytic import best_column
from tests.tables import random_sample

from omnitree import TreeClassifier, presets
from omnitree._core.univariate.cuts import count_sides
from omnitree.data.table import Table
from omnitree.learners import Analytic
from omnitree.parts.grouping import GROUPINGS
from omnitree.parts.merit import MERITS
from omnitree.parts.threshold import THRESHOLDS


def without_ties(rng, sample):
    """The same table with noise on numbers and weights, which excludes exact ties."""
    values = sample.values.copy()
    for j, feature in enumerate(sample.table.schema.features):
        if not feature.is_categorical and np.nanstd(values[:, j]) > 0:
            values[:, j] += rng.normal(scale=0.01, size=len(values))
    sample.table = Table(values, sample.table.schema)
    sample.weight = sample.weight + rng.random(len(sample.weight))
    return sample


@pytest.mark.parametrize("grouping", list(GROUPINGS))
@pytest.mark.parametrize("threshold", list(THRESHOLDS))
def test_same_as_column_by_column(rng, grouping, threshold):
    """Rounding decides in a few tables, where a filled missing value lies on a cut."""
    parts = THRESHOLDS[threshold](), MERITS["gain"]()
    tests = agreed = 0
    for _ in range(30):
        size = {"n": int(rng.integers(8, 40)), "k": int(rng.integers(2, 6))}
        sample = random_sample(rng, missing_share=rng.choice([0.0, 0.2]), **size)
        node = node_of(without_ties(rng, sample))
        ours = Analytic(grouping, threshold).fit(node, rng)
        best = best_column(node.linear, grouping, *parts)
        if best is None or ours is None:
            assert best is ours is None
            continue
        j, cut, merit = best
        feature, category = (a[j] for a in sample.table.schema.linear_columns())
        tests += 1
        if ours.feature != feature or ours.merit != pytest.approx(merit, rel=1e-9):
            continue
        if category < 0:
            scaling = node.linear.scaling
            expected = cut * scaling.std[j] + scaling.mean[j]
            assert ours.threshold == pytest.approx(expected, rel=1e-9, abs=1e-9)
        else:
            assert ours.branch[category] == 1
        agreed += 1
    assert tests > 15 and agreed >= 0.9 * tests


def test_count_sides(rng):
    for _ in range(200):
        n, p, k = (int(i) for i in rng.integers(1, (40, 5, 5)))
        x = rng.integers(-3, 4, size=(n, p)).astype(float)
        x = x if rng.random() < 0.5 else np.asfortranarray(x)
        y = rng.integers(k, size=n).astype(np.int32)
        weight = rng.integers(1, 9, size=n) / 4
        column = np.flatnonzero(rng.random(p) < 0.7)
        size = rng.integers(1, 40, size=len(column))
        start = np.concatenate([[0], np.cumsum(size)])
        cuts = [np.sort(rng.integers(-8, 9, size=m) / 2) for m in size]
        counts = np.empty((start[-1], 2, k))
        flat = np.concatenate([*cuts, []])
        count_sides(x, column, start, flat, y, weight, counts)
        for j, own, begin in zip(column, cuts, start, strict=False):
            for c, cut in enumerate(own):
                above = x[:, j] > cut
                for b, side in enumerate((~above, above)):
                    expected = np.bincount(y[side], weight[side], minlength=k)
                    np.testing.assert_array_equal(counts[begin + c, b], expected)


def test_cut_of_a_constant_column_with_missing_is_no_test(rng):
    """The mean of equal cells is rounded: filled cells must not look different."""
    x = np.full(216, 0.7)
    x[rng.random(216) < 0.3] = np.nan
    X = np.column_stack([x, rng.normal(size=216)])
    X[0, 0] = 3.0  # so that the column is not constant in the whole table
    y = np.isnan(x).astype(int)
    root = TreeClassifier(learner=Analytic(threshold="equal_variance")).fit(X, y)
    for node in np.flatnonzero(root.tree_.kind):
        test = root.tree_.split(node)
        assert test.feature == 1 or abs(test.threshold - 0.7) > 1e-9


def colours(rng, n=90):
    colour = rng.choice(["red", "green", "blue"], size=n)
    y = np.select([colour == "red", colour == "green"], ["a", "b"], "c")
    size = rng.normal(size=n).astype(object)
    return np.column_stack([colour.astype(object), size]), y


def test_multiway_categories(rng):
    X, y = colours(rng)
    clf = TreeClassifier(learner=Analytic(categories="multiway")).fit(X, y)
    assert clf.tree_.node_kinds()["multiway"] == 1
    assert clf.tree_.n_leaves == 3 and clf.score(X, y) == 1
    columns = TreeClassifier(learner=Analytic()).fit(X, y)
    assert columns.tree_.node_kinds()["subset"] == 2 and columns.score(X, y) == 1


def test_multiway_fills_a_missing_with_the_most_frequent_category(rng):
    X, y = colours(rng)
    X[y == "a", 0] = np.where(rng.random((y == "a").sum()) < 0.2, None, "red")
    X[:3, 0], y[:3] = None, "b"
    names, count = np.unique([s for s in X[:, 0] if s], return_counts=True)
    clf = presets.make("ldt-u2", categories="multiway", pruning=None, max_depth=1)
    split = clf.fit(X, y).tree_.split(0)
    assert split.kind == "multiway"
    assert split.missing == count.argmax() and names[count.argmax()] in X[:, 0]


def test_multiway_and_numbers_compete(rng):
    X, y = colours(rng)
    X[:, 1] = np.select([y == "a", y == "b"], [0.0, 5.0], 10.0) + rng.normal(
        scale=0.1, size=len(y)
    )
    X[:, 0] = rng.permutation(X[:, 0])
    clf = TreeClassifier(learner=Analytic(categories="multiway")).fit(X, y)
    assert clf.tree_.split(0).kind == "axis"


def test_unknown_way_with_categories():
    clf = TreeClassifier(learner=Analytic(categories="multi"))
    with pytest.raises(ValueError, match="did you mean 'multiway'"):
        clf.fit([[1], [2]], [0, 1])
