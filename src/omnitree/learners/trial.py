"""What a learner of tests over many columns found at a node, before the test is made.

`TrialLearner` is what such learners (softmax, boosted, stagewise, steps, cases) share.

`Trial` keeps the scores of the classes for each row while it was held out, by which the
refinement `contest` compares such tests with subtrees and with each other. Its functions,
one for each class, become a test with a branch for each class; of two classes this is one
linear, quadratic or additive test, of more a machine. They also become the model by which
the leaves below answer: probabilities are the softmax of the scores times a scale, which is
calibrated on the held-out rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import CURVED, EXPANSIONS, Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import number, one_of
from omnitree.growing.scaling import Scaling
from omnitree.growing.target import Target
from omnitree.parts.discriminants.calibration import calibrated
from omnitree.parts.merit import MERITS
from omnitree.resampling.folds import deal
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import Split
from omnitree.tree.tree import Tree

# How trials are called, by expansion.
NAMES = {
    "linear": "linear softmax",
    "quadratic": "quadratic softmax",
    "curves": "additive softmax",
    "blocks": "additive softmax with products",
}
# Log odds by which a curve may differ from the fitted one, to have fewer knots.
STRAIGHT = 0.07


@dataclass(frozen=True)
class Replacement:
    """What can take the place of a subtree: a test whose leaves answer by a model.

    Without a test, where all rows take one branch, it is one leaf with the model; without
    either, a plain leaf. Or it is a whole subtree, with its own tests and models.
    """

    split: Split | None = None
    model: LeafModel | None = None
    subtree: Tree | None = None

    @property
    def n_leaves(self) -> int:
        """Leaves of the new subtree."""
        if self.subtree is not None:
            return self.subtree.n_leaves
        return 1 if self.split is None else self.split.n_children


@dataclass(frozen=True)
class Trial:
    """What cross-validation found."""

    name: str  # of the candidate, for the reader of the tree
    rows: NodeColumns
    expansion: str  # one of `EXPANSIONS` or `CURVED`, or "steps", or "cases"
    # (n, k): sums of the classes that are present for each row while it was held out;
    # NaN if it was not.
    scores: Floats
    target: Target  # of the rows
    groups: NDArray[np.int64] | None  # (n,): of the rows, see `HeldOut`

    @property
    def kind(self) -> str:
        """Kind of the test."""
        scaling = self.rows.scaling
        used = self.used_terms()
        first = scaling.n_plain + len(scaling.a)
        two = len(self.rows.present) == 2
        if used[first:].any():
            return "additive" if two else "additive_machine"
        if used[scaling.n_plain : first].any():
            return "quadratic" if two else "quadratic_machine"
        return "linear" if two else "machine"

    def used_terms(self) -> NDArray[np.bool_]:
        """The terms (t,), as in `Scaling.terms`, that have a weight in some function."""
        return np.ones(int(self.rows.scaling.terms.max()) + 1, dtype=bool)

    @cached_property
    def n_parameters(self) -> int:
        """Free parameters of the test, before knots leave that its curves do not need."""
        k = len(self.rows.present)
        return self.parameters(np.tile(self.used_terms(), (1 if k == 2 else k, 1)))

    def parameters(self, used: NDArray[np.bool_]) -> int:
        """Free parameters of functions with some terms, a line of `used` for each.

        The weight of a column is part of its curve, where that is used and none of its
        products is.
        """
        scaling = self.rows.scaling
        alone = used & ~scaling.in_products(used)
        n = len(used) + int((used @ scaling.n_free).sum())
        first = scaling.n_plain + len(scaling.a)
        for i, curve in enumerate(scaling.curves):
            n -= int((used[:, first + i] & alone[:, curve.at]).sum())
        return n

    @cached_property
    def tested(self) -> NDArray[np.bool_]:
        """Rows that were held out."""
        return ~np.isnan(self.scores[:, 0])

    @cached_property
    def scale(self) -> float:
        """What scores are multiplied by to become log odds, as held-out rows advise."""
        y = self.target.of_present().y[self.tested]
        return calibrated(self.scores[self.tested], y, self.rows.weight[self.tested])

    @cached_property
    def held_out(self) -> HeldOut:
        """What its calibrated probabilities lose on held-out rows."""
        scores = np.where(self.tested[:, None], self.scores, 0.0)
        proba = softmax(self._of_all_classes(self.scale * scores), axis=1)
        weight = np.where(self.tested, self.rows.weight, 0.0)
        return HeldOut.of(weight, proba, self.target, self.groups)

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

    @cached_property
    def fitted(self) -> tuple[Floats, Floats]:
        """The functions, fitted once."""
        return self.functions()

    def sparser(self, margin: float, unlikelier: float | None = None) -> Trial | None:
        """A test with fewer weights that is not worse by so many standard errors.

        In log loss by `unlikelier`, if that is given.
        """
        return None

    @property
    def fold(self) -> NDArray[np.intp] | None:
        """The fold that held out each row; None if it cannot be fitted to other folds."""
        return None

    def scores_without(self, held: NDArray[np.bool_]) -> Iterator[Floats]:
        """Scores (n, k) of all rows by functions fitted without each set of rows.

        `held` (n, m) has the sets. Everything but the penalty and the number of weights is
        fitted anew, so that rows of a set have no part in what is said of them.
        """
        raise AssertionError(f"{type(self).__name__} is not fitted to other folds")

    @cached_property
    def replacement(self) -> Replacement:
        """The test and the model of its leaves, fitted to all rows."""
        return Replacement(self._split(*self.fitted), self.leaf_model())

    @property
    def is_finite(self) -> bool:
        """Whether the test and the model have only finite numbers in the table's units.

        Columns at the ends of the range of numbers may need others.
        """
        new = self.replacement
        assert new.model is not None
        return new.model.is_finite and (new.split is None or new.split.is_finite)

    @cached_property
    def scaling(self) -> Scaling:
        """That of the columns, with no more knots than the fitted curves need."""
        weights, _ = self.fitted
        return self.rows.scaling.with_few_knots(self.scale * weights, STRAIGHT)

    def split(self, w: Floats, threshold: float, merit: float) -> Split | None:
        """The test `columns @ w <= threshold`, as `NodeColumns.split` but for knots."""
        return self.scaling.split(w, threshold, self.rows.fill, merit)

    def leaf_model(self, times: float = 1.0) -> LeafModel:
        """The calibrated probabilities, for all classes; the scores may be multiplied."""
        weights, bias = self.fitted
        everywhere = np.zeros((self.rows.n_classes, weights.shape[1]))
        everywhere[self.rows.present] = weights - weights.mean(axis=0)
        scale = times * self.scale
        bias = self._of_all_classes(scale * bias)
        return self.scaling.model(scale * everywhere, bias, self.rows.fill)

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
            return self.split(weights[1] - weights[0], bias[0] - bias[1], merit)
        return self.scaling.machine(weights, bias, self.rows.fill, merit)


def folds_of(node: Node, folds: float, number: int = 0) -> NDArray[np.int64] | None:
    """The fold that holds each row of a node out; None where there are not two.

    Deals of different numbers are independent. All that deal the same share the folds.
    """
    asked = ("folds", folds, number)
    if asked not in node.memo:
        node.memo[asked] = _dealt(node, folds, number)
    return node.memo[asked]


def _dealt(node: Node, folds: float, number: int) -> NDArray[np.int64] | None:
    seed, groups = node.rules.seed, node.sample.groups_of(node.rows)
    if number:
        seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
    key = node.sample.row_hash(seed)[node.rows]
    strata = np.unique(node.y, return_inverse=True)[1].astype(np.int32)
    fold = deal(key, strata, folds, seed, (node.weight,), groups)
    return None if (fold == fold[0]).all() else fold


class TrialLearner(SplitLearner):
    """A learner whose test is cross-validated before it is made."""

    expansion: str = "linear"
    _: KW_ONLY
    min_columns: int = 1
    max_columns: int | None = None
    max_cells: int | None = None
    max_weights: int | None = None
    max_classes: int | None = None

    @property
    def resamples(self) -> bool:
        return True

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The test for one node."""
        trial = self.trial(node)
        return None if trial is None else trial.replacement.split

    @property
    def counted(self) -> str:
        """The view of a node whose columns are limited."""
        return one_of("expansion", self.expansion, (*EXPANSIONS, *CURVED))

    def suits(self, node: Node) -> bool:
        """Whether the node has two classes, and a number of columns that is allowed."""
        expansion = self.counted
        k = int((node.statistics > 0).sum())
        given = (self.max_columns, self.max_cells, self.max_weights, self.max_classes)
        columns, cells, weights, classes = (np.inf if m is None else m for m in given)
        number("min_columns", self.min_columns, 1)
        number("max_columns", columns, 1)
        most = min(
            columns,
            number("max_cells", cells, 1) / max(len(node.rows) * k, 1),
            number("max_weights", weights, 1) / (1 if k == 2 else max(k, 1)),
        )
        # Products are counted before they are made, and then the columns of curves.
        few = 2 <= k <= number("max_classes", classes, 2)
        if not few or node.sample.n_columns(expansion) > most:
            return False
        return self.min_columns <= node.view(expansion).n_columns <= most

    def is_richer(self, node: Node) -> bool:
        """Whether the node has the curves that the expansion adds, if it adds any."""
        if self.expansion not in CURVED:
            return True
        # They are the same with products, which may be too many to make for this.
        return bool(node.view("curves").scaling.curves)

    def dealt(
        self, node: Node, folds: int, deals: int = 1
    ) -> list[NDArray[np.int64]] | None:
        """The fold that holds out each row, in several deals; None where there is none."""
        dealt = (folds_of(node, folds, i) for i in range(deals))
        return [fold for fold in dealt if fold is not None] or None

    def trial(
        self,
        node: Node,
        against: HeldOut | None = None,
        slack: float = 0.0,
        deals: int = 1,
    ) -> Trial | None:
        """Cross-validate; None where there is nothing to fit.

        `against` is what another test loses on the same rows; a learner may give up when
        it sees that it will be behind it, by so many standard errors. In several `deals`
        each row is held out as often, and what is said of it is the mean.
        """
        raise AssertionError(f"{type(self).__name__} has no trial")
