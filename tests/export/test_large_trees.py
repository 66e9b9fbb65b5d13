"""Exports of deep and of wide trees: time and size grow with the tree itself."""

from __future__ import annotations

import json
import sys
import time
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from omnitree import TreeClassifier
from omnitree.export import FORMATS
from omnitree.export.region import LONGEST
from omnitree.export.text import DEEPEST
from omnitree.learners import KWay
from omnitree.tree.tree import Tree


def chain(n: int, kind: str = "axis") -> TreeClassifier:
    """A classifier with n tests, each below the second branch of the one before."""
    nodes = [{"id": 0, "parent": -1, "value": [float(n), 1.0], "kind": "leaf"}]
    for i in range(n):
        at = nodes[-1]
        first = len(nodes)
        test = {"feature": i % 5, "threshold": float(i), "low": 0}
        if kind == "linear":
            weights = [1.0, 0.5 + i]
            test = {"columns": [0, 1], "weights": weights, "fill": [0.0, 0.0]}
            test["threshold"] = float(i)
        at |= {"kind": kind, "children": [first, first + 1], "test": test}
        at |= {"merit": 0.1, "missing": 0}
        for child, value in ((first, [1.0, 0.0]), (first + 1, [n - i - 1.0, 1.0])):
            nodes.append(
                {"id": child, "parent": at["id"], "kind": "leaf", "value": value}
            )
    features = [
        {"name": f"x{j}", "kind": "numeric", "categories": None} for j in range(5)
    ]
    tree = {
        "format": "omnitree-tree",
        "version": 1,
        "task": "classification",
        "schema": {"named": False, "features": features},
        "classes": ["a", "b"],
        "nodes": nodes,
    }
    clf = TreeClassifier()
    clf._set_fitted(Tree.from_dict(tree), np.array(["a", "b"]))
    return clf


def texts(clf: TreeClassifier):
    yield "describe", clf.describe
    for name in FORMATS:
        yield name, lambda name=name: clf.export(name)


@pytest.mark.parametrize("kind", ["axis", "linear"])
def test_size_grows_with_the_tree(kind):
    short, long = dict(texts(chain(100, kind))), dict(texts(chain(400, kind)))
    for name, write in short.items():
        assert len(long[name]()) < 5 * len(write()), name


def text_and_calls(function) -> tuple[str, int]:
    """A text, and how many functions its writing calls: work that no load changes."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        text = function()
    finally:
        sys.setprofile(None)
    return text, count


@pytest.mark.parametrize("name", ["describe", "rules", "explain"])
def test_work_grows_with_the_tree(name):
    """On chains with tests on two features."""
    found = []
    for n in (200, 800):
        clf = chain(n, "linear")
        row = [1e9, 1e9, 0.0, 0.0, 0.0]  # its path has all tests

        def write(clf=clf, row=row) -> str:
            if name == "rules":
                return clf.export("rules")
            return clf.describe() if name == "describe" else str(clf.explain(row))

        found.append(text_and_calls(write))
    (short, few), (long, many) = found
    assert len(long) < 4.4 * len(short)  # numbers of nodes get longer
    assert many < 4.2 * few


def test_rules_of_6001_nodes():
    short, long = (len(chain(n, "linear").export("rules")) for n in (300, 3000))
    assert long < 11 * short


def test_rules_refer_to_conditions_above():
    """What a rule and the conditions it refers to say, together, is its whole path."""
    n = 2 * LONGEST + 20
    text = chain(n, "linear").export("rules")
    _, *rest = text.split("\n\n")
    sections = {}
    for part in rest:
        title, *lines = part.splitlines()
        if title.startswith("Conditions of node "):
            name = title.removeprefix("Conditions").split(" on ")[0]
            sections[f"the conditions{name}"] = [line.strip() for line in lines]
    assert len(sections) == 2

    def whole(conditions):
        for condition in conditions:
            yield from (
                whole(sections[condition]) if condition in sections else [condition]
            )

    found = 0
    for part in rest:
        lines = part.splitlines()
        if not lines[0].startswith("IF "):
            continue
        found += 1
        own = [line.split(" ", 1)[1] for line in lines if not line.startswith("THEN")]
        assert len(own) <= LONGEST + 1
        path = list(whole(own))
        assert all(" > " in text for text in path[:-1])
        cuts = [float(text.split()[-1]) for text in path]
        assert cuts == sorted(range(len(path)), key=float)
    assert found == n + 1


def test_a_chain_of_1200_tests_takes_no_second():
    clf = chain(1200)
    for name, write in (*texts(clf), ("explain", lambda: clf.explain([9.5] * 5))):
        start = time.process_time()
        write()
        assert time.process_time() - start < 1.5, name


def test_deep_trees_keep_their_meaning():
    clf = chain(1200)
    last = clf.describe().splitlines()[-1]
    assert last.startswith(f"{'|   ' * DEEPEST}[1199] x4 > 1199: b")
    assert "\nIF x0 > 1195\nAND x1 > 1196\n" in clf.export("rules")
    root = ET.fromstring(clf.export("pmml"))
    scores = [n.get("score") for n in root.iter() if n.tag.endswith("}Node")]
    assert len(scores) == 2401 and scores[-1] == "b"
    assert json.loads(clf.export("json"))["tree"]["nodes"][-1]["value"] == [0.0, 1.0]


def test_a_machine_of_many_branches(rng):
    sizes = []
    for k in (20, 80):
        X = np.repeat(rng.normal(size=(k, 3)) * 30, 3, axis=0)
        y = np.repeat(np.arange(k), 3)
        clf = TreeClassifier(KWay(), max_depth=1).fit(X, y)
        assert clf.tree_.n_leaves == k
        pmml, file = clf.export("pmml"), clf.export("json")
        sizes.append((pmml.count("<Apply") / k, len(pmml) / len(file)))
    assert sizes[1][0] < 1.1 * sizes[0][0]  # expressions, a branch
    # Both name every class in every leaf, the model file by a number.
    assert max(characters for _, characters in sizes) < 20
