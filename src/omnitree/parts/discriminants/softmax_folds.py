"""Which penalty a softmax discriminant needs, and what it says of held-out rows.

Folds are fitted side by side (`Whitened.fit`), penalty after penalty, each from where the
last ended. With many rows the first fold goes ahead: a discriminant that does worse there
than what it has to beat is given up. Used by the learner `softmax`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from omnitree.growing.node_columns import Floats
from omnitree.growing.target import Target
from omnitree.parts.discriminants.calibration import calibrated_loss
from omnitree.parts.discriminants.softmax import Whitened
from omnitree.parts.discriminants.softmax_metric import Spread
from omnitree.resampling.held_out import HeldOut

# Rows from which on the first fold goes ahead.
MANY = 500
# Numbers that sums of all rows, classes and folds may fill at a time.
ROOM = 4_000_000


@dataclass(frozen=True)
class Validated:
    """What the folds say."""

    penalty: float  # the one with the least held-out loss
    # Mean of minus the logarithm of the held-out probability of the true class.
    loss: float
    # (n, k): sums of the classes for each row while it was held out; NaN if it was not.
    scores: Floats
    weights: Floats  # (m, k, r + 1): of each fold that was fitted
    held: NDArray[np.bool_]  # (n, m): the rows that each of these folds holds out

    @property
    def start(self) -> Floats:
        """Weights to begin with on all rows: the mean over the folds."""
        return self.weights.mean(axis=0, keepdims=True)

    def is_hopeless(self, target: Target, weight: Floats, against: HeldOut) -> bool:
        """Whether it is worse than something else on the rows that were held out."""
        lost = losses(self.scores, target, weight)
        return lost.gain(against, "errors") < -1 and lost.gain(against, "log_loss") < 0

    def is_behind(
        self, target: Target, weight: Floats, against: HeldOut, by: float
    ) -> bool:
        """Whether something else is better on the held-out rows by so many deviations."""
        lost = losses(self.scores, target, weight)
        return max(lost.gain(against, x) for x in ("errors", "log_loss")) <= -by

    @classmethod
    def of(cls, parts: Sequence[FittedFolds], penalty: float) -> Validated:
        held = np.hstack([part.held for part in parts])
        weights = np.concatenate([part.weights[penalty] for part in parts])
        scores = held_out_scores(weights, parts[0].rows.scores, held)
        tested = parts[0].weight[held.any(axis=1)].sum()
        loss = sum(part.losses[penalty] for part in parts) / tested
        return cls(penalty, loss, scores, weights, held)


def validate(
    whitened: Whitened,
    target: Target,
    weight: Floats,
    fold: NDArray[np.int64],
    penalties: Sequence[float],
    against: HeldOut | None = None,
    calibrates: bool = True,
) -> Validated:
    """Cross-validate the descending penalties.

    `target` has all its classes, `fold` says which one holds each row out, `against` is what
    something else loses on the same rows. `calibrates`: see `best_penalty`.
    """
    y, k = target.y, target.n_classes
    held = fold[:, None] == np.unique(fold)
    ahead = int(against is not None and len(y) >= MANY)
    size = max(1, ROOM // (len(y) * k))
    starts = [*range(ahead), *range(ahead, held.shape[1], size)]
    blocks = np.split(held, starts[1:], axis=1)
    parts = [FittedFolds(whitened, y, k, weight, block) for block in blocks]
    if against is not None and ahead:
        best = best_penalty(parts[:1], penalties, calibrates)
        first = Validated.of(parts[:1], best)
        if first.is_hopeless(target, weight, against):
            return first
    return Validated.of(parts, best_penalty(parts, penalties, calibrates))


@dataclass
class FittedFolds:
    """Some folds of the rows, and what was fitted without them."""

    rows: Whitened | Spread
    y: NDArray[np.int32]
    k: int
    weight: Floats  # (n,)
    held: NDArray[np.bool_]  # (n, m): the rows that each fold holds out
    start: Floats | None = None  # (m, k, r + 1): weights to begin with
    # (m, k, r + 1): what the fits found without each fold.
    weights: dict[float, Floats] = field(default_factory=dict)
    # Sum over the held-out rows of minus the logarithm of the true class's probability.
    losses: dict[float, float] = field(default_factory=dict)

    def loss(self, penalty: float) -> float:
        """Of the held-out rows; fits where it has not been asked for before."""
        if penalty not in self.losses:
            start = next(reversed(self.weights.values()), self.start)
            left = kept(self.weight, self.held)
            w = self.rows.fit(self.y, left, self.k, penalty, start)
            lost = surprise(w, self.rows.scores, self.y, self.held)
            self.weights[penalty] = w
            self.losses[penalty] = float(self.weight @ lost)
        return self.losses[penalty]

    def held_out(self, penalty: float) -> tuple[Floats, NDArray[np.int32], Floats]:
        """Scores of the held-out rows, their classes and weights."""
        self.loss(penalty)
        scores = held_out_scores(self.weights[penalty], self.rows.scores, self.held)
        at = self.held.any(axis=1)
        return scores[at], self.y[at], self.weight[at]


def surprise(
    w: Floats, x: Floats, y: NDArray[np.int32], held: NDArray[np.bool_]
) -> Floats:
    """Minus the logarithm of the probability of each row's class while it was held out.

    `w` (m, k, r) has the weights of columns x that were fitted without each fold, `held`
    (n, m) the rows of the folds; 0 for a row that none holds out.
    """
    lost = np.zeros(len(y))
    for own, fold in zip(w, held.T, strict=True):
        rows = np.flatnonzero(fold)
        s = x[rows] @ own.T
        s -= s[np.arange(len(rows)), y[rows], None]
        top = s.max(axis=1)
        inside = np.log(np.exp(s - top[:, None]).sum(axis=1))
        lost[rows] = top + inside
    return lost


def held_out_scores(w: Floats, x: Floats, held: NDArray[np.bool_]) -> Floats:
    """Sums (n, k) of the classes for each row by the weights that did not see it.

    As in `surprise`; NaN for a row that no fold holds out.
    """
    scores = np.full((len(x), w.shape[1]), np.nan)
    for own, fold in zip(w, held.T, strict=True):
        scores[fold] = x[fold] @ own.T
    return scores


def losses(scores: Floats, target: Target, weight: Floats) -> HeldOut:
    """What held-out scores lose as they are, without calibration."""
    tested = ~np.isnan(scores[:, 0])
    proba = softmax(np.where(tested[:, None], scores, 0.0), axis=1)
    return HeldOut.of(np.where(tested, weight, 0.0), proba, target)


def kept(weight: Floats, held: NDArray[np.bool_]) -> Floats:
    """Weight (n, m) of the rows that each fold does not hold out."""
    return np.where(held, 0.0, weight[:, None])


def best_penalty(
    parts: Sequence[FittedFolds], penalties: Sequence[float], calibrates: bool = True
) -> float:
    """The descending penalty with the least held-out loss, if that has one valley.

    Large penalties are seldom best: the largest is tried only if the third is worse than
    the second. A large penalty makes scores small. `calibrates`: that is made good before
    losses are compared, since the scores that win are calibrated as well.
    """

    def loss(penalty: float) -> float:
        if not calibrates:
            return sum(part.loss(penalty) for part in parts)
        rows = zip(*(part.held_out(penalty) for part in parts), strict=True)
        scores, y, weight = (np.concatenate(own) for own in rows)
        return calibrated_loss(scores, y, weight)

    begin = min(1, len(penalties) - 1)
    best = penalties[begin]
    least = loss(best)
    for way in (penalties[begin + 1 :], penalties[:begin]):
        for penalty in way:
            lost = loss(penalty)
            if lost >= least:
                break
            best, least = penalty, lost
        if best != penalties[begin]:
            break
    return best
