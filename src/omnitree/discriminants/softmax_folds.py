"""Which penalty a softmax discriminant needs, and how it fares on rows held out.

Folds are fitted side by side (`Whitened.fit`), penalty after penalty, each from where the
last ended. With many rows the first fold goes ahead: a discriminant that does worse there
than what it has to beat is given up. Used by the learner `softmax`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from omnitree.discriminants.softmax import Whitened
from omnitree.held_out import HeldOut, losses
from omnitree.linear_rows import Floats

# Rows from which on the first fold goes ahead.
MANY = 500
# Numbers that sums of all rows, classes and folds may fill at a time.
ROOM = 4_000_000


@dataclass(frozen=True)
class Validated:
    """What the folds say.

    Attributes
    ----------
    penalty : float
        The one with the least held-out loss.
    loss : float
        Mean of minus the logarithm of the held-out probability of the true class.
    held_out : HeldOut
        Errors in the folds that were fitted.
    weights : float array (m, k, r + 1)
        Of each fold that was fitted.
    held : bool array (n, m)
        The rows that each of these folds holds out.
    """

    penalty: float
    loss: float
    held_out: HeldOut
    weights: Floats
    held: NDArray[np.bool_]

    @property
    def start(self) -> Floats:
        """Weights to begin with on all rows: the mean over the folds."""
        return self.weights.mean(axis=0, keepdims=True)

    @classmethod
    def of(
        cls, parts: Sequence[Folds], penalty: float, costs: Floats | None
    ) -> Validated:
        held = np.hstack([part.held for part in parts])
        tested = np.where(held.any(axis=1), parts[0].weight, 0.0)
        wrong = np.sum([part.wrong(penalty, costs) for part in parts], axis=0)
        weights = np.concatenate([part.weights[penalty] for part in parts])
        loss = sum(part.losses[penalty] for part in parts) / tested.sum()
        return cls(penalty, loss, HeldOut(tested, wrong), weights, held)


def validate(
    whitened: Whitened,
    y: NDArray[np.int32],
    k: int,
    weight: Floats,
    fold: NDArray[np.int64],
    penalties: Sequence[float],
    costs: Floats | None = None,
    against: Floats | None = None,
) -> Validated:
    """Cross-validate the descending penalties.

    `fold` says which one holds each row out, `costs` are those of the k classes, `against`
    is the share of each row that something else misclassifies.
    """
    held = fold[:, None] == np.unique(fold)
    ahead = int(against is not None and len(y) >= MANY)
    size = max(1, ROOM // (len(y) * k))
    starts = [*range(ahead), *range(ahead, held.shape[1], size)]
    blocks = np.split(held, starts[1:], axis=1)
    parts = [Folds(whitened, y, k, weight, block) for block in blocks]
    if against is not None and ahead:
        first = Validated.of(parts[:1], best_penalty(parts[:1], penalties), costs)
        if first.held_out.gain(against) < -1:
            return first
    return Validated.of(parts, best_penalty(parts, penalties), costs)


@dataclass
class Folds:
    """Some folds of the rows, and what was fitted without them.

    Attributes
    ----------
    held : bool array (n, m)
        The rows that each fold holds out.
    weight : float array (n,)
    weights : dict from penalty to float array (m, k, r + 1)
        What `Whitened.fit` found without each fold.
    losses : dict from penalty to float
        Sum over the held-out rows of minus the logarithm of the true class's probability.
    """

    whitened: Whitened
    y: NDArray[np.int32]
    k: int
    weight: Floats
    held: NDArray[np.bool_]
    weights: dict[float, Floats] = field(default_factory=dict)
    losses: dict[float, float] = field(default_factory=dict)

    def loss(self, penalty: float) -> float:
        """Of the held-out rows; fits where it has not been asked for before."""
        if penalty not in self.losses:
            start = next(reversed(self.weights.values()), None)
            left = kept(self.weight, self.held)
            w = self.whitened.fit(self.y, left, self.k, penalty, start)
            lost = surprise(w, self.whitened.scores, self.y, self.held)
            self.weights[penalty] = w
            self.losses[penalty] = float(self.weight @ lost)
        return self.losses[penalty]

    def wrong(self, penalty: float, costs: Floats | None) -> Floats:
        """Weight of each row that was held out and misclassified, times the cost."""
        w, x = self.weights[penalty], self.whitened.scores
        return misclassified(w, x, self.y, self.held, self.weight, costs)


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


def misclassified(
    w: Floats,
    x: Floats,
    y: NDArray[np.int32],
    held: NDArray[np.bool_],
    weight: Floats,
    costs: Floats | None,
) -> Floats:
    """Weight of each row that was held out and misclassified, times the cost."""
    wrong = np.zeros(len(y))
    for own, fold in zip(w, held.T, strict=True):
        # What a branch answers under costs depends on the rows that are not held out.
        rows = np.flatnonzero(fold if costs is None else np.ones(len(y)))
        branch = (x[rows] @ own.T).argmax(axis=1)
        lost = losses(branch, y[rows], np.where(fold, 0.0, weight)[rows], costs)
        wrong[rows] += fold[rows] * weight[rows] * lost
    return wrong


def kept(weight: Floats, held: NDArray[np.bool_]) -> Floats:
    """Weight (n, m) of the rows that each fold does not hold out."""
    return np.where(held, 0.0, weight[:, None])


def best_penalty(parts: Sequence[Folds], penalties: Sequence[float]) -> float:
    """The descending penalty with the least held-out loss, if that has one valley.

    Large penalties are seldom best: the largest is tried only if the third is worse than
    the second.
    """

    def loss(penalty: float) -> float:
        return sum(part.loss(penalty) for part in parts)

    begin = min(1, len(penalties) - 1)
    best = penalties[begin]
    least = loss(best)
    for way in (penalties[begin + 1 :], penalties[:begin]):
        for penalty in way:
            if loss(penalty) >= least:
                break
            best, least = penalty, loss(penalty)
        if best != penalties[begin]:
            break
    return best
