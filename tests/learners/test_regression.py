"""Learners for a numeric target find what was planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from tests.samples import root_of

from omnitree import TreeRegressor
from omnitree.growing.stopping import Stopping
from omnitree.learners import Linear, Omnivariate, Univariate, numeric_cuts
from omnitree.learners.numeric_linear import without_rounding
from omnitree.parts.leaves import AdditiveLeaves
from omnitree.pruning import CostComplexity, InformationPruning


def root(learner, X, y, **options):
    return TreeRegressor(learner, max_depth=1, **options).fit(X, y).tree_.split(0)


def direction(split, d):
    out = np.zeros(d)
    out[list(split.columns)] = split.weights
    return out / np.linalg.norm(out)


def test_linear_finds_a_step(rng):
    X = rng.normal(size=(400, 4))
    w = np.array([3.0, 4.0, 0.0, 0.0]) / 5
    y = 2.0 * (X @ w > 0.3) + 0.05 * rng.normal(size=400)
    split = root(Linear(), X, y)
    assert abs(direction(split, 4) @ w) > 0.98
    sparse = root(Linear(max_features_per_test=2), X, y)
    assert set(sparse.columns) == {0, 1}


def test_hinge_finds_a_fold(rng):
    """A target that is linear on both sides and bends at an oblique plane."""
    X = rng.uniform(-1, 1, size=(600, 3))
    w = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    y = X[:, 2] + 6 * np.maximum(X @ w - 0.1, 0.0) + 0.02 * rng.normal(size=600)
    learner = Linear(groups="hinge", min_branch=10)
    split = root(learner, X, y, leaves="ridge")
    found = direction(split, 3)
    assert abs(found @ w) > 0.97
    means = root(Univariate(min_branch=10), X, y, leaves="ridge")
    assert split.merit > means.merit


def test_hinge_looks_at_few_features(rng):
    """Without a fold the gradient is the direction, and it has weights of all columns."""
    X = rng.normal(size=(200, 3))
    y = X.sum(axis=1)
    learner = Linear(groups="hinge", max_features_per_test=2)
    assert len(root(learner, X, y).columns) == 2


def test_ridge_leaves_find_a_bend(rng):
    """Both sides of 0 have the same mean; only linear models tell them apart."""
    X = rng.uniform(-1, 1, size=(400, 2))
    y = np.abs(X[:, 0]) + 0.02 * rng.normal(size=400)
    split = root(Univariate(min_branch=10), X, y, leaves="ridge")
    assert split.feature == 0
    assert abs(split.threshold) < 0.1


def test_few_features_are_searched_in_full(rng, monkeypatch):
    """Those that matter are among them: a bend, an interaction, a category."""
    X = pd.DataFrame(rng.normal(size=(600, 12)), columns=[f"x{i}" for i in range(12)])
    X["kind"] = pd.Categorical(rng.choice(list("abc"), 600))
    slope = rng.normal(size=12)
    noise = 0.2 * rng.normal(size=600)
    targets = {
        "x3": 3 * np.abs(X["x3"] - 0.4),
        "x5": np.where(X["x5"] > 0, 2.0, -2.0) * X["x7"],
        "kind": np.where(X["kind"] == "b", 3.0, -1.0) * X["x1"],
    }
    for name, part in targets.items():
        y = part + X.iloc[:, :12] @ slope + noise
        reg = TreeRegressor(leaves="ridge", max_depth=1, pruning=None)
        split = reg.fit(X, y).tree_.split(0)
        assert X.columns[split.feature] == name
        with monkeypatch.context() as patch:
            patch.setattr(numeric_cuts, "MOST_FEATURES", 100)
            assert reg.fit(X, y).tree_.split(0) == split


def test_of_many_columns_models_have_those_with_the_largest_weights(rng):
    X = rng.normal(size=(300, 60))
    y = np.where(X[:, 4] > 0, 3 * X[:, 9], -2 * X[:, 11]) + 0.1 * rng.normal(size=300)
    reg = TreeRegressor(leaves="ridge", max_depth=1, pruning=None).fit(X, y)
    assert reg.tree_.split(0).feature == 4


def test_quadratic_finds_a_ball(rng):
    X = rng.normal(size=(400, 2))
    y = 5.0 * ((X**2).sum(axis=1) < 1.0)
    split = root(Linear(expansion="quadratic"), X, y)
    assert split.kind == "quadratic"
    reg = TreeRegressor(Linear(expansion="quadratic"), max_depth=1).fit(X, y)
    assert reg.score(X, y) > 0.75


@pytest.mark.parametrize("choice", ["aic", "bic", "one_se"])
def test_omnivariate_takes_what_is_needed(choice, rng):
    X = rng.normal(size=(300, 4))
    learner = Omnivariate(("univariate", "linear", "quadratic"), choice, min_branch=5)
    steps = {
        "axis": X[:, 0] > 0.2,
        "linear": X[:, 0] + X[:, 1] > 0.2,
        "quadratic": (X[:, :2] ** 2).sum(axis=1) < 1.2,
    }
    for kind, step in steps.items():
        y = 4.0 * step + 0.3 * rng.normal(size=300)
        split = root(learner, X, y)
        assert split.kind == kind
        assert [c.chosen for c in split.candidates].count(True) == 1


def test_candidates_are_shown():
    X, y = make_friedman1(120, random_state=0)
    learner = Omnivariate(("univariate", "linear"), min_branch=5)
    reg = TreeRegressor(learner, max_depth=1).fit(X, y)
    assert "univariate: chosen for a BIC of" in reg.describe()


def test_absolute_error_is_robust(rng):
    x = rng.uniform(size=300)
    y = 1.0 * (x > 0.5)
    y[rng.random(300) < 0.02] = 1e6
    reg = TreeRegressor(
        Univariate(min_branch=50), criterion="absolute_error", max_depth=1
    ).fit(x[:, None], y)
    assert reg.tree_.split(0).threshold == pytest.approx(0.5, abs=0.05)
    assert sorted(reg.tree_.constant[1:]) == [0.0, 1.0]


def test_rounding_sets_nothing_apart():
    z = np.array([1.0, 1.0 + 1e-14, 2.0, 0.0, 2.0 - 1e-13])
    out = without_rounding(z)
    assert len(np.unique(out)) == 3
    np.testing.assert_allclose(out, z, atol=1e-12)


@pytest.mark.parametrize("choice", ["aic", "bic"])
@pytest.mark.parametrize("leaves", ["constant", "ridge"])
def test_information_pruning_is_the_best_of_the_sequence(choice, leaves):
    """Against every tree of the weakest-link sequence, its criterion counted afresh."""
    from omnitree.growing.criterion import SquaredError
    from omnitree.parts.choice import CHOICES
    from omnitree.pruning.cost_complexity import weakest_links

    X, y = make_friedman1(150, noise=1.0, random_state=1)
    options = {"leaves": leaves, "stopping": Stopping(20)}
    tree = TreeRegressor(**options).fit(X, y).tree_
    pruned = (
        TreeRegressor(pruning=InformationPruning(choice), **options).fit(X, y).tree_
    )

    def criterion(t):
        loss = t.loss[t.kind == 0].sum()
        likelihood = SquaredError().log_likelihood(loss, 150.0)
        return float(CHOICES[choice]().value(likelihood, t.n_parameters + 1, 150.0))

    links = weakest_links(tree, tree.loss)
    trees = [tree.collapse(links <= a) for a in np.unique(links[tree.kind > 0])]
    few = [t for t in [tree, *trees] if t.n_parameters + 1 <= 75]
    assert criterion(pruned) == pytest.approx(min(map(criterion, few)), rel=1e-9)


def test_cost_complexity_is_that_of_scikit_learn():
    """A given price of a leaf cuts the same tree."""
    from sklearn.tree import DecisionTreeRegressor

    X, y = make_friedman1(200, noise=1.0, random_state=2)
    path = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    for alpha in path.ccp_alphas[[20, 80, 150, -3]] * 1.0001:
        theirs = DecisionTreeRegressor(random_state=0, ccp_alpha=alpha).fit(X, y)
        ours = TreeRegressor(pruning=CostComplexity(alpha=alpha)).fit(X, y)
        assert ours.tree_.n_leaves == pytest.approx(theirs.get_n_leaves(), abs=1)
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.01)


def test_noise_gets_no_test():
    """Without `min_gain` a tree with models grows on noise; with it, hardly ever."""
    grown = {0.0: 0, 1.0: 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 4))
        y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=150)
        for min_gain in grown:
            learner = Univariate(min_branch=20, min_gain=min_gain)
            leaves = AdditiveLeaves(bends=(1.0,))
            stopping = Stopping(min_rows=40)
            reg = TreeRegressor(learner, leaves=leaves, stopping=stopping).fit(X, y)
            grown[min_gain] += reg.tree_.n_leaves > 1
    assert grown[0.0] == 12
    assert grown[1.0] <= 1


def test_a_test_where_curves_do_not_do(rng):
    """The slope of one feature depends on another; a curved one needs no test."""
    X = rng.uniform(-1, 1, size=(400, 3))
    y = np.where(X[:, 0] > 0.2, 2.0, -2.0) * X[:, 1] + 3 * X[:, 2] ** 2
    y += 0.2 * rng.normal(size=400)
    learner = Univariate(min_branch=20, min_gain=1.0)
    split = root(learner, X, y, leaves=AdditiveLeaves(bends=(3.0,)))
    assert split.feature == 0
    assert split.threshold == pytest.approx(0.2, abs=0.05)


def test_min_gain_is_for_numbers_and_models(rng):
    X = rng.normal(size=(60, 2))
    with pytest.raises(ValueError, match="min_gain"):
        TreeRegressor(Univariate(min_gain=-1), leaves="ridge").fit(X, X[:, 0])
    plain = TreeRegressor(Univariate(min_gain=5.0)).fit(X, X[:, 0])
    assert plain.tree_.n_leaves == TreeRegressor().fit(X, X[:, 0]).tree_.n_leaves


def test_features_with_missing_values_are_searched_in_the_same_columns(rng):
    X = rng.normal(size=(200, 3))
    X[rng.random(200) < 0.3, 0] = np.nan
    node = root_of(X, X[:, 1] + rng.normal(size=200), missing="surrogate")
    node = replace(node, rules=replace(node.rules, leaves=AdditiveLeaves(bends=(1.0,))))
    whole = numeric_cuts.search_of(node, 5.0)
    known = np.flatnonzero(~np.isnan(X[:, 0]))
    part = numeric_cuts.CutSearch(node, 5.0, known)
    assert part.used.tolist() == whole.used.tolist()
    own = whole.columns[known]
    np.testing.assert_allclose(part.columns, own - own.mean(axis=0), atol=1e-12)
    rest = whole.unexplained[known]
    np.testing.assert_allclose(part.unexplained, rest - rest.mean(), atol=1e-12)
