"""Exported trees that answer a number give the library's answers, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from tests.export.runs import cells, run
from tests.export.test_export import RUN, decoded
from tests.trees import SCHEMA, one_sum, random_rows, random_tree

from omnitree import TreeRegressor
from omnitree.data.table import Table
from omnitree.export import FORMATS
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.splits import SPLITS
from omnitree.tree.tree import Tree


def numeric(tree: Tree, rng: np.random.Generator) -> Tree:
    """A tree with the tests of another, that answers numbers; models answer one, too."""
    models = [tree.model(node) for node in range(tree.n_nodes)]
    one = [m and replace(one_sum(m), link="identity") for m in models]
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


@pytest.mark.parametrize("format", RUN)
def test_a_leaf_may_answer_zero(format: str, tmp_path: Path):
    reg = TreeRegressor().fit([[1.0], [2.0], [3.0]], [0.0, 0.0, 4.0])
    found, _ = run(format, reg, [[1.0], [3.0], [None]], tmp_path)
    assert list(found) == [0.0, 4.0, 0.0]


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
    assert "z(x0 + 0.1)" in reg.describe(standardised=True)
    assert "THEN the sum" in reg.export("rules")
    assert "linear" in reg.export("dot")


@pytest.fixture(scope="module")
def curved_leaf():
    """A tree of one leaf whose model is a weight, and two curves of diabetes' columns."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y = X[["age", "bmi", "bp"]].astype(float), y.to_numpy()
    X.loc[::9, "bmi"] = np.nan
    reg = TreeRegressor(max_depth=0).fit(X, y)
    curves = (
        ((18.0, 25.0, 42.0), (-60.0, -20.0, 90.0, 5.0)),
        (
            (60.0, 90.0, 130.0),
            (-25.0, 0.0, 30.0, 0.0),
        ),
    )
    model = LeafModel(
        (0,),
        (float(X.age.mean()),),
        (130.0,),
        ((0.25,),),
        "identity",
        curve_columns=(1, 2),
        knots=tuple(knots for knots, _ in curves),
        curve_values=(tuple(line for _, line in curves),),
    )
    tree = reg.tree_.replace(models=LeafModels.of([model]))
    tree = tree.replace(deviation=X.std().to_numpy())
    reg._set_fitted(tree, np.empty(0))
    return reg, X, y


def test_curves_in_a_leaf_for_numbers(curved_leaf, tmp_path: Path):
    reg, X, y = curved_leaf
    text = reg.describe()
    assert "by its additive model" in text
    assert "+ (bmi: from -60 at <= 18 to +90 at >= 42, +5 if missing)" in text
    row = {"age": 50.0, "bmi": None, "bp": 75.0}
    (step,) = reg.explain(row).steps
    mean = 130 + 0.25 * X.age.mean()
    amounts = {c.name: c.amount for c in step.contributions}
    assert amounts == pytest.approx(
        {"age": 0.25 * (50 - X.age.mean()), "bmi": 5.0, "bp": -12.5}
    )
    assert step.value == pytest.approx(mean + sum(amounts.values()))
    assert step.text.endswith(f"its mean {mean:.6g} and")
    found = reg.explain(row | {"bmi": 30.0}, goal="above 230").counterfactual
    assert found.label > 230 and {c.name for c in found.changes} <= set(X.columns)
    assert reg.explain(row).counterfactual is not None
    panels = reg.plot_node(0, X, y).child_axes
    assert [panel.get_xlabel() for panel in panels[1::2]] == ["bmi", "bp"]
    assert reg.to_html(tmp_path / "page.html", X, y).exists()


@pytest.mark.parametrize("format", RUN)
def test_exported_curves_of_numbers(format: str, curved_leaf, tmp_path: Path):
    reg, X, _ = curved_leaf
    found, _ = run(format, reg, cells(X[:60]), tmp_path)
    np.testing.assert_allclose(found, reg.predict(X[:60]), rtol=0, atol=1e-11)
