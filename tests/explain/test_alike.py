"""Explanations of rows that are compared with cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.naive import likeness
from tests.trees import random_rows, random_tree

from omnitree import TreeClassifier
from omnitree.explain.path import explain
from omnitree.export.model import Model
from omnitree.learners import CaseBased


@pytest.fixture(scope="module")
def clf() -> TreeClassifier:
    learner = CaseBased(max_cases=12)
    return TreeClassifier(learner=learner, max_depth=1).fit(*load_iris(return_X_y=True))


def test_the_most_alike_cases_are_named(clf):
    X, _ = load_iris(return_X_y=True)
    test = clf.tree_.split(0)
    for row in X[::30]:
        alike = [likeness(test.precision, case, row) for case in test.cases]
        best = int(np.argmax(alike))
        (step,) = clf.explain(row[None]).steps
        owner = int(np.argmax(np.abs(np.array(test.case_weights)[:, best])))
        begin = f"most like case {best + 1} of {owner} ({alike[best]:.2f})"
        assert step.alike.startswith(begin)
        assert not step.adds_up
        assert begin in str(clf.explain(row[None]))


def test_a_row_far_from_all(clf):
    explanation = clf.explain(np.full((1, 4), 1e3))
    assert "like none of the cases" in str(explanation)


def test_random_trees(seed):
    """Also with models of cases, and where cells are missing."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, ("cases", "axis"), 4, models=0.7)
    model = Model(tree.to_dict())
    for row in random_rows(rng, 5):
        found = explain(model, row.tolist(), lambda rows: [0] * len(rows))
        assert str(found)
        assert all(step.alike for step in found.steps if step.kind == "cases")
        assert not any(step.alike for step in found.steps if step.kind == "axis")
