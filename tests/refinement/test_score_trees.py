"""Trees on top of softmax tests: nested folds, shifts, and tests on scores."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.naive import leaf_shares

from omnitree import presets
from omnitree.data.table import Table, learn_table
from omnitree.export.candidates import candidate_text
from omnitree.growing.growth import Growth
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget
from omnitree.learners import Softmax, Univariate
from omnitree.parts.leaves import LEAVES
from omnitree.refinement import Contest
from omnitree.refinement.cross_fitting import CrossFitted
from omnitree.refinement.score_trees import score_pairs, tree_on, with_scores
from omnitree.refinement.shifted_leaves import SHRINKAGES, Passing, Scored, ScoredFold
from omnitree.tree.tree import LEAF

RULES = Rules(MISSING.resolve("surrogate"), leaves=LEAVES.resolve("majority"))


def bent(n=240, k=3, seed=0, missing=0.0, categories=False):
    """A linear function with a bend that a linear softmax misses; weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    one, two = X[:, 0] + X[:, 4], X[:, 1] - X[:, 5]
    scores = np.column_stack([c * one + (-1) ** c * two for c in range(k)])
    scores[:, 0] += np.where(X[:, 2] > 0.3, 8.0, -4.0) * (X[:, 3] > 0)
    y = (2 * scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    if categories:
        frame["d"] = np.where(
            X[:, 3] > 0.5, "high", np.where(X[:, 3] > 0, "mid", "low")
        )
    if missing:
        frame = frame.mask(rng.random(frame.shape) < missing)
    return frame, y, rng.uniform(0.5, 2.0, size=n)


def node_of(frame, y, weight, rules=RULES):
    target = ClassTarget(y.astype(np.int32), np.unique(y))
    return Node.root(Sample(learn_table(frame), target, weight), rules)


def found(seed=0, **options):
    """A softmax test, the node, and the trees on top."""
    node = node_of(*bent(seed=seed, **options))
    trial = Softmax(penalties=(0.1,)).trial(node)
    fitted, growth = CrossFitted.of(trial), Growth(Univariate(), RULES)
    trees = [
        tree_on(trial, node.sample, fitted, pairs, growth, 0.0, SHRINKAGES)
        for pairs in ([], score_pairs(3))
    ]
    return trial, node, trees


def test_scores_are_those_of_fits_to_other_folds():
    node = node_of(*bent(n=150))
    trial = Softmax(penalties=(0.1,)).trial(node)
    fitted = CrossFitted.of(trial)
    x, fold, y, weight = trial.whitened.scores, fitted.fold, node.y, node.weight

    def naive(held):
        rows = ~np.isin(fold, held)
        c = 1 / (0.1 * weight[rows].sum())
        model = LogisticRegression(C=c, tol=1e-8, max_iter=1000)
        model.fit(x[rows, :-1], y[rows], weight[rows])
        said = x[:, :-1] @ model.coef_.T + model.intercept_
        return trial.scale * (said - said.mean(axis=1, keepdims=True))

    for i, j in [*combinations(range(5), 2), *((i, i) for i in range(5))]:
        expected = naive([i, j])
        for a, b in ((i, j), (j, i)):
            got = fitted.nested[a, fold == b]
            np.testing.assert_allclose(got, expected[fold == b], atol=0.05)
    own = [fitted.nested[fold[r], r] for r in range(len(y))]
    np.testing.assert_array_equal(fitted.scores, own)


@pytest.mark.parametrize("sparse", [False, True])
def test_labels_have_no_part_in_functions_fitted_without_their_rows(sparse):
    node = node_of(*bent())
    expansion = "quadratic" if sparse else "linear"
    dense = Softmax(expansion, penalties=(0.01,)).trial(node)
    trial = dense.sparser(5.0) if sparse else dense
    fold = trial.fold

    def scores(held, labels):
        known = replace(dense, target=replace(dense.target, codes=labels))
        test = replace(trial, dense=known) if sparse else known
        (found,) = test.scores_without(np.isin(fold, held)[:, None])
        return found

    y = dense.target.y
    changed = np.where(fold == 3, (y + 1) % 3, y).astype(np.int32)
    np.testing.assert_array_equal(scores((0, 3), y), scores((0, 3), changed))
    assert np.abs(scores((1, 2), y) - scores((1, 2), changed)).max() > 0.1


@pytest.mark.parametrize("pairs", [[], score_pairs(3)])
def test_labels_have_no_part_in_what_is_answered_for_their_fold(pairs):
    frame, y, weight = bent(missing=0.1)
    rng = np.random.default_rng(1)
    table = node_of(frame, y, weight).sample.table
    fold, growth = np.arange(len(y)) % 4, Growth(Univariate(), RULES)
    nested = rng.normal(size=(4, len(y), 3))

    def rows(i, part, labels):
        own = with_scores(
            Table(table.values[part], table.schema), nested[i][part], pairs
        )
        return Scored(own, nested[i][part], labels[part], weight[part])

    def grown(i, part, labels):
        learned = rows(i, part, labels)
        target = ClassTarget(labels[part].astype(np.int32), np.arange(3))
        sample = Sample(learned.table, target, weight[part])
        return Passing(growth.grow(sample), learned)

    changed = np.where(fold == 2, rng.integers(3, size=len(y)), y)
    for i, price in ((2, 0.0), (2, 0.01), (0, 0.0)):
        before, after = (
            ScoredFold(grown(i, fold != i, labels), rows(i, fold == i, labels))
            for labels in (y, changed)
        )
        same = np.array_equal(before.answers_at(5, price), after.answers_at(5, price))
        assert same == (i == 2)


def test_shifts_and_losses_are_those_of_the_rows_of_each_node():
    trial, node, _ = found(missing=0.2)
    fitted = CrossFitted.of(trial)
    growth = Growth(
        Univariate(), Rules(MISSING.resolve("fractional"), leaves=RULES.leaves)
    )
    tree = growth.grow(node.sample)
    rows = Scored(node.sample.table, fitted.scores, fitted.y, node.weight)
    passing = Passing(tree, rows)
    parts = np.zeros((tree.n_nodes, len(fitted.y)))
    plain = tree.to_dict()
    for r, row in enumerate(node.sample.table.values):
        for leaf, share in leaf_shares(plain, row).items():
            while leaf >= 0:
                parts[leaf, r] += share
                leaf = int(tree.parent[leaf])
    proba = np.exp(fitted.scores)
    proba /= proba.sum(axis=1, keepdims=True)
    shifts, lost = passing.shifts(7.0), passing.losses(passing.shifts(7.0))
    for at in range(1, tree.n_nodes):
        w = parts[at] * node.weight
        counts = np.array([w[fitted.y == c].sum() for c in range(3)])
        expected = (w[:, None] * proba).sum(axis=0) / w.sum()
        share = (counts + 7 * expected) / (counts.sum() + 7)
        shift = np.log(share / expected)
        np.testing.assert_allclose(shifts[at], shift - shift.mean(), atol=1e-9)
        own = np.exp(fitted.scores + shift)
        own = own[np.arange(len(w)), fitted.y] / own.sum(axis=1)
        np.testing.assert_allclose(lost[at], -(w * np.log(own)).sum(), atol=1e-8)
    leaves = tree.kind == LEAF
    said = np.einsum(
        "lr,lrc->rc",
        parts[leaves],
        [
            np.exp(z) / np.exp(z).sum(1, keepdims=True)
            for z in fitted.scores + shifts[leaves][:, None]
        ],
    )
    np.testing.assert_allclose(passing.answers(shifts), said, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"missing": 0.15}, {"categories": True}])
def test_a_test_on_a_score_is_a_test_on_features(options):
    trial, node, trees = found(**options)
    assert None not in trees
    table = node.sample.table
    weights, bias = trial.fitted
    scores = trial.rows.columns @ weights.T + bias
    scores = trial.scale * (scores - scores.mean(axis=1, keepdims=True))
    for tree in trees:
        new = tree.replacement.subtree
        wide = with_scores(table, scores, tree.pairs)
        leaf = tree.tree.apply(wide)
        np.testing.assert_array_equal(new.apply(table), leaf)
        z = np.exp(scores + tree.shifts[leaf])
        said = new.predict_value(table, new.value)
        np.testing.assert_allclose(said, z / z.sum(axis=1, keepdims=True), atol=1e-9)
    kinds = trees[-1].replacement.subtree.node_kinds()
    assert trees[-1].pairs and kinds["linear"]


def test_scores_get_names_that_no_feature_has():
    table = learn_table(pd.DataFrame({"score 0": [1.0, 2.0], "b": [0.0, 1.0]}))
    wide = with_scores(table, np.zeros((2, 2)), [(1, 0)])
    assert len(set(wide.schema.names)) == 3


def test_many_classes_have_few_scores():
    assert len(score_pairs(2)) == 1 and len(score_pairs(4)) == 6
    assert score_pairs(20) == [(c, -1) for c in range(20)]


@pytest.mark.parametrize("k", [2, 3])
def test_the_contest_takes_a_tree_where_a_softmax_test_is_not_enough(k):
    frame, y, weight = bent(n=600, k=k)
    new, truth, _ = bent(n=3000, k=k, seed=1)
    rivals = (Softmax(), Softmax("quadratic"))
    grown = fitted_tree(frame, y, Contest(rivals), sample_weight=weight)
    plain = presets.make("omni-1", random_state=0).fit(frame, y, sample_weight=weight)
    chosen = [c.learner for c in grown.tree_.split(0).candidates if c.chosen]
    assert chosen[0].startswith("tree over features") and "softmax" in chosen[0]
    assert grown.score(new, truth) > plain.score(new, truth)
    words = " ".join(grown.describe().split())
    assert candidate_text(chosen[0]) in words
    assert grown.tree_.n_parameters < 200


def softmax_contest(**options):
    return Contest((Softmax(),), se=0.0, **options)


def fitted_tree(frame, y, refinement=None, **options):
    given = {
        n: options.pop(n)
        for n in ("sample_weight", "groups", "prune_set")
        if n in options
    }
    clf = presets.make(
        "omni", random_state=0, refinement=refinement or softmax_contest(), **options
    )
    return clf.fit(frame, y, **given)


def has_score_tree(clf):
    (chosen,) = [c.learner for c in clf.tree_.split(0).candidates if c.chosen]
    return chosen.startswith("tree over features")


class TestOptions:
    """What a fit may be given, with the data on which a tree wins."""

    frame, y, weight = bent(n=500, missing=0.05, categories=True)

    def test_limits(self):
        free = fitted_tree(self.frame, self.y)
        assert has_score_tree(free) and free.tree_.depth > 1
        for limit in (1, 2):
            assert fitted_tree(self.frame, self.y, max_depth=limit).tree_.depth <= limit
        for limit in (2, 3, 4):
            clf = fitted_tree(self.frame, self.y, max_leaves=limit)
            assert clf.tree_.n_leaves <= limit
        assert fitted_tree(self.frame, self.y, max_seconds=0).tree_.n_nodes >= 1

    def test_jobs_and_order_do_not_matter(self):
        one = fitted_tree(self.frame, self.y, sample_weight=self.weight)
        two = fitted_tree(self.frame, self.y, sample_weight=self.weight, n_jobs=2)
        assert one.tree_.models is not None and one.tree_.depth > 1
        assert one.tree_.to_dict() == two.tree_.to_dict()
        order = np.random.default_rng(0).permutation(len(self.y))
        weight = self.weight[order]
        three = fitted_tree(self.frame.iloc[order], self.y[order], sample_weight=weight)
        np.testing.assert_allclose(
            three.predict_proba(self.frame), one.predict_proba(self.frame), atol=1e-6
        )

    def test_groups(self):
        groups = np.arange(len(self.y)) // 4
        clf = fitted_tree(self.frame, self.y, groups=groups)
        assert clf.score(self.frame, self.y) > 0.7

    def test_prune_set(self):
        frame, y, _ = bent(n=500, missing=0.05, categories=True, seed=3)
        clf = fitted_tree(self.frame, self.y, prune_set=(frame, y))
        assert has_score_tree(clf)
        (chosen,) = (c for c in clf.tree_.split(0).candidates if c.chosen)
        assert chosen.criterion == "error"
        assert chosen.score == pytest.approx(1 - clf.score(frame, y))

    def test_costs(self):
        costs = np.array([[0, 1, 1], [8, 0, 1], [8, 1, 0]])
        cheap = fitted_tree(self.frame, self.y)
        dear = fitted_tree(self.frame, self.y, cost_matrix=costs)
        shares = [(clf.predict(self.frame) == 0).mean() for clf in (cheap, dear)]
        assert shares[1] < shares[0]

    def test_a_sample_of_many_rows(self):
        clf = fitted_tree(self.frame, self.y, softmax_contest(max_rows=250))
        assert clf.tree_.value[0].sum() == pytest.approx(len(self.y))

    def test_every_export_agrees(self):
        clf = fitted_tree(self.frame, self.y)
        assert has_score_tree(clf)
        namespace = {}
        exec(clf.export("python"), namespace)  # our own source
        rows = (
            self.frame.head(40).astype(object).where(self.frame.head(40).notna(), None)
        )
        said = [namespace["predict"](row)[0] for row in rows.to_dict("records")]
        assert said == clf.predict(self.frame.head(40)).tolist()
        text = clf.describe()
        assert (
            "scores with shift" in text and text.count("each with its own shift") == 1
        )
