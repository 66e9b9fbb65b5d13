"""One node of the contest: rivals challenge the subtree that stands there.

A rival is a learner of one test over many features (`TrialLearner`). It learns from the
training rows of the node. Without a prune set it is cross-validated on them, and its losses
are compared row by row with those of the subtree in the cross-validation of the whole tree.
With a prune set it is fitted to them all and, like the subtree, judged by the rows of the
prune set that come to the node; cross-validation then only chooses its penalty, its
calibration and its sparsity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.learners.trial import Replacement, Trial, TrialLearner
from omnitree.refinement.base import NodeRows
from omnitree.refinement.comparison import Comparison
from omnitree.refinement.sizing import Grown
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModels
from omnitree.tree.splits import Considered
from omnitree.tree.tree import LEAF, Tree


@dataclass(frozen=True)
class Contender:
    """A rival's test, and what it loses on the held-out rows of the node."""

    trial: Trial
    losses: HeldOut


@dataclass(frozen=True)
class Challenge:
    """A node, with the rows to learn from and those to be judged by.

    Attributes
    ----------
    node : Node
        The rows that rivals learn from.
    tested : Sample or None
        The prune set, if that judges; else rivals are cross-validated.
    rows, part : arrays
        The held-out rows of the node by their position, and the part of each that comes
        here.
    subtree : HeldOut
        What the subtree loses on them.
    n_parameters : int
        Of the subtree.
    kind : str
        Kind of the test at its top.
    """

    node: Node
    tested: Sample | None
    rows: NDArray[np.int64]
    part: NDArray[np.float64]
    subtree: HeldOut
    n_parameters: int
    kind: str

    def losses_of(self, trial: Trial) -> HeldOut:
        """What a rival's test loses on the held-out rows of the node."""
        if self.tested is None:
            return trial.held_out
        models = LeafModels.of([trial.replacement.model])
        assert models is not None
        target = self.tested.target.take(self.rows)
        proba = np.empty((len(self.rows), target.n_classes))
        first = np.zeros(len(self.rows), dtype=np.int32)
        models.answer(self.tested.table, self.rows, first, proba)
        groups = self.tested.groups_of(self.rows)
        weight = self.subtree.weight
        return HeldOut.of(weight, proba, target.y, target.costs, groups)

    def contenders(
        self, rivals: Sequence[TrialLearner], comparison: Comparison
    ) -> tuple[list[Contender], int | None]:
        """Every rival's test, and which of them beats the subtree and all before it."""
        found: list[Contender] = []
        winner, losses, n_parameters = None, self.subtree, self.n_parameters
        for rival in rivals:
            trial = rival.trial(self.node, losses if self.tested is None else None)
            if trial is None:
                continue
            new = Contender(trial, self.losses_of(trial))
            found.append(new)
            own_size = trial.n_parameters
            if new.losses.complete and comparison.is_better(
                new.losses, own_size, losses, n_parameters
            ):
                winner, losses, n_parameters = len(found) - 1, new.losses, own_size
        return found, winner

    def sparser(self, contender: Contender, margin: float) -> Contender | None:
        """The same test with fewer weights, if cross-validation does not miss them."""
        trial = contender.trial.sparser(margin)
        return None if trial is None else Contender(trial, self.losses_of(trial))

    def replacement(
        self, winner: Contender, min_gain: float
    ) -> tuple[Replacement, HeldOut]:
        """What takes the place of the subtree, and what that loses on held-out rows.

        Where all rows take one branch there is only a leaf with a model; a model that says
        no more than the class shares is left out.
        """
        new, losses = winner.trial.replacement, winner.losses
        if new.split is None:
            y = self.node.y if self.tested is None else self.tested.y[self.rows]
            plain = _as_constant(losses, y, self.node.statistics)
            if losses.gain(plain, "log_loss") <= min_gain:
                return replace(new, model=None), plain
        return new, losses

    def considered(
        self, contenders: Sequence[Contender], winner: int | None, loss: str
    ) -> tuple[Considered, ...]:
        """The candidates and their held-out losses, for the reader of the tree.

        Errors, or their costs, unless the winner has no fewer of them than the subtree:
        then log loss has decided.
        """
        if not contenders:
            return ()
        if winner is not None:
            chosen = contenders[winner].losses.mean(loss)
            loss = "log_loss" if chosen >= self.subtree.mean(loss) else loss
        what = "error" if self.node.target.costs is None else "cost"
        what = "held-out log loss" if loss == "log_loss" else what
        names = [("univariate subtree", self.kind, self.n_parameters, self.subtree)]
        for trial, losses in ((c.trial, c.losses) for c in contenders):
            names.append((trial.name, trial.kind, trial.n_parameters, losses))
        chosen_at = 0 if winner is None else winner + 1
        return tuple(
            Considered(name, kind, size, what, losses.mean(loss), i == chosen_at)
            for i, (name, kind, size, losses) in enumerate(names)
        )


class Arena:
    """The nodes of a tree that was cut back, with the rows that rivals learn from there."""

    def __init__(self, tree: Tree, grown: Grown, rules: Rules):
        self.tree, self.rules = tree, rules
        self.learning = NodeRows(tree, grown.train)
        self.judging = self.learning
        if grown.has_prune_set:
            self.judging = NodeRows(tree, grown.tested)

    def challenge(
        self, at: int, losses: HeldOut, loss: str, min_rows: int, max_rows: int
    ) -> Challenge | None:
        """The challenge at a node; None where there are few rows or nothing to win."""
        tree, limits = self.tree, self.rules.limits
        rows, part = self.judging.at(at)
        is_tested = losses.weight[rows] > 0
        rows, part = rows[is_tested], part[is_tested]
        if len(rows) < min_rows or not getattr(losses, loss)[rows].any():
            return None
        if tree.depths[at] == limits.max_depth or limits.expired():
            return None
        train, prune_set = self.learning.sample, None
        own_rows, own_part = rows, part
        if self.judging is not self.learning:
            prune_set = self.judging.sample
            own_rows, own_part = self.learning.at(at)
        if len(own_rows) < min_rows:
            return None
        if len(own_rows) > max_rows:
            # Rows are sampled one by one: of a large group some are enough.
            alone = replace(train, groups=None).take(own_rows)
            some = alone.folds(len(own_rows) / max_rows, self.rules.seed) == 0
            own_rows, own_part = own_rows[some], own_part[some]
            if prune_set is None:
                rows, part = own_rows, own_part
        return Challenge(
            Node(train, self.rules, own_rows, train.weight[own_rows] * own_part),
            prune_set,
            rows,
            part,
            losses.take(rows, part),
            subtree(tree, at).n_parameters,
            "leaf" if tree.kind[at] == LEAF else tree.split(at).kind,
        )


def subtree(tree: Tree, at: int) -> Tree:
    """The part of a tree below a node."""
    if at == 0:
        return tree
    raised = np.arange(tree.n_nodes)
    raised[0] = at
    return tree.collapse(raised)


def _as_constant(losses: HeldOut, y: np.ndarray, counts: np.ndarray) -> HeldOut:
    """Losses with the log loss of a leaf that answers class shares."""
    share = (counts + 1 / len(counts)) / (counts.sum() + 1)
    return replace(losses, log_loss=-np.log(share[y]))
