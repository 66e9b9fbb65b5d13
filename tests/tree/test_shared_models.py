"""Leaves that share a model: told apart from the test's own functions, counted once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.trees import (
    SCHEMA,
    calibrated_tree,
    functions_of,
    random_cases,
    random_rows,
    random_test,
)

from omnitree.data.table import Table
from omnitree.growing.standard_columns import StandardColumns
from omnitree.tree.expression import plain_rule
from omnitree.tree.leaf_models import LeafModels
from omnitree.tree.records import NodeRecord
from omnitree.tree.shared_models import own_functions, with_sums
from omnitree.tree.splits import CasesSplit
from omnitree.tree.tree import tree_from_nodes

KINDS = ("linear", "quadratic", "machine", "quadratic_machine")


def found(test, model):
    return own_functions(plain_rule(test.rule), model.to_dict())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_a_scaled_machine_is_recognised(kind, seed):
    rng = np.random.default_rng(seed)
    test = random_test(rng, kind)
    n = test.n_children
    if len(set(zip(getattr(test, "bias", (0, 1)), test.weights, strict=False))) < n:
        pytest.skip("two functions are the same")
    if not hasattr(test, "bias") and not any(test.weights):
        pytest.skip("the test weighs nothing")
    scale = float(rng.uniform(0.01, 20))
    model = functions_of(test, scale, tuple(range(n)), n)
    own = found(test, model)
    assert own is not None and own.classes == tuple(range(n)) and own.others == {}
    assert own.scale == pytest.approx(scale)
    # Softmax does not notice what is added to all sums.
    shift = rng.normal()
    moved = replace(model, bias=tuple(b + shift for b in model.bias))
    assert found(test, moved).scale == pytest.approx(scale)
    # Rounding does not matter, a change does.
    rounded = tuple(tuple(w * (1 + 1e-12) for w in row) for row in model.weights)
    assert found(test, replace(model, weights=rounded)) is not None
    other = replace(model, bias=(model.bias[0] + 0.1, *model.bias[1:]))
    assert found(test, other) is None
    wider = replace(model, fill=tuple(f + 0.01 for f in model.fill))
    assert found(test, wider) is None
    turned = tuple(tuple(-w for w in row) for row in model.weights)
    back = replace(model, weights=turned, bias=tuple(-b for b in model.bias))
    assert found(test, back) is None


def centred(machine):
    """The machine with functions that add up to 0."""
    weights = np.array(machine.weights)
    rows = tuple(map(tuple, (weights - weights.mean(axis=0)).tolist()))
    bias = tuple((np.array(machine.bias) - np.mean(machine.bias)).tolist())
    return replace(machine, weights=rows, bias=bias)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_without_a_branch_have_a_constant(kind):
    rng = np.random.default_rng(1)
    test = random_test(rng, kind)
    n = test.n_children
    if hasattr(test, "bias"):
        test = centred(test)
    classes = (1, *range(3, n + 2))
    model = functions_of(test, 2.0, classes, n + 3)
    own = found(test, model)
    assert own.classes == classes and own.scale == pytest.approx(2.0)
    assert set(own.others) == {0, 2, n + 2} and own.n_params == 1
    for bias, weights in own.others.values():
        assert bias == pytest.approx(-3.0) and weights == pytest.approx(
            np.zeros(len(weights))
        )
    rows = list(model.weights)
    rows[0] = tuple(1.0 for _ in rows[0])
    more = found(test, replace(model, weights=tuple(rows)))
    assert more.scale == own.scale and more.classes == classes
    assert more.others[0][1] == pytest.approx([1.0] * len(rows[0]))
    assert more.n_params == 1 + 1 + len(rows[0])
    if n > 2:  # constants beside functions that are not centred would not be comparable
        apart = replace(test, weights=tuple((*w[:-1], w[-1] + 1) for w in test.weights))
        assert found(apart, functions_of(apart, 2.0, classes, n + 3)) is None
        assert found(apart, functions_of(apart, 2.0, tuple(range(n)), n)) is not None


@pytest.mark.parametrize("expansion", ["linear", "quadratic"])
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("far", [0.0, 100.0])
def test_tests_and_models_of_one_scaling_belong_together(expansion, k, far):
    """Whatever the units, and with classes that are absent among the rows."""
    rng = np.random.default_rng(k)
    values = random_rows(rng, 80, missing_share=0.1)
    values[:, 0] = far + 0.1 * values[:, 0]
    values[:, 4] = 1e3 * values[:, 4] - far
    table = Table(values, SCHEMA)
    scaling = StandardColumns.of(table, np.ones(80)).scaling
    if expansion == "quadratic":
        scaling = scaling.with_products()
    w, bias = rng.normal(size=(k, scaling.n_columns)), rng.normal(size=k)
    w, bias = w - w.mean(axis=0), bias - bias.mean()
    fill = rng.normal(size=scaling.n_plain)
    if k == 2:
        test = scaling.split(w[1] - w[0], bias[0] - bias[1], fill, 0.0)
        scale = 0.8 * np.linalg.norm(w[1] - w[0])
    else:
        test, scale = scaling.machine(w, bias, fill, 0.0), 0.8
    for absent in (0, 2):
        wide = np.vstack([0.8 * w, np.zeros((absent, w.shape[1]))])
        model = scaling.model(wide, np.append(0.8 * bias, [-5.0] * absent), fill)
        own = found(test, model)
        assert own is not None and own.classes == tuple(range(k))
        assert own.scale == pytest.approx(scale, rel=1e-6)
        assert list(own.others) == list(range(k, k + absent))
        assert [bias for bias, _ in own.others.values()] == pytest.approx(
            [-5.0] * absent
        )
        assert own.n_params == 1


def test_other_tests_have_no_functions():
    rng = np.random.default_rng(0)
    linear = functions_of(random_test(rng, "linear"), 1.0, (0, 1), 2)
    for kind in ("axis", "subset", "network"):
        assert found(random_test(rng, kind), linear) is None
    number = replace(linear, link="identity")
    assert found(random_test(rng, "linear"), number) is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [*KINDS, "additive", "additive_machine", "cases"])
def test_models_of_cases_are_not_a_sums_functions(kind, seed):
    """A test over the same columns, with the same fills, has other functions."""
    rng = np.random.default_rng(seed)
    test = random_test(rng, kind)
    m = len(test.columns)
    if not m:
        pytest.skip("no columns")
    cases = CasesSplit(test.columns, test.fill, (0.0, 1.0), **random_cases(rng, m, 2))
    model = functions_of(cases, 1.0, (0, 1), 3)
    assert model.cases and found(test, model) is None


@pytest.mark.parametrize("kind", KINDS)
def test_shared_models_count_once(kind):
    rng = np.random.default_rng(1)
    test = random_test(rng, kind)
    n = test.n_children
    records = [NodeRecord(-1, np.ones(n), test, range(1, n + 1))]
    records += [NodeRecord(0, np.eye(n)[k]) for k in range(n)]
    tree = tree_from_nodes(SCHEMA, tuple("abcdef"[:n]), records)
    assert tree.n_parameters == test.n_params + n and tree.sharing == []
    model = functions_of(test, 0.5, tuple(range(n)), n)
    own = tree.replace(models=LeafModels.of([None, *[model] * n]))
    assert own.sharing == [0] and own.n_parameters == test.n_params + 1
    model = replace(model, bias=tuple(3.7 * k * k for k in range(n)))
    shared = tree.replace(models=LeafModels.of([None, *[model] * n]))
    assert shared.n_parameters == test.n_params + model.n_params
    last = replace(model, bias=(0.0,) * n)
    apart = tree.replace(models=LeafModels.of([None, *[model] * (n - 1), last]))
    many = model.n_params + (n - 1) * (n - 1)  # weights count once
    assert apart.sharing == [] and apart.n_parameters == test.n_params + many
    some = tree.replace(models=LeafModels.of([None, *[model] * (n - 1), None]))
    assert some.sharing == []


def test_sharing_nodes_of_deep_trees():
    for seed in range(20):
        tree = calibrated_tree(np.random.default_rng(seed), ("axis", *KINDS), n_inner=7)
        for node in range(tree.n_nodes):
            below = tree.first_child[node] + np.arange(tree.n_children[node])
            models = {tree.model(int(leaf)) for leaf in below}
            shared = len(below) > 0 and len(models) == 1 and None not in models
            assert (node in tree.sharing) == shared


@pytest.mark.parametrize("kind", ["additive", "additive_machine"])
@pytest.mark.parametrize("seed", range(5))
def test_curves_are_part_of_a_tests_functions(kind, seed):
    rng = np.random.default_rng(seed)
    while True:
        test = random_test(rng, kind)
        n = test.n_children
        model = functions_of(test, 0.375, tuple(range(n)), n)
        if any(any(lines[0]) for lines in model.curve_values):
            break
    own = found(test, model)
    assert own is not None and own.scale == pytest.approx(0.375)

    def changed(change):
        lines = [[list(line) for line in lines] for lines in model.curve_values]
        change(lines)
        rows = tuple(tuple(map(tuple, own)) for own in lines)
        return found(test, replace(model, curve_values=rows))

    def at(position, factor):
        def change(lines):
            size = max(abs(v) for own in lines for v in own[0])
            lines[0][0][position] += factor * size

        return change

    for position in (0, -1):  # at a knot, and of a missing cell
        assert changed(at(position, 1e-12)) is not None
        assert changed(at(position, 0.1)) is None
    moved = (tuple(t + 0.125 for t in model.knots[0]), *model.knots[1:])
    assert found(test, replace(model, knots=moved)) is None
    if kind == "additive_machine":
        return
    # A class without a branch may have curves of its own, beside half the sum.
    wide = functions_of(test, 0.375, tuple(range(n)), n + 1)
    extra = tuple(tuple(2.0 * v for v in line) for line in wide.curve_values[0])
    wide = replace(wide, curve_values=(*wide.curve_values[:-1], extra))
    more = found(test, wide)
    assert more is not None and list(more.others) == [n]
    told = with_sums(wide.to_dict(), [more.others[n][0]], [more.others[n][1]])
    for line, own in zip(told["curve_values"][0], extra, strict=True):
        assert line == pytest.approx(own)
