"""Targets against NumPy: statistics that add, answers, losses, records."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import random_weight

from omnitree.growing.criterion import AbsoluteError, SquaredError
from omnitree.growing.target import ClassTarget, NumericTarget


def class_target(rng, n=40, k=4, costs=False):
    """Codes of classes, some of which may be absent."""
    matrix = None
    if costs:
        matrix = rng.integers(1, 6, size=(k, k)) * (1.0 - np.eye(k))
    codes = rng.integers(rng.integers(1, k + 1), size=n).astype(np.int32)
    return ClassTarget(codes, np.array(list("abcdefg")[:k]), matrix)


def numeric_target(rng, n=40, criterion=None):
    """Numbers with ties."""
    values = np.round(rng.normal(size=n), 1) + rng.choice([0.0, 1e3])
    return NumericTarget(values, criterion or SquaredError())


MAKERS = {"classes": class_target, "numbers": numeric_target}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_statistics_of_parts_add_up(make, rng):
    for _ in range(100):
        n, n_branches = int(rng.integers(1, 50)), int(rng.integers(1, 6))
        target, weight = make(rng, n), random_weight(rng, n)
        branch = rng.integers(n_branches, size=n)
        whole = target.statistics(weight)
        by_branch = target.statistics_by(branch, n_branches, weight)
        np.testing.assert_allclose(by_branch.sum(axis=0), whole, rtol=1e-12)
        for b in range(n_branches):
            here = branch == b
            part = target.take(here).statistics(weight[here])
            np.testing.assert_allclose(by_branch[b], part, rtol=1e-12, atol=1e-12)
        assert target.total(whole) == pytest.approx(weight.sum())
        assert target.total(by_branch) == pytest.approx(weight.sum())


def test_statistics_are_what_they_are_called(rng):
    classes, weight = class_target(rng), random_weight(rng, 40)
    counts = [weight[classes.codes == k].sum() for k in range(4)]
    np.testing.assert_allclose(classes.statistics(weight), counts)
    numbers = numeric_target(rng)
    sums = [(weight * numbers.values**p).sum() for p in range(3)]
    np.testing.assert_allclose(numbers.statistics(weight), sums)


@pytest.mark.parametrize("criterion", [SquaredError(), AbsoluteError()], ids=repr)
def test_no_other_number_loses_less_than_the_answer(criterion, rng):
    for _ in range(50):
        n = int(rng.integers(1, 30))
        target = numeric_target(rng, n, criterion)
        weight = random_weight(rng, n)
        answer = target.answer(weight)
        least = target.loss(answer, weight)
        outputs = np.full((n, 1), answer)
        assert least == pytest.approx(weight @ target.losses(outputs))
        assert target.outputs(weight).tolist() == [answer]
        for other in [*target.values, answer + 0.1, answer - 0.1]:
            assert least <= target.loss(other, weight) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("costs", [False, True])
def test_losses_of_classes_row_by_row(costs, rng):
    for _ in range(50):
        target = class_target(rng, 20, costs=costs)
        outputs = rng.integers(1, 5, size=(20, 4)).astype(float)  # with ties
        matrix = 1.0 - np.eye(4) if target.costs is None else target.costs
        expected = []
        for code, line in zip(target.codes, outputs, strict=True):
            price = [sum(line[t] * matrix[t, a] for t in range(4)) for a in range(4)]
            expected.append(matrix[code, price.index(min(price))])
        np.testing.assert_array_equal(target.losses(outputs), expected)
        plain = target.without_costs().losses(outputs)
        np.testing.assert_array_equal(plain, outputs.argmax(axis=1) != target.codes)


def test_shares_and_the_answer_of_two_classes(rng):
    target, weight = class_target(rng, k=2), random_weight(rng, 40)
    shares = target.outputs(weight)
    assert shares.sum() == pytest.approx(1)
    second = np.average(target.codes == 1, weights=weight)
    assert target.answer(weight) == pytest.approx(second) == shares[1]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_purity(make, rng):
    for _ in range(50):
        target = make(rng, int(rng.integers(1, 4)))
        assert target.is_pure == (len(set(target.y.tolist())) == 1)
    assert target.take(np.empty(0, dtype=int)).is_pure


def test_strata_and_tasks(rng):
    classes, numbers = class_target(rng), numeric_target(rng)
    np.testing.assert_array_equal(classes.strata(), classes.codes)
    assert not numbers.strata().any() and len(numbers.strata()) == len(numbers)
    assert (classes.task, numbers.task) == ("classification", "regression")
    assert (classes.n_classes, numbers.n_classes) == (4, 0)
    assert (classes.labels, numbers.labels) == (("a", "b", "c", "d"), ())


def test_records(rng):
    weight = random_weight(rng, 40)
    target = class_target(rng)
    record = target.record(3, weight, target.statistics(weight))
    assert record.parent == 3 and record.constant is record.loss is None
    np.testing.assert_array_equal(record.value, target.statistics(weight))
    numbers = numeric_target(rng, criterion=AbsoluteError())
    record = numbers.record(3, weight, numbers.statistics(weight))
    assert record.value.tolist() == [pytest.approx(weight.sum())]
    assert record.loss == numbers.loss(record.constant, weight)
    nothing = numbers.take(np.empty(0, dtype=int))
    empty = nothing.record(3, np.empty(0), nothing.statistics(np.empty(0)))
    assert (empty.value.tolist(), empty.constant, empty.loss) == ([0.0], 0.0, 0.0)


def test_a_likelihood_grows_as_the_loss_falls(rng):
    for target in (class_target(rng), numeric_target(rng)):
        values = [target.log_likelihood(loss, 40.0) for loss in (9.0, 2.0, 0.5)]
        assert values == sorted(values)


@pytest.mark.parametrize("costs", [False, True])
def test_losses_by_counts_are_those_of_the_rows(costs, rng):
    for _ in range(50):
        target = class_target(rng, costs=costs)
        weight, node = (
            random_weight(rng, len(target)),
            rng.integers(3, size=len(target)),
        )
        outputs = rng.dirichlet(np.ones(target.n_classes), 3)
        counts = target.statistics_by(node, 3, weight)
        each = np.bincount(node, weight * target.losses(outputs[node]), 3)
        np.testing.assert_allclose(target.losses_by(counts, outputs), each, atol=1e-9)


def test_only_the_classes_present(rng):
    for _ in range(50):
        target = class_target(rng, costs=True)
        some = target.of_present()
        np.testing.assert_array_equal(
            some.classes[some.codes], target.classes[target.codes]
        )
        np.testing.assert_array_equal(np.unique(some.codes), np.arange(some.n_classes))
        places = {label: k for k, label in enumerate(target.labels)}
        for i, a in enumerate(some.labels):
            for j, b in enumerate(some.labels):
                assert some.costs[i, j] == target.costs[places[a], places[b]]
    numbers = numeric_target(rng)
    assert numbers.of_present() is numbers
