"""Products in leaves: when there are some, where they answer, and that none runs away."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman3
from sklearn.linear_model import Ridge
from tests.samples import sample_of

from omnitree import OmniTreeRegressor, load, save
from omnitree.growing.growth import Growth
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Rules
from omnitree.growing.stopping import Limits
from omnitree.learners import LEARNERS
from omnitree.parts.leaves import AdditiveLeaves
from omnitree.parts.leaves.leaf_sums import LeafSums
from omnitree.parts.leaves.products import Inside, Search, one_leaf, with_products
from omnitree.tree.splits import AdditiveSplit


def times(rng, n):
    """What one number adds depends on another."""
    X = rng.uniform(-2, 2, size=(n, 4))
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=n)


def boxes(tree):
    """The nodes whose test is whether products hold."""
    inner = np.flatnonzero(tree.n_children > 0).tolist()
    return [at for at in inner if isinstance(tree.split(at), AdditiveSplit)]


def inside(X, y, **options):
    sample = sample_of(X, y, **options)
    rows = np.arange(len(sample))
    return sample, Inside.of(sample, rows, sample.weight, AdditiveLeaves((1.0,)), 0)


def test_products_are_found_where_there_are_some(rng):
    X, y = times(rng, 300)
    new, truth = times(rng, 1000)
    reg = OmniTreeRegressor(random_state=0).fit(X, y)
    (root,) = boxes(reg.tree_)
    assert root == 0 and reg.tree_.n_leaves == 2
    assert reg.kind_ == "additive with products"
    first = int(reg.tree_.first_child[0])
    pairs = {pair for pair in reg.tree_.model(first).terms if pair[1] >= 0}
    assert (0, 1) in pairs and len(pairs) <= 3  # of six
    assert all(a != b for a, b in pairs)
    assert reg.score(new, truth) > 0.85
    assert "x0*x1" in reg.describe()


def test_hardly_any_where_there_are_none(rng):
    def is_found(n):
        X = rng.normal(size=(n, 4))
        y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=n)
        return bool(boxes(OmniTreeRegressor(random_state=0).fit(X, y).tree_))

    assert sum(is_found(n) for n in rng.integers(50, 300, size=40)) <= 3
    X = rng.normal(size=(200, 4))
    assert not boxes(OmniTreeRegressor(random_state=0).fit(X, X[:, 2] * 3).tree_)


def test_noise_hardly_ever_gets_products(rng):
    found = [
        inside(rng.normal(size=(n, 4)), rng.normal(size=n))[1] is not None
        for n in rng.integers(60, 200, size=100)
    ]
    assert sum(found) <= 3


def test_answers_are_those_of_ridge_regression_where_products_hold(rng):
    """With all products, in the columns that the model has."""
    X, y = times(rng, 200)
    weight = rng.uniform(0.5, 2, 200)
    sample = sample_of(X, y, weight)
    standard = sample.standardised.with_products(sample.table.schema)
    rows = np.arange(200)
    scatter = LeafSums.of(sample, rows, weight, standard, 0)
    search = Search(standard, scatter, 1.0, np.array([0.01]), None)
    for scale in (0.1, 1.0):
        found = search.fit(search.products, scale)
        x = standard.take(rows, scatter.fill) * np.where(
            standard.scaling.blocks == 2, scale, 1.0
        )
        naive = Ridge(alpha=0.01 * weight.sum(), tol=1e-10).fit(x, y, weight)
        answers = y - found.residual
        assert answers == pytest.approx(naive.predict(x), abs=1e-8)
    # Each row's residual while it is left out is that of a fit without it.
    for at in (0, 7, 150):
        rest = np.arange(200) != at
        mean = np.average(x, axis=0, weights=weight)
        alone = Ridge(alpha=0.01 * weight.sum(), tol=1e-10)
        alone.fit(x[rest] - mean, y[rest], weight[rest])
        expected = y[at] - alone.predict(x[[at]] - mean)[0]
        assert found.left_out[at] == pytest.approx(expected, abs=2e-2)


def test_only_some_products_have_weights(rng):
    X, y = times(rng, 200)
    sample = sample_of(X, y)
    standard = sample.standardised.with_products(sample.table.schema)
    scatter = LeafSums.of(sample, np.arange(200), sample.weight, standard, 0)
    search = Search(standard, scatter, 1.0, np.array([0.01]), None)
    kept = search.products[[1, 4]]
    weights = search.fit(kept, 1.0).weights
    assert set(np.flatnonzero(weights[search.products])) == {1, 4}
    assert np.count_nonzero(weights) == 4 + 2


def test_the_model_answers_as_it_was_fitted(rng):
    X, y = times(rng, 300)
    X[::11, 3] = np.nan
    reg = OmniTreeRegressor(random_state=0).fit(X, y)
    (root,) = boxes(reg.tree_)
    answers, leaf = reg.predict(X), reg.apply(X)
    first = int(reg.tree_.first_child[root])
    within = leaf == first
    assert within.all()
    # A row that is far beyond all others of a factor is not within.
    far = np.median(X[:, :3], axis=0)
    far = np.append(far, 0.0) + np.zeros((4, 4))
    for j, low in ((0, True), (1, False)):
        second, before = np.sort(X[:, j])[[1, -2]]
        edge = 0.05 * (before - second)
        far[2 * j, j] = second - 0.99 * edge if low else before + 0.99 * edge
        far[2 * j + 1, j] = second - 1.01 * edge if low else before + 1.01 * edge
    assert (reg.apply(far) == first).tolist() == [True, False] * 2
    far[:, :2] = np.nan
    assert (reg.apply(far) == first).all()
    lost = (y - answers) ** 2
    tree = reg.tree_
    assert tree.loss[first] == pytest.approx(lost.sum())
    assert tree.loss[first] < 0.3 * tree.loss[root]
    # Nobody is beyond: such a leaf has what it would have without products.
    assert tree.loss[first + 1] == 0 and tree.constant[first + 1] == tree.constant[root]
    assert tree.model(first + 1) == tree.model(root)


def test_several_leaves_may_have_products():
    X, y = make_friedman3(2000, noise=0.1, random_state=0)
    reg = OmniTreeRegressor(random_state=0).fit(X, y)
    tree, leaf = reg.tree_, reg.apply(X)
    found = boxes(tree)
    assert len(found) >= 2 and 0 not in found
    lost = (y - reg.predict(X)) ** 2
    leaves = np.flatnonzero(tree.n_children == 0)
    sums = np.bincount(leaf, lost, minlength=tree.n_nodes)
    assert tree.loss[leaves] == pytest.approx(sums[leaves])
    for at in found:
        first = int(tree.first_child[at])
        assert (leaf == first).sum() > 9 * (leaf == first + 1).sum()
        assert tree.model(first).terms and not tree.model(first + 1).terms
        assert tree.model(first + 1) == tree.model(at)


def test_no_answer_runs_away(rng):
    X, y = times(rng, 300)
    reg = OmniTreeRegressor(random_state=0).fit(X, y)
    assert boxes(reg.tree_)
    far = rng.choice([-1e9, -50.0, 0.0, 50.0, 1e9, np.nan], size=(2000, 4))
    spread = y.max() - y.min()
    answers = reg.predict(far)
    assert answers.min() > y.min() - spread and answers.max() < y.max() + spread


def test_categories_may_be_factors(rng):
    n = 400
    frame = pd.DataFrame({"kind": rng.choice(["a", "b"], n), "x": rng.normal(size=n)})
    frame["z"] = rng.normal(size=n)
    frame["kind"] = frame["kind"].astype("category")
    sign = np.where(frame["kind"] == "a", 1.0, -1.0)
    y = sign * frame["x"] + frame["z"] + 0.2 * rng.normal(size=n)
    reg = OmniTreeRegressor(random_state=0).fit(frame, y)
    assert reg.score(frame, y) > 0.9
    words = reg.describe()
    # Either the tree divides the rows by the category, or a product says it.
    assert "kind = " in words


def test_limits_of_size_are_kept(rng):
    X, y = times(rng, 300)
    for limit in ({"max_leaves": 1}, {"max_depth": 0}):
        tree = OmniTreeRegressor(random_state=0, **limit).fit(X, y).tree_
        assert tree.n_leaves == 1
    two = OmniTreeRegressor(random_state=0, max_leaves=2, max_depth=1).fit(X, y).tree_
    assert two.n_leaves <= 2 and two.depths.max() <= 1


def test_time_that_is_up_leaves_the_tree(rng):
    X, y = times(rng, 300)
    sample = sample_of(X, y)
    rules = Rules(MISSING.resolve("mean"), leaves=AdditiveLeaves((1.0,)))
    tree = one_leaf(Growth(LEARNERS.resolve("univariate"), rules), sample)
    assert boxes(with_products(tree, sample, rules.leaves, rules))
    late = Rules(rules.missing, Limits(deadline=0.0), leaves=rules.leaves)
    assert with_products(tree, sample, rules.leaves, late) is tree


def test_groups_are_left_out_together(rng):
    """Rows of one group are alike: what only tells groups apart is nothing."""
    X, y = times(rng, 300)
    groups = np.repeat(np.arange(60), 5)
    assert inside(X, y, groups=groups)[1] is not None
    found = {True: 0, False: 0}
    for _ in range(10):
        own = np.repeat(rng.normal(size=(60, 4)), 5, axis=0)
        y = rng.normal(size=60)[groups] + 0.01 * rng.normal(size=300)
        for known in found:
            more = {"groups": groups} if known else {}
            found[known] += inside(own, y, **more)[1] is not None
    assert 2 * found[True] < found[False]


def test_too_many_columns_or_too_few_rows(rng):
    X = rng.normal(size=(500, 25))  # 350 with products
    assert inside(X, X[:, 0] * X[:, 1])[1] is None
    X = rng.normal(size=(20, 4))
    assert inside(X, X[:, 0] * X[:, 1])[1] is None


def test_saved_explained_and_exported(rng, tmp_path):
    X, y = times(rng, 250)
    X[::13, 1] = np.nan
    frame = pd.DataFrame(X, columns=["speed", "load", "angle", "other"])
    reg = OmniTreeRegressor(random_state=0).fit(frame, y)
    assert boxes(reg.tree_)
    save(reg, tmp_path / "model.json")
    new = pd.DataFrame(rng.normal(scale=3, size=(200, 4)), columns=frame.columns)
    new.iloc[::7, 0] = np.nan
    expected = reg.predict(new)
    assert np.array_equal(load(tmp_path / "model.json").predict(new), expected)
    explanation = reg.explain(frame.iloc[0])
    assert "load*speed" in str(explanation) or "speed*load" in str(explanation)
    scope: dict = {}
    exec(reg.export("python"), scope)
    out = [scope["predict"](row) for row in new.to_dict("records")]
    assert out == pytest.approx(expected.tolist(), abs=0)
    assert "product" not in StringIO(reg.describe()).getvalue().splitlines()[0]
