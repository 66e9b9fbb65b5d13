"""Softmax discriminants with few terms, by backward elimination.

A term is a column, with its weight, or a curve, with the weights of all its columns. Of the
terms the half that changes the sums least is dropped, the others are fitted anew from where
they were, and so on; each function has its own terms. Folds go side by side and choose for
themselves what they drop, so what they say of held-out rows is honest. The fewest terms are
taken that are not worse than all of them; at the end a number between these and the next is
tried. Used by the learner `softmax` when its test has won in the refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node_columns import Floats
from omnitree.growing.target import Target
from omnitree.parts.discriminants.softmax import Whitened
from omnitree.parts.discriminants.softmax_folds import held_out_scores, losses
from omnitree.parts.discriminants.softmax_metric import Spread, regress
from omnitree.resampling.held_out import HeldOut

# Terms of a sum that is read as it is.
TERMS = 10
# Steps of a fit after terms were dropped, and the slope at which it stops before: enough to
# compare.
STEPS = 20
SLOPE = 1e-2
# With curves, whose columns are correlated.
CURVE_SLOPE = 3e-3
# Standard errors, beyond the margin, by which a likelihood is so much worse that fewer
# terms have no chance.
HOPELESS = 1.0
# Held-out rows that are enough to judge by.
ROWS = 2000


@dataclass(frozen=True)
class Thinned:
    """Functions of which some terms are 0, for several weightings of the same rows."""

    x: Floats  # (n, p + 1): columns of mean 0; the last is 1
    # (p,): deviation of the columns, as far as penalties and curves make it differ from 1.
    deviation: Floats
    term: NDArray[np.intp]  # (p,): the term of each column; those of curves come last
    y: NDArray[np.int32]  # (n,): classes 0 .. k-1.
    weight: Floats  # (n, m)
    penalty: float
    w: Floats  # (m, k, p + 1)
    # (m, l, t): the terms that are not 0; l = k, but 1 of two classes, whose weights are
    # opposite.
    alive: NDArray[np.bool_]
    # (t, t): 1 where the line's term is a product of the other. Its weight stays as long
    # as that of a product: in the table's own units it would come back.
    needed_by: Floats | None = None

    @classmethod
    def of(
        cls,
        whitened: Whitened | Spread,
        columns: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        penalty: float,
        w: Floats,
        needed_by: Floats | None = None,
        term: NDArray[np.intp] | None = None,
        spread: Floats | None = None,
    ) -> Thinned:
        """All weights, as `Whitened.fit` found them.

        Where there are curves, `term` is the term of each column, and `spread` its deviation
        under one penalty for all.
        """
        p = columns.shape[1]
        x = whitened.standardised(columns)
        full = whitened.in_columns(w)
        deviation = np.ones(p)
        if term is None or spread is None:
            term = np.arange(p)
        else:
            of_curve = np.bincount(term)[term] > 1
            deviation = x[:, :-1].std(axis=0) / np.where(of_curve, 1.0, spread)
        lines = 1 if w.shape[1] == 2 else w.shape[1]
        varies = np.bincount(term, whitened.unit > 0) > 0
        alive = np.tile(varies, (len(w), lines, 1))
        return cls(x, deviation, term, y, weight, penalty, full, alive, needed_by)

    def together(self, weight: Floats) -> Thinned:
        """One fit to rows of this weight, to begin with the mean of these."""
        w = self.w.mean(axis=0, keepdims=True)
        return replace(self, weight=weight[:, None], w=w, alive=self.alive[:1])

    @property
    def n_terms(self) -> int:
        """Terms that are not 0, of one weighting."""
        return int(self.alive[0].sum())

    @property
    def effects(self) -> Floats:
        """Deviations (m, l, t) that the terms give the sums."""
        w = self.w[:, -self.alive.shape[1] :, :-1]
        alone = int((np.bincount(self.term) == 1).sum())
        out = np.empty((*w.shape[:2], self.alive.shape[2]))
        out[..., :alone] = np.abs(w[..., :alone]) * self.deviation[:alone]
        for at in range(alone, out.shape[2]):
            own = np.flatnonzero(self.term == at)
            x, part = self.x[:, own], w[..., own]
            square = ((part @ (x.T @ x)) * part).sum(axis=-1) / len(x)
            out[..., at] = np.sqrt(np.maximum(square, 0.0))
        return out

    def thinner(self, size: int) -> Thinned:
        """Only so many terms, those with the largest effects, fitted anew."""
        alive = self.alive.copy()
        for own, effect in zip(alive, self.effects, strict=True):
            # Rounded, so that what is equal but for rounding goes by its place.
            far = np.round(np.log(effect + 1e-300), 6)
            while (extra := int(own.sum()) - size) > 0:
                free = own
                if self.needed_by is not None:
                    free = own & ~(own @ self.needed_by > 0)
                at = np.flatnonzero(free)[::-1]
                order = np.argsort(far.ravel()[at], kind="stable")
                own.reshape(-1)[at[order[:extra]]] = False
        return replace(self, alive=alive).fitted()

    def fitted(self, tolerance: float | None = None, most: int = STEPS) -> Thinned:
        """The terms that are left, fitted from where they are."""
        if tolerance is None:
            has_curves = len(self.term) > self.alive.shape[2]
            tolerance = CURVE_SLOPE if has_curves else SLOPE
        alive = self.alive[..., self.term]
        used = np.append(alive.any(axis=(0, 1)), True)
        inverse = np.ones((*alive.shape[:2], int(used.sum())))
        curvature = 0.25 * self.deviation[used[:-1]] ** 2 + self.penalty
        inverse[..., :-1] = alive[..., used[:-1]] / curvature
        w = np.zeros(self.w.shape)
        w[..., used] = regress(
            np.ascontiguousarray(self.x[:, used]),
            self.y,
            self.weight,
            self.w.shape[1],
            self.penalty,
            self.w[..., used],
            tolerance,
            most,
            inverse=inverse,
        )
        return replace(self, w=w)


def sizes(n: int, least: int) -> list[int]:
    """Numbers of terms that are tried: half, a quarter and so on, and the least."""
    out = []
    while n > least:
        n = n // 2 if n // 2 > 1.4 * least else least
        out.append(n)
    return out


def fewest(
    full: Thinned,
    target: Target,
    weight: Floats,
    held: NDArray[np.bool_],
    margins: tuple[float, float],
    trifle: float = 0.0,
) -> tuple[list[int], Floats] | None:
    """Numbers of terms down to the fewest that are good enough, and held-out scores.

    `full` has all terms, fitted to rows of some `weight` without each of the folds `held`
    (n, m). Good enough is what is not worse than that by more than so many standard errors,
    the first of `margins` in held-out errors (or their costs), the second in held-out log
    loss; a log loss that is larger by no more than `trifle` is not worse. None if no number
    is good enough.
    """
    _, best = judge(full, target, weight, held)

    def compared(thin: Thinned) -> tuple[Floats, float, float]:
        """Scores, and what is left of both margins, in standard errors."""
        scores, lost = judge(thin, target, weight, held)
        gain = lost.gain(best, "log_loss")
        if lost.mean("log_loss") < best.mean("log_loss") + trifle:
            gain = max(gain, 0.0)
        return scores, lost.gain(best, "errors") + margins[0], gain + margins[1]

    tried = sizes(full.n_terms, TERMS * full.alive.shape[1])
    good: list[int] = []
    found, thin, last = None, full, full
    for i, size in enumerate(tried):
        thin = thin.thinner(size)
        scores, *left = compared(thin)
        if min(left) >= -1e-9:
            good, found, last = tried[: i + 1], scores, thin
        elif max(left) < 0 or left[1] < -HOPELESS:
            break
    if len(good) < len(tried):  # half way to the next, which is too small
        size = (last.n_terms + tried[len(good)]) // 2
        scores, *left = compared(last.thinner(size))
        if min(left) >= -1e-9:
            good, found = [*good, size], scores
    return None if found is None else (good, found)


def judge(
    thin: Thinned, target: Target, weight: Floats, held: NDArray[np.bool_]
) -> tuple[Floats, HeldOut]:
    """Scores in the folds, and what they lose."""
    scores = held_out_scores(thin.w, thin.x, held)
    return scores, losses(scores, target, weight)


def enough(held: NDArray[np.bool_]) -> int:
    """How many folds have the rows that are needed to judge by."""
    return min(int((np.cumsum(held.sum(axis=0)) < ROWS).sum()) + 1, held.shape[1])
