"""Explanations of leaves that answer by a model, and the tree in words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.tables import random_sample
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree import TreeClassifier, presets
from omnitree.data.table import Table
from omnitree.export.words import model_kind
from omnitree.parts.leaves import LogisticLeaves


@pytest.mark.parametrize("seed", range(12))
def test_probabilities_and_contributions(seed):
    rng = np.random.default_rng(seed)
    sample = random_sample(rng, n=90, d=4, k=3, missing_share=0.1)
    missing = "fractional" if seed % 2 else "mean"
    leaves = LogisticLeaves(steps=5)  # held-out rows may want none of these tables
    clf = TreeClassifier(leaves=leaves, max_depth=2, missing=missing)
    clf.fit(sample.frame, sample.y)
    proba = clf.predict_proba(sample.frame)
    shares = clf.tree_.leaf_shares(clf._encode(sample.frame))
    by_model = shares @ (clf.tree_.models.there * 1.0)  # some leaves may have none
    assert by_model.any()
    for i in range(0, 90, 9):
        found = clf.explain(sample.frame.iloc[i])
        got = [found.probabilities[c] for c in clf.classes_.tolist()]
        np.testing.assert_allclose(got, proba[i], atol=1e-12)
        answers = [s for s in found.steps if s.kind == "model"]
        assert sum(s.share for s in answers) == pytest.approx(by_model[i])
        for step in answers:
            model = clf.tree_.model(step.node)
            parts = sum(c.amount for c in step.contributions)
            rest = step.value - parts  # the difference for an average row
            start = np.array(model.weights) @ model.fill + model.bias
            differences = np.subtract.outer(start, start)
            assert np.abs(differences - rest).min() < 1e-6
            assert step.branch is None and step.margin == step.value >= 0
        if found.counterfactual is not None:
            assert found.counterfactual.label != found.label


def test_a_model_alone_has_counterfactuals():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = presets.make("lmt", random_state=0).fit(X, y)
    assert clf.tree_.n_nodes == 1
    for i in range(0, 150, 10):
        found = clf.explain(X.iloc[i])
        assert found.counterfactual is not None
        changed = X.iloc[[i]].copy()
        for change in found.counterfactual.changes:
            changed[change.name] = change.after
        assert clf.predict(changed)[0] == found.counterfactual.label != found.label


def test_words():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = presets.make("lmt", random_state=0).fit(X, y)
    lines = clf.describe().splitlines()
    assert lines[:2] == [
        "1 leaf, 3 classes",
        "always: by its linear model, the largest score decides (150 rows)",
    ]
    sums = "\n".join(lines[2:]).split("|   ")
    starts = [line[4:8] for line in lines[2:] if " = " in line]
    assert starts == ["0 = ", "1 = ", "2 = "]
    assert "".join(sums).count("petal width (cm)") == 3
    assert "THEN the class with the largest score" in clf.export("rules")
    assert "petal width (cm)" in clf.export("dot")
    assert "model of leaf 0: 0 ahead of 1" in str(clf.explain(X.iloc[0]))


def test_long_models_are_cut_short(rng):
    X = rng.normal(size=(200, 9))
    y = (X.sum(axis=1) + rng.normal(size=200) > 0).astype(int)
    clf = TreeClassifier(leaves=LogisticLeaves(steps=40), max_depth=0).fit(X, y)
    assert len(clf.tree_.model(0).columns) == 9
    text = clf.describe()  # two classes: the second sum is the first turned round
    assert text.count("+ ... (4 smaller terms, 0 for an average row)") == 1


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_in_words(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, ("axis", "multiway", "linear"), 5, models=0.6)
    clf = TreeClassifier()
    clf._set_fitted(tree, np.array(tree.classes))
    leaves = [n for n in tree.to_dict()["nodes"] if n["kind"] == "leaf"]
    kinds = [model_kind(n["model"]) for n in leaves if "model" in n]
    for kind in ("linear", "quadratic", "additive"):
        said = clf.describe().count(f": by its {kind} model")
        assert said == kinds.count(kind)
    values = random_rows(rng, 5)
    proba = tree.predict_value(Table(values, SCHEMA), tree.class_shares)
    for row, want in zip(values, proba, strict=True):
        cells = [
            None if np.isnan(v) else f.categories[int(v)] if f.categories else v
            for v, f in zip(row, SCHEMA.features, strict=True)
        ]
        found = clf.explain(cells)
        got = [found.probabilities[c] for c in tree.classes]
        np.testing.assert_allclose(got, want, atol=1e-12)
