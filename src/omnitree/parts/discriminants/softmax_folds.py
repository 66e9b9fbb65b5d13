"""Which penalty a softmax discriminant needs, and what it says of held-out rows.

Folds are fitted side by side (`Whitened.fit`), penalty after penalty, each from where the
last ended. With many rows the first fold goes ahead: a discriminant that does worse there
than what it has to beat is given up. Used by the learner `softmax`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

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
    # (n, k): sums of the classes for each row while it was held out, in the mean of the
    # folds that hold it out; NaN if none does.
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
        total = np.zeros((len(held), weights.shape[1]))
        for part in parts:
            times = part.held[part.tested].sum(axis=1, keepdims=True)
            total[part.tested] += times * part.scores(penalty)
        scores = total / HeldRows.of(held).times
        tested = sum(part.weight[part.tested].sum() for part in parts)
        loss = sum(part.loss(penalty) for part in parts) / tested
        return cls(penalty, loss, scores, weights, held)


def validate(
    whitened: Whitened,
    target: Target,
    weight: Floats,
    held: NDArray[np.bool_],
    penalties: Sequence[float],
    against: HeldOut | None = None,
    calibrates: bool = True,
) -> Validated:
    """Cross-validate the descending penalties.

    `target` has all its classes, `held` (n, m) says which rows each fold holds out,
    `against` is what something else loses on the same rows. `calibrates`: see
    `best_penalty`.
    """
    y, k = target.y, target.n_classes
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
    # Of the rows that are held out, what `scores` and `loss` return.
    _scores: dict[float, Floats] = field(default_factory=dict, init=False)
    _losses: dict[float, float] = field(default_factory=dict, init=False)

    @cached_property
    def dealt(self) -> HeldRows:
        """The folds, as scores of their rows are found."""
        return HeldRows.of(self.held)

    @cached_property
    def tested(self) -> NDArray[np.intp]:
        """The rows that some fold holds out."""
        return np.flatnonzero(self.held.any(axis=1))

    def scores(self, penalty: float) -> Floats:
        """Sums of the classes for the held-out rows; fits where it was not asked before."""
        if penalty not in self._scores:
            start = next(reversed(self.weights.values()), self.start)
            left = kept(self.weight, self.held)
            w = self.rows.fit(self.y, left, self.k, penalty, start)
            scores = self.dealt.scores(w, self.rows.scores)
            self.weights[penalty] = w
            self._scores[penalty] = scores[self.tested]
        return self._scores[penalty]

    def loss(self, penalty: float) -> float:
        """Sum over these rows of minus the logarithm of the true class's probability."""
        if penalty not in self._losses:
            y, weight = self.y[self.tested], self.weight[self.tested]
            self._losses[penalty] = float(weight @ surprise(self.scores(penalty), y))
        return self._losses[penalty]


def surprise(scores: Floats, y: NDArray[np.int32]) -> Floats:
    """Minus the logarithm of the probability of each row's class by its scores (n, k)."""
    s = scores - np.take_along_axis(scores, y[:, None], axis=1)
    top = s.max(axis=1)
    return top + np.log(np.exp(s - top[:, None]).sum(axis=1))


def held_out_scores(w: Floats, x: Floats, held: NDArray[np.bool_]) -> Floats:
    """Sums (n, k) of the classes for each row by the weights that did not see it.

    `w` (m, k, r) has the weights of columns x that were fitted without each fold, `held`
    (n, m) the rows of the folds; the mean for a row that several hold out, NaN for one that
    none does.
    """
    return HeldRows.of(held).scores(w, x)


@dataclass(frozen=True)
class HeldRows:
    """The rows that each of some folds holds out, and how many folds hold out each row."""

    rows: list[NDArray[np.intp]]
    times: Floats  # (n, 1); NaN where none does

    @classmethod
    def of(cls, held: NDArray[np.bool_]) -> HeldRows:
        times = held.sum(axis=1, keepdims=True).astype(np.float64)
        times[times == 0] = np.nan
        return cls([np.flatnonzero(fold) for fold in held.T], times)

    def scores(self, w: Floats, x: Floats) -> Floats:
        """As `held_out_scores`."""
        total = np.zeros((len(x), w.shape[1]))
        for own, rows in zip(w, self.rows, strict=True):
            total[rows] += x[rows] @ own.T
        return total / self.times


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
        scores = np.concatenate([part.scores(penalty) for part in parts])
        rows = np.concatenate([part.tested for part in parts])
        return calibrated_loss(scores, parts[0].y[rows], parts[0].weight[rows])

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
