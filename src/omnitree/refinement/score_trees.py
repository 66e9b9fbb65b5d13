"""Trees on top of a softmax test: their leaves shift its scores, and tests may read them.

A softmax test over many features says the same everywhere. Here a univariate tree is grown
above it, whose leaves answer by the same scores, each with its own shift
(`shifted_leaves.py`). Two trees are tried: one over the features, in which rows count the
more the less the scores expect their class, and one over the features and the scores. A test
on a score becomes the linear or quadratic test that it is. Scores are cross-fitted in nested
folds (`cross_fitting.py`). Candidates of the refinement `contest`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.growing.growth import Growth
from omnitree.growing.node import Node
from omnitree.growing.sample import Sample
from omnitree.learners import Univariate
from omnitree.learners.trial import Trial
from omnitree.refinement.cross_fitting import CrossFitted
from omnitree.refinement.shifted_leaves import (
    SHRINKAGES,
    Passing,
    Scored,
    ScoredFold,
    TreeOnTest,
    saved,
    sized,
)
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import AxisSplit, Split

Floats = NDArray[np.float64]

# Classes up to which a score is the difference of the sums of two; of more, each class has
# one score, its sum.
PAIRED = 6
# Classes up to which scores are tested at all.
SCORED = 30
# Nodes with fewer rows have no tests: so few shift little.
MIN_ROWS = 10.0
# Nodes with fewer rows have no trees on top of softmax tests.
FEWEST = 300
# Rows times columns times classes up to which softmax tests are fitted to pairs of folds.
MOST_CELLS = 4_000_000
# The shrinkage with which trees are tried.
TRIED = (20.0,)
# Folds after which a tree is given up if it has saved no log loss in any of its sizes. With
# more, trees are as they were on all development halves, and take longer.
LOOK = 1
# What the surest row counts, relative to its weight.
LIGHTEST = 1e-3


@dataclass(frozen=True)
class ScoreTree(TreeOnTest):
    """A tree over features and scores, whose leaves shift the scores of a softmax test.

    Attributes
    ----------
    features : Schema
        Of the features that are not scores.
    shifts : float array (nodes, k)
    pairs : list of pairs of int
        Positions of the classes whose sums each score is the difference of; the second is
        -1 where it is one sum.
    """

    features: Schema
    shifts: Floats
    pairs: list[tuple[int, int]]

    @property
    def name(self) -> str:
        over = "features and scores" if self.pairs else "features"
        return f"tree over {over} + {self.trial.name}"

    def is_better(self, losses: HeldOut, loss: str) -> bool:
        """Whether it loses less on held-out rows, even without the row it helps most.

        That it is likelier is not enough where errors decide.
        """
        return self.held_out.gain(losses, loss, less_one=True) > 0

    @cached_property
    def answers(self) -> tuple[LeafModel, Floats]:
        return self.trial.leaf_model(), self.shifts

    def schema(self) -> Schema:
        return self.features

    def test_of(self, split: Split) -> Split:
        """The test; one on a score is written as a test on the features behind it."""
        own = self.features.n_features
        if not isinstance(split, AxisSplit) or split.feature < own:
            return split
        weights, bias = self._functions
        a, b = self.pairs[split.feature - own]
        w, c = weights[a], bias[a]
        if b >= 0:
            w, c = w - weights[b], c - bias[b]
        way = 1.0 if split.low == 0 else -1.0
        test = self.trial.split(way * w, way * (split.threshold - c), split.merit)
        assert test is not None
        return test

    @cached_property
    def _functions(self) -> tuple[Floats, Floats]:
        """Weights (k, p) and biases (k,) of the scores."""
        weights, bias = self.trial.fitted
        scale = self.trial.scale
        return scale * (weights - weights.mean(axis=0)), scale * (bias - bias.mean())


def promising(
    trial: Trial, node: Node, growth: Growth, margin: float, loss: str
) -> list[list[tuple[int, int]]]:
    """The scores, none or all, over which a tree may be better than a softmax test.

    Fits without every pair of folds take most of the time. So trees are first tried with
    the scores of the test's own cross-validation: functions that have not seen a row, but
    have seen the labels of the fold that is held out.
    """
    k = len(trial.rows.present)
    cells = len(node.rows) * trial.rows.n_columns * k
    if len(node.rows) < FEWEST or cells > MOST_CELLS or trial.fold is None:
        return []
    sample = replace(node.sample.take(node.rows), weight=node.weight)
    fitted = CrossFitted.of_folds(trial)
    found = []
    for pairs in ([], score_pairs(k)) if k <= SCORED else ([],):
        tree = tree_on(trial, sample, fitted, pairs, growth, margin, TRIED)
        if tree is not None and tree.is_better(trial.held_out, loss):
            found.append(pairs)
    return found


def score_trees(
    trial: Trial,
    node: Node,
    growth: Growth,
    margin: float,
    loss: str,
    over: Sequence[list[tuple[int, int]]],
) -> Iterator[ScoreTree]:
    """The trees on top of a softmax test at a node that are better than it.

    Parameters
    ----------
    trial : Trial
    node : Node
        The rows that it was fitted to.
    growth : Growth
        How trees are grown (`limited`).
    margin : float
        Trees are the smallest within this many standard errors of the best.
    loss : {"errors", "log_loss"}
        The loss in which a tree must be better than the softmax test.
    over : sequence of lists of pairs of int
        The scores that each tree may test, see `ScoreTree.pairs`.
    """
    sample = replace(node.sample.take(node.rows), weight=node.weight)
    fitted = CrossFitted.of(trial) if over else None
    if fitted is None:
        return
    for pairs in over:
        if growth.rules.limits.expired():
            return
        tree = tree_on(trial, sample, fitted, pairs, growth, margin, SHRINKAGES)
        if tree is not None and tree.is_better(trial.held_out, loss):
            yield tree


def limited(growth: Growth, max_leaves: int | None) -> Growth:
    """How univariate trees with so many leaves are grown on top of softmax tests."""
    limits = growth.rules.limits
    min_rows = max(limits.min_rows, MIN_ROWS)
    limits = replace(limits, min_rows=min_rows, max_leaves=max_leaves)
    learner = growth.learner if isinstance(growth.learner, Univariate) else Univariate()
    return replace(growth, learner=learner, rules=replace(growth.rules, limits=limits))


def tree_on(
    trial: Trial,
    sample: Sample,
    fitted: CrossFitted,
    pairs: list[tuple[int, int]],
    growth: Growth,
    margin: float,
    shrinkages: Sequence[float],
) -> ScoreTree | None:
    """The tree over features and some scores.

    None if that is a single leaf, or the first folds give little hope of another.
    """
    whole = _grow(growth, sample, fitted, fitted.scores, pairs, fitted.fold >= 0)
    folds = []
    for i, scores in enumerate(fitted.nested):
        held_out = fitted.fold == i
        trained = _grow(growth, sample, fitted, scores, pairs, ~held_out)
        rows = _scored(sample, fitted, scores, pairs, held_out)
        folds.append(ScoredFold(trained, rows))
        if len(folds) == LOOK and saved(whole, folds, shrinkages) <= 0:
            return None
    found = sized(whole, folds, margin, shrinkages)
    if found is None:
        return None
    proba = np.zeros((len(sample), sample.target.n_classes))
    for i, answers in enumerate(found.answers):
        proba[np.ix_(fitted.fold == i, trial.rows.present)] = answers
    losses = HeldOut.of(sample.weight, proba, sample.target, sample.groups)
    more = (sample.table.schema, found.shifts, pairs)
    return ScoreTree(trial, found.tree, losses, *more)


def score_pairs(k: int) -> list[tuple[int, int]]:
    """The classes, of k, whose sums or differences of sums are tested as scores."""
    if k <= PAIRED:
        return [(b, a) for a, b in combinations(range(k), 2)]
    return [(a, -1) for a in range(k)]


def with_scores(table: Table, scores: Floats, pairs: list[tuple[int, int]]) -> Table:
    """The table with a column for each score."""
    if not pairs:
        return table
    columns = [scores[:, a] - (scores[:, b] if b >= 0 else 0.0) for a, b in pairs]
    name = "score"
    while any(own.startswith(name) for own in table.schema.names):
        name += "_"
    new = tuple(Feature(f"{name} {i}", "numeric") for i in range(len(pairs)))
    schema = Schema((*table.schema.features, *new), table.schema.named)
    return Table(np.column_stack([table.values, *columns]), schema)


def _scored(
    sample: Sample,
    fitted: CrossFitted,
    scores: Floats,
    pairs: list[tuple[int, int]],
    rows: NDArray[np.bool_],
) -> Scored:
    """Some of the rows, with scores."""
    table = with_scores(sample.take(rows).table, scores[rows], pairs)
    return Scored(table, scores[rows], fitted.y[rows], sample.weight[rows])


def _grow(
    growth: Growth,
    sample: Sample,
    fitted: CrossFitted,
    scores: Floats,
    pairs: list[tuple[int, int]],
    rows: NDArray[np.bool_],
) -> Passing:
    """A tree grown on some of the rows, over features and scores.

    Without scores to be tested, rows count the more the less they are expected.
    """
    learned = _scored(sample, fitted, scores, pairs, rows)
    weight = learned.weight
    if not pairs:
        own = softmax(learned.scores, axis=1)[np.arange(len(weight)), learned.y]
        weight = weight * np.maximum(1 - own, LIGHTEST)
        weight *= learned.weight.sum() / weight.sum()
    target = sample.target.take(rows)
    tree = growth.grow(Sample(learned.table, target, weight))
    return Passing(tree, learned)
