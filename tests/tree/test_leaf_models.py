"""Linear models in nodes: storing, checking, answering."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.naive import case_sums, curve_sum
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree.data.table import Table
from omnitree.growing.standard_columns import StandardColumns
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.splits import SPLITS
from omnitree.tree.tree import LEAF, Tree

FORMAT = json.loads(files("omnitree.tree").joinpath("tree.schema.json").read_text())
KINDS = tuple(SPLITS)


def naive_answer(tree: Tree, node: int, row: list[float]) -> list[float]:
    """What a node answers as a leaf, in plain Python."""
    record = tree.to_dict()["nodes"][node]
    if "model" not in record:
        return tree.class_shares[node].tolist()
    model = record["model"]
    feature, category = SCHEMA.linear_columns()
    filled = []
    for j, column in enumerate(model["columns"]):
        value = row[feature[column]]
        if math.isnan(value):
            value = model["fill"][j]
        elif category[column] >= 0:
            value = 1.0 if value == category[column] else -1.0
        filled.append(value)
    values = [] if "cases" in model else filled
    if "terms" in model:
        values = [filled[a] * (1 if b < 0 else filled[b]) for a, b in model["terms"]]
    sums = list(model["bias"])
    for j, value in enumerate(values):
        for k in range(len(sums)):
            sums[k] += model["weights"][k][j] * value
    if "knots" in model:
        public = SCHEMA.to_dict()
        for k, lines in enumerate(model["curve_values"]):
            sums[k] += curve_sum(public, model, lines, row)
    if "cases" in model:
        sums = [s + own for s, own in zip(sums, case_sums(model, filled), strict=True)]
    powers = [math.exp(s - max(sums)) for s in sums]
    return [p / sum(powers) for p in powers]


def naive_proba(tree: Tree, table: Table) -> np.ndarray:
    shares = tree.leaf_shares(table).toarray()
    out = np.zeros((table.n_rows, len(tree.classes)))
    for i, row in enumerate(table.values.tolist()):
        for node in np.flatnonzero(shares[i]):
            out[i] += shares[i, node] * np.array(naive_answer(tree, int(node), row))
    return out


@pytest.mark.parametrize("seed", range(30))
def test_answers_are_those_of_plain_python(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, KINDS, n_inner=int(rng.integers(0, 7)), models=0.7)
    table = Table(random_rows(rng, 40), SCHEMA)
    want = naive_proba(tree, table)
    got = tree.predict_value(table, tree.class_shares)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-14)
    clear = np.diff(np.sort(want, axis=1)[:, -2:], axis=1)[:, 0] > 1e-12
    labels = tree.predict_labels(table)
    np.testing.assert_array_equal(labels[clear], want.argmax(axis=1)[clear])
    again = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(again.predict_value(table, tree.class_shares), got)


@pytest.mark.parametrize("seed", range(10))
def test_plain_form_keeps_models(seed):
    tree = random_tree(np.random.default_rng(seed), KINDS, models=0.5)
    data = json.loads(json.dumps(tree.to_dict(), allow_nan=False))
    Draft202012Validator(FORMAT).validate(data)
    again = Tree.from_dict(data)
    assert again.to_dict() == data
    assert [again.model(i) for i in range(tree.n_nodes)] == [
        tree.model(i) for i in range(tree.n_nodes)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_models_that_differ_by_biases_share_the_rest(seed):
    """Unpacked together they are what they are alone, and so are other models."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, KINDS, models=0.7)
    alone = [tree.model(at) for at in range(tree.n_nodes)]
    some = [model for model in alone if model is not None][:3]
    shifted = [
        replace(model, bias=tuple(rng.normal(size=len(model.bias)).tolist()))
        for model in some
    ]
    packed = LeafModels.of([*alone, *shifted, *some])
    known = {}
    found = [packed.unpacked(at, known) for at in range(len(packed.there))]
    assert found == [*alone, *shifted, *some]
    first = [found[alone.index(model)] for model in some]
    for own, other, same in zip(
        first, found[len(alone) :], found[len(alone) + len(some) :], strict=False
    ):
        assert other.weights is own.weights and other.knots is own.knots
        assert same is own


@pytest.mark.parametrize("seed", range(10))
def test_a_cut_node_answers_by_its_own_model(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, KINDS, models=1.0)
    table = Table(random_rows(rng, 20), SCHEMA)
    cut = tree.collapse(np.arange(tree.n_nodes) == 0)
    assert cut.n_nodes == 1 and cut.model(0) == tree.model(0)
    want = [naive_answer(tree, 0, row) for row in table.values.tolist()]
    got = cut.predict_value(table, cut.class_shares)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("missing_share", [0.0, 0.2])
def test_rows_that_pass_are_the_path_by_columns(seed, missing_share):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, KINDS, n_inner=seed)
    table = Table(random_rows(rng, 30, missing_share=missing_share), SCHEMA)
    start, row, part = tree.passing(table)
    path = tree.decision_path(table).toarray()
    again = np.zeros_like(path)
    for node in range(tree.n_nodes):
        here = slice(start[node], start[node + 1])
        assert (np.diff(row[here]) > 0).all()
        again[row[here], node] = part[here]
    np.testing.assert_array_equal(again, path)


def test_parameters_of_models_count():
    tree = random_tree(np.random.default_rng(3), ("axis",), models=1.0)
    plain = tree.replace(models=None)
    leaves = np.flatnonzero(tree.kind == LEAF)
    sums = [tree.model(leaf).n_params for leaf in leaves]
    assert tree.n_parameters - plain.n_parameters == sum(sums) - len(leaves)
    number = LeafModel((0, 1), (0.0, 0.0), (1.0,), ((1.0, 2.0),), "identity")
    assert number.n_params == 3
    three = LeafModel((0, 1), (0.0, 0.0), (1.0, 2.0, 3.0), ((1.0, 2.0), (0.0, 1.0)) * 2)
    assert replace(three, weights=three.weights[:3]).n_params == 2 + 2 + 2
    sparse = ((0.0, 0.0, 1.5), (0.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    quadratic = replace(three, weights=sparse, terms=((0, -1), (1, 1), (0, 1)))
    assert quadratic.n_params == 2 + 1 + 0 + 1


def test_parameters_of_curves_count():
    """One less than the values, but for a missing cell of 0; of all sums but one."""
    line = (1.0, -1.0, 2.0, 0.0)
    bent = LeafModel((), (), (0.0,) * 3, ((),) * 3, curve_columns=(0,))
    bent = replace(bent, knots=((0.0, 1.0, 2.0),), curve_values=((line,),) * 3)
    assert bent.n_params == 2 + 2 * 2
    told = replace(bent, curve_values=(((*line[:3], 0.5),), (line,), ((0.0,) * 4,)))
    assert told.n_params == 2 + 3 + 2


def test_softmax_of_far_apart_sums():
    tree = random_tree(np.random.default_rng(0), ("axis",), n_inner=0)
    table = Table(np.zeros((1, SCHEMA.n_features)), SCHEMA)
    for apart in [*np.linspace(0, 720, 200), 1e3, 1e300]:
        model = LeafModel((), (), (0.0, -apart, -apart / 2), ((), (), ()))
        there = tree.replace(models=LeafModels.of([model]))
        got = there.predict_value(table, tree.class_shares)[0]
        want = [1.0, math.exp(-apart), math.exp(-apart / 2)]
        np.testing.assert_allclose(
            got, np.array(want) / sum(want), rtol=1e-14, atol=1e-300
        )


def hurt(change):
    """The tree's dict after a change of its first model."""
    tree = random_tree(np.random.default_rng(1), ("axis",), models=1.0)
    data = copy.deepcopy(tree.to_dict())
    change(data["nodes"][0])
    return data


def quadratic(node, **changes):
    """Give a node a quadratic model, with some fields changed."""
    model = {
        "link": "softmax",
        "columns": [0, 5],
        "fill": [0.5, 1.0],
        "bias": [0.0, 1.0, 2.0],
        "weights": [[1.0, 2.0], [0.0, 1.0], [0.0, 0.0]],
        "terms": [[0, 1], [1, 1]],
    }
    node["model"] = model | changes


def test_quadratic_models_are_read():
    data = hurt(quadratic)
    Draft202012Validator(FORMAT).validate(data)
    tree = Tree.from_dict(data)
    assert tree.model(0).terms == ((0, 1), (1, 1))
    assert tree.to_dict() == data


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda n: n.update(model=3), "no object"),
        (lambda n: n["model"].pop("fill"), "needs exactly"),
        (lambda n: n["model"].update(link="probit"), "link"),
        (lambda n: n["model"].update(link="identity"), "link"),
        (lambda n: n["model"].update(link=1), "no text"),
        (lambda n: n["model"].update(columns=[99], fill=[0.0]), "out of range"),
        (lambda n: n["model"].update(columns=[-1], fill=[0.0]), "out of range"),
        (lambda n: n["model"].update(fill=[1.0] * 50), "one fill"),
        (lambda n: n["model"].update(bias=[0.0]), "sums"),
        (lambda n: n["model"]["weights"].pop(), "sums"),
        (lambda n: n["model"]["weights"][0].append(1.0), "differ"),
        (lambda n: n["model"]["bias"].__setitem__(0, math.inf), "infinite"),
        (lambda n: n["model"]["bias"].__setitem__(0, "1"), "no number"),
        (lambda n: n["model"].update(weights=None), "no list"),
        (lambda n: quadratic(n, terms=None), "no list"),
        (lambda n: quadratic(n, terms=[[0, 0.5]]), "no whole number"),
        (lambda n: quadratic(n, terms=[[0, 1, 1], [1, 1]]), "pair"),
        (lambda n: quadratic(n, terms=[[0], [1, 1]]), "pair"),
        (lambda n: quadratic(n, terms=[[0, 2], [1, 1]]), "term out of range"),
        (lambda n: quadratic(n, terms=[[-1, 0], [1, 1]]), "term out of range"),
        (lambda n: quadratic(n, terms=[[0, -2], [1, 1]]), "term out of range"),
        (lambda n: quadratic(n, terms=[[0, 1]]), "differ"),
        (lambda n: quadratic(n, terms=[[0, 1]] * 3), "differ"),
        (lambda n: quadratic(n, weights=[[1.0, math.nan]] * 3), "infinite"),
        (lambda n: quadratic(n, products=[[0, 1]]), "may have"),
    ],
)
def test_damaged_models_are_refused(change, word):
    data = hurt(change)
    with pytest.raises(ValueError, match=word):
        Tree.from_dict(data)


def test_rows_answer_alike_alone_and_together():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, KINDS, models=1.0)
    values = random_rows(rng, 5000)
    whole = tree.predict_value(Table(values, SCHEMA), tree.class_shares)
    fortran = Table(np.asfortranarray(values), SCHEMA)
    np.testing.assert_array_equal(tree.predict_value(fortran, tree.class_shares), whole)
    some = Table(values[100:110], SCHEMA)
    np.testing.assert_array_equal(
        tree.predict_value(some, tree.class_shares), whole[100:110]
    )


def test_taken_models_are_those_of_the_nodes():
    rng = np.random.default_rng(5)
    tree = random_tree(rng, KINDS, models=0.7)
    models, n = tree.models, tree.n_nodes
    assert any(m and m.terms for m in map(tree.model, range(n)))
    nodes = rng.integers(0, n, size=20)
    taken = models.take(nodes)
    assert [taken[i] for i in range(20)] == [models[node] for node in nodes]
    mask = rng.random(n) < 0.5
    some = models.only(mask)
    assert [some[i] for i in range(n)] == [
        models[i] if mask[i] else None for i in range(n)
    ]
    assert models.only(np.zeros(n, dtype=bool)) is None
    for a in range(n):
        for b in range(n):
            assert models.same(a, b) == (models[a] == models[b])


@pytest.mark.parametrize("expansion", ["linear", "quadratic"])
def test_a_model_of_standard_columns_has_their_sums(expansion):
    rng = np.random.default_rng(2)
    table = Table(random_rows(rng, 60, missing_share=0.1), SCHEMA)
    weight = rng.random(60) + 0.5
    standard = StandardColumns.of(table, weight)
    if expansion == "quadratic":
        standard = standard.with_products(table.schema)
    scaling, p = standard.scaling, standard.scaling.n_plain
    everything = np.arange(60)
    means = standard.missing_means(everything, weight)
    columns = standard.take(everything, means)
    fill = np.zeros(p)
    fill[standard.with_missing] = means
    w = rng.normal(size=(3, scaling.n_columns)) * (rng.random(scaling.n_columns) < 0.7)
    bias = rng.normal(size=3)
    model = scaling.model(w, bias, fill)
    assert bool(model.terms) == (expansion == "quadratic")
    want = columns @ w.T + bias
    want = np.exp(want - want.max(axis=1, keepdims=True))
    got = np.empty((60, 3))
    nodes = np.zeros(60, dtype=np.int32)
    LeafModels.of([model]).answer(table, everything, nodes, got)
    np.testing.assert_allclose(got, want / want.sum(axis=1, keepdims=True), rtol=1e-9)
    if expansion == "quadratic":
        w[:, p:] = 0.0
        plain = scaling.take(np.arange(p)).model(w[:, :p], bias, fill)
        assert scaling.model(w, bias, fill) == plain
