"""The softmax learner: a branch for each class, by penalised multinomial regression.

The columns are taken as they are, with all their squares and products, with curves, or with
both. The penalty is the one with the best cross-validated likelihood; beside curves, plain
columns, curves and products each have their own. With two classes, the result is one linear,
quadratic or additive test, with more a machine. One of the rivals in the refinement
`contest`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import CURVED, Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import number
from omnitree.growing.target import Target
from omnitree.growing.threads import one_thread
from omnitree.learners.trial import Trial, TrialLearner, folds_of
from omnitree.parts.discriminants.softmax import Standardised, Whitened
from omnitree.parts.discriminants.softmax_blocks import BlockFolds, Place
from omnitree.parts.discriminants.softmax_folds import (
    ROOM,
    Validated,
    kept,
    validate,
)
from omnitree.parts.discriminants.softmax_metric import Spread
from omnitree.parts.discriminants.softmax_sparse import Thinned, enough, fewest
from omnitree.resampling.held_out import HeldOut

PENALTIES = (1.0, 0.1, 0.01, 0.001, 0.0001)
# Rows or columns, whichever are fewer: finding the directions of more takes minutes.
TOO_MANY = 3000
# Multiplications of the last fit: with thousands of rows and columns, the last digits of the
# weights take seconds and change no answer.
WORK = 4e8
# Shares of its log loss, and of that of the class shares, that is nothing to a test with
# curves: many terms are sure to save next to nothing.
TRIFLES = 0.01, 0.002
# How trials are called, by expansion.
NAMES = {
    "linear": "linear softmax",
    "quadratic": "quadratic softmax",
    "curves": "additive softmax",
    "blocks": "additive softmax with products",
}
# Steps of a fit that must not begin where another one ended.
COLD = 40


@dataclass(frozen=True)
class SoftmaxTrial(Trial):
    """What `Softmax` found."""

    whitened: Whitened | Spread
    validated: Validated

    def functions(self) -> tuple[Floats, Floats]:
        target = self.target.of_present()
        k = target.n_classes
        with one_thread():
            (w,) = self.whitened.fit(
                target.y,
                self.rows.weight[:, None],
                k,
                self.validated.penalty,
                self.validated.start,
                **self._last_steps(),
            )
        return self.whitened.functions(w)

    def _last_steps(self) -> dict[str, Any]:
        """How far the fit to all rows goes.

        With curves, where penalties are small and weights many, as far as the folds: that
        they stop early is part of what held-out rows have judged.
        """
        if self.rows.scaling.curves:
            return {}
        work = self.whitened.scores.size * len(self.rows.present)
        return {"tolerance": 1e-6, "most": _most(work)}

    @property
    def fold(self) -> NDArray[np.intp] | None:
        return self.validated.held.argmax(axis=1) if self.tested.all() else None

    def scores_without(self, held: NDArray[np.bool_]) -> Iterator[Floats]:
        for _, w in self.weights_without(held):
            yield from np.moveaxis(self.whitened.sums(w), 1, 2)

    def weights_without(
        self, held: NDArray[np.bool_]
    ) -> Iterator[tuple[Floats, Floats]]:
        """Weights (n, m) of the rows outside some of the sets, and functions for them."""
        target, weight = self.target.of_present(), self.rows.weight
        y, k, penalty = target.y, target.n_classes, self.validated.penalty
        size = max(1, ROOM // (len(weight) * k))
        for at in range(0, held.shape[1], size):
            left = kept(weight, held[:, at : at + size])
            with one_thread():
                w = self.whitened.fit(y, left, k, penalty, most=COLD)
            yield left, w

    def thinned(self, weight: Floats, w: Floats) -> Thinned:
        """All weights `w`, fitted to rows of some `weight`, on their way to fewer."""
        scaling, spread = self.rows.scaling, self.rows.standard.spread
        curves = (scaling.terms, spread) if scaling.curves else (None, None)
        return Thinned.of(
            self.whitened,
            self.rows.columns,
            self.target.of_present().y,
            weight,
            self.validated.penalty,
            w,
            scaling.factors,
            *curves,
        )

    def _trifle(self) -> float:
        """The log loss that fewer terms may cost; 0 without curves."""
        if not self.rows.scaling.curves:
            return 0.0
        share = self.rows.class_weight[self.rows.present] / self.rows.total
        losses = self.validated.loss, -float(share @ np.log(share))
        return max(a * b for a, b in zip(TRIFLES, losses, strict=True))

    def sparser(self, margin: float) -> Trial | None:
        weight, valid = self.rows.weight, self.validated
        target = self.target.of_present()
        held = valid.held[:, : enough(valid.held)]
        start = self.thinned(kept(weight, held), valid.weights[: held.shape[1]])
        with one_thread():
            found = fewest(start, target, weight, held, margin, self._trifle())
        if found is None:
            return None
        sizes, scores = found
        return SparseTrial(
            f"sparse {self.name}",
            self.rows,
            self.expansion,
            scores,
            self.target,
            self.groups,
            self,
            start.together(weight),
            sizes,
        )


@dataclass(frozen=True)
class SparseTrial(Trial):
    """A softmax test of which only some terms are left, the last of `sizes`.

    `dense` has all weights; those of `start` are fitted to all rows or nearly so.
    """

    dense: SoftmaxTrial
    start: Thinned
    sizes: list[int]

    @property
    def n_parameters(self) -> int:
        return self.parameters(self.thinned.alive[0])

    def _used_terms(self) -> NDArray[np.bool_]:
        return self.thinned.alive[0].any(axis=0)

    @cached_property
    def thinned(self) -> Thinned:
        """The terms that are left, not yet fitted to the last digits."""
        thin = self.start
        with one_thread():
            for size in self.sizes:
                thin = thin.thinner(size)
        return thin

    def functions(self) -> tuple[Floats, Floats]:
        thin = self.thinned
        if not self.rows.scaling.curves:
            with one_thread():
                thin = thin.fitted(1e-4, _most(thin.x.size * thin.w.shape[1]))
        (w,) = thin.w
        weights = w[:, :-1] * self.dense.whitened.unit
        return weights, w[:, -1] - weights @ self.dense.whitened.mean

    @property
    def fold(self) -> NDArray[np.intp] | None:
        return self.dense.fold

    def scores_without(self, held: NDArray[np.bool_]) -> Iterator[Floats]:
        for left, w in self.dense.weights_without(held):
            thin = self.dense.thinned(left, w)
            with one_thread():
                for size in self.sizes:
                    thin = thin.thinner(size)
            yield from (thin.x @ own.T for own in thin.w)


def _most(work: int) -> int:
    """Steps of a last fit that takes so many products a step."""
    return int(np.clip(WORK / work, 50, 300))


class Softmax(TrialLearner):
    """Multinomial logistic regression with a ridge penalty, one branch per class.

    Parameters
    ----------
    expansion : {"linear", "quadratic", "curves", "blocks"}, default="linear"
        The columns: as they are, with all their squares and products, with curves of single
        numbers, or with both.
    penalties : sequence of float
        Tried from the second largest down, until the held-out likelihood gets worse; the
        largest, if that is at once. With curves, each block has a penalty of its own:
        plain columns, curves and products.
    folds : int, default=5
        Number of folds of the cross-validation that chooses the penalty.
    min_columns, max_columns : int, default=1 and None
        Nodes with fewer or more columns, products included, get no test.
    max_cells : int, optional
        Neither do nodes with more than this many rows times columns times classes.
    max_weights : int, optional
        Nor nodes with more than this many columns times classes; of two classes, columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Softmax
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = TreeClassifier(learner=Softmax(), max_depth=1).fit(X, y)
    >>> clf.tree_.n_leaves, clf.tree_.node_kinds()["machine"]
    (3, 1)
    """

    penalties: Any = PENALTIES
    folds: int = 5

    def trial(self, node: Node, against: HeldOut | None = None) -> Trial | None:
        """Cross-validate every penalty; `validate` says when it gives up."""
        penalties = sorted((float(p) for p in self.penalties), reverse=True)
        number("penalties", penalties[-1], 1e-12)
        if not self.suits(node):
            return None
        rows = node.view(self.expansion)
        if min(len(rows.rows), rows.n_columns) > TOO_MANY:
            return None
        fold = folds_of(node, self.folds)
        if fold is None:
            return None
        with one_thread():
            found = self._validated(node, fold, penalties, against)
        if found is None:
            return None
        whitened, validated = found
        return SoftmaxTrial(
            NAMES[self.expansion],
            rows,
            self.expansion,
            validated.scores,
            node.target,
            node.sample.groups_of(rows.rows),
            whitened,
            validated,
        )

    def _validated(
        self,
        node: Node,
        fold: NDArray[np.int64],
        penalties: list[float],
        against: HeldOut | None,
    ) -> tuple[Whitened | Spread, Validated] | None:
        """The rows as they are fitted, and what the folds say; None if no column varies."""
        rows, target = node.view(self.expansion), node.target.of_present()
        key = (self.expansion, self.folds, *penalties)
        known = node.penalties.get(key)
        if self.expansion in CURVED:
            folds = _blocks(rows, target, fold, penalties)
            if folds is None:
                return None
            start = None
            if self.expansion == "blocks" and known is None:
                start = self._without_products(node, target, fold, penalties)
            spread, validated, place = folds.validate(start, against, known)
            node.penalties[key] = place
            return spread, validated
        directions = Whitened.of(rows.columns, rows.weight, rows.standard.spread)
        if directions is None:
            return None
        if known is not None:  # on the way to it, one is enough
            penalties = sorted({penalties[:2][-1], penalties[known[0]]}, reverse=True)
        found = validate(directions, target, rows.weight, fold, penalties, against)
        node.penalties.setdefault(key, (penalties.index(found.penalty),))
        return directions, found

    def _without_products(
        self,
        node: Node,
        target: Target,
        fold: NDArray[np.int64],
        penalties: list[float],
    ) -> Place | None:
        """The penalties that plain columns and curves need; None without curves."""
        rows = node.view("curves")
        if not rows.scaling.curves:
            return None
        key = ("curves", self.folds, *penalties)
        if key not in node.penalties:
            folds = _blocks(rows, target, fold, penalties)
            assert folds is not None
            node.penalties[key] = folds.ahead.search().place
        return node.penalties[key]


def _blocks(
    rows: NodeColumns,
    target: Target,
    fold: NDArray[np.int64],
    penalties: list[float],
) -> BlockFolds | None:
    """The rows with their blocks of columns; None if no column varies."""
    columns = Standardised.of(rows.columns, rows.weight, rows.standard.spread)
    if columns is None:
        return None
    blocks = np.unique(rows.scaling.blocks, return_inverse=True)[1]
    held = fold[:, None] == np.unique(fold)
    return BlockFolds(columns, blocks, target, rows.weight, held, penalties)
