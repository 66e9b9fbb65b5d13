"""Machines as rules: they say what the machine does, with nothing to spare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from omnitree import presets
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.export.machine_rules import machine_rules
from omnitree.export.model import NodeTest
from omnitree.tree.splits import AxisSplit, MachineSplit, QuadraticMachineSplit


def numbers(d):
    return Schema(tuple(Feature(f"x{j}", "numeric") for j in range(d)), named=True)


def machine(weights, bias):
    m = len(weights[0])
    return MachineSplit(
        tuple(range(m)), (0.0,) * m, tuple(bias), tuple(map(tuple, weights))
    )


def obeys(rule, row):
    """Whether a row, by column name, fulfils all inequalities."""
    for part in rule:
        value = sum(w * row[n] for n, w in zip(part.names, part.weights, strict=True))
        if not (value > part.threshold if part.strict else value >= part.threshold):
            return False
    return True


def test_three_strips():
    """Classes along one axis: the middle one has two bounds, the outer ones a single one."""
    split = machine([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0.0, -1.0, -3.0])
    rules = machine_rules(NodeTest.of(split), numbers(2).to_dict())
    assert [list(map(str, rule)) for rule in rules] == [
        ["x0 <= 1"],
        ["x0 > 1", "x0 <= 2"],
        ["x0 > 2"],
    ]


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_rules_say_what_the_machine_does(scale, rng):
    dropped = 0
    for _ in range(40):
        k, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        weights = np.round(rng.normal(size=(k, d)), 2) / scale
        split = machine(weights.tolist(), np.round(rng.normal(size=k), 2).tolist())
        schema = numbers(d)
        rules = machine_rules(NodeTest.of(split), schema.to_dict())
        dropped += k * (k - 1) - sum(map(len, rules))
        X = rng.normal(size=(200, d)) * 3 * scale
        branch = split.route(Table(X, schema), np.arange(200))
        for row, b in zip(X, branch, strict=True):
            named = {f"x{j}": v for j, v in enumerate(row)}
            assert [obeys(rule, named) for rule in rules] == [i == b for i in range(k)]
    assert dropped > 40


def test_rules_of_quadratic_machines(rng):
    """Products count as unbounded, so the rules hold, if some may be to spare."""
    for _ in range(30):
        k, t = int(rng.integers(2, 5)), int(rng.integers(1, 6))
        names = {(0, -1): "x0", (1, -1): "x1", (0, 0): "x0^2", (1, 1): "x1^2"}
        names |= {(0, 1): "x0*x1", (1, 0): "x1*x0"}
        terms = [list(names)[i] for i in rng.permutation(6)[:t]]
        split = QuadraticMachineSplit(
            (0, 1),
            (0.0, 0.0),
            tuple(terms),
            tuple(np.round(rng.normal(size=k), 2).tolist()),
            tuple(map(tuple, np.round(rng.normal(size=(k, t)), 2).tolist())),
        )
        schema = numbers(2)
        rules = machine_rules(NodeTest.of(split), schema.to_dict())
        X = rng.normal(size=(100, 2))
        branch = split.route(Table(X, schema), np.arange(100))
        for row, b in zip(X, branch, strict=True):
            named = {
                name: row[i] * (row[j] if j >= 0 else 1.0)
                for (i, j), name in names.items()
            }
            assert [obeys(rule, named) for rule in rules] == [i == b for i in range(k)]


def test_categories_bound_the_programme():
    """Of the columns of a category at most one is 1: the second inequality is implied."""
    schema = Schema((Feature("s", "categorical", ("a", "b", "c")),), named=True)
    split = machine(
        [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [3.0, 3.0, 0.0]], [0.0, -1.0, -1.0]
    )
    rules = machine_rules(NodeTest.of(split), schema.to_dict())
    assert list(map(str, rules[0])) == ["2 [s = a] + 2 [s = b] >= 1"]
    # g2 = 3 (a + b) - 1 never beats g0 = a + b, since a + b <= 0: then nothing leads there.
    assert str(rules[2][0]).startswith("4 [s = a]")


def test_small_machines_make_rules_of_inequalities():
    data = load_iris(as_frame=True)
    clf = presets.make("lmdt", max_depth=1, random_state=0)
    clf.fit(data.data[["petal length (cm)", "petal width (cm)"]], data.target)
    text = clf.export("rules")
    assert text.count("\nAND ") == 1  # the class in the middle has two bounds
    assert "largest" not in text
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 12)))
    y = np.argmax(wide.to_numpy()[:, :6] + wide.to_numpy()[:, 6:], axis=1)
    clf = presets.make("lmdt", random_state=0, max_depth=1).fit(wide, y)
    text = clf.export("rules")
    assert "\nSums of node 0:\n  0 = " in text
    assert text.count(" is largest among the sums of node 0\nTHEN ") == 6


def test_only_machines():
    with pytest.raises(ValueError, match="'axis' is no machine"):
        machine_rules(NodeTest.of(AxisSplit(0, 1.0)), {"features": []})


@pytest.mark.parametrize("large", [1e10, 2.0**53, 1e300])
def test_the_solver_keeps_quiet(large, capfd):
    """A weight out of all proportion: HiGHS gave up and said so on the terminal."""
    features = (
        *(Feature(f"x{j}", "numeric") for j in range(3)),
        Feature("c", "categorical", ("a", "b", "c")),
    )
    weights = (
        (-1.75, 0.0, 0.0, 0.25),
        (1.0, -0.75, -1.25, 0.75),
        (-0.5, 1.75, -1.75, large),
    )
    split = MachineSplit((1, 2, 0, 4), (0.0,) * 4, (1.75, 2.0, -1.75), weights)
    rules = machine_rules(NodeTest.of(split), Schema(features, named=True).to_dict())
    assert [len(rule) for rule in rules] == [2, 2, 2]
    assert capfd.readouterr() == ("", "")
