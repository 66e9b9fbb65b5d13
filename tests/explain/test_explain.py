"""Explanations: the path is the library's, sums add up, counterfactuals hold."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests import curved
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree import TreeClassifier, presets
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.explain.counterfactual import Change, Counterfactual, scales
from omnitree.export.model import Model
from omnitree.tree.curves import curve_at
from omnitree.tree.shared_models import terms_of
from omnitree.tree.splits import SPLITS, AdditiveSplit, LinearSplit
from omnitree.tree.tree import NodeRecord, Tree, tree_from_nodes


def fitted(tree: Tree) -> TreeClassifier:
    clf = TreeClassifier()
    clf._set_fitted(tree, np.array(tree.classes))
    return clf


def as_dict(row: np.ndarray, schema: Schema) -> dict:
    return {
        f.name: None
        if math.isnan(v)
        else f.categories[int(v)]
        if f.categories
        else float(v)
        for v, f in zip(row, schema.features, strict=True)
    }


def test_path_of_random_trees(rng):
    for _ in range(15):
        tree = random_tree(rng, tuple(SPLITS), 10)
        clf, rows = fitted(tree), random_rows(rng, 20)
        path = tree.decision_path(Table(rows, SCHEMA))
        proba = tree.predict_value(Table(rows, SCHEMA), tree.class_shares)
        for i, row in enumerate(rows):
            found = clf.explain(as_dict(row, SCHEMA))
            assert list(found.probabilities.values()) == proba[i].tolist()
            assert found.label == tree.classes[proba[i].argmax()]
            parts = path[[i]].toarray()[0]
            inner = {n: parts[n] for n in np.flatnonzero(parts) if tree.kind[n]}
            assert {s.node: s.share for s in found.steps} == pytest.approx(inner)
            check_steps(found, tree)
            check_counterfactual(clf, as_dict(row, SCHEMA), found)
            json.dumps(found.to_dict(), allow_nan=False)
            assert str(found).startswith(str(found.label))


def at_means(test: dict) -> np.ndarray:
    """The functions of a machine, or of a model, where all columns have their means."""
    fill = [*test["fill"], 1.0]  # position -1 leaves a factor out
    values = [fill[a] * fill[b] for a, b in terms_of(test)]  # curves are 0 there
    return np.array(test["weights"]) @ values + test["bias"]


def check_steps(found, tree: Tree):
    for step in found.steps:
        if step.branch is None:
            assert "every branch" in step.note
            continue
        if step.kind in ("linear", "quadratic", "additive"):
            # From an average row on, unless there is but one part.
            split = tree.split(step.node)
            terms = terms_of(split.to_dict())
            fill = np.append(split.fill, 1.0)
            average = sum(
                w * fill[a] * fill[b]
                for w, (a, b) in zip(split.weights, terms, strict=True)
            )
            rest = step.value - sum(c.amount for c in step.contributions)
            alone = len(step.contributions) == 1
            expected = 0.0 if alone else average - split.threshold + step.threshold
            assert rest == pytest.approx(expected, abs=1e-9)
            assert (step.value <= step.threshold) == (step.branch == 0)
        if step.is_lead and step.adds_up:
            test = tree.split(step.node).to_dict()
            start = at_means(test)
            total = sum(c.amount for c in step.contributions)
            leads = [start[step.branch] - b for b in np.delete(start, step.branch)]
            assert any(step.value == pytest.approx(total + g) for g in leads)
        if step.value is not None:
            assert step.margin == pytest.approx(abs(step.value - step.threshold))


def check_counterfactual(clf, row: dict, found):
    """Predicted by the public way, it gives the class it says, and not the old one."""
    other = found.counterfactual
    if other is None:
        return
    new = dict(row)
    for change in other.changes:
        assert new[change.name] == change.before != change.after
        new[change.name] = change.after
    assert 1 <= len(other.changes) <= 3
    assert clf.predict(pd.DataFrame([new]))[0] == other.label != found.label


@pytest.mark.parametrize("preset", ["omni", "ldt", "lmdt", "qtree"])
def test_no_number_leaves_the_training_data(preset: str, rng):
    """Nobody is told to become -25 years old."""
    age, dose = rng.uniform(20, 80, 300), rng.uniform(0, 5, 300)
    X = pd.DataFrame({"age": age, "dose": dose, "other": rng.normal(size=300)})
    y = np.where(age / 10 + dose + rng.normal(size=300) > 8, "ill", "well")
    clf = presets.make(preset, random_state=0).fit(X, y)
    ends, data = np.array(clf.tree_.to_dict()["ranges"]), X.agg(["min", "max"]).T
    if preset in ("omni", "qtree"):  # the others hold rows out
        np.testing.assert_array_equal(ends, data)
    assert (ends[:, 0] >= data["min"]).all() and (ends[:, 1] <= data["max"]).all()
    n_found = 0
    for i in range(0, 300, 10):
        found = clf.explain(X.iloc[[i]], max_changes=2).counterfactual
        if found is not None:
            check_counterfactual(clf, dict(X.iloc[i]), clf.explain(X.iloc[[i]]))
            n_found += 1
            for change in found.changes:
                assert X[change.name].min() <= change.after <= X[change.name].max()
    assert n_found > 20


@pytest.mark.parametrize("preset", ["c4.5", "cart", "ldt"])
def test_iris_always_has_a_counterfactual(preset: str):
    data = load_iris(as_frame=True)
    clf = presets.make(preset, random_state=0).fit(
        data.data, data.target_names[data.target]
    )
    for i in range(0, 150, 5):
        found = clf.explain(data.data.iloc[i])
        assert found.counterfactual is not None
        check_counterfactual(clf, dict(data.data.iloc[i]), found)
        assert found.counterfactual.label in str(found)


def test_nearest_in_axis_trees(rng):
    """Against all rows at and just above the thresholds of two features."""
    for _ in range(5):
        X = rng.normal(size=(60, 2))
        clf = TreeClassifier(max_depth=5).fit(X, rng.integers(0, 3, 60))
        model = Model(clf.tree_.to_dict())
        unit = scales(model)
        for row in rng.normal(size=(10, 2)):
            values = [[v] for v in row]
            for node in model.nodes:
                if node["kind"] == "axis":
                    cut = node["test"]["threshold"]
                    near = [cut, np.nextafter(cut, np.inf)]
                    values[node["test"]["feature"]] += near
            rows = np.array(list(itertools.product(*values)))
            other = clf.predict(rows) != clf.predict([row])[0]
            best = (np.abs(rows[other] - row) / unit).sum(axis=1).min()
            found = clf.explain(row).counterfactual
            # A few digits are added to the change, so that people can read it.
            assert best <= found.cost + 1e-12
            size = sum(
                abs(v) / u for v, u in zip(rows[other].max(0), unit, strict=True)
            )
            assert found.cost <= best + 2e-3 * (1 + size)


def test_nearest_under_a_linear_test():
    """One plane: the cheapest way over it changes one feature."""
    schema = Schema((Feature("a", "numeric"), Feature("b", "numeric")), named=True)
    split = LinearSplit((0, 1), (1.0, 4.0), (0.0, 0.0), 8.0)
    leaves = [NodeRecord(0, [1.0, 0.0]), NodeRecord(0, [0.0, 1.0])]
    root = NodeRecord(-1, [1.0, 1.0], split, [1, 2])
    clf = fitted(tree_from_nodes(schema, ("low", "high"), [root, *leaves]))
    found = clf.explain({"a": 0.0, "b": 0.25})
    assert [c.amount for c in found.steps[0].contributions] == [0.0, 1.0]
    assert found.steps[0].margin == 7.0
    (change,) = found.counterfactual.changes
    assert change.name == "b" and 2.0 < change.after <= 2.01
    assert found.counterfactual.cost == pytest.approx(1.75, abs=0.011)


@pytest.mark.parametrize("preset", ["omni", "cart", "c4.5", "ldt", "lmt"])
def test_changes_have_the_decimals_of_the_cells(preset: str, rng):
    """Years stay whole, and flags: nobody is 44.29 years old."""
    n = 300
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n).round(),
            "bmi": rng.normal(25, 3, n).round(1),
            "smoker": rng.integers(0, 2, n),
        }
    )
    risk = 0.15 * (X.age - 50) + 0.2 * (X.bmi - 25) + 2 * X.smoker
    y = np.where(risk + rng.logistic(size=n) > 1, "ill", "well")
    clf = presets.make(preset, random_state=0).fit(X, y)
    decimals = {"age": 0, "bmi": 1, "smoker": 0}
    seen = 0
    for row in range(30):
        found = clf.explain(X.iloc[[row]]).counterfactual
        for change in found.changes if found else ():
            assert change.after == round(change.after, decimals[change.name])
            seen += 1
        if found:
            changed = X.iloc[[row]].assign(**{c.name: c.after for c in found.changes})
            assert clf.predict(changed)[0] == found.label != clf.predict(X)[row]
    assert seen > 10


@pytest.mark.parametrize("change", ["unit", "threshold"])
def test_units_and_thresholds_at_the_end_of_the_range(change: str):
    """A plane, and a cut or a unit that no programme can hold: no change is offered."""
    schema = Schema((Feature("a", "numeric"), Feature("b", "numeric")), named=True)
    threshold = 1e308 if change == "threshold" else 8.0
    plane = LinearSplit((0, 1), (1.0, 4.0), (0.0, 0.0), threshold)
    cut = LinearSplit((0, 1), (1.0, -4.0), (0.0, 0.0), -threshold)
    records = [
        NodeRecord(-1, [2.0, 1.0], plane, [1, 2]),
        NodeRecord(0, [2.0, 0.0], cut, [3, 4]),
        NodeRecord(0, [0.0, 1.0]),
        *(NodeRecord(1, [1.0, 0.0]), NodeRecord(1, [1.0, 0.0])),
    ]
    tree = tree_from_nodes(schema, ("low", "high"), records)
    if change == "unit":
        tree = tree.replace(deviation=np.full(2, 5e-324))
    found = fitted(tree).explain({"a": 1e308, "b": -1e308})
    assert str(found).startswith("low")


@pytest.mark.parametrize("largest", [1.7e308, 1.7976931348623157e308])
def test_changes_across_the_range_of_numbers(largest: float):
    """From one end to the other: the way is longer than the largest number."""
    schema = Schema((Feature("a", "numeric"),), named=True)
    for sign in (1.0, -1.0):
        split = LinearSplit((0,), (1.0,), (0.0,), sign * 0.9 * largest)
        leaves = [NodeRecord(0, [1.0, 0.0]), NodeRecord(0, [0.0, 1.0])]
        root = NodeRecord(-1, [1.0, 1.0], split, [1, 2])
        tree = tree_from_nodes(schema, ("low", "high"), [root, *leaves])
        tree = tree.replace(deviation=np.array([largest]))
        for a in (-largest, largest):
            clf = fitted(tree)
            found = clf.explain({"a": a}).counterfactual
            if found is not None:
                (change,) = found.changes
                assert math.isfinite(change.after)
                new = clf.predict(pd.DataFrame({"a": [change.after]}))[0]
                assert new == found.label


def test_one_term_is_told_by_its_cell():
    schema = Schema((Feature("a", "numeric"),), named=True)
    split = LinearSplit((0,), (-1.0,), (3.0,), -8.0)
    leaves = [NodeRecord(0, [1.0, 0.0]), NodeRecord(0, [0.0, 1.0])]
    root = NodeRecord(-1, [1.0, 1.0], split, [1, 2])
    clf = fitted(tree_from_nodes(schema, ("high", "low"), [root, *leaves]))
    text = str(clf.explain({"a": 9.5}))
    assert "a >= 8\n      value 9.5, 1.5 from the cut" in text
    text = str(clf.explain({"a": None}))
    assert "a < 8\n      value 3 (filled in), 5 from the cut" in text


def test_missing_are_told():
    x = np.arange(1.0, 21.0)
    # Surrogates are learned where training has missing values; x stays the better feature.
    other = pd.Series(np.where(x == 10, 15.5, np.where(x == 12, 3.5, x)))
    frame = pd.DataFrame({"x": np.where(x == 20, np.nan, x), "y": other})
    y = np.where(x <= 10, "a", "b")
    row = {"x": None, "y": 14.0}
    said = {
        missing: str(TreeClassifier(missing=missing).fit(frame, y).explain(row))
        for missing in ("mean", "fractional", "surrogate")
    }
    assert "x is missing: such rows take this branch" in said["mean"]
    assert "goes down every branch" in said["fractional"]
    assert "x is missing: surrogate test 1" in said["surrogate"]
    clf = presets.make("ldt", pruning=None).fit(load_iris().data, load_iris().target)
    text = str(clf.explain([5.0, None, 1.5, 0.2]))
    assert "x1 = 3.05733 (filled in)" in text and "instead: x1" in text


def test_rows_in_any_form():
    data = load_iris(as_frame=True)
    X = data.data
    clf = TreeClassifier().fit(X, data.target)
    forms = [X.iloc[3], dict(X.iloc[3]), X.iloc[[3]], X.iloc[3].tolist()]
    forms += [X.to_numpy()[3], X.to_numpy()[3:4], [X.iloc[3].tolist()]]
    assert len({str(clf.explain(form)) for form in forms}) == 1
    with pytest.raises(ValueError, match="one row, not 2"):
        clf.explain(X.iloc[:2])
    with pytest.raises(ValueError, match="lacks column"):
        clf.explain({"petal length (cm)": 1.0})
    with pytest.raises(ValueError, match="max_changes must be at least 1"):
        clf.explain(X.iloc[0], max_changes=0)


def test_tree_without_a_test():
    clf = fitted(tree_from_nodes(SCHEMA, ("a", "b"), [NodeRecord(-1, [2.0, 1.0])]))
    found = clf.explain(as_dict(np.full(6, np.nan) * 1, SCHEMA) | {"height": 1.0})
    assert found.steps == [] and found.counterfactual is None
    assert "no test" in str(found)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (6.369616873214543, 8.622, "6.36962"),
        (6.369616873214543, None, "6.36962"),
        (6.369616873214543, 6.36962, "6.369616873214543"),  # not the same number
        (6.369616873214543, 6.369618, "6.369616873214543"),  # nor on its other side
        (12345678.0, 1.5, "12345678"),
        (None, 1.5, "missing"),
        ("rain", "sun", "rain"),
    ],
)
def test_values_of_now_are_short(before, after, shown):
    found = Counterfactual("yes", [Change("x", before, after)], 1.0, [])
    assert str(found).endswith(f"(now {shown})")


# -- curves ---------------------------------------------------------------------------


@pytest.mark.parametrize("table", [curved.iris, curved.pima])
def test_curves_in_explanations(table):
    """Each feature adds its curve's value; a missing cell is a value, not filled in."""
    X, y = table()
    clf = curved.curved_tree(X, y, one_sum=len(set(y)) == 2)
    test = clf.tree_.split(0)
    for i in range(0, len(X), len(X) // 12):
        found = clf.explain(X.iloc[i])
        step = found.steps[0]
        own = {c.name: c for c in step.contributions}
        for j, name in enumerate(X.columns[list(test.curve_columns)]):
            cell = X[name].iloc[i]
            values = (
                [test.curve_values] if test.kind == "additive" else test.curve_values
            )
            at = [float(curve_at(test.knots[j], v[j], cell)) for v in values]
            wanted = at if len(at) == 1 else [a - b for a in at for b in at]
            assert any(own[name].amount == pytest.approx(w) for w in wanted)
            assert not own[name].filled
            assert (own[name].value is None) == bool(np.isnan(cell))
        assert found.counterfactual is not None
        check_counterfactual(clf, dict(X.iloc[i]), found)


def test_several_changes_where_one_is_not_enough():
    """Each of three curves can move the sum by 1, and it has to move by 2.5."""
    schema = Schema(tuple(Feature(name, "numeric") for name in "xyz"), named=True)
    line = (0.0, 1.0, 0.0)
    test = AdditiveSplit((), (), (), (), (0, 1, 2), ((0.0, 1.0),) * 3, (line,) * 3, 2.5)
    records = [NodeRecord(-1, [1.0, 1.0], test, [1, 2])]
    records += [NodeRecord(0, [1.0, 0.0]), NodeRecord(0, [0.0, 1.0])]
    clf = fitted(tree_from_nodes(schema, ("low", "high"), records))
    found = clf.explain({"x": -1.0, "y": 0.5, "z": 0.25})
    assert found.label == "low" and found.counterfactual.label == "high"
    assert len(found.counterfactual.changes) == 3
    check_counterfactual(clf, {"x": -1.0, "y": 0.5, "z": 0.25}, found)
    few = clf.explain({"x": -1.0, "y": 0.5, "z": 0.25}, max_changes=2)
    assert few.counterfactual is None


@pytest.mark.parametrize("with_categories", [False, True])
def test_a_long_sum_is_the_one_that_describe_names(with_categories, rng):
    """Its cut, its value and its constant, without the offset of all means."""
    names = [f"length of part {j}" for j in range(8)]
    X = pd.DataFrame(rng.normal(1000.0, 1.0, size=(200, 8)), columns=names)
    y = X.sum(axis=1) - 8000.0
    if with_categories:
        X["made of"] = rng.choice(["wood", "iron", "clay"], 200)
        y += 3.0 * (X["made of"] == "wood")
    clf = presets.make("ldt", max_depth=1).fit(X, y > 0)
    found = clf.explain(X.iloc[[0]])
    (step,) = found.steps
    text = str(found)
    assert f"{step.summary}:" in clf.describe() and f"{step.summary} (" in text
    cut = float(step.summary.split()[-1])
    assert abs(cut) < 10 and (with_categories or abs(step.threshold) > 10)
    assert step.threshold - step.offset == pytest.approx(cut, abs=1e-4)
    (constant,) = (line for line in text.splitlines() if "for an average row" in line)
    assert abs(float(constant.split()[0])) < 1


def test_a_flag_is_changed_wholly(rng):
    """A column of 0 and 1 is no amount, though a weighted sum would take a part of it."""
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    X["smoker"] = rng.integers(0, 2, 300)
    y = 0.1 * X["a"] + 0.1 * X["b"] + 2.0 * X["smoker"] > 0.8
    clf = presets.make("ldt", max_depth=1).fit(X, y)
    told = [clf.explain(X.iloc[[i]]).counterfactual for i in range(40)]
    changes = [
        c for found in told if found for c in found.changes if c.name == "smoker"
    ]
    assert changes and all(c.after in (0.0, 1.0) for c in changes)
