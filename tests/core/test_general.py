"""The general grower against the naive one, and everything that limits or stops a growth."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests import naive
from tests.tables import random_sample

from omnitree import TreeClassifier
from omnitree.growing.axis_trees import CATEGORIES
from omnitree.growing.missing import MISSING
from omnitree.growing.stopping import Stopping
from omnitree.learners import Univariate
from omnitree.parts.merit import MERITS, Gini, Merit

# Filling comes before the search, which then sees no missing values.
POLICIES = [name for name, policy in MISSING.items() if not policy.fills]


def fit(sample, learner, missing="mean", min_rows=2, **limits):
    clf = TreeClassifier(
        learner, Stopping(min_rows=min_rows), missing=missing, **limits
    )
    return clf.fit(sample.frame, sample.y, sample_weight=sample.weight)


def nodes_of(clf):
    """The public nodes, breadth first whatever engine made them."""
    tree = clf.tree_
    return tree.collapse(np.zeros(tree.n_nodes, dtype=bool)).to_dict()["nodes"]


def assert_grown_right(sample, clf):
    """The fitted tree is the naive one."""
    learner = clf.learner
    merit = MERITS.resolve(learner.merit)
    ratio = type(merit).__name__ == "GainRatio"
    rules = naive.Rules(
        merit=naive.gain if ratio else merit,
        ratio=ratio,
        categories=learner.categories,
        missing=clf.missing,
        min_rows=clf.stopping.min_rows,
        min_branch=learner.min_branch,
        max_depth=np.inf if clf.max_depth is None else clf.max_depth,
        release8=learner.release8,
        threshold=learner.threshold,
    )
    nodes = nodes_of(clf)
    expected = naive.Grower(
        sample.values,
        sample.y,
        sample.weight,
        sample.table.schema.n_categories,
        sample.n_classes,
        rules,
        follow=nodes,
    ).grow()
    naive.assert_same_nodes(nodes, expected)


# -- the tree ------------------------------------------------------------------------


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("categories", CATEGORIES)
@pytest.mark.parametrize("merit", [n for n in MERITS if n != "variance"])
def test_equals_naive(merit, categories, missing, rng):
    for _ in range(4):
        missing_share = rng.choice([0.0, 0.15, 0.4])
        # Two classes and subsets: exact for convex merits, while no branch is too small.
        subset = categories == "subset"
        k = 3 if subset and merit == "symmetric_gini" else None
        sample = random_sample(rng, missing_share=missing_share, k=k)
        least = 0.0 if subset and sample.n_classes == 2 else rng.choice([1, 1, 2, 3.5])
        learner = Univariate(merit, categories, min_branch=float(least))
        limits = {"max_depth": 2} if rng.random() < 0.2 else {}
        clf = fit(sample, learner, missing, float(rng.choice([2, 2, 5])), **limits)
        assert_grown_right(sample, clf)


@pytest.mark.parametrize("categories", ["multiway", "groups"])
@pytest.mark.parametrize("merit", ["gain", "gain_ratio"])
def test_c45_rules_equal_naive(merit, categories, rng):
    """Release 8: least branches, penalised gains, stored thresholds, fractional rows."""
    for _ in range(40):
        sample = random_sample(
            rng, n=int(rng.integers(8, 40)), missing_share=rng.choice([0.0, 0.1, 0.3])
        )
        learner = Univariate(
            merit, categories, min_branch=2, release8=True, threshold="value"
        )
        assert_grown_right(sample, fit(sample, learner, "fractional", min_rows=4))


@pytest.mark.parametrize("missing", POLICIES)
def test_one_category_column_with_many_values(missing, rng):
    """C4.5 keeps columns with very many categories out of the average gain."""
    for _ in range(10):
        sample = random_sample(
            rng, n=20, d=3, categorical=0.7, most=12, missing_share=0.1, k=3
        )
        assert_grown_right(
            sample, fit(sample, Univariate("gain_ratio", "multiway"), missing)
        )


@pytest.mark.parametrize("merit", [n for n in MERITS if n != "variance"])
@pytest.mark.parametrize("missing", list(MISSING))
def test_integer_weights_are_repeated_rows(merit, missing, rng):
    for categories in CATEGORIES:
        sample = random_sample(rng, missing_share=0.15, weight="whole", most=8)
        learner = Univariate(merit, categories)
        weighted = nodes_of(fit(sample, learner, missing))
        times = sample.weight.astype(int)
        clf = TreeClassifier(learner, missing=missing)
        clf.fit(
            sample.frame.loc[sample.frame.index.repeat(times)], sample.y.repeat(times)
        )
        naive.assert_same_nodes(weighted, nodes_of(clf))


def test_rows_of_weight_zero_are_left_out(rng):
    sample = random_sample(rng, n=30, d=3, categorical=0.0)
    weight = sample.weight * (np.arange(30) % 3 > 0)
    kept = weight > 0
    with_zeros = TreeClassifier().fit(sample.values, sample.y, sample_weight=weight)
    without = TreeClassifier().fit(
        sample.values[kept], sample.y[kept], sample_weight=weight[kept]
    )
    naive.assert_same_nodes(nodes_of(with_zeros), nodes_of(without))


def test_constant_column_with_missing_is_never_cut():
    """The mean of equal numbers is that number, whatever rounding says."""
    X = np.array([[0.1]] * 3 + [[np.nan]] * 3)
    for weight in (None, [0.3, 0.7, 0.1, 1, 1, 1], [3, 3, 3, 1, 1, 1]):
        clf = TreeClassifier(Univariate("gini", min_branch=0), Stopping(min_rows=0))
        clf.fit(X, [0, 0, 0, 1, 1, 1], sample_weight=weight)
        assert clf.tree_.n_nodes == 1


# -- the engines ---------------------------------------------------------------------


class MyGini(Merit):
    """Gini once more, without a compiled twin: sends the search to Python."""

    def score(self, counts):
        size = counts.sum(axis=-1, keepdims=True)
        inside = ((counts**2) / np.where(size > 0, size, 1)).sum(axis=(-2, -1))
        total = size.sum(axis=(-2, -1))
        return (inside - (counts.sum(axis=-2) ** 2).sum(axis=-1) / total) / total


@pytest.mark.parametrize("missing", list(MISSING))
def test_custom_merit_gives_the_tree_of_the_builtin_one(missing, rng):
    """On complete numbers this also compares the general engine with the presorted one."""
    for _ in range(40):
        sample = random_sample(
            rng,
            n=int(rng.integers(4, 80)),
            missing_share=rng.choice([0.0, 0.2]),
            categorical=rng.choice([0.0, 0.5]),
            weight=rng.choice(["one", "whole"]),
        )
        rules = {
            "categories": str(rng.choice(CATEGORIES)),
            "min_branch": float(rng.choice([1, 1, 3.5])),
            "threshold": str(rng.choice(["midpoint", "value"])),
        }
        built_in = nodes_of(fit(sample, Univariate("gini", **rules), missing))
        custom = nodes_of(fit(sample, Univariate(MyGini(), **rules), missing))
        naive.assert_same_nodes(custom, built_in)


C45 = {"release8": True, "threshold": "value", "min_branch": 2}


@pytest.mark.parametrize(
    ("merit", "rules"),
    [
        ("gini", {}),
        ("gain", {}),
        ("entropy", {}),
        ("gain_ratio", {}),
        ("gini", {"threshold": "value"}),
        ("gain", C45),
        ("gain_ratio", C45),
    ],
)
@pytest.mark.parametrize("missing", list(MISSING))
def test_general_engine_equals_presort(merit, rules, missing, rng):
    """A column of categories that is constant changes nothing but the engine."""
    for _ in range(15):
        sample = random_sample(rng, n=int(rng.integers(4, 200)), categorical=0.0)
        frame = sample.frame
        clf = TreeClassifier(Univariate(merit, **rules), missing=missing)
        clf.fit(frame, sample.y, sample_weight=sample.weight)
        presort = nodes_of(clf)
        clf.fit(frame.assign(same="word"), sample.y, sample_weight=sample.weight)
        naive.assert_same_nodes(nodes_of(clf), presort)


def test_overridden_score_is_used():
    """A merit derived from a built-in one is not replaced by its parent's compiled twin."""

    class Worst(Gini):
        def score(self, counts):
            return -super().score(counts)

    X = np.arange(8.0)[:, None]
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    clf = TreeClassifier(Univariate(Worst()), max_depth=1).fit(X, y)
    assert clf.tree_.split(0).threshold == 0.5 or clf.tree_.split(0).threshold == 6.5


@pytest.mark.parametrize("categorical", [False, True])
def test_exception_in_a_merit_comes_through(categorical):
    class Broken(Merit):
        def score(self, counts):
            raise KeyError("out of order")

    X = [["a"], ["b"], ["a"], ["b"]] if categorical else [[1.0], [2.0], [3.0], [4.0]]
    with pytest.raises(KeyError, match="out of order"):
        TreeClassifier(Univariate(Broken())).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "answer", [lambda c: c, lambda c: np.zeros(99), lambda c: "much"]
)
def test_merit_of_wrong_shape(answer):
    class Odd(Merit):
        def score(self, counts):
            return answer(counts)

        __call__ = score

    with pytest.raises(ValueError):
        TreeClassifier(Univariate(Odd())).fit([[1.0], [2.0], [3.0]], [0, 1, 0])


# -- random choice -------------------------------------------------------------------


def test_random_choice_follows_the_seed(rng):
    sample = random_sample(rng, n=60, d=6, categorical=0.3, missing_share=0.1)
    learner = Univariate("gain", choice="random")

    def tree(random_state):
        return fit(sample, learner, random_state=random_state).tree_.to_dict()

    assert tree(3) == tree(3)
    assert tree(np.random.RandomState(3)) == tree(3)
    assert any(tree(3) != tree(s) for s in range(10))


def test_random_choice_is_uniform():
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.arange(20) % 2
    learner = Univariate("gain", choice="random")
    root = [
        TreeClassifier(learner, max_depth=1, random_state=s)
        .fit(X, y)
        .tree_.split(0)
        .feature
        for s in range(300)
    ]
    assert np.bincount(root, minlength=3).min() > 70  # 100 expected, 5 deviations off


# -- limits --------------------------------------------------------------------------


@pytest.mark.parametrize("categorical", [0.0, 0.4])
def test_limits_hold(categorical, rng):
    for _ in range(20):
        sample = random_sample(rng, n=60, d=3, categorical=categorical, weight="one")
        depth, least, share, branch = (int(v) for v in rng.integers(1, 8, size=4))
        clf = TreeClassifier(
            Univariate(min_branch=branch),
            Stopping(min_rows=least, min_share=share / 30),
            max_depth=depth,
        ).fit(sample.frame, sample.y)
        tree = clf.tree_
        assert tree.depth <= depth
        inner = np.flatnonzero(tree.kind)
        size = tree.value.sum(axis=1)
        assert (size[inner] >= max(least, 60 * share / 30) - 1e-9).all()
        assert (size[1:] >= branch).all()


def test_max_depth_zero_is_a_leaf():
    clf = TreeClassifier(max_depth=0).fit([[1], [2], [3]], [0, 0, 1])
    assert clf.tree_.n_nodes == 1
    assert clf.predict([[9]]) == [0]


def test_depth_and_unlimited_tree_agree(rng):
    """A tree limited in depth is the top of the unlimited one."""
    sample = random_sample(rng, n=80, d=4)
    whole = fit(sample, Univariate()).tree_
    for depth in range(4):
        limited = fit(sample, Univariate(), max_depth=depth).tree_
        assert limited.to_dict() == whole.collapse(whole.depths >= depth).to_dict()


@pytest.mark.parametrize("engine", ["presort", "general"])
def test_max_leaves_equals_sklearn(engine, rng):
    """Best first, on data without ties."""
    for _ in range(10):
        X = rng.permutation(400).reshape(100, 4) / 2.0**10
        y = (X[:, 0] + X[:, 1] * X[:, 2] > 0.2).astype(int) + (rng.random(100) < 0.2)
        weight = 1 + rng.random(100)  # no two tests are worth the same
        for leaves in (2, 3, 7, 12):
            theirs = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
            theirs.fit(X, y, sample_weight=weight)
            learner = Univariate("gini" if engine == "presort" else MyGini())
            ours = TreeClassifier(learner, max_leaves=leaves)
            ours.fit(X, y, sample_weight=weight)
            assert ours.tree_.n_leaves == theirs.tree_.n_leaves == leaves
            impurity = theirs.tree_.impurity * theirs.tree_.weighted_n_node_samples
            theirs_left = impurity[theirs.tree_.children_left < 0].sum()
            value = ours.tree_.value[ours.tree_.kind == 0]
            ours_left = (value.sum(1) - (value**2).sum(1) / value.sum(1)).sum()
            assert ours_left == pytest.approx(theirs_left)


def test_max_leaves_one_is_a_leaf():
    assert TreeClassifier(max_leaves=1).fit([[1], [2]], [0, 1]).tree_.n_nodes == 1


@pytest.mark.parametrize("merit", ["gini", "twoing"])
@pytest.mark.parametrize("seconds", [0, 1e-9, 0.1])
def test_out_of_time_keeps_a_valid_tree(merit, seconds):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60_000, 8)), rng.integers(0, 3, size=60_000)
    start = time.monotonic()
    clf = TreeClassifier(Univariate(merit), max_seconds=seconds).fit(X, y)
    took = time.monotonic() - start
    assert took < 5
    tree = clf.tree_
    assert type(tree).from_dict(tree.to_dict()).n_nodes == tree.n_nodes
    inner = np.flatnonzero(tree.kind)
    sums = np.zeros_like(tree.value)
    np.add.at(sums, tree.parent[1:], tree.value[1:])
    np.testing.assert_array_equal(sums[inner], tree.value[inner])
    assert tree.value[0].sum() == 60_000
    assert set(clf.predict(X[:100])) <= {0, 1, 2}


@pytest.mark.parametrize("verbose", [0, 1])
def test_progress_does_not_change_the_tree(verbose, rng):
    sample = random_sample(rng, n=50, d=4)
    expected = fit(sample, Univariate()).tree_.to_dict()
    assert fit(sample, Univariate(), verbose=verbose).tree_.to_dict() == expected


@pytest.mark.parametrize("merit", ["gini", "twoing"])
def test_interrupt_ends_a_fit(merit):
    """Ctrl-C while a big table is fitted."""
    code = f"""
        import signal, threading, time
        import numpy as np
        from omnitree import TreeClassifier
        from omnitree.learners import Univariate
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300_000, 30)), rng.integers(0, 5, size=300_000)
        sent = []
        def send():
            time.sleep(0.4)
            sent.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)
        threading.Thread(target=send, daemon=True).start()
        try:
            TreeClassifier(Univariate({merit!r})).fit(X, y)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    word, seconds = done.stdout.split()
    assert word == "interrupted", done.stdout + done.stderr
    assert float(seconds) < 4  # 2 on an idle machine


def test_small_weights_count_as_rows():
    """Weights that sum to one, as boosting gives them, do not starve `min_rows`."""
    from sklearn.ensemble import AdaBoostClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    plain = TreeClassifier().fit(X, y)
    scaled = TreeClassifier().fit(X, y, sample_weight=np.full(60, 1 / 60))
    assert scaled.tree_.n_leaves == plain.tree_.n_leaves
    assert (scaled.predict(X) == plain.predict(X)).all()
    boosted = AdaBoostClassifier(TreeClassifier(max_depth=2), n_estimators=20)
    assert boosted.fit(X, y).score(X, y) > plain.set_params(max_depth=2).fit(
        X, y
    ).score(X, y)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_best_first_needs_no_deeper_tree(rng, most):
    """The tree is the same as when all splits are there to choose from."""
    from omnitree.growing.grower import beyond_best_leaves

    for _ in range(20):
        sample = random_sample(rng, n=60, d=3, weight="one")
        whole = TreeClassifier().fit(sample.frame, sample.y).tree_
        chosen = whole.collapse(beyond_best_leaves(whole, most))
        limited = TreeClassifier(max_leaves=most).fit(sample.frame, sample.y).tree_
        assert limited.to_dict() == chosen.to_dict()
