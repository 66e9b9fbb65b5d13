"""A model that all leaves below a test share is told once, at the test."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.trees import (
    SCHEMA,
    calibrated_tree,
    functions_of,
    random_model,
    random_rows,
)

from omnitree import TreeClassifier, TreeRegressor
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.export.model import Model
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import (
    AxisSplit,
    LinearSplit,
    MachineSplit,
    QuadraticMachineSplit,
)
from omnitree.tree.tree import NodeRecord, tree_from_nodes

PLANE = Schema((Feature("x", "numeric"), Feature("y", "numeric")), named=True)
LINEAR = LinearSplit((0, 1), (2.0, -3.0), (0.5, 0.0), 1.5)
MACHINE = MachineSplit(
    (0, 1), (0.5, 0.0), (1.0, 0.0, 2.0), ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.5))
)
ROUND = QuadraticMachineSplit(
    (0, 1),
    (0.5, 0.0),
    ((0, -1), (0, 0), (0, 1)),
    (1.0, 0.0, 2.0),
    ((1.0, 0.0, 0.5), (0.0, 1.0, 0.0), (-1.0, 0.5, 0.25)),
)


def fitted(test, model, classes, counts=None):
    """A tree of one test, whose leaves all have one model, as an estimator."""
    k, n = len(classes), test.n_children
    counts = np.eye(n, k) * 10 + 1 if counts is None else np.asarray(counts)
    records = [NodeRecord(-1, counts.sum(axis=0), test, range(1, n + 1), None)]
    records += [NodeRecord(0, line, model=model) for line in counts]
    clf = TreeClassifier()
    clf._set_fitted(tree_from_nodes(PLANE, classes, records), np.array(classes))
    return clf


def own(test, scale, classes, counts=None):
    every = tuple(range(test.n_children))
    model = functions_of(test, scale, every, len(classes))
    return fitted(test, model, classes, counts)


def test_a_machine_in_words():
    lines = own(MACHINE, 0.83, ("a", "b", "c")).describe().splitlines()
    assert lines == [
        "4 nodes, 3 leaves, 3 classes",
        "softmax: exp(score) of a class over the sum of exp(score) of all",
        "linear machine: predict the class with the largest score",
        "  a = 1.5 + 1 (x - 0.5)",
        "  b = 0 + 1 y",
        "  c = 1.5 - 1 (x - 0.5) + 0.5 y",
        "probabilities: softmax of the scores, calibrated (scale 0.83)",
        "a is largest: a (13 rows, 2 wrong)",
        "b is largest: b (13 rows, 2 wrong)",
        "c is largest: c (13 rows, 2 wrong)",
    ]
    plain = own(ROUND, 1.0, ("a", "b", "c")).describe()
    assert "quadratic machine: predict" in plain
    assert "\nprobabilities: softmax of the scores\n" in plain


def test_a_test_of_two_classes_in_words():
    text = own(LINEAR, 0.5, ("no", "yes")).describe()
    assert text.splitlines()[1:5] == [
        "logistic(t): 1 / (1 + exp(-t))",
        "sum #0 = 2 (x - 0.5) - 3 y",
        "probability of yes: logistic(0.5 (sum #0 - 0.5))",
        "sum #0 <= 0.5: no (12 rows, 1 wrong)",
    ]
    two = replace(MACHINE, bias=(1.0, 0.0), weights=MACHINE.weights[:2])
    text = own(two, 1.0, ("no", "yes")).describe()
    assert (
        "sum #0 = 1 (x - 0.5) - 1 y\nprobability of no: logistic(sum #0 + 1.5)\n"
        in text
    )
    at_0 = replace(LINEAR, threshold=1.0)  # what an average row has
    assert ": logistic(0.5 (sum #0))" in own(at_0, 0.5, ("no", "yes")).describe()


def test_the_words_are_what_the_tree_computes():
    """The probability as a reader works it out from `describe`."""
    clf = own(LINEAR, 0.5, ("no", "yes"))
    x, y = 0.3, -0.7
    sum_0 = 2 * (x - 0.5) - 3 * y
    want = 1 / (1 + np.exp(-0.5 * (sum_0 - 0.5)))
    assert clf.predict_proba([[x, y]])[0, 1] == pytest.approx(want)
    assert clf.explain([x, y]).probabilities["yes"] == pytest.approx(want)


def test_classes_without_a_branch():
    text = own(LINEAR, 0.5, ("no", "yes", "perhaps")).describe()
    assert (
        "probabilities: softmax of t for yes, -t for no, -3 for perhaps; "
        "t = 0.25 (sum #0 - 0.5)\n"
    ) in text
    clf = own(LINEAR, 0.5, ("no", "yes", "perhaps"))
    score = 0.25 * (2 * 0.3 - 3 * -0.7 - 1.5)
    powers = np.exp([-score, score, -3])
    np.testing.assert_allclose(
        clf.predict_proba([[0.3, -0.7]])[0], powers / powers.sum()
    )
    centred = replace(
        MACHINE, bias=(1.0, 0.0, -1.0), weights=((1.0, 0.0), (0.0, 1.0), (-1.0, -1.0))
    )
    text = own(centred, 2.0, tuple("abcdefg")).describe()
    assert "scores, -1.5 for 4 other classes, calibrated (scale 2)\n" in text


def test_a_class_that_is_never_the_most_likely():
    """It has a score of its own, which is told beside those of the test."""
    model = functions_of(MACHINE, 2.0, (0, 1, 2), 4)
    model = replace(
        model,
        bias=(*(2 * b for b in MACHINE.bias), -4.0),
        weights=(*(tuple(2 * v for v in w) for w in MACHINE.weights), (0.0, 0.25)),
    )
    clf = fitted(MACHINE, model, tuple("abcd"))
    text = clf.describe()
    assert (
        "probabilities: softmax of the scores, the sum below for d, "
        "calibrated (scale 2):\n  d = -2 + 0.125 y\n"
    ) in text
    assert "predict the class with the largest score" in text
    assert clf.tree_.n_parameters == MACHINE.n_params + 1 + 2
    two = replace(
        functions_of(LINEAR, 0.5, (0, 1), 3),
        weights=((-0.5, 0.75), (0.5, -0.75), (1.0, 0.0)),
    )
    clf = fitted(LINEAR, two, ("no", "yes", "perhaps"))
    assert (
        "softmax of t for yes, -t for no, the sum below for perhaps; "
        "t = 0.25 (sum #0 - 0.5):\n  perhaps = -2.5 + 1 (x - 0.5)\n"
    ) in clf.describe()
    assert clf.export("rules").count("perhaps = -3 + 1 x") == 1


def test_a_leaf_is_named_by_the_function_that_is_largest_there():
    counts = [[1, 9, 0], [0, 5, 0], [0, 0, 5]]  # most rows of the first branch are b
    clf = own(MACHINE, 0.5, ("a", "b", "c"), counts)
    assert "a is largest: a (10 rows, 9 wrong)" in clf.describe()
    assert "THEN a  (support 10 = 50.0%, confidence 10.0%)" in clf.export("rules")
    assert clf.predict([[9.0, 0.0]]) == ["a"]
    model = Model(clf.tree_.to_dict())
    assert model.labels[1:] == [0, 1, 2] and model.tests(0)[0].names == ("a", "b", "c")
    costly = model.tree | {"costs": [[0.0, 1.0, 1.0], [9.0, 0.0, 9.0], [1.0, 1.0, 0.0]]}
    assert Model(costly).labels[1] == 1


def test_another_model_is_told_once(rng):
    model = functions_of(ROUND, 1.0, (0, 1, 2), 3)
    clf = fitted(MACHINE, model, ("a", "b", "c"))
    text = clf.describe()
    assert text.count("softmax of the scores of one quadratic model:") == 1
    assert text.count("mostly") == 3 and "by its" not in text
    assert text.count("  c = ") == 2  # of the test and of the model
    rules = clf.export("rules")
    assert rules.count("of one quadratic model:") == 1
    assert rules.count("THEN mostly") == 3
    assert clf.export("dot").count("of one quadratic model:") == 1
    cut = AxisSplit(0, 0.5)
    both = fitted(cut, random_model(rng, 3, PLANE), ("a", "b", "c"))
    assert both.describe().count("probabilities: softmax of the scores of one") == 1


@pytest.mark.parametrize("format", ["rules", "dot"])
def test_rules_and_pictures_say_it_once(format):
    text = own(MACHINE, 0.83, ("a", "b", "c")).export(format)
    assert text.count("softmax of the scores, calibrated (scale 0.83)") == 1
    text = own(LINEAR, 0.5, ("no", "yes")).export(format)
    assert text.count("probability of yes: logistic(0.5 (sum #0 - 1.5))") == 1
    assert "sum #0 = 2 x - 3 y" in text


def test_terms_that_are_left_out_leave_the_cut_right():
    """`describe` centres long sums; the probability refers to what it shows."""
    rng = np.random.default_rng(3)
    p = 12
    schema = Schema(tuple(Feature(f"x{j}", "numeric") for j in range(p)), named=True)
    fill, weights = rng.normal(5, 1, p), rng.normal(size=p)
    test = LinearSplit(
        tuple(range(p)), tuple(weights.tolist()), tuple(fill.tolist()), 2.0
    )
    model = functions_of(test, 0.5, (0, 1), 2)
    records = [NodeRecord(-1, np.ones(2), test, range(1, 3))]
    records += [NodeRecord(0, line, model=model) for line in np.eye(2)]
    tree = tree_from_nodes(schema, ("no", "yes"), records)
    clf = TreeClassifier()
    clf._set_fitted(tree.replace(deviation=np.ones(p)), np.array(["no", "yes"]))
    lines = clf.describe().splitlines()
    (sides,) = [line for line in lines if line.startswith("sum #0 <=")]
    cut = float(re.match(r"sum #0 <= (\S+):", sides)[1])
    (words,) = [line for line in lines if line.startswith("probability of")]
    assert f"(0.5 (sum #0 {'-' if cut > 0 else '+'} {abs(cut):.6g}))" in words
    assert "smaller terms" in clf.describe()


@pytest.mark.parametrize("scale", [0.75, None])
@pytest.mark.parametrize("seed", range(6))
def test_explanations_have_the_probabilities(scale, seed):
    rng = np.random.default_rng(seed)
    kinds = ("axis", "linear", "quadratic", "machine", "quadratic_machine")
    tree = calibrated_tree(rng, kinds, scale, n_inner=1 + seed)
    clf = TreeClassifier()
    clf._set_fitted(tree, np.array(tree.classes))
    values = random_rows(rng, 8)
    proba = tree.predict_value(Table(values, SCHEMA), tree.class_shares)
    labels = tree.predict_labels(Table(values, SCHEMA))
    for row, want, label in zip(values, proba, labels, strict=True):
        cells = [
            None if np.isnan(v) else f.categories[int(v)] if f.categories else v
            for v, f in zip(row, SCHEMA.features, strict=True)
        ]
        found = clf.explain(cells)
        got = [found.probabilities[c] for c in tree.classes]
        np.testing.assert_allclose(got, want, atol=1e-12)
        assert found.label == tree.classes[label]
        for step in found.steps:
            above = tree.parent[step.node]
            if step.kind == "model" and above in tree.sharing and scale is not None:
                assert not step.contributions and step.value is None
                assert step.text.startswith(("probability", "probabilities"))
        if found.counterfactual is not None:
            assert found.counterfactual.label != found.label


def test_a_machine_with_its_model_has_counterfactuals():
    clf = own(MACHINE, 0.83, ("a", "b", "c"))
    for row in ([0.0, 0.0], [3.0, 0.0], [0.0, 9.0]):
        found = clf.explain(row).counterfactual
        assert found is not None
        changed = dict(zip("xy", row, strict=True))
        changed |= {change.name: change.after for change in found.changes}
        assert clf.predict([list(changed.values())])[0] == found.label


def test_numbers_tell_it_once():
    model = LeafModel((0, 1), (0.0, 0.0), (1.0,), ((2.0, 0.5),), "identity")
    records = [NodeRecord(-1, [4.0], AxisSplit(0, 0.5), range(1, 3), None, 1.0, 2.0)]
    records += [NodeRecord(0, [2.0], None, (), model, m, 1.0) for m in (0.5, 1.5)]
    reg = TreeRegressor()
    reg._set_fitted(tree_from_nodes(PLANE, (), records), np.empty(0))
    text = reg.describe()
    assert text.count("answer, by one linear model:") == 1
    assert ": mean 0.5 (2 rows" in text and ": mean 1.5 (2 rows" in text
    assert reg.export("rules").count("THEN the sum of node 0") == 2
