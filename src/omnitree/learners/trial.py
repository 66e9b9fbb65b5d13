"""What a learner of tests over many columns found at a node, before the test is made.

`TrialLearner` is what such learners (softmax, boosted) share.

`Trial` keeps the scores of the classes for each row while it was held out, by which the
refinement `contest` compares such tests with subtrees and with each other. Its functions,
one for each class, become a test with a branch for each class; of two classes this is one
linear or quadratic test, of more a machine. They also become the model by which the leaves
below answer: probabilities are the softmax of the scores times a scale, which is calibrated
on the held-out rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import EXPANSIONS, Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import number, unknown
from omnitree.parts.merit import MERITS
from omnitree.resampling.folds import deal
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import Split

# Logarithms of the scales that are tried.
SCALES = (-3.0, 0.7)


@dataclass(frozen=True)
class Replacement:
    """What can take the place of a subtree: a test whose leaves answer by a model.

    Without a test, where all rows take one branch, it is one leaf with the model; without
    either, a plain leaf.
    """

    split: Split | None
    model: LeafModel | None

    @property
    def n_leaves(self) -> int:
        """Leaves of the new subtree."""
        return 1 if self.split is None else self.split.n_children


@dataclass(frozen=True)
class Trial:
    """What cross-validation found.

    Attributes
    ----------
    name : str
        Of the candidate, for the reader of the tree.
    rows : NodeColumns
    expansion : str
        "linear" or "quadratic".
    scores : float array (n, k)
        Sums of the classes that are present for each row while it was held out; NaN if it
        was not.
    costs : float array (n_classes, n_classes) or None
        What wrong answers cost.
    groups : int array (n,) or None
        Of the rows, see `HeldOut`.
    """

    name: str
    rows: NodeColumns
    expansion: str
    scores: Floats
    costs: Floats | None
    groups: NDArray[np.int64] | None

    @property
    def kind(self) -> str:
        """Kind of the test."""
        two = len(self.rows.present) == 2
        if self.expansion == "linear":
            return "linear" if two else "machine"
        return "quadratic" if two else "quadratic_machine"

    @property
    def n_parameters(self) -> int:
        """Free parameters of the test."""
        return self.parameters(self.rows.n_columns)

    def parameters(self, n_columns: int) -> int:
        """Free parameters of a test over so many columns."""
        k = len(self.rows.present)
        return (1 if k == 2 else k) * (n_columns + 1)

    @cached_property
    def tested(self) -> NDArray[np.bool_]:
        """Rows that were held out."""
        return ~np.isnan(self.scores[:, 0])

    @cached_property
    def scale(self) -> float:
        """What scores are multiplied by to become log odds, as held-out rows advise."""
        y = np.searchsorted(self.rows.present, self.rows.y[self.tested])
        return calibrated(self.scores[self.tested], y, self.rows.weight[self.tested])

    @cached_property
    def held_out(self) -> HeldOut:
        """What its calibrated probabilities lose on held-out rows."""
        scores = np.where(self.tested[:, None], self.scores, 0.0)
        proba = softmax(self._of_all_classes(self.scale * scores), axis=1)
        weight = np.where(self.tested, self.rows.weight, 0.0)
        return HeldOut.of(weight, proba, self.rows.y, self.costs, self.groups)

    def _of_all_classes(self, scores: Floats) -> Floats:
        """Scores (..., k) of the classes present with those of the others among them.

        The scores are centred, so the largest is at least 0; a class that is absent here
        gets less than half a row's worth of probability.
        """
        k, present = self.rows.n_classes, self.rows.present
        absent = np.log(0.5 / (len(self.rows.rows) + 1))
        out = np.full((*scores.shape[:-1], k), absent)
        out[..., present] = scores - scores.mean(axis=-1, keepdims=True)
        return out

    def functions(self) -> tuple[Floats, Floats]:
        """Weights (k, p) and biases (k,) of the columns, fitted to all rows."""
        raise AssertionError(f"{type(self).__name__} has no functions")

    def sparser(self, margin: float) -> Trial | None:
        """A test with fewer weights that is not worse by so many standard errors."""
        return None

    @cached_property
    def replacement(self) -> Replacement:
        """The test and the model of its leaves, fitted to all rows."""
        weights, bias = self.functions()
        return Replacement(self._split(weights, bias), self._model(weights, bias))

    def _model(self, weights: Floats, bias: Floats) -> LeafModel:
        """The calibrated probabilities, for all classes."""
        everywhere = np.zeros((self.rows.n_classes, weights.shape[1]))
        everywhere[self.rows.present] = weights - weights.mean(axis=0)
        return self.rows.model(
            self.scale * everywhere, self._of_all_classes(self.scale * bias)
        )

    def _split(self, weights: Floats, bias: Floats) -> Split | None:
        """The test; None if all rows take one branch."""
        branch = (self.rows.columns @ weights.T + bias).argmax(axis=1)
        cells = branch * self.rows.n_classes + self.rows.y
        shape = (len(bias), self.rows.n_classes)
        counts = np.bincount(cells, self.rows.weight, shape[0] * shape[1])
        counts = counts.reshape(shape)
        used = np.flatnonzero(counts.sum(axis=1) > 0)
        if len(used) < 2:
            return None
        merit = float(MERITS.resolve("gain")(counts[used]))
        weights, bias = weights[used], bias[used]
        if len(used) == 2:
            return self.rows.split(weights[1] - weights[0], bias[0] - bias[1], merit)
        return self.rows.machine(weights, bias, merit)


def calibrated(scores: Floats, y: NDArray, weight: Floats) -> float:
    """The scale of scores (n, k) with the least log loss.

    It counts as one more row that it should be near 1.
    """
    share = weight / weight.sum()
    own = np.take_along_axis(scores, y[:, None], axis=1)[:, 0]

    def loss(log_scale: float) -> float:
        scale = np.exp(log_scale)
        lost = share @ (logsumexp(scale * scores, axis=1) - scale * own)
        return float(lost + 0.5 * log_scale**2 / len(y))

    return float(np.exp(minimize_scalar(loss, bounds=SCALES, method="bounded").x))


@dataclass(frozen=True)
class Folds:
    """Rows of a node for cross-validation.

    Attributes
    ----------
    y : int array (n,)
        Classes as positions among those present.
    fold : int array (n,)
        The fold that holds each row out.
    costs : float array or None
        What wrong answers cost, a line for each class present.
    """

    y: NDArray[np.int32]
    fold: NDArray[np.int64]
    costs: Floats | None

    @classmethod
    def of(cls, node: Node, rows: NodeColumns, folds: int) -> Folds | None:
        """Folds of a node, whatever the order of rows; None where there are not two."""
        seed = node.rules.seed
        y = np.searchsorted(rows.present, rows.y).astype(np.int32)
        fold = deal(
            node.sample.row_hash(seed)[rows.rows],
            y,
            folds,
            seed,
            (rows.weight,),
            node.sample.groups_of(rows.rows),
        )
        if (fold == fold[0]).all():
            return None
        costs = node.target.costs
        return cls(y, fold, None if costs is None else costs[rows.present])


class TrialLearner(SplitLearner):
    """A learner whose test is cross-validated before it is made."""

    expansion: str
    min_columns: int
    max_columns: int | None
    max_cells: int | None

    @property
    def resamples(self) -> bool:
        return True

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The test for one node."""
        trial = self.trial(node)
        return None if trial is None else trial.replacement.split

    def check_expansion(self) -> None:
        """Refuse an expansion that does not exist."""
        if self.expansion not in EXPANSIONS:
            raise ValueError(unknown("expansion", self.expansion, list(EXPANSIONS)))

    def suits(self, node: Node) -> bool:
        """Whether the node has two classes, and a number of columns that is allowed."""
        p = node.sample.columns(self.expansion).n_columns
        k = int((node.statistics > 0).sum())
        columns, cells = (
            np.inf if most is None else most
            for most in (self.max_columns, self.max_cells)
        )
        number("min_columns", self.min_columns, 1)
        number("max_columns", columns, 1)
        few = len(node.rows) * p * k <= number("max_cells", cells, 1)
        return k >= 2 and self.min_columns <= p <= columns and few

    def trial(self, node: Node, against: HeldOut | None = None) -> Trial | None:
        """Cross-validate; None where there is nothing to fit.

        `against` is what another test loses on the same rows; a learner may give up when
        it sees that it cannot do better.
        """
        raise AssertionError(f"{type(self).__name__} has no trial")
