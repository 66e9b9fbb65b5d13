"""Softmax discriminants with few weights, by backward elimination.

Of the weights, on columns of deviation 1, the half nearest to 0 is dropped, the others are
fitted anew from where they were, and so on; each function has its own terms. Folds go side
by side and choose for themselves what they drop, so what they say of held-out rows is
honest. The fewest weights are taken that are not worse than all of them; at the end a number
between these and the next is tried. Used by the learner `softmax` when its test has won in
the refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node_columns import Floats
from omnitree.parts.discriminants.softmax import Whitened, regress
from omnitree.parts.discriminants.softmax_folds import held_out_scores, losses
from omnitree.resampling.held_out import HeldOut

# Terms of a sum that is read as it is.
TERMS = 10
# Steps of a fit after weights were dropped, and the slope at which it stops before: enough
# to compare.
STEPS = 10
SLOPE = 5e-4
# Standard errors, beyond the margin, by which a likelihood is so much worse that fewer
# weights have no chance.
HOPELESS = 1.0
# Held-out rows that are enough to judge by.
ROWS = 2000


@dataclass(frozen=True)
class Thinned:
    """Functions of which some weights are 0, for several weightings of the same rows.

    Attributes
    ----------
    x : float array (n, p + 1)
        Columns of mean 0 and deviation 1; the last is 1.
    y : int array (n,)
        Classes 0 .. k-1.
    weight : float array (n, m)
    penalty : float
    w : float array (m, k, p + 1)
    alive : bool array (m, l, p)
        The weights that are not 0; l = k, but 1 of two classes, whose weights are opposite.
    needed_by : float array (p, p) or None
        1 where the line's column is a product of the other. Its weight stays as long as
        that of a product: in the table's own units it would come back.
    """

    x: Floats
    y: NDArray[np.int32]
    weight: Floats
    penalty: float
    w: Floats
    alive: NDArray[np.bool_]
    needed_by: Floats | None = None

    @classmethod
    def of(
        cls,
        whitened: Whitened,
        columns: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        penalty: float,
        w: Floats,
        needed_by: Floats | None = None,
    ) -> Thinned:
        """All weights, as `Whitened.fit` found them."""
        x = np.ones((len(columns), columns.shape[1] + 1))
        np.subtract(columns, whitened.mean, out=x[:, :-1])
        x[:, :-1] *= whitened.unit
        full = np.empty((*w.shape[:2], x.shape[1]))
        np.matmul(w[..., :-1], whitened.directions.T, out=full[..., :-1])
        full[..., -1] = w[..., -1]
        lines = 1 if w.shape[1] == 2 else w.shape[1]
        alive = np.tile(whitened.unit > 0, (len(w), lines, 1))
        return cls(x, y, weight, penalty, full, alive, needed_by)

    def together(self, weight: Floats) -> Thinned:
        """One fit to rows of this weight, to begin with the mean of these."""
        w = self.w.mean(axis=0, keepdims=True)
        return replace(self, weight=weight[:, None], w=w, alive=self.alive[:1])

    @property
    def n_weights(self) -> int:
        """Weights that are not 0, of one weighting."""
        return int(self.alive[0].sum())

    def thinner(self, size: int) -> Thinned:
        """Only so many weights, those that are furthest from 0, fitted anew."""
        alive = self.alive.copy()
        for own, w in zip(alive, self.w, strict=True):
            # Rounded, so that what is equal but for rounding goes by its place.
            far = np.round(np.log(np.abs(w[-len(own) :, :-1]) + 1e-300), 6)
            while (extra := int(own.sum()) - size) > 0:
                free = own
                if self.needed_by is not None:
                    free = own & ~(own @ self.needed_by > 0)
                at = np.flatnonzero(free)[::-1]
                order = np.argsort(far.ravel()[at], kind="stable")
                own.reshape(-1)[at[order[:extra]]] = False
        return replace(self, alive=alive).fitted()

    def fitted(self, tolerance: float = SLOPE, most: int = STEPS) -> Thinned:
        """The weights that are left, fitted from where they are."""
        used = np.append(self.alive.any(axis=(0, 1)), True)
        m, lines, _ = self.alive.shape
        scale = np.ones((m, lines, int(used.sum())))
        scale[..., :-1] = self.alive[..., used[:-1]] / np.sqrt(0.25 + self.penalty)
        w = np.zeros(self.w.shape)
        w[..., used] = regress(
            np.ascontiguousarray(self.x[:, used]),
            self.y,
            self.weight,
            self.w.shape[1],
            self.penalty,
            scale,
            self.w[..., used],
            tolerance,
            most,
        )
        return replace(self, w=w)


def sizes(n: int, least: int) -> list[int]:
    """Numbers of weights that are tried: half, a quarter and so on, and the least."""
    out = []
    while n > least:
        n = n // 2 if n // 2 > 1.4 * least else least
        out.append(n)
    return out


def fewest(
    full: Thinned,
    weight: Floats,
    held: NDArray[np.bool_],
    margin: float,
    costs: Floats | None = None,
) -> tuple[list[int], Floats] | None:
    """Numbers of weights down to the fewest that are good enough, and held-out scores.

    `full` has all weights, fitted to rows of some `weight` without each of the folds `held`
    (n, m). Good enough is what is not worse than that by more than `margin` standard
    errors, neither in held-out errors (or their costs) nor in held-out likelihood. None if
    no number is.
    """
    _, best = judge(full, weight, held, costs)

    def compared(thin: Thinned) -> tuple[Floats, float, float]:
        scores, lost = judge(thin, weight, held, costs)
        return scores, lost.gain(best, "errors"), lost.gain(best, "log_loss")

    tried = sizes(full.n_weights, TERMS * full.alive.shape[1])
    good: list[int] = []
    found, thin, last = None, full, full
    for i, size in enumerate(tried):
        thin = thin.thinner(size)
        scores, *gains = compared(thin)
        if min(gains) >= -margin - 1e-9:
            good, found, last = tried[: i + 1], scores, thin
        elif max(gains) < -margin or gains[1] < -margin - HOPELESS:
            break
    if len(good) < len(tried):  # half way to the next, which is too small
        size = (last.n_weights + tried[len(good)]) // 2
        scores, *gains = compared(last.thinner(size))
        if min(gains) >= -margin - 1e-9:
            good, found = [*good, size], scores
    return None if found is None else (good, found)


def judge(
    thin: Thinned, weight: Floats, held: NDArray[np.bool_], costs: Floats | None
) -> tuple[Floats, HeldOut]:
    """Scores in the folds, and what they lose."""
    scores = held_out_scores(thin.w, thin.x, held)
    return scores, losses(scores, thin.y, weight, costs)


def enough(held: NDArray[np.bool_]) -> int:
    """How many folds have the rows that are needed to judge by."""
    return min(int((np.cumsum(held.sum(axis=0)) < ROWS).sum()) + 1, held.shape[1])
