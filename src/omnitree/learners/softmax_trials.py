"""What the softmax learner found at a node: a test with all its weights, or with few.

`SoftmaxTrial` has all weights, `SparseTrial` some terms of it (`softmax_sparse.py`). A
`SampledTrial` is either, chosen on some rows of a large node and fitted to all of them.
Made by the learner `softmax`; the refinement `contest` compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.target import Target
from omnitree.growing.threads import one_thread
from omnitree.learners.trial import Trial
from omnitree.parts.discriminants.softmax import Whitened
from omnitree.parts.discriminants.softmax_folds import ROOM, Validated, kept
from omnitree.parts.discriminants.softmax_metric import Spread
from omnitree.parts.discriminants.softmax_sparse import Thinned, enough, fewest

# Multiplications of the last fit: with thousands of rows and columns, the last digits of the
# weights take seconds and change no answer.
WORK = 4e8
# Shares of its log loss, and of that of the class shares, that is nothing to a test with
# curves: many terms are sure to save next to nothing.
TRIFLES = 0.01, 0.002
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

    def with_rows(self, rows: NodeColumns, target: Target) -> SoftmaxTrial:
        """The same choices, to be fitted to other rows with the same columns."""
        whitened = self.whitened.with_rows(rows.columns)
        return replace(self, rows=rows, target=target, whitened=whitened)

    def _last_steps(self) -> dict[str, Any]:
        """How far the fit to all rows goes.

        With curves, where penalties are small and weights many, as far as the folds: that
        they stop early is part of what held-out rows have judged.
        """
        if self.rows.scaling.curves:
            return {}
        work = self.whitened.scores.size * len(self.rows.present)
        return {"tolerance": 1e-5, "most": _most(work)}

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

    def sparser(self, margin: float, unlikelier: float | None = None) -> Trial | None:
        weight, valid = self.rows.weight, self.validated
        target = self.target.of_present()
        held = valid.held[:, : enough(valid.held)]
        start = self.thinned(kept(weight, held), valid.weights[: held.shape[1]])
        with one_thread():
            margins = margin, margin if unlikelier is None else unlikelier
            found = fewest(start, target, weight, held, margins, self._trifle())
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

    @cached_property
    def n_parameters(self) -> int:
        return self.parameters(self.thinned.alive[0])

    def used_terms(self) -> NDArray[np.bool_]:
        return self.thinned.alive[0].any(axis=0)

    @cached_property
    def thinned(self) -> Thinned:
        """The terms that are left, not yet fitted to the last digits."""
        thin = self.start
        with one_thread():
            for size in self.sizes:
                thin = thin.thinner(size)
        return thin

    def with_rows(self, rows: NodeColumns, target: Target) -> SparseTrial:
        """The same terms, to be fitted to other rows with the same columns."""
        x = self.dense.whitened.standardised(rows.columns)
        y, weight = target.of_present().y, rows.weight[:, None]
        with one_thread():
            thin = replace(self.thinned, x=x, y=y, weight=weight).fitted()
        return replace(self, rows=rows, target=target, start=thin, sizes=[])

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


@dataclass(frozen=True)
class SampledTrial(Trial):
    """A test whose penalties and terms some rows have chosen, fitted to all.

    Rows of the sample were scored while they were held out, all others by the test as it
    is fitted to the sample. No trees are grown on top of it.
    """

    some: SoftmaxTrial | SparseTrial
    at: NDArray[np.intp]  # positions of the sample among the rows

    @classmethod
    def of(
        cls,
        some: SoftmaxTrial | SparseTrial,
        at: NDArray[np.intp],
        rows: NodeColumns,
        target: Target,
        groups: NDArray[np.int64] | None,
    ) -> SampledTrial:
        """A trial of the rows `at`; where it was given up, nothing is said of others."""
        scores = np.full((len(rows.rows), some.scores.shape[1]), np.nan)
        if isinstance(some, SparseTrial) or some.tested.all():
            weights, bias = some.fitted
            scores = rows.columns @ weights.T + bias
        scores[at] = some.scores
        return cls(some.name, rows, some.expansion, scores, target, groups, some, at)

    @cached_property
    def n_parameters(self) -> int:
        return self.some.n_parameters

    def used_terms(self) -> NDArray[np.bool_]:
        return self.some.used_terms()

    def functions(self) -> tuple[Floats, Floats]:
        return self.some.with_rows(self.rows, self.target).functions()

    def sparser(self, margin: float, unlikelier: float | None = None) -> Trial | None:
        sparse = self.some.sparser(margin, unlikelier)
        if not isinstance(sparse, SparseTrial):
            return None
        return SampledTrial.of(sparse, self.at, self.rows, self.target, self.groups)


def _most(work: int) -> int:
    """Steps of a last fit that takes so many products a step."""
    return int(np.clip(WORK / work, 50, 300))
