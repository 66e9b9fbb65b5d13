"""Likeness to cases: routed, answered, packed and saved as loops say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import naive
from tests.tables import random_values
from tests.trees import SCHEMA, random_cases, random_model, random_test

from omnitree import TreeClassifier, load, save
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.tree.expression import evaluate
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.splits import CasesSplit
from omnitree.tree.tree import NodeRecord, tree_from_nodes


def numbers(m: int) -> Schema:
    """So many columns of numbers."""
    return Schema(tuple(Feature(f"x{j}", "numeric") for j in range(m)), named=False)


# Schema, and number of branches: cells and sums of a row are on the stack if they are few.
SHAPES = {
    "mixed": (SCHEMA, 3),
    "one column": (numbers(1), 2),
    "128 columns": (numbers(128), 2),
    "129 columns": (numbers(129), 3),
    "32 branches": (SCHEMA, 32),
    "33 branches": (SCHEMA, 33),
    "many": (numbers(200), 40),
}


def drawn(rng, schema: Schema, k: int) -> CasesSplit:
    """A test on all columns in any order, with numbers that are not dyadic."""
    m = schema.n_columns
    own = random_cases(rng, m, k)
    own["precision"] = tuple((rng.random(m) / m).tolist())
    columns = tuple(rng.permutation(m).tolist())
    fill, bias = (tuple(rng.normal(size=n).tolist()) for n in (m, k))
    return CasesSplit(columns, fill, bias, **own)


def naive_sums(split: CasesSplit, table: Table) -> np.ndarray:
    """The sums of all rows, by loops."""
    plain, schema = split.to_dict(), table.schema.to_dict()
    out = []
    for row in table.values:
        z = naive.column_values(schema, plain, row)
        out.append(np.add(plain["bias"], naive.case_sums(plain, z)))
    return np.array(out)


def model_of(split: CasesSplit, link: str = "identity") -> LeafModel:
    """The sums of a test."""
    return LeafModel(
        split.columns,
        split.fill,
        split.bias,
        ((),) * len(split.bias),
        link,
        precision=split.precision,
        cases=split.cases,
        case_weights=split.case_weights,
    )


def answers(models: list[LeafModel | None], table: Table, node: int) -> np.ndarray:
    """What the model of a node answers, packed with all others."""
    rows = np.arange(table.n_rows)
    out = np.empty((table.n_rows, len(models[node].bias)))
    LeafModels.of(models).answer(table, rows, np.full(len(rows), node), out)
    return out


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", SHAPES)
def test_kernel_model_and_rule_are_the_loops(shape, seed):
    rng = np.random.default_rng(seed)
    schema, k = SHAPES[shape]
    split = drawn(rng, schema, k)
    table = Table(random_values(rng, schema, 20, missing_share=0.2), schema)
    expected = naive_sums(split, table)
    np.testing.assert_allclose(
        answers([model_of(split)], table, 0), expected, rtol=0, atol=1e-13
    )
    plain, public = split.to_dict(), schema.to_dict()
    cells = np.array([naive.column_values(public, plain, row) for row in table.values])
    at = dict(zip(split.columns, cells.T, strict=True))

    for sums, value in zip(expected.T, split.rule.values, strict=True):
        np.testing.assert_allclose(
            evaluate(value, lambda c: at[c.number]), sums, rtol=0, atol=1e-13
        )
    top = np.sort(expected, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-12
    routed = split.route(table, np.arange(20))
    assert clear.any()
    np.testing.assert_array_equal(routed[clear], expected.argmax(axis=1)[clear])


def test_a_case_is_most_like_itself():
    split = CasesSplit(
        (0,), (9.0,), (0.0, 0.5), (2.0,), ((1.0,), (9.0,)), ((1, 0), (0, 1))
    )
    schema = numbers(1)
    table = Table(np.array([[1.0], [9.0], [5.0], [np.nan], [np.inf], [1e300]]), schema)
    assert split.route(table, np.arange(6)).tolist() == [0, 1, 1, 1, 1, 1]
    out = answers([model_of(split)], table, 0)
    np.testing.assert_allclose(out[:3], [[1, 0.5], [0, 1.5], [0, 0.5]], atol=1e-13)
    assert out[3:].tolist() == [[out[3, 0], 1.5], [0, 0.5], [0, 0.5]]


@pytest.mark.parametrize("shape", SHAPES)
def test_packed_and_back(shape, rng):
    schema, k = SHAPES[shape]
    split = drawn(rng, schema, k)
    _, index, weight = split.pack()
    assert CasesSplit.unpack(index, weight) == split
    model = model_of(split)
    assert LeafModels.of([None, model, None])[1] == model
    none = replace(split, cases=(), case_weights=((),) * k)
    with pytest.raises(ValueError, match="no cases"):
        none.pack()


@pytest.mark.parametrize("seed", range(20))
def test_models_with_and_without_cases_in_one_tree(seed):
    """Each is unpacked as it was, and answers as it does alone."""
    rng = np.random.default_rng(seed)
    models = [random_model(rng, cases=0.7) for _ in range(8)]
    models.insert(int(rng.integers(8)), None)
    packed = LeafModels.of(models)
    assert [packed[at] for at in range(9)] == models
    table = Table(random_values(rng, SCHEMA, 15, missing_share=0.2), SCHEMA)
    for at, model in enumerate(models):
        if model is not None:
            together, alone = answers(models, table, at), answers([model], table, 0)
            np.testing.assert_array_equal(together, alone)


def test_a_saved_tree_of_cases_is_the_same(tmp_path, rng):
    for _ in range(10):
        split = random_test(rng, "cases")
        n = split.n_children
        records = [NodeRecord(-1, np.full(n, 2.0), split, range(1, n + 1))]
        own = model_of(split, "softmax")
        records += [NodeRecord(0, np.eye(n)[i], model=own) for i in range(n)]
        clf = TreeClassifier()
        tree = tree_from_nodes(SCHEMA, tuple("abcd"[:n]), records)
        clf._set_fitted(tree, np.array(tree.classes))
        save(clf, tmp_path / "model.json")
        again = load(tmp_path / "model.json").tree_
        assert again.split(0) == split and again.model(1) == own
        assert again.to_dict() == tree.to_dict()
        table = Table(random_values(rng, SCHEMA, 30, missing_share=0.2), SCHEMA)
        np.testing.assert_array_equal(again.apply(table), tree.apply(table))
        np.testing.assert_array_equal(
            again.predict_value(table, again.outputs),
            tree.predict_value(table, tree.outputs),
        )


def test_features_are_those_of_its_columns():
    split = CasesSplit((1, 5), (0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (), ((), ()))
    assert split.features(SCHEMA) == {1, 3}
