"""What a choice is: it says which of several learners should test a node.

A choice gets `Proposal`s, learners at one node in order of rising complexity, and gives a
score to each (smaller is better) and names the winner. Used by the omnivariate learner.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.part import Part
from omnitree.tree.splits import Considered, Split

Floats = NDArray[np.float64]


def log_likelihood(counts: Floats) -> Floats:
    """Of the classes in each branch of counts (..., branch, class), in nats.

    Examples
    --------
    >>> round(float(log_likelihood(np.array([[3.0, 1.0], [0.0, 4.0]]))), 4)
    -2.2493
    """
    within = xlogy(counts, counts).sum(axis=-1)
    size = counts.sum(axis=-1)
    return np.asarray((within - xlogy(size, size)).sum(axis=-1))


@dataclass(frozen=True)
class Proposal:
    """A learner at a node, and the test that it found there."""

    name: str
    learner: SplitLearner
    node: Node
    split: Split
    numeric_likelihood: float | None = None  # of a numeric target, under the test

    @property
    def likelihood(self) -> float:
        """Log likelihood of classes or target in the branches."""
        if self.numeric_likelihood is not None:
            return self.numeric_likelihood
        return float(log_likelihood(self.statistics))

    @cached_property
    def statistics(self) -> Floats:
        """Statistics of each branch, of the rows that the test can place."""
        return self.node.branch_statistics(self.split)

    @property
    def divides(self) -> bool:
        """Whether two branches get rows."""
        totals = [self.node.target.total(branch) for branch in self.statistics]
        return sum(total > 0 for total in totals) > 1

    @property
    def total(self) -> float:
        """Weight of the rows that the test can place."""
        return self.node.target.total(self.statistics)


@dataclass(frozen=True)
class Verdict:
    """The winner's position, and a score for each proposal; None where not judged."""

    winner: int
    scores: tuple[float | None, ...]


class Choice(Part):
    """Chooses among learners at a node.

    Attributes
    ----------
    criterion : str
        What the scores are.
    """

    criterion = ""

    @abstractmethod
    def choose(
        self, proposals: Sequence[Proposal], rng: np.random.Generator
    ) -> Verdict:
        """The winner among proposals in order of rising complexity."""


def remembered(
    split: Split,
    names: Sequence[str],
    found: Sequence[Proposal],
    verdict: Verdict,
    what,
) -> Split:
    """The winner's test with what was thought of all candidates."""
    by_name = {p.name: (i, p) for i, p in enumerate(found)}
    considered = []
    for name in names:
        if name not in by_name:
            considered.append(Considered(name, "none", 0, what, None, False))
            continue
        i, p = by_name[name]
        score = verdict.scores[i]
        considered.append(
            Considered(
                name, p.split.kind, p.split.complexity, what, score, i == verdict.winner
            )
        )
    return replace(split, candidates=tuple(considered))
