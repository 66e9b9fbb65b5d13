"""How many stages a test that is built stage by stage gets: cross-validation says.

Each fold has a path: sums of its rows after each stage that was learned from the others. The
number of stages with the least held-out log loss is taken; what is said of a fold is said
after as many as are best on the other folds. Used by the learners `stagewise` and `steps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node_columns import Floats
from omnitree.parts.leaves.boosting import fewest


class GradualStage(Protocol):
    """What some steps have added to a model."""

    def add_to(self, sums: Floats, x: Any) -> None:
        """Add it to the sums (n, k) of rows."""


@dataclass
class HeldOutPath:
    """Rows to test while others are learned from, stage by stage.

    Attributes
    ----------
    test : int array (n,)
        Their positions.
    x : Any
        Their columns, as the stages take them.
    y, weight : arrays (n,)
    ahead : iterator of GradualStage
        What was not looked at yet.
    stages : list of GradualStage
        What was.
    sums : list of float arrays (n, k)
        Before the first stage and after each.
    losses : list of float
        Minus their log likelihoods.
    """

    test: NDArray[np.intp]
    x: Any
    y: NDArray[np.int32]
    weight: Floats
    ahead: Iterator[GradualStage]
    stages: list[Any] = field(default_factory=list)
    sums: list[Floats] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        test: NDArray[np.intp],
        x: Any,
        y: NDArray[np.int32],
        weight: Floats,
        ahead: Iterator[GradualStage],
        k: int,
    ) -> HeldOutPath:
        """Before the first stage; `y` and `weight` are those of all rows."""
        path = cls(test, x, y[test], weight[test], ahead)
        path._add(np.zeros((len(test), k)))
        return path

    def _add(self, sums: Floats) -> None:
        self.sums.append(sums)
        self.losses.append(float(self.weight @ self.log_losses(sums)))

    def log_losses(self, sums: Floats) -> Floats:
        """Of each row, with such sums."""
        own = sums[np.arange(len(self.y)), self.y]
        top = sums.max(axis=1)
        odds = np.exp(sums - top[:, None])
        # A product adds few columns up faster than a sum does.
        return np.log(odds @ np.ones(odds.shape[1])) + top - own

    def go_on(self, most: int, patience: int | None = None) -> None:
        """Up to so many stages in all; not `patience` beyond the one that lost least."""
        for stage in islice(self.ahead, max(most + 1 - len(self.sums), 0)):
            self.stages.append(stage)
            sums = self.sums[-1].copy()
            stage.add_to(sums, self.x)
            self._add(sums)
            since = len(self.losses) - 1 - int(np.argmin(self.losses))
            if patience is not None and since > patience:
                break

    def sums_at(self, n_stages: int) -> Floats:
        """After so many stages, or after all that there are."""
        self.go_on(n_stages)
        return self.sums[min(n_stages, len(self.sums) - 1)]


def validated(deals: Sequence[Sequence[HeldOutPath]]) -> tuple[Floats, int]:
    """Held-out sums (n, k), and the number of stages with the least log loss.

    Each fold is tested after as many as are best on the other folds of its deal: the number
    that is best on all would have seen it. Of several deals the mean.
    """
    n, k = sum(len(path.test) for path in deals[0]), deals[0][0].sums[0].shape[1]
    scores = np.zeros((n, k))
    for paths in deals:
        for own in paths:
            others = [path for path in paths if path is not own]
            scores[own.test] += own.sums_at(best(others)) / len(deals)
    return scores, best([path for paths in deals for path in paths])


def best(paths: Sequence[HeldOutPath]) -> int:
    """The number of stages, of those that all paths have, which loses least."""
    made = min(len(path.losses) for path in paths)
    return fewest(np.sum([path.losses[:made] for path in paths], axis=0))
