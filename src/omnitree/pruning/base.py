"""What a pruning method is: it looks at a tree and evidence, and says where to cut.

`cut` returns one entry per node, as `Tree.collapse` reads it; no method changes a tree
itself (what puts other tests into a tree is a refinement). Evidence is rows with labels:
those the tree was grown on, those kept apart for pruning, and how the tree was grown, to
grow others (for cross-validation).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from omnitree._core.predict import subtrees
from omnitree.growing.growth import Growth
from omnitree.growing.part import Part
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget
from omnitree.tree.tree import LEAF, Tree


@dataclass(frozen=True)
class Evidence:
    """What pruning may look at."""

    train: Sample  # the rows the tree was grown on
    held_out: Sample | None = None  # rows kept apart for pruning
    # How the tree was grown, for methods that grow others or add tests.
    growth: Growth | None = None
    seed: int = 0
    n_jobs: int | None = None
    # Trees of a cross-validation that were grown with the tree, where no others can be.
    folds: list[Any] | None = None

    @property
    def units(self) -> np.ndarray:
        """Weights of the rows that a cross-validation holds out, or of their groups."""
        if self.folds is None:
            return self.train.units
        return np.concatenate([fold.test.units for fold in self.folds])

    @property
    def expired(self) -> bool:
        """Whether the time for the whole fit is over."""
        return self.growth is not None and self.growth.rules.limits.expired()

    def limited(
        self, max_depth: int | None = None, max_leaves: int | None = None
    ) -> Evidence:
        """The same where other trees grow no further than that; None: as they do."""
        if self.growth is None or (max_depth is None and max_leaves is None):
            return self
        rules = self.growth.rules
        depth, most = rules.limits.max_depth, rules.limits.max_leaves
        if max_depth is not None:
            depth = max_depth if depth < 0 else min(depth, max_depth)
        if max_leaves is not None:
            most = max_leaves if most is None else min(most, max_leaves)
        limits = replace(rules.limits, max_depth=depth, max_leaves=most)
        growth = replace(self.growth, rules=replace(rules, limits=limits))
        return replace(self, growth=growth)

    def repeat(self, number: int) -> Evidence:
        """The same evidence with other folds; 0: as it is."""
        if not number:
            return self
        (seed,) = np.random.SeedSequence([self.seed, number]).generate_state(1)
        return replace(self, seed=int(seed))


class TreeChange(Part):
    """What changes a grown tree: a pruning or a refinement."""

    tasks: ClassVar[tuple[str, ...]] = ("classification",)

    @property
    def only_cuts(self) -> bool:
        """Whether what is left has the tests and the counts that it was grown with."""
        return False

    @property
    def adds_features(self) -> bool:
        """Whether paths may get tests on further features."""
        return False

    @property
    def needs_share(self) -> float:
        """Share of the training rows to keep apart while growing."""
        return 0.0

    @property
    def takes_rows(self) -> bool:
        """Whether it holds no rows out of the training rows once there is a prune set."""
        return self.needs_share > 0

    @property
    def resamples(self) -> bool:
        return self.needs_share > 0


class Pruning(TreeChange):
    """Decides which nodes become leaves."""

    @property
    def only_cuts(self) -> bool:
        return True

    @abstractmethod
    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        """Where to cut, one entry per node."""

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        """The pruned tree.

        A raised subtree gets rows that it did not have. So where a mask may raise some,
        all rows are counted again.
        """
        cut = self.cut(tree, evidence)
        pruned = tree.collapse(cut)
        if self.only_cuts or cut.dtype == bool:
            return pruned
        return pruned.with_counts(evidence.train)


def held_out_rows(evidence: Evidence, method: str) -> Sample:
    """The rows kept apart; an error if there are none."""
    if evidence.held_out is None:
        raise ValueError(
            f"{method} pruning needs rows that the tree was not grown on: pass a prune "
            "set, or give the method a share of the training rows to hold out"
        )
    return evidence.held_out


def negligible(weight: np.ndarray) -> float:
    """Weight of errors that decides nothing, on rows of some weight.

    Less than half a row in a million: what rounding and rows of nearly no weight make up.
    """
    return 5e-7 * float(weight.sum())


def errors_as_leaves(tree: Tree, sample: Sample) -> np.ndarray:
    """Errors on a sample of every node, were it a leaf with what it has from training.

    Costs, or the loss, where the target has them.
    """
    target = sample.target
    if tree.models is None and isinstance(target, ClassTarget):
        return target.losses_by(sample.counts_at(tree), tree.outputs)
    if tree.models is None and (loss := sample.loss_at(tree)) is not None:
        return loss
    start, row, part = tree.passing(sample.table)
    node = np.repeat(np.arange(tree.n_nodes), np.diff(start))
    outputs = tree.node_answers(sample.table, row, node, tree.outputs)
    errors = part * sample.weight[row] * target.take(row).losses(outputs)
    return np.bincount(node, errors, minlength=tree.n_nodes)


def training_errors(tree: Tree, train: Sample) -> np.ndarray:
    """Errors, or loss, of every node as a leaf on the sample it was grown on."""
    if tree.loss is not None:
        return tree.loss
    if tree.models is None and isinstance(train.target, ClassTarget):
        return train.target.losses_by(tree.value, tree.outputs)
    return errors_as_leaves(tree, train)


def plain_errors(tree: Tree, train: Sample) -> np.ndarray:
    """Training errors of every node as a leaf, whatever wrong classes cost."""
    return training_errors(tree, replace(train, target=train.target.without_costs()))


def bottom_up(tree: Tree):
    """Decision nodes, every node after all its descendants."""
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.kind[node] != LEAF:
            yield node


def children(tree: Tree, node: int) -> slice:
    """The children of a node as a slice of the node arrays."""
    first = int(tree.first_child[node])
    return slice(first, first + int(tree.n_children[node]))


def subtree_sums(tree: Tree, leaf_value: np.ndarray) -> np.ndarray:
    """For every node the sum of `leaf_value` over the leaves below it."""
    return subtrees.subtree_sums(tree.shape, leaf_value.astype(np.float64))
