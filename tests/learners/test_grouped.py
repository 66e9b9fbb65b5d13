"""Groups of classes separated by trained tests, linear and nets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from tests.cases import cases_from, node_of
from tests.tables import random_sample

from omnitree import TreeClassifier, presets
from omnitree.learners import Grouped, Network
from omnitree.learners.grouped import TrainedDiscriminant, separate
from omnitree.learners.network import Net
from omnitree.parts.coefficients import COEFFICIENTS, RLS, Cases
from omnitree.parts.coefficients.gradient import squared_error
from omnitree.parts.grouping import GROUPINGS
from omnitree.parts.merit import MERITS
from omnitree.tree.splits import LinearSplit, NetworkSplit


@pytest.fixture
def clouds(rng):
    """Five classes far from each other."""
    centres = np.array([[0, 0], [10, 0], [0, 10], [10, 10], [5, 5]])
    y = np.repeat(np.arange(5), 20)
    return centres[y] + rng.normal(size=(100, 2)), y


@pytest.mark.parametrize("coefficients", list(COEFFICIENTS))
def test_every_coefficient_learner_serves(clouds, coefficients):
    X, y = clouds
    clf = TreeClassifier(learner=Grouped(coefficients), random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.95
    assert set(map(type, (clf.tree_.split(0),))) == {LinearSplit}


@pytest.mark.parametrize("grouping", list(GROUPINGS))
@pytest.mark.parametrize("learner", [Grouped, Network])
def test_every_grouping_serves(clouds, grouping, learner):
    X, y = clouds
    clf = TreeClassifier(learner=learner(grouping=grouping), random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.95


def test_the_merit_is_that_of_the_classes(rng):
    """Against counts made row by row, for a grouping of three classes."""
    sample = random_sample(rng, n=30, d=3, k=3, missing_share=0.1)
    node, gain = node_of(sample), MERITS.resolve("gain")
    tests = TrainedDiscriminant(node, RLS().train, gain, rng)
    for left in ([True, False, False], [False, True, False], [True, True, False]):
        test, value = tests.test(np.array(left))
        counts = np.zeros((2, 3))
        for z, y, w in zip(tests.whole.z, sample.y, sample.weight, strict=True):
            counts[test.branches(z[None])[0], y] += w
        divides = counts.any(axis=1).all()
        assert value == (pytest.approx(float(gain(counts))) if divides else -np.inf)
        np.testing.assert_allclose(tests.merits(np.array([left])), value)


def test_each_grouping_is_trained_once(rng):
    sample = random_sample(rng, n=60, d=3, k=4)
    seen = []

    def train(cases, rng):
        seen.append(cases.y.tobytes())
        return RLS().train(cases, rng)

    separate(node_of(sample), rng, train, "exchange", "gain")
    assert len(seen) == len(set(seen)) > 4
    seen.clear()
    separate(node_of(sample), rng, train, "exchange", "gain", scout="rls")
    assert len(seen) == 1


def test_best_of_all_groupings(rng):
    """Exhaustive grouping and its oracle: every test trained and compared."""
    sample = random_sample(rng, n=60, d=3, k=4)
    node, gain = node_of(sample), MERITS.resolve("gain")
    _, _, value = separate(node, rng, RLS().train, "exhaustive", "gain")
    tests = TrainedDiscriminant(node, RLS().train, gain, rng)
    every = [np.array([c >> k & 1 for k in range(4)], dtype=bool) for c in range(1, 8)]
    assert value == pytest.approx(max(tests.test(left)[1] for left in every))


def test_two_classes_need_no_grouping(rng):
    sample = random_sample(rng, n=30, d=3, k=2, categorical=0)
    split = Grouped().fit(node_of(sample), rng)
    unit = RLS().train(Cases.of(node_of(sample)), rng)
    np.testing.assert_allclose(
        np.array(split.weights) * Cases.of(node_of(sample)).scaling.std,
        unit.weights[0],
        rtol=1e-6,
    )


def test_nothing_to_separate_is_a_leaf():
    for learner in (Grouped(), Network()):
        clf = TreeClassifier(learner=learner)
        assert clf.fit(np.ones((10, 3)), np.arange(10) % 2).tree_.n_nodes == 1


@pytest.mark.parametrize("coefficients", list(COEFFICIENTS))
def test_trees_do_not_depend_on_how_rows_are_given(rng, coefficients):
    sample = random_sample(rng, n=60, d=3, k=3, weight="whole", missing_share=0.1)
    frame, times = sample.frame, sample.weight.astype(int)
    rows = rng.permutation(np.repeat(np.arange(60), times))
    clf = TreeClassifier(learner=Grouped(coefficients), random_state=0, max_depth=3)
    one = clf.fit(frame, sample.y, sample_weight=times).apply(frame)
    two = clf.fit(frame.iloc[rows], sample.y[rows]).apply(frame)
    np.testing.assert_array_equal(one, two)


def test_wrong_parts_are_named(clouds):
    for learner in (Grouped("rsl"), Grouped(scout="rsl"), Network(scout="rsl")):
        with pytest.raises(
            ValueError, match="unknown coefficients 'rsl', did you mean"
        ):
            TreeClassifier(learner=learner).fit(*clouds)


# -- nets ----------------------------------------------------------------------------


def test_gradient_of_the_net(rng):
    cases = cases_from(rng.normal(size=(9, 3)), rng.integers(2, size=9), rng.random(9))
    error = squared_error(cases)

    def value(w):
        net = Net.of(w, 4)
        return error(net.sums(net.units(cases.z)))[0]

    def gradient(w):
        net = Net.of(w, 4)
        units = net.units(cases.z)
        return net.gradient(cases.z, units, error(net.sums(units))[1])

    assert check_grad(value, gradient, rng.normal(size=4 * 4 + 5)) < 1e-6


def test_a_net_splits_what_no_plane_does(rng):
    X = rng.uniform(-1, 1, size=(300, 2))
    y = (X.prod(axis=1) > 0).astype(int)
    stump = {"max_depth": 1, "random_state": 0}
    net = TreeClassifier(learner=Network(epochs=500), **stump).fit(X, y)
    assert net.score(X, y) > 0.95 and isinstance(net.tree_.split(0), NetworkSplit)
    assert TreeClassifier(learner=Grouped(), **stump).fit(X, y).score(X, y) < 0.8


def test_a_split_routes_as_its_net(rng):
    for _ in range(10):
        sample = random_sample(rng, n=30, d=3, k=2, missing_share=0.1)
        node = node_of(sample)
        best = separate(node, rng, Network().train, "exchange", "gain")
        if best is None:
            continue
        cases, net, value = best
        branch = net.split(cases, value).route(sample.table, np.arange(30))
        np.testing.assert_array_equal(branch, net.branches(Cases.of(node).z))


@pytest.mark.parametrize("options", [{"hidden": 0}, {"epochs": 0}, {"decay": -1}])
def test_bad_options_are_named(clouds, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        TreeClassifier(learner=Network(**options)).fit(*clouds)


@pytest.mark.parametrize("name", ["id-lp", "id-mlp"])
def test_options_reach_the_learner(name):
    clf = presets.make(name, epochs=7, decay=0.5, grouping="selection")
    params = clf.learner.get_params()
    assert params.get("epochs", params.get("coefficients__epochs")) == 7
    assert params.get("decay", params.get("coefficients__decay")) == 0.5
    assert params["grouping"] == "selection"
