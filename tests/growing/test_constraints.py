"""Rules as users give them, and what they allow on a path and at a node."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.samples import root_of

from omnitree.data.table import learn_table
from omnitree.growing.constraints import Constraints
from omnitree.growing.node import make_children
from omnitree.tree.splits import AxisSplit

TABLE = learn_table(
    pd.DataFrame(
        {
            "age": [20.0, 30.0, 40.0, 50.0],
            "colour": ["red", "blue", "red", "green"],
            "since": pd.to_datetime(
                ["2020-01-03", "2021-05-20", "2022-09-01", "2023-12-24"]
            ),
            "size": [1.0, 2.0, 3.0, 5.0],
        }
    )
)
SCHEMA = TABLE.schema
DATE = [j for j, f in enumerate(SCHEMA.features) if f.input == "since"]
AGE, COLOUR, SIZE = (SCHEMA.names.index(n) for n in ("age", "colour", "size"))


def rules(monotone=None, interactions=None):
    return Constraints.of(monotone, interactions, SCHEMA)


def test_the_table_has_a_date_of_several_parts():
    assert len(DATE) > 1
    assert SCHEMA.n_inputs == 4


def test_no_rules():
    assert rules() is None


@pytest.mark.parametrize(
    "monotone",
    [
        {"age": 1, "size": -1},
        {0: 1, 3: -1},
        {np.int64(0): 1.0, "size": np.int64(-1), "colour": 0},
        [1, 0, 0, -1],
    ],
)
def test_directions(monotone):
    found = rules(monotone)
    expected = np.zeros(SCHEMA.n_features)
    expected[AGE], expected[SIZE] = 1, -1
    np.testing.assert_array_equal(found.direction, expected)
    assert found.monotone
    assert found.groups is None
    assert found.allowed(frozenset({AGE})) == list(range(SCHEMA.n_features))


def test_a_part_of_a_date_has_a_direction():
    found = rules({SCHEMA.names[DATE[0]]: 1})
    assert np.flatnonzero(found.direction).tolist() == DATE[:1]


def test_directions_of_zero_are_none():
    assert not rules({"age": 0}).monotone
    assert not rules([0, 0, 0, 0]).monotone


@pytest.mark.parametrize(
    ("monotone", "message"),
    [
        ([1, 0], "monotone has 2 entries; one a feature is needed, 4"),
        ({"agee": 1}, "unknown feature in monotone 'agee', did you mean 'age'"),
        ({4: 1}, "monotone names feature 4, but there are 4"),
        ({-1: 1}, "monotone names feature -1, but there are 4"),
        ({"age": 2}, r"monotone must hold \+1, -1 or 0, not 2"),
        ({"age": "1"}, r"monotone must hold \+1, -1 or 0, not '1'"),
        ({"age": None}, r"monotone must hold \+1, -1 or 0, not None"),
        ({"colour": 1}, "monotone names 'colour', whose categories have no order"),
        ({"since": 1}, "monotone names a date; name one of its parts instead: "),
    ],
)
def test_bad_directions(monotone, message):
    with pytest.raises(ValueError, match=message):
        rules(monotone)


@pytest.mark.parametrize(
    ("interactions", "message"),
    [
        ("age", "interactions must be a list of groups of features, not 'age'"),
        (3, "interactions must be a list of groups of features, not 3"),
        (["age", "size"], "interactions must hold groups of features, not 'age' alone"),
        ([0, 1], "interactions must hold groups of features, not 0 alone"),
        ([["age", "sizes"]], "unknown feature in interactions 'sizes', did you mean"),
        ([[0, 9]], "interactions names feature 9, but there are 4"),
    ],
)
def test_bad_groups(interactions, message):
    with pytest.raises(ValueError, match=message):
        rules(interactions=interactions)


def test_groups():
    found = rules(interactions=[["age", "since"], [3, "age"]])
    # What is in no group is a group of its own.
    assert found.groups == (
        frozenset({AGE, *DATE}),
        frozenset({SIZE, AGE}),
        frozenset({COLOUR}),
    )
    assert not found.monotone
    assert rules(interactions=[range(4)]).groups == (
        frozenset(range(SCHEMA.n_features)),
    )


@pytest.mark.parametrize("seed", range(20))
def test_allowed_features(seed):
    rng = np.random.default_rng(seed)
    names = list(SCHEMA.inputs)
    groups = [
        rng.choice(names, size=rng.integers(1, 4), replace=False).tolist()
        for _ in range(rng.integers(1, 4))
    ]
    found = rules(interactions=groups)
    rest = [name for name in names if not any(name in group for group in groups)]
    columns = [f.input for f in SCHEMA.features]
    for _ in range(10):
        size = rng.integers(0, 4)
        tested = rng.choice(SCHEMA.n_features, size=size, replace=False).tolist()
        expected = [
            j
            for j, own in enumerate(columns)
            if not tested
            or any(
                own in group and all(columns[t] in group for t in tested)
                for group in (*groups, rest)
            )
        ]
        assert found.allowed(frozenset(tested)) == expected


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_bounds_of_children(seed, numeric):
    """The answers of the branches stand in order, with a bound halfway between them."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, size=30).astype(float)
    x[:2] = 0.0, 5.0
    weight = rng.integers(1, 4, size=30).astype(float)
    y = rng.normal(size=30) if numeric else rng.integers(0, 2, size=30)
    root = root_of(x[:, None], y, weight, n_classes=None if numeric else 2)
    low, high = (np.average(y[s], weights=weight[s]) for s in (x <= 2, x > 2))
    for direction in (1, -1):
        split = AxisSplit(0, 2.0, direction=direction)
        in_order = direction * (high - low) >= 0
        assert root.keeps_bounds(split) == in_order
        left, right = make_children(root, split)
        middle = pytest.approx((low + high) / 2)
        below, above = (left, right) if direction == 1 else (right, left)
        assert below.bounds == (-np.inf, middle)
        assert above.bounds == (middle, np.inf)
        if in_order:
            assert left.bounds[0] <= left.answer <= left.bounds[1]
            assert right.bounds[0] <= right.answer <= right.bounds[1]
    free = make_children(root, AxisSplit(0, 2.0))
    assert [child.bounds for child in free] == [(-np.inf, np.inf)] * 2
    assert root.keeps_bounds(AxisSplit(0, 2.0))
