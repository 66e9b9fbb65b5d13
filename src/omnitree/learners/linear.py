"""The linear learner: make two groups, find a direction, cut the projection once.

With classes, `fit` reads as one row of LDT05's table 1; where a number is predicted, the
rows are grouped (`numeric_linear.py`) and all cuts are tried under the loss
(`numeric_cuts.py`). Used by the presets ldt, lin and quest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.blocks.sum_node import FoundSplit, SumNode
from omnitree.growing.clock import check_time
from omnitree.growing.fisher_trees import FisherSearch
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import EXPANSIONS, Node
from omnitree.growing.node_columns import ROOM, Floats, NodeColumns
from omnitree.growing.node_folds import NodeFolds
from omnitree.growing.part import number, one_of
from omnitree.learners.fisher_trial import train_parts
from omnitree.learners.numeric_cuts import search_of
from omnitree.learners.numeric_linear import GROUPS, along_fold, by_residual, cut_along
from omnitree.parts.direction import DIRECTIONS, Direction, Fisher
from omnitree.parts.direction.fisher import PCA, Projections, WithinProjections
from omnitree.parts.grouping import GROUPINGS, Exchange
from omnitree.parts.merit import MERITS, Merit
from omnitree.parts.merit.base import CUSTOM
from omnitree.parts.threshold import THRESHOLDS, EqualVariance, Exhaustive, Threshold
from omnitree.parts.threshold.base import Projected
from omnitree.tree.splits import Split


def cut_merits(projected: Projected, cuts: Floats, merit: Merit) -> Floats:
    """Merit of each cut; minus infinity where a side stays empty."""
    counts = projected.counts(cuts)
    usable = np.isfinite(cuts) & (counts.sum(axis=2) > 0).all(axis=1)
    return np.where(usable, merit(counts), -np.inf)


class LinearDiscriminant:
    """What a grouping asks: tests of one direction and threshold on the rows of a node."""

    def __init__(
        self, rows: NodeColumns, direction, threshold: Threshold, merit: Merit
    ):
        self.rows = rows
        self.direction, self.threshold, self.merit = direction, threshold, merit
        check_time()
        self.projections = direction.project(rows)

    def merits(self, left: NDArray[np.bool_]) -> Floats:
        """Merit of the test for each grouping."""
        check_time()
        projected = self.projections.project(left)
        cuts = self.threshold.find(projected, self.merit)
        return cut_merits(projected, cuts, self.merit)

    def exchange(self, left: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """The whole search in compiled code, for Fisher and equal variances."""
        if (
            type(self.threshold) is EqualVariance
            and not self.threshold.between
            and isinstance(self.projections, Projections)
            and self.merit.code != CUSTOM
        ):
            return self.projections.exchange(left, self.merit.code)
        return None

    def sides(self, left: NDArray[np.bool_], classes: NDArray) -> NDArray[np.bool_]:
        """Side of all rows by a test trained on the rows of some classes."""
        part = self.rows.of_classes(classes)
        projections = self.direction.project(part)
        cut = self.threshold.find(projections.project(left[None]), self.merit)[0]
        weights = projections.weights(left)
        return self.rows.weighted_sums(weights) > cut + part.mean @ weights


@dataclass(frozen=True)
class Found:
    """A linear test on the rows around their mean."""

    left: NDArray[np.bool_]
    weights: Floats
    cut: float
    merit: float
    rank: int


class Linear(SplitLearner):
    """Project the rows onto one direction and cut it; for classes and for numbers.

    Parameters
    ----------
    grouping : str or Grouping, default="exchange"
        How more than two classes become two groups.
    direction : str or Direction, optional
        By default Fisher's discriminant; for a numeric target, it never goes through
        principal components.
    threshold : str or Threshold, default="equal_variance"
    merit : str or Merit, default="gain"
        Compares groupings and, with an exhaustive threshold, cuts.
    expansion : {"linear", "quadratic"}, default="linear"
        The columns: as they are, or with all their squares and products, of which there
        may be 2,001,000 (those of 2,000 columns).
    max_features_per_test : int, optional
        Maximum number of nonzero weights in a test (our addition): columns are eliminated
        one by one after the classes have been grouped.
    fallback : bool, default=False
        Try the exhaustive cut where an analytic one separates nothing; without it such a
        node stays a leaf, as in the authors' program.
    groups : {"mean", "residual", "hinge"}, default="mean"
        Where the direction comes from if a number is predicted: from the rows above and
        below the mean, from those with positive and negative residuals of a linear fit, or
        from the fold of two linear models.
    min_branch : float, default=1
        Least weight of a branch, if a number is predicted.
    """

    grouping: Any = "exchange"
    direction: str | Direction | None = None
    threshold: str | Threshold = "equal_variance"
    merit: str | Merit = "gain"
    expansion: str = "linear"
    max_features_per_test: int | None = None
    fallback: bool = False
    groups: str = "mean"
    min_branch: float = 1

    tasks = ("classification", "regression")
    draws = False
    options_of: ClassVar = {
        "classification": ("grouping", "threshold", "merit", "fallback"),
        "regression": ("groups", "min_branch"),
    }

    @property
    def label(self) -> str:
        if self.groups != "mean":
            return self.groups
        direction = self._direction()
        if self.expansion == "linear":
            return type(direction).__name__.lower()
        return self.expansion

    def search(self, root: Node) -> FisherSearch | None:
        """What it looks for, if its columns are the encoded ones as they are."""
        return self._fisher_search() if self.expansion == "linear" else None

    def _fisher_search(self) -> FisherSearch | None:
        """Its parts for compiled code, which knows few of them."""
        direction = self._direction()
        threshold = THRESHOLDS.resolve(self.threshold)
        merit = MERITS.resolve(self.merit, "classification")
        if (
            type(GROUPINGS.resolve(self.grouping)) is not Exchange
            or type(direction) is not Fisher
            or direction.shrinkage is not None
            or direction.scatter != "total"
            or type(threshold) is not EqualVariance
            or threshold.between
            or merit.code == CUSTOM
            or self.max_features_per_test is not None
            or self.fallback
        ):
            return None
        direction.checked()
        return FisherSearch(merit.code, PCA.index(direction.pca), direction.epsilon)

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best linear test for one node."""
        if not node.target.n_classes:
            return self._fit_numbers(node)
        rows = node.view(self._expansion())
        discriminant = self._discriminant(rows)
        found = self._find(discriminant)
        if found is None:
            return None
        threshold = float(found.cut + rows.mean @ found.weights)
        split = rows.split(found.weights, threshold, found.merit)
        return split and replace(split, free=found.rank + 1)

    @property
    def grows_from(self) -> str | None:
        """Moments, for Fisher's direction of the columns as they are."""
        fisher = type(self._direction()) is Fisher
        return "moments" if fisher and self.expansion == "linear" else None

    def fit_sums(self, node: SumNode, rng: np.random.Generator):
        """Best test for one node: direction by all rows, groups and merit by some.

        Where the threshold is analytic for equal variances, it is that of all rows, too.
        """
        rows = node.rows
        split = None if rows is None else self.fit(rows, rng)
        if rows is None or split is None:
            return None
        branch = split.route(rows.sample.table, rows.rows)
        size = np.bincount(branch, rows.weight, split.n_children)
        return FoundSplit(split, tuple((size / size.sum()).tolist()))

    def trial_losses(self, folds: NodeFolds, rng: np.random.Generator) -> Floats:
        """Error on the test part of every fold.

        Fisher's directions for all parts come from one pass over the rows. A cut beyond all
        rows leaves one branch empty: to test it is to test a leaf.
        """
        direction = self._direction()
        expansion = self._expansion()
        rows, most = folds.node.view(expansion), self.max_features_per_test
        if (
            not folds.node.target.n_classes
            or most is not None
            or not isinstance(direction, Fisher)
            or direction.shrinkage is not None
        ):
            return super().trial_losses(folds, rng)
        if rows.standard.has_missing:
            return self._losses_of_filled(folds, expansion)
        if rows.standard.matrix is None and 8 * len(rows.rows) * rows.n_columns <= ROOM:
            rows.remember()  # once for all parts
        search = self._fisher_search()
        found = None if search is None else train_parts(folds, expansion, search)
        if found is None:
            moments = folds.moments(expansion)
            if moments is None:
                return super().trial_losses(folds, rng)
            parts = [folds.view(d, expansion, m) for d, m in enumerate(moments)]
            tests = [self._trained(self._discriminant(part)) for part in parts]
            found = np.stack([t[0] for t in tests]), np.array([t[1] for t in tests])
        weights, cuts = found
        sums = rows.lines(weights.T, np.zeros(rows.n_columns))
        return folds.errors(sums > cuts[:, None])

    def _losses_of_filled(self, folds: NodeFolds, expansion: str) -> Floats:
        """The same where each part fills missing values with its own means."""
        above = np.zeros(folds.tested.shape, dtype=bool)
        node = folds.node
        for d, (trained, tested) in enumerate(folds.parts):
            check_time()
            part = folds.part(d)
            if part.target.is_pure:
                continue
            view = part.view(expansion)
            weights, cut = self._trained(self._discriminant(view))
            if weights.any():
                above[d, trained] = view.weighted_sums(weights) > cut
                others = replace(
                    view,
                    rows=node.rows[tested],
                    y=node.target.strata()[tested],
                    weight=node.weight[tested],
                    remainder=None,
                )
                above[d, tested] = others.weighted_sums(weights) > cut
        return folds.errors(above)

    def _trained(self, discriminant: LinearDiscriminant) -> tuple[Floats, float]:
        """Weights and cut of a part; all rows are below the cut where there is no test."""
        found = self._find(discriminant)
        if found is None:
            return np.zeros(discriminant.rows.n_columns), 0.0
        return found.weights, float(found.cut + discriminant.rows.mean @ found.weights)

    def _fit_numbers(self, node: Node) -> Split | None:
        """Best linear test for one node whose rows have numbers."""
        one_of("groups", self.groups, GROUPS)
        search = search_of(node, number("min_branch", self.min_branch))
        most, expansion = self._most(), self._expansion()
        if self.groups == "hinge":
            if self.direction is not None:
                raise ValueError("groups='hinge' finds the direction itself: give none")
            found = along_fold(node.view(expansion), search, most)
        else:
            rows = search.by_mean(expansion)
            if self.groups == "residual":
                rows = by_residual(rows, search)
            if len(rows.present) < 2:
                return None
            direction = self._direction(Fisher(pca="never"))
            left = np.array([True, False])
            if most is not None and most < rows.n_columns:
                weights = _sparse(direction, rows, left, most)
            else:
                weights = direction.project(rows).weights(left)
            found = cut_along(rows, weights, search)
        if found is None:
            return None
        rows, weights, cut = found
        threshold = float(cut.threshold + rows.mean @ weights)
        return rows.split(weights, threshold, max(cut.gain, 0.0) / search.total)

    def _direction(self, default: Direction | None = None) -> Any:
        if self.direction is None:
            return default or Fisher()
        return DIRECTIONS.resolve(self.direction)

    def _most(self) -> int | None:
        most = self.max_features_per_test
        return None if most is None else int(number("max_features_per_test", most, 1))

    def _expansion(self) -> str:
        return one_of("expansion", self.expansion, EXPANSIONS)

    def _discriminant(self, rows: NodeColumns) -> LinearDiscriminant:
        return LinearDiscriminant(
            rows,
            self._direction(),
            THRESHOLDS.resolve(self.threshold),
            MERITS.resolve(self.merit, "classification"),
        )

    def _find(self, discriminant: LinearDiscriminant) -> Found | None:
        """The best grouping, its direction and its cut."""
        rows, projections = discriminant.rows, discriminant.projections
        threshold, merit = discriminant.threshold, discriminant.merit
        if len(rows.present) < 2:
            return None
        left = GROUPINGS.resolve(self.grouping).find(discriminant)
        if left is None:
            return None
        projected = projections.project(left[None])
        weights = projections.weights(left)
        rank = getattr(projections, "rank", np.count_nonzero(weights))
        if isinstance(projections, WithinProjections):
            rank = projections.rank_of(left)
        most = self._most()
        if most is not None and np.count_nonzero(weights) > most:
            weights = _sparse(discriminant.direction, rows, left, most)
            rank = np.count_nonzero(weights)
            projected = Projected(rows, rows.project(weights[:, None]), left[None])
        for way in (threshold, Exhaustive()) if self.fallback else (threshold,):
            cuts = way.find(projected, merit)
            value = cut_merits(projected, cuts, merit)[0]
            if np.isfinite(value):
                return Found(left, weights, float(cuts[0]), float(value), int(rank))
        return None


def _sparse(direction: Any, rows: NodeColumns, left: NDArray, most: int) -> Floats:
    """Weights of a direction that looks at a few columns only."""
    if not hasattr(direction, "sparse"):
        raise ValueError(
            f"direction {direction!r} has no sparse form; use 'fisher', or "
            "max_features_per_test=None"
        )
    return direction.sparse(rows, left, most)
