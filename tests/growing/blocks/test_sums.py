"""Sums over blocks: the same as the obvious ones, in any order and any pieces."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from tests import naive_blocks

from omnitree._core.linear import grid
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table, learn_table
from omnitree.estimators.large import make_bins
from omnitree.growing.blocks.coder import CodedRows, in_order, weight_unit
from omnitree.growing.blocks.grafting import graft
from omnitree.growing.blocks.moments import (
    DIGIT,
    MomentSums,
    Room,
    Standard,
    StandardSample,
)
from omnitree.growing.blocks.statistics import Bins, Counts, Histograms, from_digits
from omnitree.growing.blocks.survey import exact_sum
from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget
from omnitree.growing.threads import CallingThread


def coded(rng, n, numeric=False, weighted=True):
    """Rows with ties, missing values, a constant column and a categorical one."""
    cells = rng.integers(-3, 4, (n, 4)) / 2
    cells[:, 2] = 1.0
    cells[:, 3] = rng.integers(0, 3, n)
    cells[rng.random((n, 4)) < 0.1] = np.nan
    names = [Feature(f"x{j}", "numeric") for j in range(3)]
    schema = Schema((*names, Feature("c", "categorical", ("a", "b", "c"))), True)
    y = rng.normal(size=n) if numeric else rng.integers(0, 3, n).astype(np.int32)
    number = rng.integers(-(1 << 19), 1 << 19, n) if numeric else None
    weight = rng.integers(1, 1 << 20, n) if weighted else None
    key = rng.integers(0, 1 << 62, n).astype(np.uint64)
    return CodedRows(Table(np.asfortranarray(cells), schema), y, number, weight, key)


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_histograms_are_those_of_the_rows(seed, numeric):
    rng = np.random.default_rng(seed)
    rows = coded(rng, 60, numeric, weighted=seed % 2 == 0)
    edges = [np.array([-1.25, 0.0, 1.0]), np.empty(0), np.array([1.0]), np.empty(0)]
    several = [np.ones(len(e) + 1, dtype=bool) for e in edges]
    bins = Bins(edges, rows.table.schema.n_categories, several)
    slots = rng.integers(-1, 4, (2, 60)).astype(np.int32)
    n_slots, n_statistics = 3, 2 if numeric else 3
    sums = Histograms(bins, n_slots, n_statistics)(rows, slots)
    if numeric:
        own = [[1, int(q)] for q in rows.number]
    else:
        own = np.eye(3, dtype=int)[rows.y].tolist()
    for slot in range(n_slots):
        found = bins.of_slot(sums, slot, n_slots, n_statistics)
        expected = [
            naive_blocks.histograms(
                rows.table.values, s, rows.weights, own, edges, bins.n_categories, 3
            )
            for s in slots
        ]
        for j, histogram in enumerate(found):
            for at, line in enumerate(histogram.tolist()):
                parts = [e[j].get((slot, at), [0] * n_statistics) for e in expected]
                assert line == [a + b for a, b in zip(*parts, strict=True)]


@pytest.mark.parametrize("numeric", [False, True])
def test_counts_are_exact(numeric):
    rng = np.random.default_rng(3)
    rows = coded(rng, 500, numeric)
    slots = rng.integers(-1, 2, (1, 500)).astype(np.int32)
    found = from_digits(Counts(2, 0 if numeric else 3)(rows, slots))
    for slot in range(2):
        here = np.flatnonzero(slots[0] == slot).tolist()
        w = [int(rows.weight[i]) for i in here]
        if numeric:
            q = [int(rows.number[i]) for i in here]
            expected = [
                sum(a * b**k for a, b in zip(w, q, strict=True)) for k in range(3)
            ]
        else:
            y = rows.y[here].tolist()
            expected = [
                sum(a for a, k in zip(w, y, strict=True) if k == c) for c in range(3)
            ]
        assert found[slot] == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_columns_on_the_grid_are_those_of_the_rows(seed, weighted):
    rng = np.random.default_rng(seed)
    n = 60 if seed else 9000  # more than the kernel works on at a time
    rows = coded(rng, n, weighted=weighted)
    feature, category = rows.table.schema.linear_columns()
    p, half = len(feature), 8.0
    centre, step = rng.integers(-2, 3, p) / 4, rng.choice([0.25, 0.5, 1 / 16], p)
    at = rng.permutation(n)[: n - 7]
    given = rows.table.values, feature, category, centre, step, half, at, rows.y
    for missing in (True, False):
        if not missing:
            np.nan_to_num(rows.table.values, copy=False)
        whole = np.empty((len(at), p), order="F")
        seen = np.empty_like(whole) if missing else None
        sums, present = np.zeros((2, 3, p), dtype=np.int64)
        grid.on_grid(*given, rows.weight, whole, seen, sums, present)
        expected = naive_blocks.on_grid(*given, rows.weights, 3)
        cells = np.array(expected[0], dtype=float)
        assert (whole == np.nan_to_num(cells)).all()
        assert seen is None or (seen == ~np.isnan(cells)).all()
        assert sums.tolist() == expected[1]
        assert present.tolist() == expected[2]


def node_of(standard, sample):
    return Node.root(StandardSample.of(sample, lambda: standard), Rules(Mean()))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_moments_are_those_of_filled_rows_in_any_pieces(seed, weighted):
    rng = np.random.default_rng(seed)
    rows = coded(rng, 300, weighted=weighted)
    weight = rows.weights.astype(float)
    whole = Sample(rows.table, ClassTarget(rows.y, np.arange(3)), weight)
    low, high = np.nanmin(rows.table.values, 0), np.nanmax(rows.table.values, 0)
    standard = Standard.of(whole, low, high, weighted, may_miss=True)
    task = MomentSums(standard, 1, 3)
    slots = np.zeros((1, 300), dtype=np.int32)
    at_once = task(rows, slots)
    order = rng.permutation(300)
    pieces = [rows.take(at) for at in np.array_split(order, 7)]
    first, *others = (task(p, slots[:, : len(p)]) for p in pieces)
    in_pieces = sum(others, first)
    assert (at_once.class_sums == in_pieces.class_sums).all()
    assert (at_once.class_present == in_pieces.class_present).all()
    one, other = (f.products.astype(object) for f in (at_once, in_pieces))
    # Digits may be carried or not: the number is the same.
    carried = 2**DIGIT
    assert (
        one[:, 0] + one[:, 1] * carried == other[:, 0] + other[:, 1] * carried
    ).all()
    seen = [
        f.view(0, standard, node_of(standard, whole), 1.0) for f in (at_once, in_pieces)
    ]
    assert (seen[0].moments.second == seen[1].moments.second).all()
    node = node_of(standard, whole)
    view = at_once.view(0, standard, node, 1.0)
    filled, second = naive_blocks.moments(
        node.sample.standardised.plain.tolist(), weight
    )
    tolerance = 1e-4 * weight.sum()
    np.testing.assert_allclose(view.moments.second, second, atol=tolerance)
    for k in range(3):
        here = rows.y == k
        expected = (np.array(filled)[here] * weight[here, None]).sum(axis=0)
        np.testing.assert_allclose(view.moments.sums[k], expected, atol=tolerance)


def test_nodes_of_a_thread_take_the_same_memory():
    rng = np.random.default_rng(0)
    rows, room = coded(rng, 300), Room()
    weight = rows.weights.astype(float)
    whole = Sample(rows.table, ClassTarget(rows.y, np.arange(3)), weight)
    standard = Standard.of(whole, np.full(4, -3.0), np.full(4, 3.0), True, True)
    first = standard.columns(rows.table, room).plain
    for size in (40, 200):
        piece = rows.part(0, size)
        again = standard.columns(piece.table, room).plain
        assert np.shares_memory(again, first)
        np.testing.assert_array_equal(again, standard.columns(piece.table).plain)
        ordered = in_order([piece], first.T)
        assert np.shares_memory(ordered.table.values, first)
        np.testing.assert_array_equal(
            ordered.table.values, in_order([piece]).table.values
        )
    elsewhere = ThreadPoolExecutor(1).submit(lambda: room.columns)
    assert elsewhere.result() is None


def test_sums_of_weights_do_not_depend_on_their_order():
    rng = np.random.default_rng(0)
    values = rng.random(1000) * 10.0 ** rng.integers(-20, 20, 1000)
    expected = sum(map(Fraction, values.tolist()))
    assert exact_sum(values) == expected
    assert exact_sum(values[:300]) + exact_sum(values[300:]) == expected


def test_weights_that_are_whole_numbers_stay():
    assert weight_unit(1000.0, True, 10**6) == 1.0
    assert weight_unit(1000.0, False, 10**6) < 1e-3
    # The sum of all weights has 42 bits at most.
    assert 10**9 * 1.0 / weight_unit(1.0, False, 10**9) < 2**43


def test_bins_lie_between_values_of_the_sample():
    values = np.repeat(np.arange(1000.0), 3)
    table = learn_table(np.stack([values, values % 5, values * 0 + 1], axis=1))
    bins = make_bins(table, np.ones(3000, dtype=np.int64), 16, CallingThread())
    assert len(bins.edges[0]) == 15
    size = np.diff(np.concatenate([[0], bins.edges[0], [999]]))
    assert size.max() <= 1000 / 16 + 2
    assert bins.edges[1].tolist() == [0.5, 1.5, 2.5, 3.5]
    assert not len(bins.edges[2])


@pytest.mark.parametrize("seed", range(20))
def test_bins_of_rows_with_numbers_are_those_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(300, 3)).round(int(rng.integers(0, 4)))
    values[rng.random(values.shape) < 0.1] = np.nan
    count, most = rng.integers(1, 5, 300), int(rng.choice([2, 7, 64]))
    once = learn_table(values)
    every = Table(np.repeat(values, count, axis=0), once.schema)
    ones = np.ones(every.n_rows, dtype=np.int64)
    with ThreadPoolExecutor(2) as pool:
        found = make_bins(once, count, most, pool)
    expected = make_bins(every, ones, most, CallingThread())
    for j in range(3):
        assert found.edges[j].tolist() == expected.edges[j].tolist()
        assert found.several[j].tolist() == expected.several[j].tolist()
        present = np.unique(values[:, j][~np.isnan(values[:, j])])
        different = np.diff(np.searchsorted(present, found.edges[j], side="right"))
        assert len(found.edges[j]) < most
        assert (different > 0).all()  # no edge twice between the same values


def test_a_grafted_tree_sends_rows_where_its_parts_do():
    from omnitree import TreeClassifier

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    top = TreeClassifier(max_depth=2).fit(X, y).tree_
    table = learn_table(X)
    leaf = top.apply(table)
    below = {}
    for at in np.unique(leaf)[1:].tolist():
        here = leaf == at
        below[at] = TreeClassifier(max_depth=3).fit(X[here], y[here]).tree_
    whole = graft(top, below)
    expected = top.value[leaf]
    for at, subtree in below.items():
        here = leaf == at
        of_classes = subtree.value[subtree.apply(Table(X[here], table.schema))]
        assert len(subtree.classes) == 3
        expected[here] = of_classes
    assert (whole.value[whole.apply(table)] == expected).all()
    again = type(whole).from_dict(whole.to_dict())
    assert (again.apply(table) == whole.apply(table)).all()
