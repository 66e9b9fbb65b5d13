"""The best cut of projections of a node's rows, for the leaves that the tree will have.

With constants in the leaves every cut is tried under the criterion. With linear models the
loss of a model on either side is what counts: so a bend of the target is found where means
differ little. Leaves with curves are asked first what the curves of the node explain; cuts
are for the rest. Cuts are then tried at quantiles of the projection, and once more next to
the best of them. Two things keep this cheap where there are many columns: the models have
only the columns with the largest weights in the node, and features are first ranked by how
the residuals of one model of the whole node change sides with them, so that only a few are
searched in full. One search serves all projections of a node: features, and directions.
Used by the learners where a number is predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import targets as kernel
from omnitree.growing.clock import check_time
from omnitree.growing.criterion import Scan
from omnitree.growing.node import Node
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.part import number
from omnitree.learners.ruled import BROKEN, Kept
from omnitree.parts.leaves import RidgeLeaves
from omnitree.parts.leaves.ridge import slope
from omnitree.parts.merit import MERITS
from omnitree.tree.splits import Split

Floats = NDArray[np.float64]

# Columns that the linear models have while cuts are searched.
MOST_COLUMNS = 20
# Features whose cuts are searched with these models; more are ranked beforehand.
MOST_FEATURES = 5
# Cuts of a feature that are not nearly the same.
DISTINCT = 10
# Quantiles at which features are cut to be ranked.
SCREENED = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class NumericCut:
    """A cut of a projection and by how much it lowers the loss."""

    threshold: float
    gain: float


class CutSearch:
    """Finds cuts for the rows of a node, or for the `known` ones."""

    def __init__(self, node: Node, min_branch: float, known: NDArray | None = None):
        self.node, self.min_branch, self.known = node, min_branch, known
        at = slice(None) if known is None else known
        self.rows = node.rows[at]
        self.target: Any = node.target if known is None else node.target.take(known)
        self.y = np.ascontiguousarray(self.target.y)
        self.weight = np.ascontiguousarray(node.weight[at])
        self.total = float(self.weight.sum())

    @property
    def ridge(self) -> RidgeLeaves | None:
        """The linear models that the leaves will have, or None."""
        leaves = self.node.rules.leaves
        return leaves if isinstance(leaves, RidgeLeaves) else None

    @property
    def _ridge(self) -> RidgeLeaves:
        assert self.ridge is not None
        return self.ridge

    @cached_property
    def loss(self) -> float:
        """Loss of the rows as one leaf."""
        if self.ridge is not None:
            none = np.empty((0, len(self.rows)))
            return self._ridge_cuts(none.astype(np.int64), none)[1]
        return self.target.loss(self.target.answer(self.weight), self.weight)

    def is_chance(self, cut: NumericCut, times: float) -> bool:
        """Whether models on either side of a cut gain no more than mere noise lets them.

        Models of k columns on either side instead of one raise twice the likelihood of noise
        by a chi-squared number with k + 1 degrees of freedom. What the largest of many such
        numbers is about (Laurent & Massart 2000) is taken `times`. A feature has ten cuts
        that are not nearly the same.
        """
        if self.ridge is None or not times:
            return False
        before, after = (
            self.target.log_likelihood(loss, self.total)
            for loss in (self.loss, self.loss - cut.gain)
        )
        k = self.columns.shape[1] + 1
        tests = np.log(DISTINCT * self.node.sample.table.schema.n_features)
        largest = k + 2 * np.sqrt(k * tests) + 2 * tests
        return bool(2 * (after - before) < times * largest)

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
    def _scan(self) -> Scan:
        return self.target.scan(self.weight, self.min_branch)

    def best(self, z: Floats) -> NumericCut | None:
        """The best cut of a projection `z` of the rows."""
        return self.best_of(z[None])[0]

    def best_of(self, z: Floats) -> list[NumericCut | None]:
        """The best cut of each line of `z`, a projection of the rows."""
        z = np.ascontiguousarray(z)
        order = np.argsort(z, axis=1, kind="stable")
        if self.ridge is not None:
            found, self.__dict__["loss"] = self._ridge_cuts(order, z)
        else:
            found = [self._scan(o, line) for o, line in zip(order, z, strict=True)]
        return [
            None if after < 0 else NumericCut(_middle(line, o, after), float(gain))
            for line, o, (gain, after) in zip(z, order, found, strict=True)
        ]

    def best_kept(self, z: Floats, direction: int) -> NumericCut | None:
        """The best cut whose sides keep a direction and the bounds of the node."""
        if not self.target.squared:
            raise ValueError("monotone needs criterion='squared_error'")
        order = np.argsort(z, kind="stable")
        z, weight = z[order], self.weight[order]
        mean = float(self.weight @ self.y / self.total)
        centred = self.y[order] - mean
        terms = np.stack([weight, weight * centred, weight * centred**2], axis=1)
        below = np.cumsum(terms, axis=0)[:-1]
        sides = np.stack([below, terms.sum(axis=0) - below], axis=1)
        bounds = tuple(bound - mean for bound in self.node.bounds)
        merit = Kept(MERITS.resolve("variance"), direction, bounds)(sides)
        enough = sides[..., 0].min(axis=1) >= self.min_branch - 1e-9
        able = np.flatnonzero((z[1:] > z[:-1]) & enough & (merit > BROKEN))
        if not len(able):
            return None
        best = able[(merit[able] >= merit[able].max() * (1 - 1e-12)).argmax()]
        gain = float(merit[best]) * self.total
        return NumericCut(_middle(z, np.arange(len(z)), best), gain)

    # -- linear models ---------------------------------------------------------------

    @cached_property
    def used(self) -> NDArray[np.intp]:
        """Which of the standardised columns the models have: those of largest weights."""
        if self.known is not None:
            return search_of(self.node, self.min_branch).used
        columns = self._standardised
        varies = np.flatnonzero((columns != columns[0]).any(axis=0))
        if len(varies) > MOST_COLUMNS:
            penalty = self._ridge.search_penalty
            own = columns[:, varies] - self.weight @ columns[:, varies] / self.total
            weights = np.abs(slope(own, self.centred, self.weight, penalty))
            largest = np.argsort(-weights, kind="stable")[:MOST_COLUMNS]
            varies = varies[np.sort(largest)]
        return varies

    @cached_property
    def columns(self) -> Floats:
        """The columns of the models, of the rows around their means."""
        if self.known is None:
            columns = self._standardised[:, self.used]
            self.__dict__.pop("_standardised")
        else:
            columns = search_of(self.node, self.min_branch).columns[self.known]
        return np.ascontiguousarray(columns - self.weight @ columns / self.total)

    @cached_property
    def _standardised(self) -> Floats:
        standard = self.node.sample.standardised
        return standard.take(self.rows, standard.missing_means(self.rows, self.weight))

    @cached_property
    def centred(self) -> Floats:
        """The target around its mean."""
        return self.y - self.weight @ self.y / self.total

    @cached_property
    def unexplained(self) -> Floats:
        """What the models on both sides of a cut are to explain, around its mean."""
        if "unexplained" not in self.node.memo:
            self.node.memo["unexplained"] = self._ridge.unexplained(self.node)
        rest = self.node.memo["unexplained"]
        if rest is None:
            return self.centred
        rest = rest if self.known is None else rest[self.known]
        return np.ascontiguousarray(rest - self.weight @ rest / self.total)

    def promising(self, projections: Sequence[Floats]) -> list[int]:
        """Positions of the few projections, NaN where unknown, that are worth a search.

        Where a cut is needed, the residuals of one model of all rows go with some column
        in another way on one side than on the other.
        """
        if self.ridge is None or len(projections) <= MOST_FEATURES:
            return list(range(len(projections)))
        columns = np.hstack([np.ones((len(self.rows), 1)), self.columns])
        rest, penalty = self.unexplained, self._ridge.search_penalty
        rest = rest - self.columns @ slope(self.columns, rest, self.weight, penalty)
        residual = self.weight * rest
        spread = residual**2 @ columns**2
        spread[spread <= 0] = np.inf
        best = np.zeros(len(projections))
        z = np.array(projections)
        known = ~np.isnan(z)
        last, lines = known.sum(axis=1) - 1, np.arange(len(z))
        places = [(last * share).astype(np.intp) for share in SCREENED]
        some = sorted({*np.concatenate(places).tolist()})
        ordered = np.partition(z, some, axis=1)  # NaN last
        for at in places:
            side = np.sign(z - ordered[lines, at][:, None])
            if not known.all():
                side = np.where(known, side, 0.0)
            change = (side * residual) @ columns
            np.maximum(best, (change**2 / spread).sum(axis=1), out=best)
        return sorted(np.argsort(-best, kind="stable")[:MOST_FEATURES].tolist())

    def _ridge_cuts(
        self, order: NDArray, z: Floats
    ) -> tuple[list[tuple[float, int]], float]:
        """Gain and position of the best cut of each projection; the loss without one."""
        check_time()
        gain, after = np.empty(len(z)), np.empty(len(z), dtype=np.int64)
        whole = kernel.ridge(
            self.columns,
            self.unexplained,
            self.weight,
            number("search_penalty", self._ridge.search_penalty) * self.total,
            max(self.min_branch, 2.0),
            int(number("cuts", self._ridge.cuts, 1)),
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
    left = search_of(node, min_branch).loss - split.merit * node.total
    return float(node.target.log_likelihood(left, node.total))


def _middle(z: Floats, order: NDArray, after: int) -> float:
    """Halfway to the next value, never that value itself."""
    a, b = z[order[after]], z[order[after + 1]]
    middle = a + (b - a) / 2
    return float(middle if middle < b else a)
