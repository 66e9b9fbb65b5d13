"""CART's linear combinations and OC1: what they find, and what must not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests import naive_oblique
from tests.naive import gini
from tests.samples import root_of
from tests.tables import random_sample, random_weight

from omnitree import TreeClassifier, presets
from omnitree.data.table import learn_table
from omnitree.learners import OC1, CartLC, Univariate
from omnitree.learners.cart_lc import eliminate, robust_units, search
from omnitree.learners.oblique import Slope
from omnitree.parts.merit import Gini, Merit

LEARNERS = [OC1(), CartLC(), CartLC(beta=0), CartLC(merit="gain_ratio")]


def node_of(X, y, weight=None, missing="mean"):
    return root_of(X, np.unique(y, return_inverse=True)[1], weight, missing=missing)


def fit(learner, X, y, weight=None, **options):
    node = node_of(X, y, weight, **options)
    return learner.fit(node, np.random.default_rng(0)), node


def sides(learner, X, y, weight=None):
    split, node = fit(learner, X, y, weight)
    return split.route(node.sample.table, node.rows)


# -- both ----------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_separable_rows_are_separated(learner, rng):
    # CART's search has no way out of a local optimum, so only in the plane.
    for d in (2, 3, 5) if isinstance(learner, OC1) else (2, 2, 2):
        normal = rng.choice([-1.0, 1.0], size=d)
        X = rng.normal(size=(150, d))
        X = X[np.abs(X @ normal) > 0.5]
        y = (X @ normal > 0).astype(int)
        split, node = fit(learner, X, y)
        assert split.kind == "linear"
        branch = split.route(node.sample.table, node.rows)
        assert (branch == y).all() or (branch == 1 - y).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_l_problem(learner):
    """Two axis-parallel tests make an L. A greedy search starts with the diagonal, which
    divides better than either, and must still finish the rest."""
    X = np.array([[i, j] for i in range(8) for j in range(8)], dtype=float)
    y = ((X[:, 0] < 4) | (X[:, 1] < 4)).astype(int)
    clf = TreeClassifier(learner=learner, random_state=0).fit(X, y)
    assert clf.score(X, y) == 1
    assert clf.tree_.n_leaves <= 8


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_units_do_not_matter(learner, rng):
    for _ in range(5):
        X = rng.integers(-64, 64, size=(60, 3)) / 16
        y = (X @ [1, 2, -1] + rng.normal(size=60) > 0).astype(int)
        scale, shift = 2.0 ** rng.integers(-8, 8, size=3), rng.integers(-4, 4, size=3)
        one, two = sides(learner, X, y), sides(learner, (X + shift) * scale, y)
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_weights_are_repeats(learner, rng):
    for _ in range(5):
        X = rng.normal(size=(40, 3))
        y = (X @ [1, 2, -1] + rng.normal(size=40) > 0).astype(int)
        times = rng.integers(1, 4, size=40)
        rep = np.repeat(np.arange(40), times)
        weighted = sides(learner, X, y, times)
        np.testing.assert_array_equal(weighted[rep], sides(learner, X[rep], y[rep]))


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_nodes_with_little_in_them(learner):
    split, _ = fit(learner, [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert (split.kind, split.threshold) == ("axis", 2.5)
    # Two columns, one constant; a constant table; categories alone; one class complete.
    split, _ = fit(learner, [[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]], [0, 0, 1])
    assert (split.kind, split.threshold) == ("axis", 2.5)
    assert fit(learner, [[1.0, 7.0]] * 4, [0, 0, 1, 1])[0] is None
    split, _ = fit(learner, [["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])
    assert split.kind == "subset"
    X = [[1.0, 1.0], [2.0, 3.0], [np.nan, 5.0], [np.nan, 6.0]]
    split, node = fit(learner, X, [0, 0, 1, 1])
    assert split.route(node.sample.table, node.rows).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_any_table(learner, rng):
    """Missing values, categories, weights: a test that divides the rows, and its merit."""
    for _ in range(40):
        sample = random_sample(rng, n=40, missing_share=0.1)
        split, node = fit(learner, sample.frame, sample.y, sample.weight)
        if split is None:
            continue
        branch = split.route(node.sample.table, node.rows)
        branch = np.where(branch < 0, split.missing, branch)
        assert len(set(branch)) == 2
        if isinstance(learner, OC1):
            table = np.zeros((2, node.target.n_classes))
            np.add.at(table, (branch, node.y), node.weight)
            assert split.merit == pytest.approx(naive_oblique.twoing(table))


@pytest.mark.parametrize("learner", [OC1, CartLC])
def test_bad_parameters(learner):
    class Mine(Merit):
        def score(self, counts):
            return counts.sum(axis=(-2, -1))

    X, y = [[1.0, 1.0], [2.0, 5.0], [3.0, 4.0]], [0, 0, 1]
    with pytest.raises(ValueError, match="compiled merit, not Mine"):
        fit(learner(merit=Mine()), X, y)
    with pytest.raises(ValueError, match="unknown merit"):
        fit(learner(merit="gigi"), X, y)
    bad = {
        OC1: {"order": "rnd", "restarts": 0, "jumps": -1, "stagnation": None},
        CartLC: {"beta": 2, "epsilon": -1, "categories": "many"},
    }
    for name, value in bad[learner].items():
        with pytest.raises(ValueError, match=name):
            fit(
                learner(**{name: value}),
                [[1.0, 1.0], [2.0, 5.0], [3.0, 4.0]] * 3,
                y * 3,
            )


# -- OC1 -----------------------------------------------------------------------------


def test_oc1_needs_more_rows_than_twice_the_columns():
    X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [2.0, 1.0]], [0, 0, 1, 1]
    assert fit(OC1(), X, y)[0].kind == "axis"
    split, node = fit(OC1(), X, y, [1, 1, 1, 2])
    assert split.kind == "linear"
    assert split.route(node.sample.table, node.rows).tolist() in (
        [0, 0, 1, 1],
        [1, 1, 0, 0],
    )


def test_oc1_never_worse_than_its_starts(rng):
    for order in ("sequential", "best", "random"):
        for _ in range(5):
            X = rng.normal(size=(80, 4))
            y = rng.integers(0, 3, size=80)
            uni, _ = fit(Univariate(merit="twoing"), X, y)
            one, _ = fit(OC1(order=order, restarts=1, jumps=0), X, y)
            many, _ = fit(OC1(order=order, restarts=10, jumps=0), X, y)
            assert one.merit >= uni.merit - 1e-12
            assert many.merit >= one.merit - 1e-12


def test_oc1_category_moves_only_its_rows():
    """The XOR of two categories with a number: seen by a plane over 0/1 columns."""
    X = pd.DataFrame(
        [(a, b) for a in "xyz" for b in "pqr" for _ in range(5)], columns=["a", "b"]
    )
    y = (X.a == "x").astype(int) + (X.b == "p").astype(int) + (X.b == "q") > 1
    split, node = fit(OC1(), X, y)
    assert split.kind == "linear"
    assert (split.route(node.sample.table, node.rows) == y).all()


def test_oc1_axis_test_is_kept_where_no_plane_is_better():
    X = np.array([[i, j] for i in range(6) for j in range(6)], dtype=float)
    split, _ = fit(OC1(), X, (X[:, 1] > 2).astype(int))
    assert (split.kind, split.feature, split.threshold) == ("axis", 1, 2.5)


# -- CART ----------------------------------------------------------------------------


def random_slope(rng, n=40, p=4):
    x = rng.normal(size=(p, n))
    y = (np.arange(1, p + 1) @ x + rng.normal(size=n) > 0).astype(np.int32)
    return Slope(x, y, random_weight(rng, n), 2, Gini())


def test_cart_search_equals_naive(rng):
    for _ in range(20):
        slope = random_slope(rng, n=20, p=3)
        start = rng.normal(size=4)
        slow = naive_oblique.Climb(
            slope.columns.T,
            slope.y,
            slope.weight,
            2,
            gini,
            start,
            gammas=(-0.25, 0.0, 0.25),
            epsilon=1e-4,
        )
        best = slow.run()
        w = search(slope, start, 1e-4)
        assert slope.score(w) == pytest.approx(best)
        np.testing.assert_allclose(w[:-1], slow.w[:-1], rtol=1e-6)


def test_cart_elimination(rng):
    """Against the rule by hand: losses with the best threshold each, coefficients kept."""

    def best_cut(slope, values):
        ones = np.ones(len(values))
        found = naive_oblique.best_step(values, ones, slope.y, slope.weight, 2, gini)
        return found[1]

    gone = 0
    for beta in (0.0, 0.1, 0.2, 0.9):
        for _ in range(15):
            slope, w = random_slope(rng), np.append(rng.normal(size=4), 0.0)
            kept = list(range(4))
            now = best_cut(slope, w[:-1] @ slope.columns)
            while len(kept) > 1:
                merits = {
                    j: best_cut(
                        slope, sum(w[i] * slope.columns[i] for i in kept if i != j)
                    )
                    for j in kept
                }
                least = max(kept, key=lambda j, m=merits: m[j])
                if not now - merits[least] < beta * (now - min(merits.values())):
                    break
                kept.remove(least)
                now = merits[least]
                gone += 1
            found, left = eliminate(slope, w, beta)
            assert found.tolist() == kept
            np.testing.assert_array_equal(left[:-1], w[kept])
            assert slope.take(found).score(left) == pytest.approx(now)
    assert gone > 20


def test_cart_drops_what_does_not_help(rng):
    X = rng.normal(size=(300, 6))
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    split, _ = fit(CartLC(beta=0.2), X, y)
    assert sorted(split.columns) == [1, 4]


def test_cart_takes_the_better_of_linear_and_univariate(rng):
    for _ in range(20):
        sample = random_sample(rng, n=60, d=4, missing_share=0.1)
        learner = CartLC()
        split, _ = fit(learner, sample.frame, sample.y, missing="surrogate")
        uni, _ = fit(Univariate(), sample.frame, sample.y, missing="surrogate")
        assert split.merit >= uni.merit - 1e-12
        if split.kind != "linear":
            assert split == uni
        else:
            # Only numbers take part.
            category = learn_table(sample.frame).schema.linear_columns()[1]
            assert (category[list(split.columns)] < 0).all()


def test_cart_uses_complete_rows_only(rng):
    X = rng.normal(size=(200, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    X[:50, 0] = np.nan
    y[:50] = 1 - y[:50]  # rows that would mislead
    split, node = fit(CartLC(), X, y, missing="surrogate")
    assert split.kind == "linear"
    branch = split.route(node.sample.table, node.rows)
    assert (branch[50:] == y[50:]).all() or (branch[50:] == 1 - y[50:]).all()
    assert split.merit == pytest.approx(0.75 * gini(np.diag(np.bincount(y[50:]))))
    assert split.fill == pytest.approx(
        np.quantile(X[50:], 0.5, axis=0, method="inverted_cdf")[list(split.columns)]
    )


def test_robust_units(rng):
    x = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 9.0], [2.0, 2.0, 2.0, 2.0]])
    median, scale = robust_units(x, np.ones(4))
    assert median.tolist() == [2, 5, 2]
    assert scale.tolist() == [2, np.std(x[1]), 0]
    times = rng.integers(1, 5, size=4)
    repeated = robust_units(np.repeat(x, times, axis=1), np.ones(times.sum()))
    for one, two in zip(repeated, robust_units(x, times.astype(float)), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)


def test_cart_with_a_prune_set(rng):
    """Brodley & Utgoff's pruning: cost-complexity on rows kept apart."""
    from omnitree.pruning import CostComplexity

    X = rng.normal(size=(400, 3))
    y = (X @ [1, 1, 0] > 0) ^ (rng.random(400) < 0.15)
    clf = presets.make("cart-lc", pruning=CostComplexity(folds=0), beta=0.2)
    clf.fit(X[:200], y[:200], prune_set=(X[200:], y[200:]))
    whole = presets.make("cart-lc", pruning=None, beta=0.2).fit(X[:200], y[:200])
    assert clf.tree_.n_leaves < whole.tree_.n_leaves
    assert clf.tree_.node_kinds()["linear"] >= 1
