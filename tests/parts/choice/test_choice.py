"""Choices: criteria and tests against obvious versions, and the rules that pick a winner."""

from __future__ import annotations

import numpy as np
import pytest
from tests.growing.test_node_folds import node_of
from tests.naive_choice import criterion
from tests.samples import root_of
from tests.tables import random_sample

from omnitree.growing.learner import SplitLearner
from omnitree.lab.statistics import five_by_two_f, five_by_two_t
from omnitree.learners import Analytic, KWay, Linear
from omnitree.parts.choice import (
    AIC,
    BIC,
    CHOICES,
    CombinedF,
    CombinedT,
    FiveByTwoT,
    OneStandardError,
    Proposal,
)
from omnitree.tree.splits import AxisSplit


def proposals_of(node, rng, learners=None):
    learners = learners or {"a": Analytic(), "b": Linear(), "c": KWay()}
    found = {name: learner.fit(node, rng) for name, learner in learners.items()}
    return [
        Proposal(name, learners[name], node, split)
        for name, split in found.items()
        if split is not None
    ]


@pytest.mark.parametrize("name", ["aic", "bic"])
@pytest.mark.parametrize("logarithm", ["natural", "binary"])
def test_criteria(name, logarithm, rng):
    """Scores are those of the branches, counted row by row."""
    choice = CHOICES[name](logarithm)
    for _ in range(100):
        found = random_sample(rng, n=30, d=3, missing_share=0.1, k=3)
        node = node_of(found)
        proposals = proposals_of(node, rng)
        if not proposals:
            continue
        verdict = choice.choose(proposals, rng)
        expected = []
        for p in proposals:
            branches = np.zeros((p.split.n_children, 3))
            to = p.split.route(found.table, node.rows)
            for row, branch in enumerate(to):
                place = branch if branch >= 0 else p.split.missing
                branches[place, found.y[row]] += found.weight[row]
            d = p.split.free or p.split.n_params
            expected.append(criterion(name, logarithm, branches.tolist(), d))
        np.testing.assert_allclose(verdict.scores, expected)
        assert verdict.scores[verdict.winner] <= min(expected) + 1e-9


def test_parameters_are_dimensions(rng):
    """Two of a univariate test; components kept plus one of a linear one."""
    X = rng.normal(size=(80, 4))
    X = np.column_stack([X, X[:, 0] + 1e-9 * X[:, 1]])  # a column twice
    node = root_of(X, (X[:, 0] + X[:, 1] > 0).astype(np.int32))
    assert Analytic().fit(node, rng).complexity == 2
    linear = Linear().fit(node, rng)
    assert (linear.n_params, linear.complexity) == (6, 5)
    assert Linear(max_features_per_test=2).fit(node, rng).complexity == 3


def differences(rng):
    return np.round(rng.normal(0.02, 0.05, size=(5, 2)), 3)


def test_tests_are_those_of_the_lab(rng):
    for _ in range(200):
        d = differences(rng)
        zero = np.zeros((5, 2))
        t = five_by_two_t(d, zero)
        one_sided = t.p / 2 if t.statistic > 0 else 1 - t.p / 2
        assert FiveByTwoT().p_value(d) == pytest.approx(one_sided)
        f = five_by_two_f(d, zero)
        expected = f.p if d.mean() > 0 else 1.0
        assert CombinedF().p_value(d) == pytest.approx(expected)


def test_combined_t(rng):
    """The mean of ten differences in units of its pooled deviation, by hand."""
    from scipy import stats

    for _ in range(50):
        d = differences(rng)
        s2 = [((a - (a + b) / 2) ** 2 + (b - (a + b) / 2) ** 2) for a, b in d]
        t = np.sqrt(10) * d.mean() / np.sqrt(sum(s2) / 5)
        assert CombinedT().p_value(d) == pytest.approx(stats.t.sf(t, 5))


@pytest.mark.parametrize("test", [FiveByTwoT, CombinedT, CombinedF])
def test_no_variance(test):
    assert test().p_value(np.full((5, 2), 0.1)) == 0
    assert test().p_value(np.zeros((5, 2))) == 1
    assert test().p_value(np.full((5, 2), -0.1)) == 1


class Scripted(SplitLearner):
    """A learner whose trials end as told."""

    def __init__(self, errors=()):
        self.errors = errors

    def fit(self, node, rng):
        raise AssertionError("a choice tries a learner on folds only")

    def trial_losses(self, folds, rng):
        return np.array(self.errors)


def judged(choice, errors, rng, n=60):
    found = random_sample(rng, n=n, d=2, k=2, missing_share=0.0, weight="one")
    node = node_of(found)
    proposals = [
        Proposal(str(i), Scripted(e), node, AxisSplit(0, 0.5))
        for i, e in enumerate(errors)
    ]
    return choice.choose(proposals, rng)


def about(mean, rng):
    return mean + rng.normal(0, 0.002, size=10)


def test_order_of_complexity(rng):
    """OMNI, section 2: Q only if better than L and U, else L if better than U, else U."""
    choice = CombinedT()
    low, middle, high = (about(m, rng) for m in (0.1, 0.2, 0.3))
    assert judged(choice, [high, middle, low], rng).winner == 2
    assert judged(choice, [high, low, low], rng).winner == 1
    assert judged(choice, [low, low, high], rng).winner == 0
    assert judged(choice, [low, high, middle], rng).winner == 0  # not better than U
    assert judged(choice, [high, high, low], rng).winner == 2
    verdict = judged(choice, [high, middle, low], rng)
    np.testing.assert_allclose(verdict.scores, [h.mean() for h in (high, middle, low)])


def test_multitest_differs_where_only_the_extremes_do(rng):
    """U is beaten by Q but L is beaten by none: L by MultiTest, U by OMNI's rule."""
    u = np.full(10, 0.25) + np.tile([0.0, 0.001], 5)
    q = np.full(10, 0.15)
    middle = np.tile([0.05, 0.35], 5)  # so unsteady that nothing can be said
    assert judged(CombinedT(), [u, middle, q], rng).winner == 0
    assert judged(CombinedT(rule="multitest"), [u, middle, q], rng).winner == 1


def test_bonferroni(rng):
    base = np.zeros(10)
    for scale in np.linspace(0.01, 0.2, 60):
        better = -scale + np.tile([0.0, 0.05], 5)
        plain = judged(CombinedT(bonferroni=False), [base, base, better], rng).winner
        strict = judged(CombinedT(bonferroni=True), [base, base, better], rng).winner
        p = CombinedT().p_value(np.reshape(base - better, (5, 2)))
        assert plain == (2 if p < 0.05 else 0)
        assert strict == (2 if p < 0.05 / 3 else 0)


def test_one_standard_error(rng):
    se = np.sqrt(0.2 * 0.8 / 60)
    near, far = np.full(10, 0.2 + 0.9 * se), np.full(10, 0.2 + 1.1 * se)
    best = np.full(10, 0.2)
    assert judged(OneStandardError(), [near, best], rng).winner == 0
    assert judged(OneStandardError(), [far, best], rng).winner == 1
    assert judged(OneStandardError(), [far, near, best], rng).winner == 1
    assert judged(OneStandardError(se=0), [near, best], rng).winner == 1


def test_small_nodes_get_the_simplest(rng):
    verdict = judged(CombinedT(min_rows=100), [np.ones(10), np.zeros(10)], rng)
    assert (verdict.winner, verdict.scores) == (0, (None, None))


def test_large_nodes_are_sampled(rng):
    class Counting(Scripted):
        def trial_losses(self, folds, rng):
            self.errors.append(folds.node.total)
            return np.zeros(10)

    seen: list[float] = []
    found = random_sample(rng, n=700, d=2, k=2, missing_share=0.0, weight="one")
    node = node_of(found)
    proposals = [Proposal(c, Counting(seen), node, AxisSplit(0, 0.5)) for c in "ab"]
    CombinedF(max_rows=300).choose(proposals, rng)
    assert len(seen) == 2 and all(abs(n - 300) < 5 for n in seen)


@pytest.mark.parametrize(
    ("choice", "word"),
    [
        (AIC("bits"), "natural"),
        (BIC("bits"), "binary"),
        (CombinedT(rule="best"), "multitest"),
        (CombinedT(level=2), "level"),
        (FiveByTwoT(min_rows=-1), "min_rows"),
        (CombinedF(max_rows=1), "max_rows"),
        (OneStandardError(folds=1), "folds"),
        (OneStandardError(se=-1), "se"),
    ],
)
def test_bad_options(choice, word, rng):
    node = node_of(random_sample(rng, n=60, d=3, k=2, missing_share=0.0))
    with pytest.raises(ValueError, match=word):
        for _ in range(20):  # some samples have no test
            choice.choose(proposals_of(node, rng), rng)
            node = node_of(random_sample(rng, n=60, d=3, k=2, missing_share=0.0))
