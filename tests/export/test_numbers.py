"""Exported trees that answer a number give the library's answers, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.export.runs import run
from tests.export.test_export import RUN, decoded
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree import TreeRegressor
from omnitree.data.table import Table
from omnitree.export import FORMATS
from omnitree.tree.leaf_models import LeafModels
from omnitree.tree.splits import SPLITS
from omnitree.tree.tree import Tree


def numeric(tree: Tree, rng: np.random.Generator) -> Tree:
    """A tree with the tests of another, that answers numbers; models answer one, too."""
    models = [tree.model(node) for node in range(tree.n_nodes)]
    one = [
        m and replace(m, bias=m.bias[:1], weights=m.weights[:1], link="identity")
        for m in models
    ]
    return tree.replace(
        classes=(),
        value=tree.value.sum(axis=1, keepdims=True),
        constant=rng.integers(-40, 40, tree.n_nodes) / 8,
        loss=rng.random(tree.n_nodes),
        models=LeafModels.of(one),
    )


def fitted(tree: Tree) -> TreeRegressor:
    reg = TreeRegressor()
    reg._set_fitted(tree, np.empty(0))
    return reg


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("models", [0.0, 0.7])
def test_same_numbers(format: str, models: float, seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    for n_inner in (0, 1, 4, 12):
        tree = numeric(random_tree(rng, tuple(SPLITS), n_inner, models=models), rng)
        values = random_rows(rng, 40)
        reg, rows = fitted(tree), decoded(values, SCHEMA)
        found, _ = run(format, reg, rows, tmp_path)
        expected = tree.predict_value(Table(values, SCHEMA), tree.outputs)[:, 0]
        tolerance = 0 if format in ("python", "c") else 1e-12
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_no_probabilities(rng):
    tree = numeric(random_tree(rng, ("axis",), 1), rng)
    with pytest.raises(ValueError, match="answers a number"):
        fitted(tree).export("sql", proba=True)


def test_words():
    X = [[1.0], [2.0], [3.0], [4.0]]
    reg = TreeRegressor().fit(X, [5.0, 5.0, 8.0, 8.5])
    assert "THEN 5  (support 2 = 50.0%, loss 0)" in reg.export("rules")
    assert "1 row, loss 0" in reg.export("dot")
    assert reg.export("sql").startswith('CASE WHEN "x0" <= 2.5E0')
    for format in FORMATS:
        assert reg.export(format)


def test_words_of_models(rng):
    X = rng.normal(size=(80, 3))
    reg = TreeRegressor(leaves="ridge", max_depth=0).fit(X, 3 * X[:, 0] + 1)
    assert reg.describe().startswith(
        "1 leaf, a number\nloss: mean squared error of the training rows\n"
        "always: by its linear model (80 rows"
    )
    assert "x0" in reg.describe().splitlines()[3]
    assert "z(x0)" in reg.describe(standardised=True)
    assert "THEN the sum" in reg.export("rules")
    assert "linear" in reg.export("dot")
