"""Univariate tests under rules: costs of features, monotone answers, interactions."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from tests.samples import sample_of

from omnitree import OmniTreeClassifier, TreeClassifier, TreeRegressor
from omnitree.data.table import learn_table
from omnitree.estimators.persistence import load, save
from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules
from omnitree.learners import Multivariate, Omnivariate, Univariate
from omnitree.parts.merit import Gini
from omnitree.pruning import CostComplexity, ErrorBased
from omnitree.refinement import Contest
from omnitree.tree.tree import LEAF

FREE = (-np.inf, np.inf)


def random_rows(seed, regression=False, missing_share=False, categorical=False):
    """A small table with ties, weights and noise against the direction."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 80))
    X = rng.integers(0, 7, size=(n, 3)).astype(float)
    trend = X[:, 0] - X[:, 1] + rng.normal(scale=5, size=n)
    y = trend if regression else (trend > 0).astype(int)
    if not regression:
        y[:2] = 0, 1
    if missing_share:
        X[rng.random(X.shape) < 0.15] = np.nan
    weight = rng.integers(1, 3, size=n).astype(float)
    cells = X.astype(object)
    if categorical:
        cells[:, 2] = ["abcdefg"[int(v)] if v == v else None for v in X[:, 2]]
    return cells if categorical else X, y, weight


def broken(answer, X, direction, rng, n_paths=12):
    """How often the answer goes the wrong way along a feature."""
    wrong = 0
    for j, sign in direction.items():
        for _ in range(n_paths):
            rows = np.tile(X[rng.integers(len(X))], (17, 1))
            rows[:, j] = np.linspace(-1, 7, 17)
            wrong += int((sign * np.diff(answer(rows)) < -1e-12).any())
    return wrong


@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
@pytest.mark.parametrize("categorical", [False, True])
def test_monotone_classes_on_random_tables(missing, categorical):
    direction, free = {0: 1, 1: -1}, 0
    for seed in range(4):
        X, y, weight = random_rows(
            seed, missing_share=seed % 2 == 0, categorical=categorical
        )
        for pruning in (None, CostComplexity(folds=3), "reduced_error"):
            for leaves in (None, 6):
                clf = TreeClassifier(
                    Univariate(monotone=direction),
                    pruning=pruning,
                    missing=missing,
                    max_leaves=leaves,
                    random_state=seed,
                ).fit(X, y, weight)
                rng = np.random.default_rng(seed)

                def answer(rows, clf=clf):
                    return clf.predict_proba(rows)[:, 1]

                assert broken(answer, X, direction, rng) == 0
        plain = TreeClassifier(missing=missing).fit(X, y, weight)
        rng = np.random.default_rng(seed)
        free += broken(
            lambda rows, plain=plain: plain.predict_proba(rows)[:, 1], X, direction, rng
        )
    assert free > 0  # the rule was needed


@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
@pytest.mark.parametrize("categorical", [False, True])
def test_monotone_numbers_on_random_tables(missing, categorical):
    direction, free = {0: 1, 1: -1}, 0
    for seed in range(4):
        X, y, weight = random_rows(
            seed, True, missing_share=seed % 2 == 0, categorical=categorical
        )
        for pruning in (None, CostComplexity(folds=3)):
            reg = TreeRegressor(
                Univariate(monotone=direction),
                pruning=pruning,
                missing=missing,
                random_state=seed,
            ).fit(X, y, weight)
            assert broken(reg.predict, X, direction, np.random.default_rng(seed)) == 0
        plain = TreeRegressor(missing=missing).fit(X, y, weight)
        free += broken(plain.predict, X, direction, np.random.default_rng(seed))
    assert free > 0


def naive_leaves(X, y, w, direction, groups, bounds=FREE, tested=frozenset()):
    """Leaves (rows, share) of the tree that exhaustive search under the rules grows."""
    share = w[y == 1].sum() / w.sum()

    def gini(y, w):
        p = w[y == 1].sum() / w.sum()
        return w.sum() * 2 * p * (1 - p)

    best = None
    for j in range(X.shape[1]):
        if tested and not any(tested <= g and j in g for g in groups):
            continue
        values = np.unique(X[:, j])
        for a, b in pairwise(values):
            left = X[:, j] <= (a + b) / 2
            p, q = (w[(y == 1) & s].sum() / w[s].sum() for s in (left, ~left))
            if direction[j] * (q - p) < 0 or min(p, q) < bounds[0]:
                continue
            if max(p, q) > bounds[1]:
                continue
            gain = gini(y, w) - gini(y[left], w[left]) - gini(y[~left], w[~left])
            if best is None or gain > best[0] + 1e-9:
                best = gain, j, left, (p + q) / 2
    if best is None or share in (0, 1):
        return [share] * len(y)
    _, j, left, middle = best
    ends = [bounds, bounds]
    if direction[j]:
        ends = [(bounds[0], middle), (middle, bounds[1])][:: direction[j]]
    out = np.empty(len(y))
    for side, own in ((left, ends[0]), (~left, ends[1])):
        part = X[side], y[side], w[side]
        out[side] = naive_leaves(*part, direction, groups, own, tested | {j})
    return list(out)


@pytest.mark.parametrize(
    ("direction", "interactions"),
    [
        ([1, -1, 0], None),
        ([0, 0, 0], [[0, 1], [1, 2]]),
        ([-1, 0, 1], [[0], [1, 2]]),
        ([0, 0, 0], [[2]]),
    ],
)
def test_same_tree_as_naive_search(direction, interactions):
    groups = [frozenset(range(3))]
    if interactions is not None:
        groups = [frozenset(g) for g in interactions]
        groups.append(frozenset(range(3)).difference(*groups))
    for seed in range(10):
        X, y, weight = random_rows(seed)
        learner = Univariate(monotone=direction, interactions=interactions)
        clf = TreeClassifier(learner).fit(X, y, weight)
        expected = naive_leaves(X, y, weight, direction, groups)
        np.testing.assert_allclose(clf.predict_proba(X)[:, 1], expected)


def paths(tree):
    """The features tested on the way to each leaf."""
    for leaf in np.flatnonzero(tree.kind == LEAF):
        used, node = set(), int(leaf)
        while (node := int(tree.parent[node])) >= 0:
            used |= tree.split(node).features(tree.schema)
        yield used


@pytest.mark.parametrize("regression", [False, True])
def test_paths_stay_in_a_group(regression):
    groups = [{0, 1}, {2}]
    for seed in range(10):
        X, y, weight = random_rows(seed, regression, missing_share=True)
        rules = {"interactions": [["x0", "x1"]]}
        model = (
            TreeRegressor(Univariate(**rules), missing="surrogate")
            if regression
            else TreeClassifier(Univariate(**rules), missing="surrogate")
        ).fit(X, y, weight)
        assert all(any(used <= g for g in groups) for used in paths(model.tree_))
        assert not model.tree_.split(0).surrogates


def test_rules_that_allow_all_change_nothing():
    for seed in range(5):
        X, y, weight = random_rows(seed)
        plain = TreeClassifier().fit(X, y, weight).describe()
        for changes in (
            {"learner": Univariate(monotone=[0, 0, 0])},
            {"learner": Univariate(interactions=[[0, 1, 2]])},
            {"feature_costs": [0, 0, 0]},
        ):
            assert TreeClassifier(**changes).fit(X, y, weight).describe() == plain
        target = random_rows(seed, regression=True)[1]
        expected = TreeRegressor().fit(X, target, weight).predict(X)
        same = TreeRegressor(Univariate(interactions=[[0, 1, 2]]))
        np.testing.assert_allclose(same.fit(X, target, weight).predict(X), expected)


def test_a_feature_is_paid_once_on_a_path():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    X = np.column_stack([X[:, 0], X[:, 0] + rng.normal(scale=0.05, size=400), X[:, 1]])
    y = ((X[:, 0] > -0.5) & (X[:, 0] < 0.7)).astype(int)
    free = TreeClassifier(max_depth=2).fit(X, y)
    assert next(iter(paths(free.tree_))) == {0}
    cheap = TreeClassifier(max_depth=2, feature_costs=[10, 1, 0]).fit(X, y)
    assert set().union(*paths(cheap.tree_)) == {1}
    # Once feature 0 is paid for, the tests below use it as if it were free.
    paid = TreeClassifier(
        Univariate(cost_weight=0.05), max_depth=2, feature_costs=[10, 9, 0]
    ).fit(X, y)
    assert set().union(*paths(paid.tree_)) == {0}


def test_worth_is_merit_by_price():
    for seed in range(20):
        X, y, weight = random_rows(seed)
        costs = np.array([3.0, 1.0, 0.0])
        worth = []
        for j in range(3):
            values = np.unique(X[:, j])
            for a, b in pairwise(values):
                left = X[:, j] <= (a + b) / 2
                table = [
                    [weight[s & (y == k)].sum() for k in (0, 1)] for s in (left, ~left)
                ]
                worth.append(float(Gini()(table)) / (1 + costs[j] / 4) ** 2)
        clf = TreeClassifier(Univariate(cost_weight=2), feature_costs=costs)
        root = clf.fit(X, y, weight).tree_.split(0)
        assert root.merit == pytest.approx(max(worth))


def test_the_default_classifier():
    X, y, _ = random_rows(3)
    direction = {"x0": 1, "x1": -1}
    clf = OmniTreeClassifier(monotone=direction, random_state=0).fit(X, y)
    rng = np.random.default_rng(0)
    wrong = broken(lambda r: clf.predict_proba(r)[:, 1], X, {0: 1, 1: -1}, rng)
    assert wrong == 0
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X @ [1, 1, 0] > 0).astype(int)
    assert OmniTreeClassifier(random_state=0).fit(X, y).tree_.node_kinds()["linear"]
    for rule in (
        {"interactions": [[0], [1], [2]]},
        {"feature_costs": [1, 0, 0]},
        {"monotone": [1, 1, 0]},
    ):
        tree = OmniTreeClassifier(random_state=0, **rule).fit(X, y).tree_
        assert tree.node_kinds()["axis"] == tree.n_leaves - 1 > 0
        if "interactions" in rule:
            assert max(len(used) for used in paths(tree)) == 1


def test_rules_survive_cloning_and_saving(tmp_path):
    X, y, weight = random_rows(0)
    learner = Univariate(monotone={"x0": 1}, interactions=[["x0", "x2"], ["x1"]])
    clf = clone(TreeClassifier(learner)).fit(X, y, weight)
    save(clf, tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    assert again.learner == learner
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TreeClassifier(Univariate(monotone={"z": 1})), "unknown feature in monotone"),
        (TreeClassifier(Univariate(monotone=[1, 0])), "one a feature is needed, 3"),
        (TreeClassifier(Univariate(monotone={0: 2})), r"\+1, -1 or 0"),
        (TreeClassifier(Univariate(monotone={7: 1})), "there are 3"),
        (TreeClassifier(Univariate(interactions=[0, 1])), "groups of features"),
        (TreeClassifier(Univariate(interactions="x0")), "list of groups"),
        (TreeClassifier(Univariate(interactions=[[9]])), "there are 3"),
        (
            TreeClassifier(Univariate(monotone={0: 1}), smoothing="laplace"),
            "smoothing",
        ),
        (TreeClassifier(Univariate(monotone={0: 1}), leaves="logistic"), "leaves"),
        (
            TreeClassifier(Univariate(monotone={0: 1}), pruning=ErrorBased()),
            "may break monotone",
        ),
        (
            TreeClassifier(Univariate(interactions=[[0]]), refinement=Contest()),
            "may break interactions",
        ),
        (TreeClassifier(feature_costs=[1, 1, 1], refinement=Contest()), "rivals"),
        (
            TreeClassifier(Univariate(choice="random"), feature_costs=[1, 1, 1]),
            "choice='random'",
        ),
        (TreeClassifier(Univariate(release8=True, monotone={0: 1})), "release8"),
        (TreeClassifier(Univariate(collapse=True, monotone={0: 1})), "collapse"),
        (
            TreeClassifier(Omnivariate((Univariate(monotone={0: 1}), "fisher"))),
            "inside another one",
        ),
        (TreeClassifier("analytic", feature_costs=[1, 1, 1]), "does not look at"),
    ],
)
def test_what_cannot_be_kept_is_refused(model, message):
    X, y, _ = random_rows(0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_monotone_needs_an_order():
    X, y, _ = random_rows(0)
    with pytest.raises(ValueError, match="two classes"):
        TreeClassifier(Univariate(monotone={0: 1})).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="squared_error"):
        learner = Univariate(monotone={0: 1})
        TreeRegressor(learner, criterion="absolute_error").fit(X, y * 1.0)
    with pytest.raises(ValueError, match="leaves"):
        TreeRegressor(learner, leaves="ridge").fit(X, y * 1.0)
    X, y, _ = random_rows(0, categorical=True)
    with pytest.raises(ValueError, match="no order"):
        TreeClassifier(Univariate(monotone={2: 1})).fit(X, y)
    X, y, _ = random_rows(0)
    clf = TreeClassifier(Univariate(monotone={0: 1})).fit(X, y)
    with pytest.raises(ValueError, match="may break monotone"):
        clf.prune(ErrorBased(), X, y)


def test_multivariate_prices_as_before():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X = np.column_stack([X, X[:, 0]])
    y = (X[:, 0] > 0).astype(int)
    clf = TreeClassifier(Multivariate(), feature_costs=[5, 1, 0]).fit(X, y)
    assert clf.tree_.split(0).features(clf.tree_.schema) == {2}


class CountedCells(np.ndarray):
    """A matrix that counts the cells that are copied out of it."""

    copied = 0

    def __getitem__(self, key):
        out = super().__getitem__(key)
        if isinstance(out, np.ndarray) and not np.shares_memory(out, self):
            CountedCells.copied += out.size
        return np.asarray(out)


@pytest.mark.parametrize("d", [5, 40])
def test_features_are_searched_without_copies_of_the_whole_node(d, rng):
    """One copy of each feature's cells, not one of the matrix for each feature."""
    n = 60
    X = rng.normal(size=(n, d))
    y = (X[:, 0] > 0).astype(np.int32)
    table = learn_table(X)
    table = replace(table, values=table.values.view(CountedCells))
    learner = Univariate(monotone={0: 1})
    rules = Rules(Mean(), constraints=learner.constraints(table.schema))
    node = Node.root(sample_of(table, y), rules)
    CountedCells.copied = 0
    split = learner.fit(node, rng)
    assert split.feature == 0
    assert 0 < CountedCells.copied <= 2 * n * d
