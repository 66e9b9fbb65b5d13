"""The public tree against its JSON Schema: every preset, every kind of test."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from sklearn.datasets import load_iris

from omnitree import OmniTreeClassifier, presets
from omnitree.data.schema import Feature, Schema
from omnitree.tree.splits import (
    SPLITS,
    AdditiveMachineSplit,
    AdditiveSplit,
    AxisSplit,
    CasesSplit,
    LinearSplit,
    MachineSplit,
    MultiwaySplit,
    NetworkSplit,
    QuadraticMachineSplit,
    QuadraticSplit,
    SubsetSplit,
)
from omnitree.tree.tree import NodeRecord, Tree, tree_from_nodes

SCHEMA = json.loads(files("omnitree.tree").joinpath("tree.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


def check(tree: Tree) -> dict[str, Any]:
    """The dict of a tree, valid before and after a trip through JSON."""
    data = tree.to_dict()
    VALIDATOR.validate(data)
    again = json.loads(json.dumps(data, allow_nan=False))
    VALIDATOR.validate(again)
    assert Tree.from_dict(again).to_dict() == data
    return data


def mixed(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories, an order, booleans and missing values."""
    rng = np.random.default_rng(seed)
    n = 120
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue", "grey"], n),
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "high"], n),
                ["low", "mid", "high"],
                ordered=True,
            ),
            "old": rng.random(n) < 0.5,
            "empty": np.full(n, np.nan),
        }
    )
    hot = (frame["size"] > 0) ^ (frame["colour"] == "red") ^ frame["old"]
    y = np.where(hot, "a", np.where(frame["grade"] == "low", "b", "c"))
    for name in ("size", "colour"):
        frame.loc[rng.random(n) < 0.15, name] = None
    return frame, y


def test_the_schema_itself():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", presets.names())
@pytest.mark.parametrize("seed", range(3))
def test_presets_on_mixed_data(name: str, seed: int):
    X, y = mixed(seed)
    for changes in ({}, {"pruning": None}):
        check(presets.make(name, random_state=seed, **changes).fit(X, y).tree_)


@pytest.mark.parametrize("named", [True, False])
def test_front_door(named: bool):
    X, y = load_iris(return_X_y=True, as_frame=named)
    data = check(OmniTreeClassifier(random_state=0).fit(X, y).tree_)
    assert data["classes"] == [0, 1, 2]
    assert data["schema"]["named"] is named


def test_surrogates_occur():
    X, y = mixed(0)
    data = check(presets.make("cart", pruning=None, random_state=0).fit(X, y).tree_)
    assert any("surrogates" in node for node in data["nodes"])


def test_divided_rows_occur():
    X, y = mixed(0)
    data = check(presets.make("c4.5", pruning=None, random_state=0).fit(X, y).tree_)
    assert any(node.get("missing") == "divide" for node in data["nodes"])


LINE = (-1.0, 1.0, 0.25)  # a curve at two knots, and where the cell is missing
TESTS = [
    AxisSplit(0, 1.5),
    MultiwaySplit(1, (0, 1, 2)),
    SubsetSplit(1, (0, 1, -1), surrogates=(AxisSplit(0, 0.0, 1),)),
    LinearSplit((0, 2), (0.5, -1.0), (0.0, 0.1), 0.25, missing=-1),
    QuadraticSplit((0, 3), (0.0, 0.0), ((0, -1), (0, 1)), (1.0, 2.0), 0.5),
    MachineSplit((0, 1), (0.0, 0.0), (1.0, 0.0), ((1.0, 2.0), (3.0, 4.0))),
    NetworkSplit((0, 1), (0.0, 0.0), (0.1,), ((1.0, 2.0),), 0.2, (3.0,)),
    QuadraticMachineSplit(
        (0, 3), (0.0, 0.0), ((0, -1), (0, 1)), (1.0, 0.0), ((1.0, 2.0), (3.0, 4.0))
    ),
    AdditiveSplit((1,), (0.0,), ((0, -1),), (1.0,), (0,), ((0.0, 2.0),), (LINE,), 0.5),
    AdditiveMachineSplit(
        (), (), (), (1.0, 0.0), ((), ()), (0,), ((0.0, 2.0),), ((LINE,), ((0.0,) * 3,))
    ),
    CasesSplit(
        (0, 2), (0.5, 0.0), (0.1, 0.2), (2.0, 0.5), ((1.0, -1.0),), ((3,), (0,))
    ),
]


def stump(split: Any) -> Tree:
    colour = Feature("colour", "categorical", ("blue", "green", "red"))
    schema = Schema((Feature("size", "numeric"), colour), named=True)
    n = split.n_children
    leaves = [NodeRecord(0, [1.0, 1.0]) for _ in range(n)]
    root = NodeRecord(-1, [float(n), float(n)], split, range(1, n + 1))
    return tree_from_nodes(schema, ("no", "yes"), [root, *leaves])


@pytest.mark.parametrize("split", TESTS, ids=lambda s: s.kind)
def test_kinds_of_test(split: Any):
    data = check(stump(split))
    assert data["nodes"][0]["kind"] == split.kind


def test_every_kind_is_tried():
    assert {split.kind for split in TESTS} == set(SPLITS)


def spoilt(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    data = copy.deepcopy(stump(TESTS[0]).to_dict())
    change(data)
    return data


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(version=2),
        lambda d: d.pop("classes"),
        lambda d: d.update(extra=1),
        lambda d: d["classes"].append("yes"),
        lambda d: d["schema"]["features"][0].update(kind="number"),
        lambda d: d["schema"]["features"][0].update(categories=["a"]),
        lambda d: d["schema"]["features"][1].update(categories=None),
        lambda d: d["nodes"].clear(),
        lambda d: d["nodes"][0].pop("test"),
        lambda d: d["nodes"][0].update(kind="linear"),
        lambda d: d["nodes"][0].update(missing=-1),
        lambda d: d["nodes"][0]["test"].pop("threshold"),
        lambda d: d["nodes"][0]["test"].update(feature=0.5),
        lambda d: d["nodes"][1].update(children=[2, 3]),
        lambda d: d["nodes"][1].update(value=[-1.0, 1.0]),
    ],
)
def test_damage_is_seen(change: Callable[[dict[str, Any]], Any]):
    assert not VALIDATOR.is_valid(spoilt(change))


def test_deviations_of_linear_trees():
    X, y = load_iris(return_X_y=True)
    tree = presets.make("ldt", pruning=None).fit(X, y).tree_
    data = check(tree)
    np.testing.assert_allclose(data["deviations"], X.std(axis=0))
    assert "deviations" not in check(presets.make("cart").fit(X, y).tree_)
    for bad in ([1.0], [1.0, 1.0, 1.0, -1.0], [1.0, 1.0, 1.0, "a"], "abcd"):
        with pytest.raises(ValueError, match="deviations"):
            Tree.from_dict(data | {"deviations": bad})


def test_ranges_of_linear_trees():
    X, y = load_iris(return_X_y=True)
    data = check(presets.make("lmt").fit(X, y).tree_)
    np.testing.assert_array_equal(
        data["ranges"], np.array([X.min(axis=0), X.max(axis=0)]).T
    )
    assert Tree.from_dict(data).to_dict() == data
    for bad in (1, [], [None], [[2, 1]] + 3 * [None], [[1]] + 3 * [None], ["a"] * 4):
        with pytest.raises(ValueError, match="ranges"):
            Tree.from_dict(data | {"ranges": bad})


def test_standardised_weights_need_deviations():
    X, y = load_iris(return_X_y=True)
    clf = presets.make("ldt", pruning=None).fit(X, y)
    split = clf.tree_.split(0)
    assert f"{abs(split.weights[0] * X[:, 0].std()):.4g} z(x0)" in clf.describe(True)
    clf._set_fitted(clf.tree_.replace(deviation=None), clf.classes_)
    with pytest.raises(ValueError, match="no deviations"):
        clf.describe(standardised=True)
    assert "z(" not in presets.make("cart").fit(X, y).describe(standardised=True)
