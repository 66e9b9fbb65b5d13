"""Trees for numbers in the public format: valid, read back, and refused where damaged."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from jsonschema import ValidationError
from sklearn.datasets import make_friedman1
from tests.tree.test_tree_format import VALIDATOR, check

from omnitree import TreeClassifier, TreeRegressor, load, save
from omnitree.growing.stopping import Stopping
from omnitree.tree.tree import Tree


@pytest.fixture(scope="module")
def tree() -> Tree:
    X, y = make_friedman1(100, random_state=0)
    return TreeRegressor(leaves="ridge", stopping=Stopping(30)).fit(X, y).tree_


def test_valid(tree):
    data = check(tree)
    assert data["task"] == "regression" and "classes" not in data
    assert tree.models is not None and tree.n_leaves > 2
    assert "regression" in repr(tree)


def test_means_add_up(tree):
    """A node's constant is the mean of its children's, its weight their sum."""
    for node in np.flatnonzero(tree.kind):
        part = slice(tree.first_child[node], tree.first_child[node] + 2)
        weight = tree.value[part, 0]
        assert tree.value[node, 0] == pytest.approx(weight.sum())
        assert tree.constant[node] == pytest.approx(
            weight @ tree.constant[part] / weight.sum()
        )


def test_collapse_keeps_numbers(tree):
    cut = tree.collapse(np.arange(tree.n_nodes) == 0)
    assert cut.n_nodes == 1
    assert cut.constant[0] == tree.constant[0] and cut.loss[0] == tree.loss[0]


@pytest.mark.parametrize(
    "damage, in_schema",
    [
        (lambda d: d["nodes"][1].pop("constant"), True),
        (lambda d: d["nodes"][1].pop("loss"), True),
        (lambda d: d["nodes"][1].update(loss=-1.0), True),
        (lambda d: d["nodes"][1].update(constant="5"), True),
        (lambda d: d["nodes"][1].update(constant=True), True),
        (lambda d: d["nodes"][1].update(value=[1.0, 2.0]), True),
        (lambda d: d.update(classes=["a", "b"]), True),
        (lambda d: d.update(task="clustering"), True),
        (lambda d: d.update(task="classification", classes=["a"]), True),
        (lambda d: d["nodes"][0]["model"].update(link="softmax"), False),
        (lambda d: d["nodes"][0]["model"]["bias"].append(1.0), False),
    ],
)
def test_damage_is_found(tree, damage, in_schema):
    data = copy.deepcopy(tree.to_dict())
    damage(data)
    with pytest.raises(ValueError, match="damaged tree"):
        Tree.from_dict(data)
    if in_schema:
        with pytest.raises(ValidationError):
            VALIDATOR.validate(data)


def test_a_classifier_with_a_tree_for_numbers(tmp_path):
    X, y = make_friedman1(30, random_state=0)
    save(TreeRegressor().fit(X, y), tmp_path / "model.json")
    data = json.loads((tmp_path / "model.json").read_text())
    data["estimator"] = "TreeClassifier"
    del data["params"]["criterion"], data["params"]["leaves"]
    (tmp_path / "odd.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="no tree for regression"):
        load(tmp_path / "odd.json")
    save(TreeClassifier().fit(X, y > 10), tmp_path / "model.json")
    assert load(tmp_path / "model.json").tree_.task == "classification"
