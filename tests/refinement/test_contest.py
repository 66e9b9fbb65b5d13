"""The contest of machines with subtrees."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import sample_of

from omnitree import OmniTreeClassifier, TreeClassifier, presets
from omnitree.export.candidates import candidate_text
from omnitree.learners import Softmax, Univariate
from omnitree.pruning import CostComplexity
from omnitree.refinement import Contest
from omnitree.refinement.contest import Outcome
from omnitree.resampling.held_out import HeldOut


def slanted(n=400, seed=0):
    """Left of 0 a slanted border, right of 0 a straight one."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = np.where(X[:, 0] < -0.2, X[:, 1] + X[:, 2] > 0, X[:, 1] > 0.3)
    return X, y.astype(int)


def test_a_line_takes_the_place_of_a_staircase():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X @ [1, 2, -1, 0.5] > 0.3).astype(int)
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    assert clf.tree_.n_leaves == 2 and clf.tree_.node_kinds()["linear"] == 1
    assert clf.score(X, y) > 0.97
    candidates = clf.tree_.split(0).candidates
    assert [c.chosen for c in candidates][:3] == [False, True, False]
    assert candidates[0].score > candidates[1].score
    assert candidate_text("linear softmax") in clf.describe()


def noisy(k=2, n=400, seed=0):
    """Five of forty columns tell the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 40))
    truth = 2 * X[:, :5] @ np.random.default_rng(7).normal(size=(5, k))
    return X, (truth + rng.gumbel(size=(n, k))).argmax(axis=1)


def test_what_others_chose_further_up_is_not_told_anew():
    of = [HeldOut(np.ones(4), np.zeros(4), np.full(4, float(i))) for i in range(3)]
    outcome, every = Outcome.of(of[0]), np.arange(4)
    settled = np.array([True, True, False, False])
    outcome.tell(every, of[1], settled, np.ones(4))
    below = np.array([1, 2])
    outcome.tell(
        below, of[2].take(below), np.zeros(2, dtype=bool), np.array([1.0, 0.5])
    )
    assert outcome.told.log_loss.tolist() == [1.0, 1.0, 1.5, 1.0]
    assert outcome.settled.tolist() == settled.tolist()
    assert outcome.losses.log_loss.tolist() == [0.0] * 4


@pytest.mark.parametrize("k", [2, 3])
def test_useless_weights_are_dropped(k):
    X, y = noisy(k)
    new, truth = noisy(k, 4000, seed=1)
    alone = {"grows": False, "rivals": (Softmax(),)}  # nothing is added to the test
    full = presets.make(
        "omni", random_state=0, refinement=Contest(sparse=False, **alone)
    )
    full.fit(X, y)
    clf = presets.make("omni", random_state=0, refinement=Contest(**alone)).fit(X, y)
    split, lines = clf.tree_.split(0), 1 if k == 2 else k
    assert clf.tree_.n_leaves == k
    assert full.tree_.split(0).n_params == 41 * lines
    assert split.n_params <= 21 * lines
    weights = np.zeros((lines, 40))
    weights[:, list(split.columns)] = split.weights
    kept = np.abs(weights)
    assert kept[:, :5].sum() > 3 * kept[:, 5:].sum()
    assert clf.score(new, truth) > full.score(new, truth)
    said = split.candidates
    assert [c.chosen for c in said] == [False] * (len(said) - 1) + [True]
    assert said[-1].learner == "sparse linear softmax"
    assert said[-1].parameters == split.n_params
    words = " ".join(clf.describe().split())
    assert candidate_text("sparse linear softmax") in words


def test_se_is_checked_and_sparse_asked_for_in_time():
    X, y = noisy()
    with pytest.raises(ValueError, match="se must"):
        presets.make("omni", refinement=Contest(se=-1)).fit(X, y)
    late = presets.make("omni", random_state=0, max_seconds=0.0).fit(X, y)
    assert late.tree_.node_kinds()["linear"] == 0


@pytest.mark.parametrize("expansion", ["linear", "quadratic"])
@pytest.mark.parametrize("k", [2, 3])
def test_sparse_tests_under_weights_costs_and_order(expansion, k):
    """Neither the scale of weights, the order of rows nor equal costs matter."""
    X, y = noisy(k, 300)
    X = X[:, 2:16] if expansion == "linear" else X[:, :6]
    y = y if expansion == "linear" else (X[:, 0] * X[:, 1] + y - 1 > 0) + (k == 3) * y
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 3, size=len(y))
    again = rng.permutation(len(y))
    part = Contest((Softmax(expansion),), "log_loss", se=2.0)
    fits = [
        TreeClassifier(refinement=part, random_state=0, cost_matrix=costs).fit(*rows)
        for rows, costs in (
            ((X, y, weight), None),
            ((X[again], y[again], 5.3 * weight[again]), None),
            ((X, y, weight), 1 - np.eye(len(np.unique(y)))),
        )
    ]
    for clf in fits:
        said = clf.tree_.split(0).candidates[-1]
        assert said.learner == f"sparse {expansion} softmax" and said.chosen
        assert clf.tree_.split(0).n_params == said.parameters
        assert (clf.predict(X) == fits[0].predict(X)).mean() > 0.995
    assert fits[0].tree_.split(0).columns == fits[1].tree_.split(0).columns


def test_a_box_stays_univariate():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 5))
    y = ((X[:, 0] > 0.3) & (X[:, 1] < 0.6)).astype(int)
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    kinds = clf.tree_.node_kinds()
    assert kinds["axis"] == sum(kinds.values()) == 2


def test_where_errors_do_not_differ_log_loss_decides():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + 0.3 * X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)
    clf = TreeClassifier(refinement=Contest((Softmax(),), "log_loss"), random_state=0)
    assert clf.fit(X, y).tree_.split(0).kind == "linear"
    # Two cuts of one column: errors are said not to differ, but log loss does.
    y = ((X[:, 0] > -0.7) & (X[:, 0] < 0.7)).astype(int)
    assert clf.fit(X, y).tree_.split(0).kind == "axis"


def test_noise_stays_a_leaf():
    """By chance one in twenty tables may get a tree, with weights as without.

    What held-out rows say of a leaf is told, also where a tree was not proven.
    """
    trees = []
    for seed in range(48):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 4)), rng.random(300) < [0.2, 0.5][seed % 2]
        weight = (None, np.full(300, 5.0), rng.choice([1.0, 9.0], 300))[seed % 3]
        class_weight = "balanced" if seed % 4 > 1 else None
        clf = OmniTreeClassifier(class_weight=class_weight, random_state=0)
        trees.append(clf.fit(X, y, sample_weight=weight).tree_)
    found = [tree.n_leaves > 1 or tree.models is not None for tree in trees]
    assert sum(found) <= 5
    assert all(0.2 < tree.reliability[0, 0] < 0.95 for tree in trees)


@pytest.mark.parametrize("optimise", ["error", "cost", "log_loss", None])
def test_what_to_optimise(optimise):
    X, y = slanted(1500, 3)
    y = np.where(np.random.default_rng(0).random(1500) < 0.1, 1 - y, y)
    new, truth = slanted(4000, 4)
    costs = np.array([[0, 1], [20, 0]]) if optimise != "log_loss" else None
    clf = OmniTreeClassifier(optimise=optimise, cost_matrix=costs, random_state=0)
    clf.fit(X, y)
    if costs is None:
        assert clf.score(new, truth) > 0.93
    else:  # whatever the tree, the answer is the one of least expected cost
        expected = clf.predict_proba(new) @ costs
        assert (clf.predict(new) == expected.argmin(axis=1)).mean() > 0.999
    what = {"log_loss": "held-out log loss", "error": "error"}.get(optimise, "cost")
    (criterion,) = {c.criterion for c in clf.tree_.split(0).candidates}
    assert criterion in (what, "held-out log loss")


def test_the_loss_that_decided_is_told():
    """A machine with no fewer errors than the subtree was chosen by its log loss."""
    seen = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 3))
        y = (X[:, 0] + 0.4 * X[:, 1] + rng.normal(size=300) > 0).astype(int)
        tree = OmniTreeClassifier(random_state=0).fit(X, y).tree_
        if tree.kind[0] == 0:
            continue
        first, *others = tree.split(0).candidates
        for chosen in (c for c in others if c.chosen):
            seen.add(chosen.criterion)
            assert chosen.score < first.score
    assert seen == {"error", "held-out log loss"}


def test_objectives_of_the_preset_and_bad_ones():
    X, y = slanted()
    trees = [
        clf.fit(X, y).tree_.to_dict()
        for clf in (
            presets.make("omni", optimise="log_loss", random_state=0),
            OmniTreeClassifier(optimise="log_loss", random_state=0),
        )
    ]
    assert trees[0] == trees[1]
    with pytest.raises(ValueError, match="error, cost, log_loss"):
        OmniTreeClassifier(optimise="auc").fit(X, y)
    with pytest.raises(ValueError, match="cost_matrix"):
        OmniTreeClassifier(optimise="cost").fit(X, y)


def test_a_machine_below_a_cut():
    X, y = slanted(2000)
    clf = TreeClassifier(refinement=Contest(rivals=(Softmax(),)), random_state=0)
    clf.fit(X, y)
    assert clf.tree_.split(0).kind == "axis"
    assert clf.tree_.node_kinds()["linear"] >= 1
    new, truth = slanted(4000, 1)
    plain = TreeClassifier(pruning=CostComplexity(), random_state=0).fit(X, y)
    assert clf.score(new, truth) > plain.score(new, truth) + 0.005
    assert clf.tree_.n_leaves < plain.tree_.n_leaves / 2


def test_counts_after_grafting_are_those_of_the_rows():
    X, y = slanted()
    clf = presets.make("omni", random_state=0).fit(X, y)
    tree = clf.tree_
    for node in np.flatnonzero(tree.kind != 0):
        first, n = tree.first_child[node], tree.n_children[node]
        np.testing.assert_allclose(
            tree.value[first : first + n].sum(axis=0), tree.value[node]
        )
    leaf = clf.apply(X)
    for at in np.unique(leaf):
        np.testing.assert_array_equal(
            tree.value[at], np.bincount(y[leaf == at], minlength=2)
        )


def test_a_leaf_gets_no_model_that_is_a_constant():
    """One odd row in a pure region: shrunken shares are too wide, a model adds nothing."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 3))
    y = (X[:, 0] > 0.7).astype(int)
    y[np.flatnonzero(X[:, 0] < 0)[0]] = 1
    tree = OmniTreeClassifier(random_state=0).fit(X, y).tree_
    assert tree.n_leaves == 2 and tree.models is None


def test_limits_are_kept():
    X, y = slanted(800)
    y = y + 2 * (X[:, 2] > 0.5)
    for limit in ({"max_leaves": 3}, {"max_depth": 1}, {"max_depth": 0}):
        tree = presets.make("omni", random_state=0, **limit).fit(X, y).tree_
        assert tree.n_leaves <= limit.get("max_leaves", 99)
        assert tree.depth <= limit.get("max_depth", 99)


def test_large_nodes_are_sampled():
    X, y = slanted(3000)
    part = Contest(max_rows=200)
    clf = TreeClassifier(refinement=part, random_state=0).fit(X, y)
    assert clf.score(*slanted(3000, 1)) > 0.93


def test_after_so_many_rows_nodes_keep_their_tests(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = (np.floor(4 * X[:, 0]) % 2).astype(int)
    seen = []
    old = Softmax.trial
    monkeypatch.setattr(
        Softmax, "trial", lambda *args: seen.append(len(args[1].rows)) or old(*args)
    )
    y[rng.random(400) < 0.1] ^= 1
    for most, nodes in ((399, 1), (None, 2)):
        seen.clear()
        contest = Contest((Softmax(),), max_challenged=most, repeats=1, grows=False)
        presets.make("omni", random_state=0, refinement=contest).fit(X, y)
        assert seen[0] == 400 and min(len(seen), 2) == nodes


def test_same_seed_same_tree_for_any_jobs():
    X, y = slanted()
    trees = [
        OmniTreeClassifier(random_state=3, n_jobs=n).fit(X, y).tree_.to_dict()
        for n in (None, 1, 2)
    ]
    assert trees[0] == trees[1] == trees[2]


def test_rows_divided_by_missing_values_count_by_their_parts():
    """The leaves of all tests have the rows of the root between them."""
    X, y = slanted(1500)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    part = Contest((Softmax(),), "log_loss", folds=3, min_rows=10)
    clf = TreeClassifier(missing="fractional", refinement=part, random_state=0)
    tree = clf.fit(X, y).tree_
    assert tree.node_kinds()["linear"] and tree.node_kinds()["axis"]
    np.testing.assert_allclose(tree.value[tree.kind == 0].sum(), 1500)
    # What a rival learned from had those parts, too.
    again = clf.tree_.with_counts(sample_of(X, y))
    np.testing.assert_allclose(tree.value, again.value, atol=1e-9)


def test_losses_of_parts_of_rows():
    whole = HeldOut(np.ones(3), np.array([0.0, 1.0, 0.0]), np.array([0.1, 2.0, 0.2]))
    rows, part = np.array([1, 2]), np.array([0.25, 1.0])
    here = whole.take(rows, part)
    np.testing.assert_array_equal(here.weight, part)
    new = HeldOut(part, np.zeros(2), np.array([1.0, 0.4]))
    after = whole.put(rows, new, part)
    np.testing.assert_array_equal(after.weight, whole.weight)
    np.testing.assert_allclose(after.errors, [0.0, 0.75, 0.0])
    np.testing.assert_allclose(after.log_loss, [0.1, 1.75, 0.4])


@pytest.mark.parametrize("rival", ["univariate", Univariate(), "linear"])
def test_rivals_must_be_cross_validated(rival):
    clf = TreeClassifier(refinement=Contest(rivals=(rival,)))
    with pytest.raises(TypeError, match=r"rival .*softmax, boosted"):
        clf.fit(*slanted(100))


class TestPruneSet:
    """A prune set takes the place of cross-validation."""

    def test_it_decides_the_size(self):
        X, y = slanted(600)
        clf = TreeClassifier(refinement=Contest(rivals=()), random_state=0)
        rng = np.random.default_rng(5)
        sizes = []
        for noise in (0.0, 0.5):
            new, truth = slanted(600, 1)
            truth = np.where(rng.random(600) < noise, rng.integers(2, size=600), truth)
            sizes.append(clf.fit(X, y, prune_set=(new, truth)).tree_.n_leaves)
        assert sizes[0] > sizes[1] >= 1

    def test_it_decides_between_subtrees_and_rivals(self):
        X, _ = slanted(1500)
        line = (X @ [1.0, 2.0, -1.0] > 0.2).astype(int)
        clf = OmniTreeClassifier(random_state=0)
        clf.fit(X[::2], line[::2], prune_set=(X[1::2], line[1::2]))
        _, *others = clf.tree_.split(0).candidates
        assert clf.tree_.n_leaves == 2 and any(c.chosen for c in others)
        box = ((X[:, 0] > -0.3) & (X[:, 1] < 0.6)).astype(int)
        clf.fit(X[::2], box[::2], prune_set=(X[1::2], box[1::2]))
        assert clf.tree_.split(0).kind == "axis"
        assert clf.tree_.split(0).candidates[0].chosen
        np.testing.assert_array_equal(clf.tree_.value[0], np.bincount(box[::2]))

    def test_scores_are_those_of_its_rows(self):
        X, _ = slanted(800)
        line = (X @ [1.0, 2.0, -1.0] > 0.2).astype(int)
        flipped = np.random.default_rng(0).random(800) < 0.1
        line = np.where(flipped, 1 - line, line)
        clf = TreeClassifier(
            refinement=Contest((Softmax(),), sparse=False, grows=False), random_state=0
        )
        clf.fit(X[::2], line[::2], prune_set=(X[1::2], line[1::2]))
        (chosen,) = (c for c in clf.tree_.split(0).candidates if c.chosen)
        assert chosen.criterion == "error" and chosen.learner == "linear softmax"
        assert chosen.score == pytest.approx(1 - clf.score(X[1::2], line[1::2]))

    def test_noise_gets_no_tree(self):
        found = 0
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(300, 4)), rng.integers(2, size=300)
            clf = OmniTreeClassifier(random_state=0)
            clf.fit(X[:150], y[:150], prune_set=(X[150:], y[150:]))
            found += clf.tree_.n_leaves > 1
        assert found <= 2

    def test_costs_missing_values_and_few_rows(self):
        X, y = slanted(400)
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        costs = [[0, 1], [5, 0]]
        for optimise in ("error", "cost", "log_loss"):
            clf = OmniTreeClassifier(optimise, cost_matrix=costs, random_state=0)
            clf.fit(X[:300], y[:300], prune_set=(X[300:], y[300:]))
            assert clf.score(X[:300], y[:300]) > 0.6
        clf.fit(X[:300], y[:300], prune_set=(X[300:303], y[300:303]))
        kinds = clf.tree_.node_kinds()
        assert kinds["axis"] == sum(kinds.values())  # too few rows to judge rivals


@pytest.mark.parametrize(
    ("units", "k", "seed"),
    [
        ((1e-200, 1e-200), 2, 3),  # a product
        ((1e-300, 1e307), 3, 0),  # a line for each class
        ((1e-310, 1e307), 2, 0),  # a tree on a test
    ],
)
def test_what_needs_infinite_numbers_is_not_chosen(units, k, seed):
    """Weights in the units of columns at the ends of the range; another candidate wins."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(100, 2))
    score = X.sum(axis=1) + 0.3 * rng.normal(size=100)
    y = np.digitize(score, [0.0] if k == 2 else [-0.4, 0.4])
    X = X * units
    with np.errstate(all="ignore"):
        clf = OmniTreeClassifier(random_state=0).fit(X, y)
        assert clf.score(X, y) > 0.7
        assert np.isfinite(clf.predict_proba(X)).all()
