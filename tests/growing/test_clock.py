"""`max_seconds` holds inside a node, for every preset, and what was found so far is kept."""

from __future__ import annotations

import time
import warnings
from contextlib import ExitStack
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from tests.cases import cases_from
from tests.samples import root_of

from omnitree import OmniTreeClassifier, OmniTreeRegressor, TreeClassifier, presets
from omnitree.data.table import learn_table
from omnitree.growing import clock, fisher_trees, stopping
from omnitree.growing.grower import grow
from omnitree.growing.learner import SplitLearner
from omnitree.growing.standard_columns import PIECE
from omnitree.learners import Multivariate, Omnivariate
from omnitree.parts.coefficients import LMDTThermal
from omnitree.tree.splits import AxisSplit

LIMIT = 0.15
# What the last step before a look at the clock may take, on a busy machine too: the time
# of the processor is measured.
STEP = 0.25
SLOW = (
    "omni-cv",
    "qua",
    "omni-aic",
    "bu95",
    "lmdt",
    "hybrid-5x2f",
    "lmt",
    "id-lp",
    "id-mlp",
)


def many_classes(rng):
    X = rng.normal(size=(1000, 8))
    score = X[:, 0] * 3 + X[:, 1] + rng.normal(size=1000) / 3
    return X, np.argsort(np.argsort(score)) // 5


def seconds(estimator, X, y):
    """Of CPU time, which the deadline is on, too, whatever else the machine does."""
    with clock.by_clock(time.process_time):
        start = time.process_time()
        estimator.fit(X, y)
        return time.process_time() - start


@pytest.mark.parametrize("name", SLOW)
def test_the_limit_holds_inside_a_node(name, rng):
    X, y = many_classes(rng)
    clf = presets.make(name, random_state=0, max_seconds=LIMIT)
    assert seconds(clf, X, y) < LIMIT + STEP
    assert clf.predict(X[:3]).shape == (3,)


def test_the_limit_of_the_default_estimators(rng):
    X, y = many_classes(rng)
    assert seconds(OmniTreeClassifier(max_seconds=LIMIT), X, y) < LIMIT + STEP
    X = rng.normal(size=(600, 60))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=600) / 2
    assert seconds(OmniTreeRegressor(max_seconds=LIMIT), X, y) < LIMIT + STEP


def test_a_tree_without_time_for_folds_is_kept(rng):
    """Trees of folds that were cut short must not prune the tree away."""
    X, y = many_classes(rng)
    grown = TreeClassifier().fit(X, y).tree_.n_leaves

    class Late(stopping.Limits):
        def expired(self):
            return True

    clf = TreeClassifier(pruning="cost_complexity", random_state=0)
    tree, evidence = clf._grow(*_parts_and_rows(clf, X, y), None, 0)
    rules = evidence.growth.rules
    late = Late(**{**rules.limits.__dict__, "deadline": 0.0})
    growth = evidence.growth.__class__(
        evidence.growth.learner,
        rules.__class__(**{**rules.__dict__, "limits": late}),
    )
    evidence = evidence.__class__(evidence.train, growth=growth)
    pruned = clf._resolved_parts().pruning.prune(tree, evidence)
    assert pruned.n_leaves == tree.n_leaves == grown


def _parts_and_rows(clf, X, y):
    from omnitree.data.table import learn_table
    from omnitree.growing.sample import Sample

    table = learn_table(X)
    target = clf._target(y, len(y))
    return clf._resolved_parts(), Sample(table, target, np.ones(len(y)))


def test_the_simplest_candidate_stands_in(rng, monkeypatch):
    """When the time is up in the choice between tests, the first of them is taken."""
    X, y = many_classes(rng)
    learner = Omnivariate(("univariate", "fisher"), choice="5x2t")

    def late(*_):
        raise clock.TimeUp

    monkeypatch.setattr(
        "omnitree.parts.choice.crossvalidation.NodeFolds.five_by_two", late
    )
    clf = TreeClassifier(learner, max_depth=1, random_state=0).fit(X, y)
    assert clf.tree_.node_kinds()["axis"] == 1


class Looks:
    """A clock that counts how often it is looked at, and jumps at one of these looks."""

    def __init__(self, late_at=10**9):
        self.late_at, self.count = late_at, 0

    def __call__(self):
        self.count += 1
        return 0.0 if self.count < self.late_at else 1e9


@pytest.fixture
def looks(monkeypatch):
    for name in ("_speed", "_pace"):
        monkeypatch.setattr(clock, name, lambda: 1e10)
    with ExitStack() as contexts:

        def install(late_at=10**9):
            own = Looks(late_at)
            contexts.enter_context(clock.by_clock(own))
            return own

        yield install


@pytest.mark.parametrize("name", [*SLOW, "qtree", "cruise", "omni"])
def test_a_fit_ends_soon_after_its_deadline(name, rng, looks):
    """Counted in looks at the clock, of which a fit takes hundreds."""
    X, y = rng.normal(size=(150, 8)), rng.integers(0, 3, 150)
    for late_at in (3, 12):
        own = looks(late_at)
        clf = presets.make(name, random_state=0, max_seconds=1.0).fit(X, y)
        assert clf.predict(X[:3]).shape == (3,)
        assert own.count - late_at <= 150


@pytest.mark.parametrize("name", ["qua", "omni-aic"])
def test_products_are_made_between_looks(name, rng, looks):
    """Of 200 columns there are 20,300: a look at the clock comes before each piece."""
    X, y = rng.normal(size=(60, 200)), rng.integers(0, 2, 60)
    own = looks()
    presets.make(name, random_state=0, max_seconds=1.0, max_depth=1).fit(X, y)
    assert own.count > 40 * 20_300 / PIECE


def test_groups_of_many_classes_are_searched_between_looks(rng, looks):
    """With 1,500 classes the root alone takes a second: it is where the time ends."""
    X = rng.normal(size=(3000, 3))
    y = np.argsort(np.argsort(X @ [1.0, 0.5, 0.2] + rng.normal(size=3000) / 4)) // 2
    own = looks(late_at=3)
    clf = TreeClassifier("linear", max_seconds=1.0).fit(X, y)
    assert clf.tree_.n_nodes <= 3
    assert own.count < 8


def test_regressions_are_not_begun_too_late(rng, looks):
    """Nine steps of 2 x 500 x 100^2 operations take 9 ms at the speed that is set here."""
    X = rng.normal(size=(500, 100))
    y = (X[:, :9].sum(axis=1) > 0).astype(int)
    looks()
    trees = [
        presets.make("lgtree", random_state=0, max_seconds=limit).fit(X, y).tree_
        for limit in (0.008, 8.0)
    ]
    assert [tree.has_weights for tree in trees] == [False, True]


@pytest.mark.parametrize("name", ["cruise", "qtree"])
def test_decompositions_are_not_begun_too_late(name, rng, looks):
    """9 x 200^3 operations take 7 ms at the speed that is set here."""
    X = rng.normal(size=(900, 200))
    y = (X[:, :9].sum(axis=1) > 0).astype(int)
    looks()
    trees = [
        presets.make(name, random_state=0, max_seconds=limit).fit(X, y).tree_
        for limit in (0.004, 4.0)
    ]
    assert [tree.has_weights for tree in trees] == [False, True]


def test_long_steps_are_not_begun(looks):
    """A product that would end after the deadline, by the speed of this machine."""
    looks()
    with clock.until(1.0):
        clock.check_time(0.9e10)
        with pytest.raises(clock.TimeUp):
            clock.check_time(1.1e10)
        assert clock.time_is_up(1.1e10) and not clock.time_is_up()
    clock.check_time(1e30)


@pytest.mark.parametrize("name", ["uni-gini", "ldt", "fact", "ltree", "lmdt"])
def test_a_large_table_is_not_begun_too_late(name, rng, looks):
    """At the speed that is set here, three passes over 60,000 cells take 4.5 ms."""
    X = rng.normal(size=(20_000, 3))
    y = (X[:, 0] > 0).astype(int)
    looks()
    clf = presets.make(name, random_state=0, max_seconds=0.006, max_depth=1)
    with pytest.warns(UserWarning, match="max_seconds=0.006 is too short"):
        assert clf.fit(X, y).tree_.n_leaves == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clf.set_params(max_seconds=6.0).fit(X, y).tree_.n_leaves == 2
        clf.fit(X[:9], y[:9] * 0 + np.arange(9) % 2)  # few rows: no word of time


def test_time_is_kept_for_the_last_steps(looks):
    looks()
    assert clock.last_steps(2.0, 100) == pytest.approx(0.3)
    assert clock.last_steps(2.0, 10**7) == pytest.approx(0.3 + 0.25)


def test_leaves_keep_the_models_of_a_sample_if_it_is_late(rng, looks):
    """Models of all 20,000 rows would take 15 ms, as far as anybody knows."""
    X = rng.normal(size=(20_000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=20_000) / 10
    looks()
    rows = []
    for limit in (0.03, 30.0):
        reg = OmniTreeRegressor(max_seconds=limit, max_rows=500, random_state=0).fit(
            X, y
        )
        assert reg.score(X, y) > 0.99
        rows.append(reg.tree_.value[0].sum())
    assert rows == [500, 20_000]


def test_a_pause_does_not_make_the_machine_slow():
    """While the speed is measured, others may have the processor for a while."""
    speeds = []
    for pauses in ((), (1, 3, 4)):
        clock._pace.cache_clear()
        ticks = (0.001 * i + sum(i > 2 * p for p in pauses) for i in count())
        with clock.by_clock(lambda ticks=ticks: next(ticks)):
            speeds.append(clock._pace())
    clock._pace.cache_clear()
    assert speeds[0] == pytest.approx(speeds[1])


def test_the_speed_is_that_of_a_product():
    clock._speed.cache_clear()
    a = np.ones((256, 256))
    took = []
    for _ in range(5):
        start = time.perf_counter()
        a @ a
        took.append(time.perf_counter() - start)
    assert 0.01 < 2 * 256**3 / min(took) / clock._speed() < 100


def test_nothing_is_raised_without_a_deadline():
    clock.check_time()
    with clock.until(None):
        clock.check_time()
    with clock.until(time.monotonic() + 60):
        assert not clock.tick(0.5)
    with clock.until(time.monotonic() - 1), pytest.raises(clock.TimeUp):
        clock.check_time()
    assert not clock.time_is_up()


def test_thermal_training_looks_at_the_clock(rng, looks):
    """Of 600 classes it goes on for minutes: it ends at the second look."""
    X = rng.normal(size=(3000, 4))
    own = looks(late_at=3)
    clf = presets.make("lmdt", random_state=0, max_seconds=1.0)
    clf.fit(X, rng.integers(0, 600, 3000))
    assert own.count < 100


def many_machines(rng):
    """At the speed that is set in `looks`, it takes 9 ms to judge a machine."""
    table = learn_table(rng.normal(size=(2000, 3)))
    return root_of(table, np.arange(2000) % 400)


def test_machines_that_cannot_be_judged_in_time_are_not_trained(rng, looks):
    node = many_machines(rng)
    learner = Multivariate(LMDTThermal(), "none", "misclassification")
    looks()
    with clock.until(0.02):
        assert learner.fit(node, rng) is not None
    with clock.until(0.008), pytest.raises(clock.TimeUp):
        learner.fit(node, rng)


def test_training_leaves_time_to_judge_a_machine(rng, looks):
    class Long(LMDTThermal):
        milliseconds: float = 1.0

        def train(self, cases, rng, start=None):
            clock.check_time(self.milliseconds * 1e7)
            return super().train(cases, rng, start)

    node = many_machines(rng)
    looks()
    with clock.until(0.02):
        Multivariate(Long(milliseconds=9), "none", "gain").fit(node, rng)
        with pytest.raises(clock.TimeUp):
            Multivariate(Long(milliseconds=12), "none", "gain").fit(node, rng)


@pytest.mark.parametrize("late_at", [1, 12])
def test_machines_are_not_compared_when_the_time_is_up(late_at, rng, looks):
    """In the first training (a look for 256 rows), or in one of the others."""

    class Counting(LMDTThermal):
        trained = 0

        def _presented(self, cases, rng):
            type(self).trained += 1
            return super()._presented(cases, rng)

        def _wrong(self, machine, cases):
            assert own.count < late_at
            return super()._wrong(machine, cases)

    cases = cases_from(rng.normal(size=(60, 3)), rng.integers(0, 4, 60))
    own = looks(late_at)
    with clock.until(1.0):
        machine = Counting(tries=1000).train(cases, rng)
    assert machine.weights.shape == (4, 3)
    assert Counting.trained <= late_at


def test_discriminants_are_not_made_for_tests_that_take_too_long(rng, looks):
    """Rows pass 20,300 terms for 84 ms, at the speed that is set here."""
    X = rng.normal(size=(1000, 200))
    y = (2 * X[:, 0] + X[:, 1] > 0).astype(int)
    looks()
    trees = [
        presets.make("qtree", random_state=0, max_seconds=limit, max_depth=1)
        .fit(X, y)
        .tree_
        for limit in (0.08, 8.0)
    ]
    assert [tree.split(0).kind for tree in trees] == ["axis", "quadratic"]


class Terms(AxisSplit):
    n_params = 10**9


class LongTests(SplitLearner):
    """Finds tests whose terms take minutes."""

    def fit(self, node, rng):
        return Terms(0, 0.0, merit=1.0)


def test_tests_that_rows_take_too_long_to_pass_are_dropped(rng, looks):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    looks()
    clf = TreeClassifier(LongTests(), max_depth=1)
    assert clf.fit(X, y).tree_.n_leaves == 2
    with pytest.warns(UserWarning, match="max_seconds=1.0 is too short"):
        assert clf.set_params(max_seconds=1.0).fit(X, y).tree_.n_leaves == 1


def test_tests_may_use_the_time_after_growing(looks):
    limits = stopping.Limits().ending(1.7, seconds=2.0)
    looks()
    limits.check_time_after(1.9e10 / clock.CELL)
    with pytest.raises(clock.TimeUp):
        limits.check_time_after(2.1e10 / clock.CELL)
    stopping.Limits().check_time_after(1e30)


@pytest.mark.parametrize(
    ("name", "limit", "depth"),
    [("c4.5", 0.05, 7), ("uni-gini", 0.05, 7), ("ldt", 0.075, 8)],
)
def test_trees_of_many_classes_are_counted_in_time(name, limit, depth, rng, looks):
    """Counts of 400 classes in 799 nodes take 48 ms, at the speed that is set here.

    Fisher's first test takes as long, and is not begun if there is less time.
    """
    X = np.arange(2000.0)[:, None] + rng.normal(size=(2000, 2))
    y = np.arange(2000) // 5
    looks()
    depths = [
        presets.make(name, random_state=0, max_seconds=seconds).fit(X, y).tree_.depth
        for seconds in (limit, 0.5)
    ]
    assert depths[0] == depth < depths[1]


def test_a_smaller_depth_stays(looks):
    looks()
    for depth, expected in ((3, 3), (20, 7), (-1, 7)):
        limits = stopping.Limits(max_depth=depth).ending(1.0, 0.05, n_classes=400)
        assert limits.max_depth == expected
    assert stopping.Limits().ending(1.0, 0.05, n_classes=40).max_depth == -1
    assert stopping.Limits().ending(1.0, 0.0, n_classes=400).max_depth == 1


def test_tables_of_rows_and_classes_are_not_made_too_late(rng, looks):
    """One of 2,000 rows and 400 classes takes 20 ms, at the speed that is set here."""
    node = many_machines(rng)
    learner = presets.make("quest").learner
    looks()
    with clock.until(0.03):
        assert learner.fit(node, rng) is not None
    with clock.until(0.015), pytest.raises(clock.TimeUp):
        learner.fit(node, rng)


def test_whole_trees_of_many_classes_are_not_begun_too_late(rng, looks, monkeypatch):
    """Going over that table three times takes 60 ms; none is made if there is less."""
    node, learner = many_machines(rng), presets.make("ldt").learner
    looks()
    for seconds, n_nodes in ((0.1, 3), (0.05, 1)):
        limits = replace(node.rules.limits, max_depth=1, deadline=seconds)
        root = replace(node, rules=replace(node.rules, limits=limits))
        if n_nodes == 1:
            monkeypatch.setattr(fisher_trees, "kernel", None)
        with clock.watched() as watch:
            assert grow(root, learner).n_nodes == n_nodes
        assert watch.late == (n_nodes == 1)
