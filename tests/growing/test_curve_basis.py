"""Columns of curves: what they span, what they become in the table's units."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree.data.table import learn_table
from omnitree.growing.curve_basis import KNOTS, CurveBasis, quantiles
from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget
from omnitree.tree.leaf_models import LeafModels


def random_node(seed: int, n: int = 80) -> Node:
    rng = np.random.default_rng(seed)
    X = np.empty((n, 5), dtype=object)
    X[:, 0] = rng.normal(1e3, 5.0, n)
    X[:, 1] = rng.integers(0, 4, n).astype(float)  # ties
    X[:, 2] = rng.exponential(size=n) ** 3
    X[:, 3] = rng.choice(["a", "b", "c"], n)
    X[:, 4] = rng.integers(0, 2, n).astype(float)
    if seed % 2:
        X[rng.random(n) < 0.2, 0] = None
        X[rng.random(n) < 0.2, 4] = None
    target = ClassTarget(rng.integers(0, 3, n).astype(np.int32), np.arange(3))
    sample = Sample(learn_table(X), target, rng.uniform(0.5, 2, n))
    rows = np.sort(rng.choice(n, 50, replace=False))
    return Node(sample, Rules(Mean()), rows, sample.weight[rows])


@pytest.mark.parametrize("seed", range(8))
def test_columns_span_all_curves_with_these_knots(seed):
    rng = np.random.default_rng(seed)
    z = np.round(rng.normal(size=60), int(rng.integers(0, 3)))
    z[rng.random(60) < 0.1 * (seed % 2)] = np.nan
    weight = rng.uniform(0.1, 3, 60)
    basis = CurveBasis.of(0, z, weight)
    columns = basis.columns(z)
    assert np.allclose(weight @ columns, 0, atol=1e-9)
    assert columns.shape == (60, len(basis.spread))
    at_knots = rng.normal(size=len(basis.knots))
    wanted = np.interp(np.nan_to_num(z), basis.knots, at_knots)
    wanted[np.isnan(z)] = rng.normal()
    both = np.column_stack([columns, np.ones(60)])
    w, *_ = np.linalg.lstsq(both, wanted, rcond=None)
    assert np.allclose(both @ w, wanted)


def test_weights_of_hinges_are_changes_of_slope():
    z = np.random.default_rng(0).normal(size=200)
    basis = CurveBasis.of(0, z, np.ones(200))
    line = np.linspace(0, 1, len(basis.knots))  # straight in ranks
    hinges = basis.values[:-1, 1:]
    w, *_ = np.linalg.lstsq(
        np.column_stack([basis.values[:-1, :1], np.ones(len(line)), hinges]),
        line,
        rcond=None,
    )
    assert np.allclose(w[2:], 0)
    bent = np.maximum(line - line[3], 0)
    w, *_ = np.linalg.lstsq(
        np.column_stack([basis.values[:-1, :1], np.ones(len(line)), hinges]),
        bent,
        rcond=None,
    )
    assert (np.abs(w[2:]) > 1e-9).tolist() == [False, False, True, False, False, False]


@pytest.mark.parametrize("expansion", ["curves", "blocks"])
@pytest.mark.parametrize("seed", range(6))
def test_models_in_own_units_have_the_same_sums(seed, expansion):
    node = random_node(seed)
    rows = node.view(expansion)
    rng = np.random.default_rng(seed)
    w, bias = rng.normal(size=(3, rows.n_columns)), rng.normal(size=3)
    model = rows.scaling.model(w, bias, rows.fill)
    assert len(model.curve_columns) == len(rows.scaling.curves) >= 3
    sums = rows.columns @ w.T + bias
    proba = np.exp(sums - sums.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    found = np.empty((len(node.rows), 3))
    first = np.zeros(len(node.rows), dtype=np.int32)
    LeafModels.of([model]).answer(node.sample.table, node.rows, first, found)
    assert np.allclose(found, proba)
    machine = rows.machine(w, bias, 0.0)
    assert machine.kind == "additive_machine"
    assert (machine.route(node.sample.table, node.rows) == sums.argmax(axis=1)).all()
    cut = float(np.median(rows.columns @ w[0]))
    test = rows.split(w[0], cut, 0.0)
    assert test.kind == "additive"
    branch = test.route(node.sample.table, node.rows)
    assert (
        branch == (rows.columns @ w[0] > cut)
    ).mean() > 0.97  # but for the cut itself


def test_curves_stay_as_they_are_beyond_the_rows():
    node = random_node(0)
    rows = node.view("curves")
    w = np.ones((3, rows.n_columns)) * [[1], [2], [3]]
    model = rows.scaling.model(w, np.zeros(3), rows.fill)
    assert 0 not in model.columns  # its weight is part of the curve
    far = node.sample.table.values.copy()
    far[:, 0] = 1e9
    most = np.nanmax(node.sample.table.values[node.rows, 0])
    near = far.copy()
    near[:, 0] = most
    out = []
    for values in (far, near):
        table = type(node.sample.table)(values, node.sample.table.schema)
        proba = np.empty((len(node.rows), 3))
        first = np.zeros(len(node.rows), dtype=np.int32)
        LeafModels.of([model]).answer(table, node.rows, first, proba)
        out.append(proba)
    assert (out[0] == out[1]).all()


@pytest.mark.parametrize("seed", range(20))
def test_knots_leave_only_where_sums_stay_near(seed):
    rng = np.random.default_rng(seed)
    z = np.round(rng.normal(size=200), rng.integers(0, 3))
    z[rng.random(200) < 0.1] = np.nan
    basis = CurveBasis.of(0, z, np.ones(200))
    k, room = rng.integers(1, 4), rng.uniform(0.01, 0.5)
    w = rng.normal(size=(k, basis.values.shape[1])) * rng.choice([0.01, 1.0])
    keep = basis.bends(w, room)
    fewer = basis.with_knots(keep)
    assert keep[0] == 0 and keep[-1] == len(basis.knots) - 1
    off = fewer.columns(z) @ w.T - basis.columns(z) @ w.T
    moved = np.ptp(off, axis=1) if k > 1 else np.abs(off)
    assert moved.max() <= room + 1e-12
    assert basis.bends(w, -1.0) == list(range(len(basis.knots)))
    assert basis.bends(w, np.inf) == [0, len(basis.knots) - 1]


def test_knots_are_few_and_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(1)
    x, weight = np.round(rng.normal(size=300), 1), rng.uniform(0.1, 2, 300)
    knots = quantiles(x, weight, KNOTS)
    assert len(knots) <= KNOTS and knots[0] == x.min() and knots[-1] == x.max()
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(300)
        assert (quantiles(x[order], weight[order], KNOTS) == knots).all()
    again = np.repeat(np.arange(300), 2)
    assert (quantiles(x[again], weight[again] / 2, KNOTS) == knots).all()


def test_no_curve_where_a_line_does_as_well():
    weight = np.ones(4)
    assert CurveBasis.of(0, np.array([0.0, 1.0, 0.0, 1.0]), weight) is None
    assert CurveBasis.of(0, np.zeros(4), weight) is None
    assert CurveBasis.of(0, np.full(4, np.nan), weight) is None
    with_missing = CurveBasis.of(0, np.array([0.0, 1.0, np.nan, 1.0]), weight)
    assert with_missing.values.shape == (3, 2)
