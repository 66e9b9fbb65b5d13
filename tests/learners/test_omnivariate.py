"""The omnivariate learner: candidates compete, and the tree remembers them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

from omnitree import TreeClassifier, load, presets, save
from omnitree.learners import Analytic, Linear, Multivariate, Omnivariate
from omnitree.learners.omnivariate import PALETTES
from omnitree.parts.choice import CombinedT
from omnitree.parts.merit import MERITS
from omnitree.tree.tree import LEAF, Tree


def planted(kind, rng, n=400):
    """Rows that one kind of test separates."""
    X = rng.normal(size=(n, 4))
    if kind == "axis":
        return X, X[:, 1] > 0.3
    if kind == "linear":
        return X, X @ [1.0, -1.0, 0.5, 0.0] > 0.2
    return X, X[:, 0] * X[:, 1] > 0


@pytest.mark.parametrize("choice", ["aic", "bic", "combined_5x2t", "5x2f", "one_se"])
@pytest.mark.parametrize("kind", ["axis", "linear", "quadratic"])
def test_finds_the_planted_kind(choice, kind, rng):
    X, y = planted(kind, rng)
    palette = ("univariate", "fisher", "quadratic")
    clf = TreeClassifier(Omnivariate(palette, choice), max_depth=1, random_state=0)
    root = clf.fit(X, y).tree_.split(0)
    assert root.kind == kind
    assert [c.kind for c in root.candidates] == ["axis", "linear", "quadratic"]
    assert [c.chosen for c in root.candidates] == [
        c.kind == kind for c in root.candidates
    ]
    scores = [c.score for c in root.candidates]
    assert min(scores) == next(c.score for c in root.candidates if c.chosen)


@pytest.mark.parametrize("choice", ["aic", "combined_5x2t"])
def test_any_palette(choice, rng):
    X, y = load_wine(return_X_y=True)
    clf = TreeClassifier(
        Omnivariate(tuple(PALETTES["classification"]), choice), random_state=0
    ).fit(X, y)
    assert clf.score(X, y) > 0.95
    names = [c.learner for c in clf.tree_.split(0).candidates]
    assert names == list(PALETTES["classification"])
    kinds = {c.learner: c.kind for c in clf.tree_.split(0).candidates}
    assert kinds["machine"] == "machine" and kinds["quadratic"] == "quadratic"
    assert kinds["univariate"] == kinds["analytic"] == "axis"
    sparse = next(c for c in clf.tree_.split(0).candidates if c.learner == "sparse")
    assert sparse.parameters == 4


def test_learners_as_objects_get_names_of_their_own():
    learner = Omnivariate(
        (Analytic(), Linear(), Linear(direction="logistic"), Linear())
    )
    assert list(learner._named("classification")) == [
        "analytic",
        "fisher",
        "logistic",
        "fisher 2",
    ]
    pair = Omnivariate(("analytic", Multivariate("rls", "sbe")), CombinedT())
    X, y = load_iris(return_X_y=True)
    clf = TreeClassifier(pair, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clone(clf).learner == pair


def test_merit_is_on_one_scale(rng):
    """Whatever the candidates are compared by, the tree has the merit asked for."""
    X, y = planted("linear", rng)
    clf = TreeClassifier(Omnivariate(merit="gini"), random_state=0).fit(X, y)
    tree = clf.tree_
    for node in np.flatnonzero(tree.kind != LEAF):
        first = tree.first_child[node]
        counts = tree.value[first : first + tree.n_children[node]]
        assert tree.merit[node] == pytest.approx(float(MERITS["gini"]()(counts)))


def test_candidates_survive(tmp_path, rng):
    """JSON, saving and pruning keep them where the node stays."""
    X, y = load_wine(return_X_y=True)
    clf = presets.make("omni-bic", pruning=None, random_state=0).fit(X, y)
    tree = clf.tree_
    again = Tree.from_dict(json.loads(json.dumps(tree.to_dict())))
    assert again.candidates == tree.candidates
    save(clf, tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    assert loaded.tree_.to_dict() == tree.to_dict()
    assert list(loaded.learner.candidates) == list(clf.learner.candidates)
    cut = np.zeros(tree.n_nodes, dtype=bool)
    inner = np.flatnonzero(tree.kind != LEAF)
    cut[inner[-1]] = True
    smaller = tree.collapse(cut)
    kept = [c for c in smaller.candidates if c]
    assert kept == [tree.candidates[i] for i in inner[:-1]]
    pairs = zip(smaller.candidates, smaller.kind, strict=True)
    assert all(not c for c, kind in pairs if kind == LEAF)
    assert TreeClassifier().fit(X, y).tree_.candidates is None


def test_described():
    X, y = load_iris(return_X_y=True)
    clf = presets.make("omni-aic", random_state=0).fit(X, y)
    chosen, *others = sorted(clf.tree_.split(0).candidates, key=lambda c: not c.chosen)
    text = " ".join(clf.describe().split())
    first = text[text.index(f"({chosen.learner}): chosen for") :]
    first = first[: first.index("x2 <=")]
    assert f"an AIC of {chosen.score:.4g} (" in first
    assert all(f"{c.learner}" in first and f" {c.score:.4g}" in first for c in others)


def test_kinds_by_depth():
    X, y = load_wine(return_X_y=True)
    tree = presets.make("omni-aic", random_state=0).fit(X, y).tree_
    levels = tree.node_kinds(by_depth=True)
    assert len(levels) == tree.depth
    assert sum(levels[0].values()) == 1
    total = {kind: sum(level[kind] for level in levels) for kind in levels[0]}
    assert total == tree.node_kinds()
    leaf = TreeClassifier(max_depth=0).fit(X, y).tree_
    assert leaf.node_kinds(by_depth=True) == []


@pytest.mark.parametrize(
    ("candidates", "word"),
    [
        ((), "list of learners"),
        ("linear", "list of learners"),
        (("fischer",), "fisher"),
    ],
)
def test_bad_candidates(candidates, word):
    with pytest.raises(ValueError, match=word):
        TreeClassifier(Omnivariate(candidates)).fit([[1], [2]], [0, 1])


def test_a_candidate_without_a_test_is_named(rng):
    class Nothing(Linear):
        label = "nothing"

        def fit(self, node, rng):
            return None

    X, y = planted("axis", rng, 60)
    clf = TreeClassifier(Omnivariate(("analytic", Nothing())), max_depth=1).fit(X, y)
    found = clf.tree_.split(0).candidates
    assert [(c.learner, c.kind) for c in found] == [
        ("analytic", "axis"),
        ("nothing", "none"),
    ]
    assert found[1].score is None
    assert TreeClassifier(Omnivariate((Nothing(),))).fit(X, y).tree_.n_nodes == 1
