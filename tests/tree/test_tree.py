"""The tree: its invariants, its plain form, and every way a plain form can be wrong."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.tables import random_sample
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree import TreeClassifier, presets
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.tree.splits import SPLITS, AxisSplit, MultiwaySplit, QuadraticSplit
from omnitree.tree.tree import NodeRecord, Tree, tree_from_nodes

ARRAYS = [
    "kind",
    "first_child",
    "n_children",
    "parent",
    "missing",
    "merit",
    "value",
    "test_start",
    "test_kind",
    "index_ptr",
    "weight_ptr",
    "index",
    "weight",
]


def assert_sound(tree: Tree) -> None:
    """What holds for every tree."""
    assert tree.parent[0] == -1
    for node in range(tree.n_nodes):
        first, n = tree.first_child[node], tree.n_children[node]
        if tree.kind[node] == 0:
            assert (first, n, tree.missing[node], tree.merit[node]) == (-1, 0, 0, 0)
            assert tree.test_start[node] == tree.test_start[node + 1]
        else:
            assert node < first < first + n <= tree.n_nodes
            assert (tree.parent[first : first + n] == node).all()
            assert tree.test_start[node] < tree.test_start[node + 1]
    inner = tree.kind != 0
    assert tree.n_children.sum() + 1 == tree.n_nodes
    sums = np.zeros_like(tree.value)
    np.add.at(sums, tree.parent[1:], tree.value[1:])
    np.testing.assert_allclose(sums[inner], tree.value[inner], rtol=1e-9, atol=1e-9)
    for ptr, pool in ((tree.index_ptr, tree.index), (tree.weight_ptr, tree.weight)):
        assert ptr[0] == 0
        assert ptr[-1] == len(pool)
        assert (np.diff(ptr) >= 0).all()
        assert len(ptr) == len(tree.test_kind) + 1
    assert tree.test_start[-1] == len(tree.test_kind)


def assert_equal_trees(a: Tree, b: Tree) -> None:
    assert a.schema == b.schema
    assert a.classes == b.classes
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


# -- invariants ----------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
@pytest.mark.parametrize("categorical", [0.0, 0.5])
def test_grown_trees_are_sound(missing, categorical, rng):
    for missing_share in (0.0, 0.2):
        sample = random_sample(
            rng, n=60, d=4, missing_share=missing_share, categorical=categorical
        )
        clf = TreeClassifier(missing=missing)
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        assert_sound(clf.tree_)
        np.testing.assert_allclose(
            clf.tree_.value[0], np.bincount(sample.y, weights=sample.weight)
        )


@pytest.mark.parametrize("name", presets.names())
def test_trees_of_presets_are_sound(name, rng):
    sample = random_sample(rng, n=80, d=5, missing_share=0.1)
    clf = presets.make(name, random_state=0).fit(sample.frame, sample.y)
    assert_sound(clf.tree_)
    assert_equal_trees(Tree.from_dict(clf.tree_.to_dict()), clf.tree_)


def test_arrays_cannot_be_changed(rng):
    tree = random_tree(rng, tuple(SPLITS))
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 0


def test_counts_of_nodes_kinds_and_parameters():
    # linear over 2 columns: 3; quadratic with 4 terms: 5; axis 2; multiway 2; leaves 1
    # each.
    quadratic = QuadraticSplit(
        (0, 1), (0.0, 0.0), ((0, -1), (1, -1), (0, 1), (1, 1)), (1.0,) * 4, 0.0
    )
    machine = SPLITS["machine"]((0, 1), (0.0, 0.0), (1.0, 2.0, 3.0), ((1.0, 2.0),) * 3)
    network = SPLITS["network"](
        (0,), (0.0,), (1.0, 2.0), ((1.0,), (2.0,)), 0.5, (1.0, 1.0)
    )
    linear = SPLITS["linear"]((0, 1), (1.0, 1.0), (0.0, 0.0), 0.5)
    nodes = [
        NodeRecord(-1, [3, 3], linear, range(1, 3)),
        NodeRecord(0, [1, 2], quadratic, range(3, 5)),
        NodeRecord(0, [2, 1], machine, range(5, 8)),
        NodeRecord(1, [1, 1], network, range(8, 10)),
        NodeRecord(1, [0, 1]),
        NodeRecord(2, [1, 0], AxisSplit(0, 1.0), range(10, 12)),
        NodeRecord(2, [1, 0]),
        NodeRecord(2, [0, 1], MultiwaySplit(1, (0, 1, 2)), range(12, 15)),
        *[NodeRecord(3, v) for v in ([1, 0], [0, 1])],
        *[NodeRecord(5, v) for v in ([1, 0], [0, 0])],
        *[NodeRecord(7, v) for v in ([0, 1], [0, 0], [0, 0])],
    ]
    tree = tree_from_nodes(SCHEMA, ("no", "yes"), nodes)
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (15, 9, 3)
    assert tree.node_kinds() == {
        "axis": 1,
        "multiway": 1,
        "subset": 0,
        "linear": 1,
        "quadratic": 1,
        "machine": 1,
        "network": 1,
        "quadratic_machine": 0,
        "additive": 0,
        "additive_machine": 0,
        "cases": 0,
    }
    # machine: 3 (2 + 1); network: 2 (1 + 2) + 1
    assert tree.n_parameters == 9 + 3 + 5 + 9 + 7 + 2 + 2
    assert tree.depths.tolist() == [0, 1, 1, 2, 2, 2, 2, 2, *[3] * 7]
    # No row came to node 11: its class is its nearest ancestor's.
    assert tree.filled_value[11].tolist() == [1, 0]
    with pytest.raises(ValueError, match="leaf"):
        tree.split(14)


def test_lone_leaf():
    tree = tree_from_nodes(SCHEMA, ("no", "yes"), [NodeRecord(-1, [2, 1])])
    assert (tree.n_nodes, tree.n_leaves, tree.depth, tree.n_parameters) == (1, 1, 0, 1)
    table = Table(random_rows(np.random.default_rng(0), 5), SCHEMA)
    assert tree.apply(table).tolist() == [0] * 5
    assert tree.feature_importances.tolist() == [0] * 6
    assert_equal_trees(Tree.from_dict(tree.to_dict()), tree)


# -- plain form ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "kinds", [*[(k,) for k in SPLITS], tuple(SPLITS)], ids="+".join
)
def test_dict_and_back(kinds, rng):
    for _ in range(10):
        tree = random_tree(rng, kinds)
        assert_sound(tree)
        plain = tree.to_dict()
        again = Tree.from_dict(json.loads(json.dumps(plain)))
        assert_equal_trees(again, tree)
        assert again.to_dict() == plain


def test_pickle_and_copy(rng):
    tree = random_tree(rng, tuple(SPLITS))
    tree.apply(Table(random_rows(rng, 5), SCHEMA))  # fills caches
    for again in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert_equal_trees(again, tree)
        values = random_rows(rng, 30)
        np.testing.assert_array_equal(
            again.apply(Table(values, SCHEMA)), tree.apply(Table(values, SCHEMA))
        )
    assert "nodes" in repr(tree)


# -- collapse ------------------------------------------------------------------------


@pytest.mark.parametrize("as_int", [False, True])
def test_collapse_is_the_naive_cut(as_int, rng):
    for _ in range(20):
        tree = random_tree(rng, tuple(SPLITS))
        cut = rng.random(tree.n_nodes) < 0.3
        given = np.where(cut, -1, np.arange(tree.n_nodes)) if as_int else cut
        pruned = tree.collapse(given)
        assert_sound(pruned)
        expected = naive.cut_nodes(
            tree.to_dict()["nodes"], frozenset(np.flatnonzero(cut).tolist())
        )
        assert pruned.to_dict()["nodes"] == expected
        if not as_int:
            assert_equal_trees(pruned.collapse(np.zeros(pruned.n_nodes, bool)), pruned)


def test_collapse_with_raising(rng):
    """A node replaced by a descendant has the descendant's test, counts and subtree."""
    for _ in range(20):
        tree = random_tree(rng, tuple(SPLITS), n_inner=10)
        inner = np.flatnonzero(tree.kind)
        node = int(rng.choice(inner))
        below = [node]
        for n in below:
            below += [int(c) for c in np.flatnonzero(tree.parent == n)]
        up = int(rng.choice(below[1:]))
        to = np.arange(tree.n_nodes)
        to[node] = up
        raised = tree.collapse(to)
        by_hand = naive.nested(tree.to_dict()["nodes"])
        queue = [by_hand]
        for at in queue:
            if at["id"] == node:
                at.clear()
                at.update(naive.nested(tree.to_dict()["nodes"], up))
                break
            queue += at["children"]
        assert raised.to_dict()["nodes"] == naive.flat(by_hand)


def test_collapse_follows_chains(rng):
    tree = random_tree(rng, ("axis",), n_inner=6)
    to = np.arange(tree.n_nodes)
    first = int(tree.first_child[0])
    while tree.kind[first] == 0:
        first += 1
    to[0] = first
    to[first] = tree.first_child[first]
    node = tree.first_child[first]
    assert tree.collapse(to).value[0].tolist() == tree.value[node].tolist()


def test_collapse_wants_one_entry_a_node(rng):
    tree = random_tree(rng, ("axis",))
    with pytest.raises(ValueError, match="shape"):
        tree.collapse(np.zeros(3, dtype=bool))


# -- damaged trees -------------------------------------------------------------------

NUMBERS = Schema(
    (Feature("a", "numeric"), Feature("b", "categorical", ("x", "y", "z"))), True
)


def sound_dict():
    """Root axis (1, 2); node 1 multiway (3, 4, 5); node 2 linear (6, 7); surrogates."""
    linear = SPLITS["linear"]((0, 2), (1.0, -1.0), (0.5, 0.0), 0.25, merit=0.1)
    surrogate = SPLITS["subset"](1, (0, 1, -1))
    records = [
        NodeRecord(
            -1, [4, 4], AxisSplit(0, 1.5, merit=0.5, surrogates=(surrogate,)), [1, 2]
        ),
        NodeRecord(0, [3, 1], MultiwaySplit(1, (0, 1, 2), missing=-1), [3, 4, 5]),
        NodeRecord(0, [1, 3], linear, [6, 7]),
        *[NodeRecord(1, v) for v in ([1, 1], [1, 0], [1, 0])],
        *[NodeRecord(2, v) for v in ([1, 0], [0, 3])],
    ]
    return tree_from_nodes(NUMBERS, ("no", "yes"), records).to_dict()


def at(*path, value):
    """Set one place of the tree."""

    def change(tree):
        for key in path[:-1]:
            tree = tree[key]
        tree[path[-1]] = value

    return change


def drop(*path):
    def change(tree):
        for key in path[:-1]:
            tree = tree[key]
        del tree[path[-1]]

    return change


def swap_test(node, kind, test, children=None):
    def change(tree):
        tree["nodes"][node] |= {"kind": kind, "test": test}

    return change


def cycle(tree):
    tree["nodes"][2]["children"] = [0, 1]


def twice(tree):
    tree["nodes"][2]["children"] = [3, 4]


def never(tree):
    tree["nodes"][2] = {"id": 2, "parent": 0, "kind": "leaf", "value": [1, 3]}


def early(tree):
    """A child before its parent."""
    nodes = tree["nodes"]
    nodes[7] |= {k: nodes[2][k] for k in ("kind", "test", "merit", "missing")}
    nodes[7]["children"] = [3, 4]


LINEAR = {
    "columns": [0, 2],
    "weights": [1.0, 1.0],
    "fill": [0.0, 0.0],
    "threshold": 0.0,
}
QUADRATIC = {
    "columns": [0, 1],
    "fill": [0.0, 0.0],
    "terms": [[0, -1], [0, 1]],
    "weights": [1.0, 1.0],
    "threshold": 0.0,
}
MACHINE = {
    "columns": [0],
    "fill": [0.0],
    "bias": [0.0, 1.0],
    "weights": [[1.0], [2.0]],
}
NETWORK = {
    "columns": [0],
    "fill": [0.0],
    "hidden_bias": [0.0],
    "hidden_weights": [[1.0]],
    "output_bias": 0.0,
    "output_weights": [1.0],
}
QUADRATIC_MACHINE = {
    "columns": [0, 1],
    "fill": [0.0, 0.0],
    "terms": [[0, -1], [0, 1], [1, 1]],
    "bias": [0.0, 1.0],
    "weights": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
}
CURVES = {"curve_columns": [0], "knots": [[0.0, 1.0, 3.0]]}
ADDITIVE = {
    "columns": [1],
    "fill": [0.0],
    "terms": [[0, -1]],
    "weights": [2.0],
    **CURVES,
    "curve_values": [[0.5, 2.0, -1.0, 0.25]],
    "threshold": 1.0,
}
ADDITIVE_MACHINE = {
    "columns": [],
    "fill": [],
    "terms": [],
    "bias": [0.0, 1.0],
    "weights": [[], []],
    **CURVES,
    "curve_values": [[[0.5, 2.0, -1.0, 0.25]], [[0.0, 0.0, 0.0, 0.0]]],
}
CASES = {
    "columns": [0, 2],
    "fill": [0.0, 0.5],
    "bias": [0.0, 1.0],
    "precision": [0.5, 2.0],
    "cases": [[1.0, -1.0], [0.0, 1.0], [2.0, 1.0]],
    "case_weights": [[1.5, 0.0, 0.0], [0.0, 2.0, -1.0]],
}
SOUND = {
    "linear": LINEAR,
    "quadratic": QUADRATIC,
    "machine": MACHINE,
    "network": NETWORK,
    "quadratic_machine": QUADRATIC_MACHINE,
    "additive": ADDITIVE,
    "additive_machine": ADDITIVE_MACHINE,
    "cases": CASES,
}
NAN, INF = float("nan"), float("inf")

CANDIDATE = {
    "learner": "fisher",
    "kind": "linear",
    "parameters": 3,
    "criterion": "AIC",
    "score": 1.5,
    "chosen": True,
}


def without(field):
    return {key: value for key, value in CANDIDATE.items() if key != field}


DAMAGE = {
    "another format": at("format", value="something"),
    "no format": drop("format"),
    "newer version": at("version", value=2),
    "version is text": at("version", value="1"),
    "another task": at("task", value="regression"),
    "no schema": drop("schema"),
    "schema without features": at("schema", "features", value=[]),
    "feature of unknown kind": at("schema", "features", 0, "kind", value="colour"),
    "two features of one name": at("schema", "features", 0, "name", value="b"),
    "no classes": at("classes", value=[]),
    "classes are text": at("classes", value="no"),
    "a class twice": at("classes", value=["no", "no"]),
    "a class is a list": at("classes", value=["no", ["yes"]]),
    "a class is NaN": at("classes", value=[0.0, NAN]),
    "a class is infinite": at("classes", value=[0.0, INF]),
    "classes of several types": at("classes", value=["no", 1]),
    "too many classes": at("classes", value=["a", "b", "c"]),
    "no nodes": at("nodes", value=[]),
    "nodes are no list": at("nodes", value={}),
    "a node is no object": at("nodes", 3, value=[1]),
    "a wrong id": at("nodes", 3, "id", value=4),
    "an unknown kind": at("nodes", 0, "kind", value="oblique"),
    "kind is a list": at("nodes", 0, "kind", value=["axis"]),
    "kind of a leaf at a test": at("nodes", 0, "kind", value="leaf"),
    "no kind": drop("nodes", 0, "kind"),
    "root with a parent": at("nodes", 0, "parent", value=1),
    "another parent": at("nodes", 3, "parent", value=2),
    "parent is true": at("nodes", 1, "parent", value=False),
    "parent is half": at("nodes", 1, "parent", value=0.5),
    "a cycle": cycle,
    "a node reached twice": twice,
    "a node never reached": never,
    "a child before its parent": early,
    "a child out of range": at("nodes", 2, "children", value=[7, 8]),
    "a negative child": at("nodes", 2, "children", value=[-2, -1]),
    "an enormous child": at("nodes", 2, "children", value=[2**40, 2**40 + 1]),
    "children that are not adjacent": at("nodes", 2, "children", value=[7, 6]),
    "one child": at("nodes", 2, "children", value=[6]),
    "no child": at("nodes", 2, "children", value=[]),
    "children are text": at("nodes", 2, "children", value="67"),
    "children are true": at("nodes", 2, "children", value=[True, 7]),
    "a leaf with children": at("nodes", 3, "children", value=[6, 7]),
    "a leaf with a test": at("nodes", 3, "test", value={}),
    "a negative count": at("nodes", 3, "value", value=[1, -1]),
    "a count that is NaN": at("nodes", 3, "value", value=[1, NAN]),
    "an infinite count": at("nodes", 3, "value", value=[1, INF]),
    "an enormous count": at("nodes", 3, "value", value=[1, 10**400]),
    "too few counts": at("nodes", 3, "value", value=[1]),
    "nested counts": at("nodes", 3, "value", value=[[1, 1]]),
    "counts are text": at("nodes", 3, "value", value="11"),
    "a count is true": at("nodes", 3, "value", value=[True, 1]),
    "no counts": drop("nodes", 3, "value"),
    "merit is NaN": at("nodes", 0, "merit", value=NAN),
    "merit is text": at("nodes", 0, "merit", value="good"),
    "merit is enormous": at("nodes", 0, "merit", value=10**400),
    "no merit": drop("nodes", 0, "merit"),
    "missing branch out of range": at("nodes", 0, "missing", value=2),
    "missing branch below -1": at("nodes", 0, "missing", value=-2),
    "missing branch is text": at("nodes", 0, "missing", value="left"),
    "no missing branch": drop("nodes", 0, "missing"),
    "no test": drop("nodes", 0, "test"),
    "test is a list": at("nodes", 0, "test", value=[0, 1.5]),
    "an unknown field in a test": at("nodes", 0, "test", "colour", value=1),
    "a field too few in a test": drop("nodes", 0, "test", "low"),
    "unknown feature": at("nodes", 0, "test", "feature", value=2),
    "negative feature": at("nodes", 0, "test", "feature", value=-1),
    "feature is half": at("nodes", 0, "test", "feature", value=0.5),
    "feature is text": at("nodes", 0, "test", "feature", value="0"),
    "feature is enormous": at("nodes", 0, "test", "feature", value=2**40),
    "feature is a list": at("nodes", 0, "test", "feature", value=[0]),
    "feature is nothing": at("nodes", 0, "test", "feature", value=None),
    "threshold on categories": at("nodes", 0, "test", "feature", value=1),
    "threshold is NaN": at("nodes", 0, "test", "threshold", value=NAN),
    "threshold is infinite": at("nodes", 0, "test", "threshold", value=INF),
    "threshold is text": at("nodes", 0, "test", "threshold", value="1.5"),
    "threshold is enormous": at("nodes", 0, "test", "threshold", value=10**400),
    "low is no branch": at("nodes", 0, "test", "low", value=2),
    "low is negative": at("nodes", 0, "test", "low", value=-1),
    "categories on a number": at("nodes", 1, "test", "feature", value=0),
    "too few categories": at("nodes", 1, "test", "branch", value=[0, 1]),
    "no categories": at("nodes", 1, "test", "branch", value=[]),
    "branch out of range": at("nodes", 1, "test", "branch", value=[0, 1, 3]),
    "branch below -1": at("nodes", 1, "test", "branch", value=[-2, 1, 2]),
    "branch is half": at("nodes", 1, "test", "branch", value=[0, 1.5, 2]),
    "branch is enormous": at("nodes", 1, "test", "branch", value=[0, 1, 2**40]),
    "branch is a number": at("nodes", 1, "test", "branch", value=3),
    "subset of three": swap_test(0, "subset", {"feature": 1, "branch": [0, 1, 2]}),
    "column out of range": swap_test(2, "linear", LINEAR | {"columns": [0, 9]}),
    "negative column": swap_test(2, "linear", LINEAR | {"columns": [0, -1]}),
    "too few weights": swap_test(2, "linear", LINEAR | {"weights": [1.0]}),
    "too many fills": swap_test(2, "linear", LINEAR | {"fill": [0.0] * 3}),
    "weight is NaN": swap_test(2, "linear", LINEAR | {"weights": [1.0, NAN]}),
    "weight is text": swap_test(2, "linear", LINEAR | {"weights": [1.0, "2"]}),
    "weights are nested": swap_test(2, "linear", LINEAR | {"weights": [[1.0, 2.0]]}),
    "weights are ragged": swap_test(
        2, "linear", LINEAR | {"weights": [[1.0], [2.0, 3.0]]}
    ),
    "term out of range": swap_test(
        2, "quadratic", QUADRATIC | {"terms": [[0, -1], [0, 2]]}
    ),
    "term below -1": swap_test(
        2, "quadratic", QUADRATIC | {"terms": [[0, -2], [0, 1]]}
    ),
    "term without a first": swap_test(
        2, "quadratic", QUADRATIC | {"terms": [[-1, 0]] * 2}
    ),
    "term of three": swap_test(2, "quadratic", QUADRATIC | {"terms": [[0, 1, 1]] * 2}),
    "term of one": swap_test(2, "quadratic", QUADRATIC | {"terms": [[0]] * 2}),
    "terms and weights": swap_test(2, "quadratic", QUADRATIC | {"weights": [1.0]}),
    "machine of three": swap_test(2, "machine", MACHINE | {"bias": [0.0, 1.0, 2.0]}),
    "machine of one": swap_test(
        2, "machine", MACHINE | {"bias": [0.0], "weights": [[1.0]]}
    ),
    "ragged machine": swap_test(
        2, "machine", MACHINE | {"weights": [[1.0], [2.0, 3.0]]}
    ),
    "flat machine": swap_test(2, "machine", MACHINE | {"weights": [1.0, 2.0]}),
    "ragged network": swap_test(
        2, "network", NETWORK | {"hidden_weights": [[1.0, 2.0]]}
    ),
    "network without output": swap_test(2, "network", NETWORK | {"output_weights": []}),
    "infinite network": swap_test(2, "network", NETWORK | {"output_bias": INF}),
    **{
        f"quadratic machine, {name}": swap_test(
            2, "quadratic_machine", QUADRATIC_MACHINE | change
        )
        for name, change in {
            "term out of range": {"terms": [[0, -1], [0, 2], [1, 1]]},
            "term below -1": {"terms": [[0, -2], [0, 1], [1, 1]]},
            "term without a first": {"terms": [[-1, 0], [0, 1], [1, 1]]},
            "term of three": {"terms": [[0, -1, 0], [0, 1], [1, 1]]},
            "term of one": {"terms": [[0], [0, 1], [1, 1]]},
            "terms too few": {"terms": [[0, -1], [0, 1]]},
            "terms too many": {"terms": [[0, -1]] * 4},
            "terms are no list": {"terms": 3},
            "term is half": {"terms": [[0, 0.5], [0, 1], [1, 1]]},
            "term is enormous": {"terms": [[0, 2**40], [0, 1], [1, 1]]},
            "column out of range": {"columns": [0, 9]},
            "too many fills": {"fill": [0.0] * 3},
            "one branch": {"bias": [0.0], "weights": [[1.0, 2.0, 3.0]]},
            "a branch too many": {"bias": [0.0, 1.0, 2.0]},
            "ragged": {"weights": [[1.0, 2.0, 3.0], [4.0, 5.0]]},
            "flat": {"weights": [1.0, 2.0, 3.0]},
            "weight is NaN": {"weights": [[1.0, 2.0, NAN], [4.0, 5.0, 6.0]]},
            "infinite bias": {"bias": [0.0, INF]},
        }.items()
    },
    "surrogates are no list": at("nodes", 0, "surrogates", value={}),
    "surrogate is text": at("nodes", 0, "surrogates", value=["x"]),
    "surrogate without kind": drop("nodes", 0, "surrogates", 0, "kind"),
    "surrogate is a leaf": at("nodes", 0, "surrogates", 0, "kind", value="leaf"),
    "surrogate out of range": at(
        "nodes", 0, "surrogates", 0, "test", "feature", value=5
    ),
    "surrogate with three branches": at(
        "nodes",
        0,
        "surrogates",
        0,
        value={"kind": "multiway", "test": {"feature": 1, "branch": [0, 1, 2]}},
    ),
    "candidates are no list": at("nodes", 2, "candidates", value={}),
    "candidate is text": at("nodes", 2, "candidates", value=["linear"]),
    "candidate without score": at("nodes", 2, "candidates", value=[without("score")]),
    "candidate with more": at("nodes", 2, "candidates", value=[CANDIDATE | {"x": 1}]),
    "candidate's kind": at(
        "nodes", 2, "candidates", value=[CANDIDATE | {"kind": "oak"}]
    ),
    "candidate's parameters": at(
        "nodes", 2, "candidates", value=[CANDIDATE | {"parameters": -1}]
    ),
    "candidate's score": at(
        "nodes", 2, "candidates", value=[CANDIDATE | {"score": INF}]
    ),
    "candidate's learner": at(
        "nodes", 2, "candidates", value=[CANDIDATE | {"learner": 1}]
    ),
    "no candidate chosen": at(
        "nodes", 2, "candidates", value=[CANDIDATE | {"chosen": False}]
    ),
    "two candidates chosen": at("nodes", 2, "candidates", value=[CANDIDATE] * 2),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_tree_is_refused(name):
    tree = sound_dict()
    DAMAGE[name](tree)
    with pytest.raises(ValueError) as caught:
        Tree.from_dict(tree)
    assert len(str(caught.value)) > 10


CURVE_DAMAGE = {
    "at least 2 knots": {"knots": [[0.0]], "curve_values": [[1.0, 2.0]]},
    "strictly increasing": {"knots": [[0.0, 1.0, 1.0]]},
    "strictly increasing.*": {"knots": [[0.0, 3.0, 1.0]]},
    "knots of a curve must be finite": {"knots": [[0.0, 1.0, INF]]},
    "knots of a curve must be finite.*": {"knots": [[NAN, 1.0, 2.0]]},
    "3 knots needs 4 values": {"curve_values": [[1.0, 2.0, 3.0]]},
    "slopes of a curve must be finite": {"knots": [[0.0, 5e-324, 1.0]]},
    "slopes of a curve must be finite.*": {"knots": [[-1e308, 0.0, 1e308]]},
    "values and slopes of a curve": {"curve_values": [[1.0, 2.0, 3.0, NAN]]},
    "column, knots, and values": {"knots": []},
    "column, knots, and values in": {"curve_values": []},
    "column out of range": {"curve_columns": [9]},
    "a curve of a category": {"curve_columns": [1]},
    "is no list": {"knots": [1.0]},
    "is no number": {"knots": [["a", 1.0, 2.0]]},
}


@pytest.mark.parametrize("message", CURVE_DAMAGE)
def test_damaged_curves_are_refused_in_words(message):
    change = CURVE_DAMAGE[message]
    tree = sound_dict()
    swap_test(2, "additive", ADDITIVE | change)(tree)
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(tree)
    if "curve_values" in change:
        change = change | {"curve_values": [change["curve_values"]] * 2}
    swap_test(2, "additive_machine", ADDITIVE_MACHINE | change)(tree)
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(tree)
    model = {name: ADDITIVE_MACHINE[name] for name in (*CURVES, "curve_values")}
    model |= {"link": "softmax", "columns": [], "fill": [], "bias": [0.0, 1.0]}
    model["weights"] = [[], []]
    tree = sound_dict()
    tree["nodes"][6]["model"] = model
    assert Tree.from_dict(tree).to_dict() == tree
    tree["nodes"][6]["model"] = model | change
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(tree)


CASE_DAMAGE = {
    "a number for each column": {"precision": [0.5]},
    "a number for each column.*": {"cases": [[1.0, 2.0], [1.0], [1.0, 2.0]]},
    "precision must not be negative": {"precision": [0.5, -1.0]},
    "precision must not be negative|infinite number": {"precision": [0.5, INF]},
    "precision must not be negative|infinite": {"precision": [0.5, NAN]},
    "cases and their weights must be finite|infinite number": {
        "cases": [[1.0, INF], [0.0, 1.0], [2.0, 1.0]]
    },
    "each case needs a weight in 2 sums": {"case_weights": [[1.0, 2.0, 3.0]]},
    "each case needs a weight in 2 sums|shorter": {"case_weights": [[1.0], [2.0]]},
    "each case needs a weight.*|shorter": {"case_weights": [[1.0] * 3, [2.0]]},
    "cases need columns": {
        "columns": [],
        "fill": [],
        "precision": [],
        "cases": [[], [], []],
    },
    "column out of range": {"columns": [0, 9]},
    "one fill a column": {"fill": [0.0]},
    "is no list": {"cases": [1.0]},
    "is no number": {"precision": ["a", 1.0]},
}


@pytest.mark.parametrize("message", CASE_DAMAGE)
def test_damaged_cases_are_refused_in_words(message):
    change = CASE_DAMAGE[message]
    tree = sound_dict()
    swap_test(2, "cases", CASES | change)(tree)
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(tree)
    tree = sound_dict()
    model = CASES | {"link": "softmax", "weights": [[], []]}
    tree["nodes"][6]["model"] = model
    assert Tree.from_dict(tree).to_dict() == tree
    tree["nodes"][6]["model"] = model | change
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(tree)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (CURVES | {"curve_values": ADDITIVE_MACHINE["curve_values"]}, "not both"),
        (
            {"weights": [[1.0, 2.0], [3.0, 4.0]]},
            "numbers of weights and columns differ",
        ),
        (
            {"cases": [], "case_weights": [[], []], "weights": [[1.0, 2.0]] * 2},
            "cases",
        ),
        ({"precision": []}, "a number for each column"),
        ({"case_weights": []}, "each case needs a weight"),
    ],
)
def test_what_a_model_of_cases_cannot_have(change, message):
    tree = sound_dict()
    model = CASES | {"link": "softmax", "weights": [[], []]}
    tree["nodes"][6]["model"] = model | change
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(tree)


def test_parameters_of_cases():
    """Of a test all weights that are not 0; of softmax those of all sums but one."""
    tree = sound_dict()
    before = Tree.from_dict(tree).n_parameters - 3
    swap_test(2, "cases", CASES)(tree)
    assert Tree.from_dict(tree).n_parameters == before + 2 + 3 + 1
    tree["nodes"][6]["model"] = CASES | {"link": "softmax", "weights": [[], []]}
    assert Tree.from_dict(tree).model(6).n_params == 1 + 3 + 1


def test_parameters_of_additive_tests():
    """A threshold, the weights, and of a curve one less than its values."""
    tree = sound_dict()
    before = Tree.from_dict(tree).n_parameters - 3
    for kind, test, own in (
        ("additive", ADDITIVE, 1 + 1 + 3),
        ("additive_machine", ADDITIVE_MACHINE, 2 + 3),
    ):
        swap_test(2, kind, test)(tree)
        assert Tree.from_dict(tree).n_parameters == before + own


@pytest.mark.parametrize("thing", [None, 3, "tree", [], {}, [{}]])
def test_no_tree_at_all(thing):
    with pytest.raises(ValueError):
        Tree.from_dict(thing)


def test_sound_tree_is_accepted():
    tree = sound_dict()
    assert Tree.from_dict(tree).to_dict() == tree
    other = CANDIDATE | {"kind": "none", "score": None, "chosen": False}
    tree["nodes"][2]["candidates"] = [other, CANDIDATE]
    assert Tree.from_dict(tree).to_dict() == tree
    for kind, test in SOUND.items():
        changed = sound_dict()
        swap_test(2, kind, test)(changed)
        assert Tree.from_dict(changed).to_dict() == changed


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([2**31, 2**63, 10**400, -(2**31) - 1, NAN, INF, -INF, 1e308, 0.5]),
    st.text(max_size=3),
    st.lists(st.integers(-2, 9), max_size=4),
    st.lists(st.lists(st.floats(), max_size=2), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def places(thing, path=()):
    """All paths into nested lists and dicts."""
    yield path
    pairs = thing.items() if isinstance(thing, dict) else enumerate(thing)
    for key, value in pairs:
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))
        else:
            yield (*path, key)


@settings(max_examples=400)
@given(data=st.data())
def test_random_damage_never_crashes(data):
    """Either the tree loads, and then rows can be routed through it, or ValueError."""
    tree = sound_dict()
    node = data.draw(st.integers(1, 3))
    kind, test = data.draw(st.sampled_from(list(SOUND.items())))
    swap_test(2, kind, copy.deepcopy(test))(tree)
    for _ in range(node):
        path = data.draw(st.sampled_from([p for p in places(tree) if p]))
        holder = tree
        for key in path[:-1]:
            holder = holder[key]
        if data.draw(st.booleans()) and len(path) > 1:
            del holder[path[-1]]
        else:
            holder[path[-1]] = data.draw(values)
    try:
        loaded = Tree.from_dict(tree)
    except ValueError:
        return
    assert_sound_structure(loaded)
    rows = random_rows(np.random.default_rng(0), 50, loaded.schema)
    table = Table(rows, loaded.schema)
    leaves = loaded.apply(table)
    assert (loaded.kind[leaves] == 0).all()
    np.testing.assert_allclose(loaded.leaf_shares(table).sum(axis=1), 1)
    assert Tree.from_dict(loaded.to_dict()).n_nodes == loaded.n_nodes


def assert_sound_structure(tree):
    inner = np.flatnonzero(tree.kind)
    first, n = tree.first_child[inner], tree.n_children[inner]
    assert (first > inner).all() and (first + n <= tree.n_nodes).all()
