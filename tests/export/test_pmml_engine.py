"""PMML in an engine of other people: PMML4S by way of pypmml, which runs in a Java process.

Rows are handed over one by one as dicts: pypmml's way for whole tables reads a missing
boolean as false.
"""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.export.runs import Answer, Rows, cells
from tests.export.test_export import decoded, fitted
from tests.export.test_numbers import fitted as fitted_number
from tests.export.test_numbers import numeric
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree import TreeClassifier, TreeRegressor, presets
from omnitree.data.table import Table
from omnitree.export.pmml_fields import text_of
from omnitree.tree.splits import SPLITS

pypmml = pytest.importorskip("pypmml", reason="pypmml is not installed (extra test)")
pytestmark = pytest.mark.skipif(
    shutil.which("java") is None,
    reason="PMML4S needs Java (default-jre-headless on Debian)",
)


@pytest.fixture(scope="module", autouse=True)
def engine():
    """One Java process for all tests of this file."""
    yield
    pypmml.PMMLContext.shutdown()


def run(model: Any, rows: Rows) -> Answer:
    """Labels and probabilities, or numbers, as the engine has them."""
    names = [feature.name for feature in model.tree_.schema.features]
    engine = pypmml.Model.fromString(model.export("pmml"))
    answers = [engine.predict(dict(zip(names, row, strict=True))) for row in rows]
    labels = [answer["predicted"] for answer in answers]
    if model.tree_.task == "regression":
        return labels, np.array(labels, dtype=float)[:, None]
    columns = [f"p({text_of(label)})" for label in model.tree_.classes]
    return labels, np.array([[a[c] for c in columns] for a in answers], dtype=float)


def check(model: Any, rows: Rows, table: Table) -> None:
    """The engine's answers are the library's, for every row."""
    tree = model.tree_
    numbers = tree.task == "regression"
    outputs = tree.outputs if numbers else model._node_outputs()
    expected = tree.predict_value(table, outputs)
    labels, found = run(model, rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    if not numbers:
        assert labels == [tree.classes[k] for k in tree.decide(expected)]


@pytest.mark.parametrize("missing", ["a branch", "divided"])
@pytest.mark.parametrize("models", [0.0, 0.7], ids=["shares", "models"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_random_trees(task: str, models: float, missing: str):
    """Tests of every kind, surrogates, categories that a node never saw."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, tuple(SPLITS), 6, models=models)
        place = -1 if missing == "divided" else 0
        tree = tree.replace(missing=np.where(tree.kind > 0, place, tree.missing))
        values = random_rows(rng, 25)
        rows, table = decoded(values, SCHEMA), Table(values, SCHEMA)
        if task == "regression":
            check(fitted_number(numeric(tree, rng)), rows, table)
        else:
            check(fitted(tree), rows, table)


def mixed_table(rng, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, text, booleans; a fifth of the cells is missing."""
    frame = pd.DataFrame(
        {
            "a number": rng.normal(size=n),
            "x<&>y": rng.integers(0, 50, n) / 10,
            "colour": rng.choice(["red", "dark blue", 'say "no"'], n),
            "old": rng.random(n) < 0.5,
        }
    ).astype({"old": object})
    y = frame["a number"] + (frame["colour"] == "red") + frame["old"].astype(int)
    y = y + 0.3 * rng.normal(size=n)
    return frame.mask(rng.random(frame.shape) < 0.2), y.to_numpy()


@pytest.mark.parametrize("preset", ["c4.5", "cart", "lmt", "ft", "ldt", "lmdt", "omni"])
def test_presets(preset: str, rng):
    frame, number = mixed_table(rng)
    y = np.array(["low", "mid", "high"])[np.digitize(number, [0.3, 1.3])]
    clf = presets.make(preset, random_state=0).fit(frame, y)
    rows = cells(frame[:60])
    labels, proba = run(clf, rows)
    assert labels == clf.predict(frame[:60]).tolist()
    np.testing.assert_allclose(proba, clf.predict_proba(frame[:60]), atol=1e-9)


def test_two_classes_and_a_category_never_seen(rng):
    frame, number = mixed_table(rng)
    clf = TreeClassifier(missing="fractional", max_depth=3).fit(frame, number > 1)
    new = frame[:40].assign(colour="green")
    labels, proba = run(clf, cells(new))
    np.testing.assert_allclose(proba, clf.predict_proba(new), atol=1e-9)
    assert labels == clf.predict(new).tolist()


def test_numbers(rng):
    frame, number = mixed_table(rng)
    for options in ({"missing": "fractional"}, {"leaves": "ridge"}):
        reg = TreeRegressor(max_depth=3, random_state=0, **options).fit(frame, number)
        found, _ = run(reg, cells(frame[:40]))
        np.testing.assert_allclose(found, reg.predict(frame[:40]), atol=1e-9)


@pytest.mark.parametrize("models", [0.0, 0.7], ids=["shares", "models"])
def test_costs(models: float, rng):
    costs = np.array([[0.0, 1, 2], [9, 0, 1], [1, 5, 0]])
    for missing in (0, -1):
        tree = random_tree(rng, tuple(SPLITS), 6, models=models).replace(costs=costs)
        tree = tree.replace(missing=np.where(tree.kind > 0, missing, tree.missing))
        values = random_rows(rng, 25)
        check(fitted(tree), decoded(values, SCHEMA), Table(values, SCHEMA))
