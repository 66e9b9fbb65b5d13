"""Weights on centred and scaled columns as tests and models in the table's own units."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import node_of
from tests.tables import random_sample

from omnitree.data.table import Table, learn_table
from omnitree.growing.scaling import Scaling
from omnitree.tree.leaf_models import LeafModels
from omnitree.tree.splits import LinearSplit


def sums_of(scaling, x, w, bias, fill):
    """The sums by the definition, column by column and product by product."""
    z = np.zeros_like(x)
    for j, (mean, std) in enumerate(zip(scaling.mean, scaling.std, strict=True)):
        for i, value in enumerate(x[:, scaling.which[j]]):
            if std > 0:
                z[i, j] = fill[j] if np.isnan(value) else (value - mean) / std
    products = [z[:, a] * z[:, b] for a, b in zip(scaling.a, scaling.b, strict=True)]
    return np.column_stack([z, *products]) @ w.T + bias


def random_scaling(rng, p, products):
    std = rng.choice([0.0, 0.1, 1.0, 50.0], p=[0.1, 0.2, 0.4, 0.3], size=p)
    scaling = Scaling(rng.permutation(p), rng.normal(0, 10, size=p), std)
    return scaling.with_products() if products else scaling


@pytest.mark.parametrize("products", [False, True])
def test_models_tests_and_machines_have_the_sums_of_the_columns(products, rng):
    for _ in range(60):
        p, k = (int(i) for i in rng.integers(1, 5, size=2))
        scaling = random_scaling(rng, p, products)
        x = rng.normal(0, 10, size=(40, p))
        x[rng.random(x.shape) < 0.1] = np.nan
        x[0] = 0.0
        table = learn_table(x)
        fill = np.where(scaling.std > 0, rng.normal(size=p), 0.0)
        w = rng.normal(size=(k, scaling.n_columns))
        w *= rng.random(scaling.n_columns) < 0.7
        bias = rng.normal(size=k)
        sums = sums_of(scaling, x, w, bias, fill)
        model = scaling.model(w, bias, fill, "identity")
        got, rows = np.empty((40, k)), np.arange(40)
        LeafModels.of([model]).answer(table, rows, np.zeros(40, np.int32), got)
        np.testing.assert_allclose(got, sums, rtol=1e-8, atol=1e-6)
        far = np.abs(sums[:, 0]) > 1e-5
        test = scaling.test(w[0], -bias[0], fill)
        np.testing.assert_array_equal(
            test.route(table, rows)[far], (sums[:, 0] > 0)[far]
        )
        split = scaling.split(w[0], -bias[0], fill, 0.5)
        varies = np.concatenate([scaling.std > 0, np.ones(len(scaling.a), dtype=bool)])
        if not (w[0] * varies).any():
            assert split is None
        else:
            assert split.merit == 0.5
            np.testing.assert_array_equal(
                split.route(table, rows)[far], (sums[:, 0] > 0)[far]
            )
        if k > 1:
            ordered = np.sort(sums, axis=1)
            far = ordered[:, -1] - ordered[:, -2] > 1e-5
            machine = scaling.machine(w, bias, fill, 0.0)
            np.testing.assert_array_equal(
                machine.route(table, rows)[far], sums.argmax(axis=1)[far]
            )


def test_columns_without_weight_are_no_part_of_a_test():
    scaling = Scaling(np.array([4, 7, 9]), np.zeros(3), np.array([1.0, 2.0, 0.0]))
    w = np.array([[0.0, 1.0, 3.0], [0.0, 2.0, 5.0]])
    assert scaling.machine(w, np.zeros(2), np.zeros(3), 0.0).columns == (7,)
    assert scaling.split(w[0], 1.0, np.zeros(3), 0.0).columns == (7,)


def test_fold_is_exact_in_easy_numbers():
    scaling = Scaling(np.arange(2), np.array([1.0, 2.0]), np.array([2.0, 0.0]))
    weights, bias = scaling.fold(np.ones((3, 2)), np.arange(3.0))
    np.testing.assert_array_equal(weights, [[0.5, 0.0]] * 3)
    np.testing.assert_array_equal(bias, [-0.5, 0.5, 1.5])
    np.testing.assert_array_equal(scaling.own(np.array([1.5, 0.0])), [4.0, 2.0])
    np.testing.assert_array_equal(scaling.standardised(np.array([4.0, 2.0])), [1.5, 0])


def test_small_scale_on_a_large_offset():
    X = 1e6 + 1e-8 * np.random.default_rng(0).normal(size=(500, 2))
    mean, std, Z = learn_table(X).encoded.standardise(np.arange(500))
    weights, bias = Scaling(np.arange(2), mean, std).fold(np.ones(2), 0.0)
    # Each product is near 1e14, where floats are 1/64 apart.
    np.testing.assert_allclose(X @ weights + bias, Z.sum(axis=1), atol=0.1)


def test_a_cut_of_one_column_is_a_test_of_its_feature(rng):
    for _ in range(100):
        node = node_of(random_sample(rng, missing_share=0.1))
        rows, table = node.linear, node.sample.table
        for j in range(rows.n_columns):
            z = rows.columns[:, j]
            if not np.ptp(z) > 1e-9:
                continue
            at = float(rng.uniform(z.min(), z.max()))
            far = np.abs(z - at) > 1e-9
            split = rows.scaling.cut(table.schema, j, at, rows.fill[j], 0.25)
            branch = split.route(table, node.rows)
            branch[branch < 0] = split.missing
            np.testing.assert_array_equal(branch[far], (z > at)[far])
            assert split.merit == 0.25


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_test_of_one_column_is_in_its_unit_and_routes_alike(sign, rng):
    """To the last bit: all numbers next to the threshold take the branch they took."""
    schema = learn_table(np.array([[0.0], [1.0]])).schema
    for _ in range(300):
        weight = sign * float(10 ** rng.uniform(-8, 8))
        threshold = float(rng.normal() * 10 ** rng.uniform(-6, 6))
        test = LinearSplit((0,), (weight,), (0.0,), threshold)
        own = test.in_own_unit()
        assert own.weights == (sign,)
        assert own.fill == test.fill
        around = [own.threshold * sign]
        for direction in (-np.inf, np.inf):
            x = around[0]
            for _ in range(8):
                x = float(np.nextafter(x, direction))
                around.append(x)
        cells = np.array([*around, *(threshold / weight * rng.normal(size=20))])
        table, rows = Table(cells[:, None], schema), np.arange(len(cells))
        np.testing.assert_array_equal(own.route(table, rows), test.route(table, rows))


@pytest.mark.parametrize(
    "weights, threshold, same",
    [
        ((2.0, 1.0), 3.0, True),  # two columns have no common unit
        ((1e-320,), 1.0, True),  # no number is that large
        ((0.02,), 0.0, False),
    ],
)
def test_units_that_there_are_not(weights, threshold, same):
    columns = tuple(range(len(weights)))
    test = LinearSplit(columns, weights, (0.0,) * len(weights), threshold)
    assert (test.in_own_unit() == test) == same
