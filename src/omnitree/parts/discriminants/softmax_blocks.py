"""Which penalties the blocks of columns of a softmax discriminant need.

Plain columns, curves and products each have their own penalty. They are searched on a grid:
all together and each by itself move by a step as long as the held-out likelihood gets
better. Products come to what plain columns and curves need without them. A penalty is a
matter of units: columns of a block with a larger one are spread less (`Spread`). Fits go
on from the best one so far. With many rows some folds go ahead and choose for all. Used by
the learner `softmax` with the expansions "curves" and "blocks".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node_columns import Floats
from omnitree.growing.target import Target
from omnitree.parts.discriminants.softmax import Standardised
from omnitree.parts.discriminants.softmax_folds import ROOM, FittedFolds, Validated
from omnitree.parts.discriminants.softmax_metric import Spread
from omnitree.resampling.held_out import HeldOut

# Held-out rows that are enough to choose penalties by.
ROWS = 300
# Share of the loss that another penalty must save.
SAVED = 3e-3
# Penalties that are tried at most.
TRIALS = 16
# Standard errors that no other penalty will make good.
FAR = 2.0

Place = tuple[int, ...]


@dataclass
class BlockFolds:
    """The rows with their blocks of columns, and what was found so far."""

    columns: Standardised  # in the units of a penalty that is the same for all blocks
    blocks: NDArray[np.intp]  # (p,): the block of each column, 0 .. b-1
    target: Target  # with all its classes
    weight: Floats  # (n,)
    held: NDArray[np.bool_]  # (n, m): the rows that each fold holds out
    penalties: Sequence[float]  # descending
    # By places among the penalties, one for each block.
    losses: dict[Place, float] = field(default_factory=dict, init=False)
    best: Fitted | None = field(default=None, init=False)

    @property
    def ahead(self) -> BlockFolds:
        """Only the folds that choose the penalties."""
        least = ROWS * int(self.held.sum(axis=1).max(initial=1))  # in each deal
        enough = int((np.cumsum(self.held.sum(axis=0)) < least).sum()) + 1
        return replace(self, held=self.held[:, :enough])

    def loss(self, place: Place) -> float:
        """Of the held-out rows; fits where it has not been asked for before."""
        if place not in self.losses:
            fitted = self.fitted(place)
            self.losses[place] = fitted.loss
            if self.best is None or fitted.loss < self.best.loss:
                self.best = fitted
        return self.losses[place]

    def fitted(self, place: Place) -> Fitted:
        """Fits without each of the folds, from the best ones so far."""
        penalty = np.array([self.penalties[at] for at in place])
        spread = self._spread_as(np.sqrt(penalty[0] / penalty))
        start = None if self.best is None else self.best.weights_in(spread)
        y, k = self.target.y, self.target.n_classes
        size = max(1, ROOM // (len(y) * k))
        parts = []
        for first in range(0, self.held.shape[1], size):
            some = slice(first, first + size)
            own = None if start is None else start[some]
            part = (spread, y, k, self.weight, self.held[:, some])
            parts.append(FittedFolds(*part, own))
        loss = sum(part.loss(penalty[0]) for part in parts)
        return Fitted(place, loss, parts)

    def _spread_as(self, scale: Floats) -> Spread:
        """The columns, each block times a number; those of the best fit if they are alike.

        They are where the penalties of all blocks have moved together.
        """
        unit = self.columns.unit * scale[self.blocks]
        if self.best is not None and (unit == self.best.spread.unit).all():
            return self.best.spread
        return self.columns.spread(scale[self.blocks])

    def search(self, start: Place | None = None) -> Fitted:
        """Go on while a step makes the loss smaller.

        `start` are the places of all blocks but the last, which begins with the largest
        penalty; without, all begin with the second largest.
        """
        place = self._middle()
        n = len(place)
        last, *others = np.eye(n, dtype=int)[::-1]
        together = np.ones(n, dtype=int)
        steps = [together, -together]
        if start is not None:
            place, steps = np.append(start, 0), [last, *steps]
        steps += [sign * step for step in (*others, last) for sign in (-1, 1)]
        least, since, i = self.loss(tuple(place)), 0, 0
        while since < len(steps) and len(self.losses) < TRIALS:
            new = place + steps[i]
            inside = new.min() >= 0 and new.max() < len(self.penalties)
            if inside and self.loss(tuple(new)) < least * (1 - SAVED):
                place, least, since = new, self.losses[tuple(new)], 0
            else:
                i, since = (i + 1) % len(steps), since + 1
        assert self.best is not None
        return self.best

    def begun(self) -> Fitted:
        """Fits with large penalties, from which all others begin."""
        self.loss(tuple(self._middle()))
        assert self.best is not None
        return self.best

    def _middle(self) -> NDArray[np.intp]:
        """The second largest penalty for all blocks."""
        n = int(self.blocks.max()) + 1
        return np.full(n, min(1, len(self.penalties) - 1), dtype=np.intp)

    def validate(
        self,
        start: Place | None,
        against: HeldOut | None,
        slack: float = 0.0,
    ) -> tuple[Spread, Validated, Place]:
        """Cross-validate the penalties of the blocks; as `validate` does one penalty.

        The rows come back spread as the penalties of the blocks want it, so that the
        penalty of the first block is that of all. It is given up where the first folds say
        that it is behind something simpler, `against`, by `slack` standard errors, and
        before the search where it is far behind.
        """
        ahead = self.ahead

        def is_behind(best: Fitted, by: float) -> bool:
            found = Validated.of(best.parts, self.penalties[best.place[0]])
            return against is not None and found.is_behind(
                self.target, self.weight, against, by
            )

        rest = replace(self, held=self.held[:, ahead.held.shape[1] :])
        best = ahead.begun()
        given_up = bool(rest.held.shape[1]) and is_behind(best, slack + FAR)
        if not given_up:
            best = ahead.search(start)
            given_up = is_behind(best, slack)
        parts = best.parts
        if rest.held.shape[1] and not given_up:
            # They begin anew: the others have seen the rows that these hold out.
            rest.begun()
            parts = [*parts, *rest.fitted(best.place).parts]
        found = Validated.of(parts, self.penalties[best.place[0]])
        return best.spread, found, best.place


@dataclass(frozen=True)
class Fitted:
    """Fits at a place among the penalties, and what they lose on held-out rows."""

    place: Place
    loss: float
    parts: Sequence[FittedFolds]

    @property
    def spread(self) -> Spread:
        """The rows as they were fitted."""
        rows = self.parts[0].rows
        assert isinstance(rows, Spread)
        return rows

    def weights_in(self, spread: Spread) -> Floats:
        """Weights of the same rows, spread otherwise."""
        w = np.concatenate([w for part in self.parts for w in part.weights.values()])
        return self.spread.translated(w, spread)
