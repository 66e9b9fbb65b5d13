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
    weights : float array (1, k, r + 1)
        Mean over the folds.
    """

    penalty: float
    loss: float
    held_out: HeldOut
    weights: Floats

    @classmethod
    def of(
        cls, parts: Sequence[Folds], penalty: float, costs: Floats | None
    ) -> Validated:
        tested = np.sum([part.held.sum(axis=1) for part in parts], axis=0)
        wrong = np.sum([part.wrong(penalty, costs) for part in parts], axis=0)
        weights = np.concatenate([part.weights[penalty] for part in parts])
        loss = sum(part.losses[penalty] for part in parts) / tested.sum()
        mean = weights.mean(axis=0, keepdims=True)
        return cls(penalty, loss, HeldOut(tested, wrong), mean)


def validate(
    whitened: Whitened,
    y: NDArray[np.int32],
    k: int,
    weight: Floats,
    held: Floats,
    penalties: Sequence[float],
    costs: Floats | None = None,
    against: Floats | None = None,
) -> Validated:
    """Cross-validate the descending penalties.

    `held` (n, m) has the weight of each row in each fold, `costs` those of the k classes,
    `against` the share of each row that something else misclassifies.
    """
    kept = weight[:, None] - held > 1e-12
    held = held[:, (held > 0).any(axis=0) & kept.any(axis=0)]
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
    held : float array (n, m)
        Weight of each row in each fold.
    weight : float array (n,)
        Of the rows in all folds.
    weights : dict from penalty to float array (m, k, r + 1)
        What `Whitened.fit` found without each fold.
    losses : dict from penalty to float
        Sum over the held-out rows of minus the logarithm of the true class's probability.
    """

    whitened: Whitened
    y: NDArray[np.int32]
    k: int
    weight: Floats
    held: Floats
    weights: dict[float, Floats] = field(default_factory=dict)
    losses: dict[float, float] = field(default_factory=dict)

    @property
    def kept(self) -> Floats:
        """Weight (n, m) of the rows that are not held out."""
        kept = self.weight[:, None] - self.held
        kept[kept < 1e-12] = 0.0
        return kept

    def loss(self, penalty: float) -> float:
        """Of the held-out rows; fits where it has not been asked for before."""
        if penalty not in self.losses:
            start = next(reversed(self.weights.values()), None)
            w = self.whitened.fit(self.y, self.kept, self.k, penalty, start)
            s = self.whitened.sums(w)
            lost = np.logaddexp.reduce(s, axis=1) - s[:, self.y, np.arange(len(self.y))]
            self.weights[penalty] = w
            self.losses[penalty] = float(np.vdot(self.held.T, lost))
        return self.losses[penalty]

    def wrong(self, penalty: float, costs: Floats | None) -> Floats:
        """Weight of each row while it was held out and misclassified, times the cost."""
        said = self.whitened.sums(self.weights[penalty]).argmax(axis=1)
        wrong = np.zeros(len(self.y))
        for held, branch, kept in zip(self.held.T, said, self.kept.T, strict=True):
            wrong += held * losses(branch, self.y, kept, costs)
        return wrong


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
