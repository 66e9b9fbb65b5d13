"""The best cut of projections of a node's rows, for the leaves that the tree will have.

With constants in the leaves every cut is tried under the criterion. With linear models the
loss of a model on either side is what counts: so a bend of the target is found where means
differ little. Cuts are then tried at quantiles of the projection, and once more next to the
best of them. One search serves all projections of a node: features, and directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree._core import targets as kernel
from omnitree.divisions import Divisions
from omnitree.leaf_models import LeafModels
from omnitree.learners.base import SplitLearner
from omnitree.leaves import RidgeLeaves
from omnitree.node import Node
from omnitree.parts import number

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cut:
    """A cut of a projection and by how much it lowers the loss."""

    threshold: float
    gain: float


class CutSearch:
    """Finds cuts for some rows of a node.

    Parameters
    ----------
    node : Node
    min_branch : float
        Least weight of a branch.
    known : int array, optional
        The rows of the node that take part; all if not given.
    """

    def __init__(self, node: Node, min_branch: float, known: NDArray | None = None):
        self.node, self.min_branch = node, min_branch
        at = slice(None) if known is None else known
        self.rows = node.rows[at]
        self.target = np.ascontiguousarray(node.target[at])
        self.weight = np.ascontiguousarray(node.weight[at])
        self.total = float(self.weight.sum())

    @property
    def ridge(self) -> RidgeLeaves | None:
        """The linear models that the leaves will have, or None."""
        leaves = self.node.problem.leaves
        return leaves if isinstance(leaves, RidgeLeaves) else None

    @cached_property
    def loss(self) -> float:
        """Loss of the rows as one leaf."""
        if self.ridge is not None:
            return self._ridge_losses(np.arange(len(self.rows)), np.zeros(0), [])[1]
        criterion = self.node.problem.criterion
        assert criterion is not None
        constant = criterion.constant(self.target, self.weight)
        return float(self.weight @ criterion.losses(self.target - constant))

    @cached_property
    def _scan(self):
        criterion = self.node.problem.criterion
        assert criterion is not None
        return criterion.scan(self.target, self.weight, self.min_branch)

    def best(self, z: Floats) -> Cut | None:
        """The best cut of a projection `z` of the rows."""
        z = np.ascontiguousarray(z)
        order = np.argsort(z, kind="stable").astype(np.int64)
        if not len(order) or not z[order[0]] < z[order[-1]]:
            return None
        if self.ridge is not None:
            return self._best_of_some(order, z)
        gain, after = self._scan(order, z)
        return None if after < 0 else Cut(_middle(z, order, after), float(gain))

    # -- linear models ---------------------------------------------------------------

    @cached_property
    def columns(self) -> Floats:
        """Standardised columns of the rows around their means."""
        source = self.node.problem.standardised
        columns = source.take(self.rows, source.gap_means(self.rows, self.weight))
        columns -= self.weight @ columns / self.total
        varies = (columns != 0).any(axis=0)
        return np.ascontiguousarray(columns[:, varies])

    @cached_property
    def _centred(self) -> Floats:
        return self.target - self.weight @ self.target / self.total

    def _ridge_losses(self, order, z, positions) -> tuple[Floats, float]:
        """Loss at each position, and without a cut."""
        assert self.ridge is not None
        penalty = number("search_penalty", self.ridge.search_penalty) * self.total
        x, t = self.columns, self._centred
        losses = np.empty(len(positions))
        if len(positions):
            at = np.asarray(positions, dtype=np.int64)
            least = max(self.min_branch, 2.0)
            kernel.ridge(order, z, t, self.weight, least, x, penalty, at, losses)
            return losses, np.nan
        gram = (x * self.weight[:, None]).T @ x
        gram[np.diag_indices_from(gram)] += penalty
        right = x.T @ (self.weight * t)
        explained = right @ np.linalg.solve(gram, right) if len(gram) else 0.0
        return losses, max(float(self.weight @ t**2 - explained), 0.0)

    def _best_of_some(self, order: NDArray, z: Floats) -> Cut | None:
        assert self.ridge is not None
        most = int(number("cuts", self.ridge.cuts, 1))
        sorted_z = z[order]
        ends = np.flatnonzero(sorted_z[:-1] < sorted_z[1:])
        below = np.cumsum(self.weight[order])[ends]
        fits = (below >= self.min_branch - 1e-9) & (
            below <= self.total - self.min_branch + 1e-9
        )
        ends, below = ends[fits], below[fits]
        if not len(ends):
            return None
        some = np.arange(len(ends))
        if len(ends) > 2 * most:
            levels = np.linspace(below[0], below[-1], most)
            some = np.unique(np.searchsorted(below, levels - 1e-9))
        at = self._least(order, z, ends[some])
        if len(ends) > 2 * most:
            low = some[max(at[0] - 1, 0)]
            high = some[min(at[0] + 1, len(some) - 1)]
            near = np.arange(low, high + 1)
            step = max(1, len(near) // most)
            some = np.unique(np.append(near[::step], some[at[0]]))
            at = self._least(order, z, ends[some])
        if not np.isfinite(at[1]):
            return None
        return Cut(_middle(z, order, ends[some[at[0]]]), self.loss - at[1])

    def _least(self, order, z, positions) -> tuple[int, float]:
        losses, _ = self._ridge_losses(order, z, positions)
        # Rounding must not decide between equals: the first of them.
        first = int(np.argmax(losses <= losses.min() + 1e-9 * (self.loss + 1e-300)))
        return first, float(losses[first])


def _middle(z: Floats, order: NDArray, after: int) -> float:
    """Halfway to the next value, never that value itself."""
    a, b = z[order[after]], z[order[after + 1]]
    middle = a + (b - a) / 2
    return float(middle if middle < b else a)


def trial_losses(
    learner: SplitLearner, divisions: Divisions, rng: np.random.Generator
) -> Floats:
    """Mean loss on the test part of every division, trained on the other part."""
    node = divisions.node
    table, criterion = node.problem.table, node.problem.criterion
    assert criterion is not None
    out = np.empty(len(divisions))
    for d, own in enumerate(rng.spawn(len(divisions))):
        test, part = divisions.testing(d), divisions.part(d)
        rows = node.rows[test]
        answer = np.full(len(test), criterion.constant(part.target, part.weight))
        split = None if part.stays_leaf() else learner.fit(part, own)
        branches: tuple = (np.full(len(part.rows), -1), np.full(len(test), -1))
        if split is not None:
            found = (split.route(table, part.rows), split.route(table, rows))
            branches = tuple(np.where(b < 0, split.missing, b) for b in found)
        for b in range(-1, 0 if split is None else split.n_children):
            here, there = branches[0] == b, branches[1] == b
            if here.any() and there.any():
                answer[there] = _answers(part, here, rows[there])
        held = divisions.held[test, d]
        loss = held @ criterion.losses(node.target[test] - answer)
        out[d] = loss / max(held.sum(), np.finfo(float).tiny)
    return out


def _answers(node: Node, here: NDArray, rows: NDArray) -> Floats:
    """What a leaf made of some rows of a node answers for other rows."""
    problem = node.problem
    target, weight = node.target[here], node.weight[here]
    if isinstance(problem.leaves, RidgeLeaves):
        source = problem.standardised
        found = problem.leaves.model(source, node.rows[here], target, weight)
        if found is not None:
            out = np.empty((len(rows), 1))
            at = np.zeros(len(rows), dtype=np.int32)
            LeafModels.of([found[0]]).answer(problem.table, rows, at, out)  # type: ignore[union-attr]
            return out[:, 0]
    assert problem.criterion is not None
    return np.full(len(rows), problem.criterion.constant(target, weight))
