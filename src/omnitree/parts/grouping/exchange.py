"""The exchange method (Guo & Gelfand 1992; LDT05, section 3.2): local search by moves."""

from __future__ import annotations

import numpy as np

from omnitree.growing.node_columns import Floats
from omnitree.parts.grouping.base import (
    Grouping,
    Groups,
    Problems,
    halved_starts,
    nearest_starts,
    present_classes,
)

TIED = 1e-12  # a move must gain more


class Exchange(Grouping):
    """Move the class that improves the grouping most to the other group, while one does.

    Starts from the two classes whose means are furthest apart, each joined by the classes
    nearest to it. All moves of a step are evaluated at once; a group never becomes empty.
    """

    def search(self, problems: Problems) -> Groups:
        left = nearest_starts(problems)
        found = problems.exchange(left)
        return exchanged(problems, left)[0] if found is None else found


class RestartedExchange(Exchange):
    """The exchange method, started again where nothing that it reaches divides the rows.

    With many classes the start is often a single class, or two, against all others. A test
    trained for that by least squares may send all rows one way, and so may those of all
    its neighbours; then no move improves anything. The second start divides the classes
    in halves of about the same weight.
    """

    def search(self, problems: Problems) -> Groups:
        left, merit = exchanged(problems, nearest_starts(problems))
        stuck = ~np.isfinite(merit)
        if stuck.any():
            halves = exchanged(problems, halved_starts(problems))[0]
            left[stuck] = halves[stuck]
        return left


def exchanged(problems: Problems, left: Groups) -> tuple[Groups, Floats]:
    """Groups and merit after all moves that gain, from a start (B, K)."""
    left, present = left.copy(), present_classes(problems)
    at = np.arange(len(left))
    best = problems.merits(at, left[:, None])[:, 0]
    while len(at):
        trial = np.repeat(left[at, None], len(present), axis=1)
        trial[:, np.arange(len(present)), present] ^= True
        size = trial[:, :, present].sum(axis=2)
        empty = (size == 0) | (size == len(present))
        # Such a move is none: the groups as they are gain nothing.
        trial = np.where(empty[..., None], left[at, None], trial)
        merits = problems.merits(at, trial)
        most = merits.max(axis=1)
        # Groupings that divide the rows alike differ by rounding: the first is taken.
        top = (merits >= most[:, None] - TIED).argmax(axis=1)
        gained = np.flatnonzero(most > best[at] + TIED)
        at, top = at[gained], top[gained]
        left[at], best[at] = trial[gained, top], merits[gained, top]
    return left, best
