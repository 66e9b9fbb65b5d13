"""The best cut of projections of a node's rows, for the leaves that the tree will have.

With constants in the leaves every cut is tried under the criterion. With linear models the
loss of a model on either side is what counts: so a bend of the target is found where means
differ little. Cuts are then tried at quantiles of the projection, and once more next to the
best of them. One search serves all projections of a node: features, and directions. Used by
the learners where a number is predicted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import targets as kernel
from omnitree.growing.criterion import SquaredError
from omnitree.growing.node import Node
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.part import number
from omnitree.learners.ruled import BROKEN, Kept
from omnitree.parts.leaves import RidgeLeaves
from omnitree.parts.merit import VarianceReduction
from omnitree.tree.splits import Split

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
        self.target = np.ascontiguousarray(node.y[at])
        self.weight = np.ascontiguousarray(node.weight[at])
        self.total = float(self.weight.sum())

    @property
    def ridge(self) -> RidgeLeaves | None:
        """The linear models that the leaves will have, or None."""
        leaves = self.node.rules.leaves
        return leaves if isinstance(leaves, RidgeLeaves) else None

    @cached_property
    def loss(self) -> float:
        """Loss of the rows as one leaf."""
        if self.ridge is not None:
            none = np.empty((0, len(self.rows)))
            return self._ridge_cuts(none.astype(np.int64), none)[1]
        criterion = self.node.target.criterion
        assert criterion is not None
        constant = criterion.constant(self.target, self.weight)
        return float(self.weight @ criterion.losses(self.target - constant))

    def by_mean(self, expansion: str) -> NodeColumns:
        """All rows of the node in two groups, up to the mean and above it."""
        if expansion not in self._by_mean:
            y = self.node.y
            above = y > np.average(y, weights=self.node.weight)
            rows = self.node.view(expansion).grouped(above.astype(np.int32), 2)
            self._by_mean[expansion] = rows
        return self._by_mean[expansion]

    @cached_property
    def _by_mean(self) -> dict[str, NodeColumns]:
        return {}

    @cached_property
    def _scan(self):
        criterion = self.node.target.criterion
        assert criterion is not None
        return criterion.scan(self.target, self.weight, self.min_branch)

    def best(self, z: Floats) -> Cut | None:
        """The best cut of a projection `z` of the rows."""
        return self.best_of(z[None])[0]

    def best_of(self, z: Floats) -> list[Cut | None]:
        """The best cut of each line of `z`, a projection of the rows."""
        z = np.ascontiguousarray(z)
        order = np.argsort(z, axis=1, kind="stable")
        if self.ridge is not None:
            found, self.__dict__["loss"] = self._ridge_cuts(order, z)
        else:
            found = [self._scan(o, line) for o, line in zip(order, z, strict=True)]
        return [
            None if after < 0 else Cut(_middle(line, o, after), float(gain))
            for line, o, (gain, after) in zip(z, order, found, strict=True)
        ]

    def best_kept(self, z: Floats, direction: int) -> Cut | None:
        """The best cut whose sides keep a direction and the bounds of the node."""
        if type(self.node.target.criterion) is not SquaredError:
            raise ValueError("monotone needs criterion='squared_error'")
        order = np.argsort(z, kind="stable")
        z, weight = z[order], self.weight[order]
        mean = float(self.weight @ self.target / self.total)
        centred = self.target[order] - mean
        terms = np.stack([weight, weight * centred, weight * centred**2], axis=1)
        below = np.cumsum(terms, axis=0)[:-1]
        sides = np.stack([below, terms.sum(axis=0) - below], axis=1)
        bounds = tuple(bound - mean for bound in self.node.bounds)
        merit = Kept(VarianceReduction(), direction, bounds)(sides)
        enough = sides[..., 0].min(axis=1) >= self.min_branch - 1e-9
        able = np.flatnonzero((z[1:] > z[:-1]) & enough & (merit > BROKEN))
        if not len(able):
            return None
        best = able[(merit[able] >= merit[able].max() * (1 - 1e-12)).argmax()]
        gain = float(merit[best]) * self.total
        return Cut(_middle(z, np.arange(len(z)), best), gain)

    # -- linear models ---------------------------------------------------------------

    @cached_property
    def columns(self) -> Floats:
        """Standardised columns of the rows around their means."""
        standard = self.node.sample.standardised
        means = standard.missing_means(self.rows, self.weight)
        columns = standard.take(self.rows, means)
        columns = columns - self.weight @ columns / self.total
        varies = (columns != 0).any(axis=0)
        return np.ascontiguousarray(columns[:, varies])

    def _ridge_cuts(
        self, order: NDArray, z: Floats
    ) -> tuple[list[tuple[float, int]], float]:
        """Gain and position of the best cut of each projection; the loss without one."""
        assert self.ridge is not None
        gain, after = np.empty(len(z)), np.empty(len(z), dtype=np.int64)
        whole = kernel.ridge(
            self.columns,
            self.target - self.weight @ self.target / self.total,
            self.weight,
            number("search_penalty", self.ridge.search_penalty) * self.total,
            max(self.min_branch, 2.0),
            int(number("cuts", self.ridge.cuts, 1)),
            order,
            z,
            gain,
            after,
        )
        return list(zip(gain.tolist(), after.tolist(), strict=True)), whole


def search_of(node: Node, min_branch: float) -> CutSearch:
    """The search among all rows of a node, made once for all learners that ask."""
    return node.searches.setdefault(min_branch, CutSearch(node, min_branch))


def numeric_likelihood(node: Node, split: Split, min_branch: float) -> float:
    """Of the numbers in the branches of a test, by how much it lowers their loss."""
    criterion, total = node.target.criterion, node.total
    assert criterion is not None
    left = max(search_of(node, min_branch).loss - split.merit * total, 0.0)
    return float(criterion.log_likelihood(left, total))


def _middle(z: Floats, order: NDArray, after: int) -> float:
    """Halfway to the next value, never that value itself."""
    a, b = z[order[after]], z[order[after + 1]]
    middle = a + (b - a) / 2
    return float(middle if middle < b else a)
