"""Sums of a softmax test and a univariate tree: its leaves shift the test's scores.

Two models that were learned in different ways err in different places, and the mean of
their answers varies less with the rows than either. Here the log odds of a softmax test and
of the tree that it challenges are added, each times a number of its own; held-out rows
choose both, the numbers for a fold without its rows. The sum is one tree again: its tests
are those of the tree, and its leaves answer by the scores of the test, shifted by the
logarithms of their class shares. Smaller trees are tried as well. Candidates of the
refinement `contest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from omnitree.growing.node import Node
from omnitree.learners import Softmax
from omnitree.learners.trial import Trial, folds_of
from omnitree.parts.discriminants.calibration import added
from omnitree.refinement.shifted_leaves import TreeOnTest
from omnitree.refinement.sizing import Sized
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModel

Floats = NDArray[np.float64]

# The least share of a class, so that no leaf forbids one.
LEAST = 1e-6
# Part of a tree's log odds below which it says nothing.
FAINT = 0.05
# What the test and the tree are multiplied by where no row asks for the tree.
ALONE = np.array([1.0, 0.0])
# Those of the softmax tests: what is said of a row knows nothing of its fold.
FOLDS = Softmax.folds


@dataclass(frozen=True)
class TreeSum(TreeOnTest):
    """A tree whose leaves shift the scores of a softmax test by their class shares.

    Attributes
    ----------
    parts : pair of float
        What the scores of the test and the log shares of the tree are multiplied by.
    """

    parts: tuple[float, float]

    @property
    def name(self) -> str:
        return f"univariate tree + {self.trial.name}"

    @cached_property
    def answers(self) -> tuple[LeafModel, Floats]:
        of_test, of_tree = self.parts
        shares = self.tree.outputs[:, self.trial.rows.present]
        return self.trial.leaf_model(of_test), of_tree * log_odds(shares)


def tree_sums(
    node: Node, trial: Trial, trees: Iterable[Sized], whole: Trial | None = None
) -> Iterator[TreeSum]:
    """The sums of a softmax test and each of some trees, where these say something.

    Answers of the trees are those to the rows of the test, in their order. Of rows that a
    sparse test was not tested on, the scores of the `whole` test count.
    """
    target, present, weight = trial.target, trial.rows.present, trial.rows.weight
    scores, y = held_out_log_odds(trial, whole), target.of_present().y
    fold = folds_of(node, FOLDS)
    if fold is None:
        return
    for one in trees:
        both = np.stack([scores, log_odds(one.answers[:, present])])
        parts, sums = added(both, y, weight, ALONE, fold)
        if parts[1] >= FAINT:
            proba = np.zeros((len(scores), target.n_classes))
            proba[:, present] = softmax(sums, axis=1)
            losses = HeldOut.of(weight, proba, target, trial.groups)
            yield TreeSum(trial, one.tree, losses, (float(parts[0]), float(parts[1])))


def held_out_log_odds(trial: Trial, whole: Trial | None = None) -> Floats:
    """What a softmax test says of held-out rows.

    Where it was not tested, what the `whole` test says, or 0.
    """
    scores = np.where(trial.tested[:, None], trial.scores, 0.0)
    said = log_odds(softmax(trial.scale * scores, axis=1))
    if whole is None:
        return said
    return np.where(trial.tested[:, None], said, held_out_log_odds(whole))


def log_odds(proba: Floats) -> Floats:
    """Logarithms of probabilities (n, k), of mean 0."""
    out = np.log(np.maximum(proba, LEAST))
    return out - out.mean(axis=1, keepdims=True)
