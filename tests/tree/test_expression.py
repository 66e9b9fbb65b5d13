"""Lowered tests: a naive reading of the rule routes every row as the library does."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.naive import curve_value
from tests.trees import SCHEMA, random_model, random_rows, random_test, random_tree

from omnitree.data.table import Table
from omnitree.tree.curves import curve_at
from omnitree.tree.expression import (
    AtMost,
    Call,
    Cell,
    Column,
    Constant,
    Curve,
    Cut,
    Largest,
    Lookup,
    Product,
    Sum,
    evaluate,
    parts,
    plain_rule,
    simplified,
)
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.programs import program, route
from omnitree.tree.splits import SPLITS, AdditiveMachineSplit
from omnitree.tree.tree import Tree


def naive_value(value, row) -> float:
    """A value for a row of numbers and codes, NaN where missing."""
    match value:
        case Constant():
            return value.value
        case Cell():
            return row[value.feature]
        case Column():
            features, categories = SCHEMA.linear_columns()
            cell = row[features[value.number]]
            own = categories[value.number]
            if math.isnan(cell):
                return value.fill
            return cell if own < 0 else 1.0 if cell == own else -1.0
        case Curve():
            cell = row[SCHEMA.linear_columns()[0][value.column]]
            return curve_value(value.knots, value.line, cell)
        case Sum():
            total = naive_value(value.terms[0], row)
            for term in value.terms[1:]:
                total += naive_value(term, row)
            return total
        case Product():
            total = naive_value(value.factors[0], row)
            for factor in value.factors[1:]:
                total *= naive_value(factor, row)
            return total
        case AtMost():
            return float(naive_value(value.left, row) <= naive_value(value.right, row))
        case Call():
            return getattr(math, value.function)(naive_value(value.argument, row))
    raise AssertionError(value)


def naive_branch(rule, row) -> int:
    """The branch of a row, -1: cannot tell."""
    match rule:
        case Lookup():
            cell = row[rule.feature]
            return -1 if math.isnan(cell) else rule.branch[int(cell)]
        case Cut():
            value = naive_value(rule.value, row)
            if math.isnan(value):
                return -1
            return rule.low if value <= rule.threshold else 1 - rule.low
        case Largest():
            values = [naive_value(v, row) for v in rule.values]
            return values.index(max(values))
    raise AssertionError(rule)


def naive_shares(tree: Tree, row) -> dict[int, float]:
    """The part of a row in each leaf that it reaches."""
    found: dict[int, float] = {}
    stack = [(0, 1.0)]
    while stack:
        node, share = stack.pop()
        n, first = int(tree.n_children[node]), int(tree.first_child[node])
        if not n:
            found[node] = share
            continue
        split = tree.split(node)
        tests = (split, *split.surrogates)
        branches = [b for t in tests if (b := naive_branch(t.rule, row)) >= 0]
        branch = branches[0] if branches else split.missing
        if branch >= 0:
            stack.append((first + branch, share))
            continue
        for child in range(first, first + n):
            if tree.shares[child] > 0:
                stack.append((child, share * tree.shares[child]))
    return found


@pytest.mark.parametrize("kind", SPLITS)
def test_rules_route_as_the_kernel_does(kind: str, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        test = random_test(rng, kind)
        values = random_rows(rng, 50)
        routed = test.route(Table(values, SCHEMA), np.arange(50)).tolist()
        assert [naive_branch(test.rule, row) for row in values] == routed
        short = simplified(test.rule)
        assert [naive_branch(short, row) for row in values] == routed


@pytest.mark.parametrize("kind", SPLITS)
def test_rules_are_interpreted_as_compiled(kind: str, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        test = random_test(rng, kind)
        values = random_rows(rng, 50)
        routed = test.route(Table(values, SCHEMA), np.arange(50)).tolist()
        assert route(test.rule, values, SCHEMA).tolist() == routed


def test_operators_without_a_kind(seed: int):
    """Comparisons and exp, which no kind of the library has in its tests."""
    rng = np.random.default_rng(seed)
    taken = set()
    for _ in range(20):
        a, b = (Column(int(c), float(rng.normal())) for c in rng.integers(6, size=2))
        inside = AtMost(Sum((a, Constant(0.25))), b)
        square = Product((Constant(-0.5), a, Sum((b, Constant(3.0)))))
        bell = Call("exp", Product((Constant(-0.1), b, b)))
        values = random_rows(rng, 50)
        rules = (
            Cut(Sum((inside, square, bell)), float(rng.normal())),
            Largest((inside, bell, square)),
        )
        for rule in rules:
            expected = [naive_branch(rule, row) for row in values]
            assert route(rule, values, SCHEMA).tolist() == expected
            taken |= set(expected)
    assert taken == {0, 1, 2}


@pytest.mark.parametrize("n", [2, 3, 24, 25, 60])
def test_curves_of_few_and_many_knots(n: int, seed: int):
    """In the interpreter, in machines, in models and in NumPy; at, beside, beyond knots."""
    rng = np.random.default_rng(seed)
    knots = np.cumsum(rng.random(n)) - n / 4
    lines = rng.normal(size=(2, n + 1))
    beside = [np.nextafter(knots, to) for to in (-np.inf, np.inf)]
    far = [-np.inf, -1e300, 1e300, np.inf, np.nan]
    x = np.concatenate([knots, *beside, far, rng.uniform(-n / 3, n / 3, size=50)])
    values = random_rows(rng, len(x))
    values[:, 0] = x
    table = Table(values, SCHEMA)
    wanted = np.array([[curve_value(knots, line, v) for line in lines] for v in x])
    for line, own in zip(lines, wanted.T, strict=True):
        assert curve_at(knots, line, x).tolist() == own.tolist()
        curve = Curve(0, tuple(knots), tuple(line[:-1]), line[-1])
        cut = Cut(curve, float(np.median(own)))
        assert route(cut, values, SCHEMA).tolist() == (own > cut.threshold).tolist()
    model = LeafModel((), (), (0.0, 0.1), ((), ()), "identity", (), (0,))
    model = replace(
        model, knots=(tuple(knots),), curve_values=tuple((tuple(v),) for v in lines)
    )
    out, zeros = np.empty((len(x), 2)), np.zeros(len(x), dtype=np.int64)
    packed = LeafModels.of([model])
    assert packed is not None and packed[0] == model
    packed.answer(table, np.arange(len(x)), zeros, out)
    sums = wanted + np.array(model.bias)
    assert out.tolist() == sums.tolist()
    machine = AdditiveMachineSplit.of(model)
    routed = machine.route(table, np.arange(len(x)))
    assert routed.tolist() == sums.argmax(axis=1).tolist()


def test_too_deep_a_rule_is_refused():
    value = Column(0, 0.0)
    for _ in range(70):
        value = Sum((Constant(1.0), value))
    with pytest.raises(ValueError, match="64 numbers at once"):
        program(Cut(value, 0.0))


def test_trees_route_by_their_rules(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        tree = random_tree(rng, tuple(SPLITS), 12)
        values = random_rows(rng, 60)
        shares = tree.leaf_shares(Table(values, SCHEMA)).tocsr()
        for i, row in enumerate(values):
            found = zip(shares[[i]].indices, shares[[i]].data, strict=True)
            expected = naive_shares(tree, row)
            assert dict(found) == pytest.approx(expected, rel=1e-12)


def test_models_answer_by_their_sums(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        model = replace(random_model(rng), link="identity")
        values = random_rows(rng, 30)
        out = np.empty((30, 3))
        zeros = np.zeros(30, dtype=np.int64)
        packed = LeafModels.of([model])
        assert packed is not None
        packed.answer(Table(values, SCHEMA), np.arange(30), zeros, out)
        expected = [[naive_value(total, row) for total in model.sums] for row in values]
        # The likeness to a case is found by a series of its own for exp.
        close = 1e-14 if model.cases else 0
        np.testing.assert_allclose(out, expected, rtol=close, atol=close)


@pytest.mark.parametrize("kind", SPLITS)
def test_values_of_many_rows_at_once(kind: str, seed: int):
    rng = np.random.default_rng(seed)
    rule = random_test(rng, kind).rule
    values = random_rows(rng, 40)

    def read(leaf):
        return np.array([naive_value(leaf, row) for row in values])

    for value in parts(rule):
        expected = [naive_value(value, row) for row in values]
        np.testing.assert_allclose(evaluate(value, read), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", SPLITS)
def test_plain_rules_are_the_tests_of_the_format(kind: str, seed: int):
    """But for columns in no term; networks and cases are nested lists."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        test = random_test(rng, kind)
        plain, written = plain_rule(test.rule), test.to_dict()
        if kind == "network":
            assert set(plain) == {"columns", "fill", "value", "threshold"}
            continue
        if kind == "cases":
            assert set(plain) == {"columns", "fill", "values"}
            continue
        terms = written.pop("terms", None)
        if terms is None:
            assert plain == written
            continue
        assert plain["weights"] == written["weights"]
        for name in ("curve_columns", "knots", "curve_values", "threshold", "bias"):
            assert plain.get(name) == written.get(name)
        own = plain.get("terms", [[at, -1] for at in range(len(terms))])
        for (a, b), (c, d) in zip(own, terms, strict=True):
            assert plain["columns"][a] == written["columns"][c]
            assert plain["fill"][a] == written["fill"][c]
            assert (b < 0) == (d < 0)
            assert b < 0 or plain["columns"][b] == written["columns"][d]
