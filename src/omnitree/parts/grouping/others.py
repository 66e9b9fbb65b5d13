"""Groupings without backtracking: selection, two-means, one against the rest, all."""

from __future__ import annotations

import numpy as np

from omnitree.parts.grouping.base import (
    Grouping,
    Groups,
    Problems,
    furthest_pairs,
    group_distances,
    nearest_starts,
    present_classes,
)
from omnitree.parts.grouping.exchange import Exchange

EXHAUSTIVE = 8


class SelectionGrouping(Grouping):
    """Add the classes one by one to the group they are closest to (LDT05, section 3.1).

    Starts with the two classes whose means are furthest apart. In each step the test is
    trained on the classes placed so far, and of the others the one that falls most purely
    on one side joins that side.
    """

    def search(self, problems: Problems) -> Groups:
        present, each = present_classes(problems), np.arange(len(problems.means))
        left = np.zeros(problems.means.shape[:2], dtype=bool)
        placed = left.copy()
        a, b = furthest_pairs(problems)
        left[each, a] = placed[each, a] = placed[each, b] = True
        for _ in range(len(present) - 2):
            share = problems.left_shares(left, placed)[:, present]
            purity = np.where(placed[:, present], -1.0, np.abs(share - 0.5))
            i = purity.argmax(axis=1)
            left[each, present[i]] = share[each, i] > 0.5
            placed[each, present[i]] = True
        return left


class TwoMeans(Grouping):
    """Two-means clustering of the class means (QUEST), from the two furthest apart.

    Parameters
    ----------
    weighted : bool, default=True
        Whether the centre of a cluster is the mean of its rows, so that a class counts by
        its size, or the mean of its class means, where all classes count alike.
    """

    weighted: bool = True

    def search(self, problems: Problems) -> Groups:
        present, left = present_classes(problems), nearest_starts(problems)
        here = problems.class_weight > 0
        for _ in range(100):  # it settles in a few rounds
            groups = np.stack([left & here, ~left & here], axis=1)
            apart = group_distances(problems, groups, self.weighted)
            moved = (apart[..., 0] <= apart[..., 1]) & here
            size = moved.sum(axis=1)
            moved = np.where(((size > 0) & (size < len(present)))[:, None], moved, left)
            if (moved == left).all():
                break
            left = moved
        return left


class OneAgainstRest(Grouping):
    """The class that is best separated from all others (Friedman 1977)."""

    def search(self, problems: Problems) -> Groups:
        present = present_classes(problems)
        return _best_of(
            problems, np.eye(len(problems.class_weight), dtype=bool)[present]
        )


class AllGroupings(Grouping):
    """The best of all groupings; with more than eight classes, the exchange method."""

    def search(self, problems: Problems) -> Groups:
        present = present_classes(problems)
        if len(present) > EXHAUSTIVE:
            return Exchange().search(problems)
        codes = np.arange(1, 2 ** (len(present) - 1))
        trial = np.zeros((len(codes), len(problems.class_weight)), dtype=bool)
        trial[:, present[:-1]] = codes[:, None] >> np.arange(len(present) - 1) & 1
        return _best_of(problems, trial)


def _best_of(problems: Problems, trial: Groups) -> Groups:
    """The best of the same groupings (C, K) for each problem."""
    at = np.arange(len(problems.means))
    merits = problems.merits(at, np.broadcast_to(trial, (len(at), *trial.shape)))
    return trial[merits.argmax(axis=1)]
