"""Groupings without backtracking: selection, two-means, one against the rest, all."""

from __future__ import annotations

import numpy as np

from omnitree.grouping.base import (
    Discriminant,
    Grouping,
    Groups,
    furthest_pair,
    nearest_start,
)
from omnitree.grouping.exchange import Exchange

EXHAUSTIVE = 8


class Selection(Grouping):
    """Add class after class to the side it falls on (LDT05, section 3.1).

    Starts with the two classes whose means are furthest apart. In each step the test is
    trained on the classes placed so far, and of the others the one that falls most purely
    on one side joins that side.
    """

    def search(self, discriminant: Discriminant) -> Groups | None:
        rows = discriminant.rows
        a, b = furthest_pair(rows)
        left = np.zeros(rows.n_classes, dtype=bool)
        left[a] = True
        placed, waiting = [a, b], [int(k) for k in rows.present if k not in (a, b)]
        while waiting:
            side = discriminant.sides(left, np.array(sorted(placed)))
            share = (rows.one_hot.T @ side) / np.maximum(
                rows.class_weight, np.finfo(float).tiny
            )
            k = max(waiting, key=lambda c: abs(share[c] - 0.5))
            left[k] = share[k] > 0.5
            placed.append(k)
            waiting.remove(k)
        return left


class TwoMeans(Grouping):
    """Two-means clustering of the class means (QUEST), from the two furthest of them."""

    def search(self, discriminant: Discriminant) -> Groups | None:
        rows = discriminant.rows
        present, left = rows.present, nearest_start(rows)
        for _ in range(100):  # it settles in a few rounds
            centre = [
                np.average(rows.means[g], axis=0, weights=rows.class_weight[g])
                for g in (present[left[present]], present[~left[present]])
            ]
            apart = [((rows.means - c) ** 2).sum(axis=1) for c in centre]
            moved = np.zeros_like(left)
            moved[present] = (apart[0] <= apart[1])[present]
            if moved[present].all() or not moved[present].any():
                break
            if (moved == left).all():
                break
            left = moved
        return left


class OneAgainstRest(Grouping):
    """The class that is best separated from all others (Friedman 1977)."""

    def search(self, discriminant: Discriminant) -> Groups | None:
        present = discriminant.rows.present
        trial = np.zeros((len(present), discriminant.rows.n_classes), dtype=bool)
        trial[np.arange(len(present)), present] = True
        return trial[discriminant.merits(trial).argmax()]


class AllGroupings(Grouping):
    """The best of all groupings; above eight classes, the exchange method."""

    def search(self, discriminant: Discriminant) -> Groups | None:
        present = discriminant.rows.present
        if len(present) > EXHAUSTIVE:
            return Exchange().search(discriminant)
        codes = np.arange(1, 2 ** (len(present) - 1))
        trial = np.zeros((len(codes), discriminant.rows.n_classes), dtype=bool)
        trial[:, present[:-1]] = codes[:, None] >> np.arange(len(present) - 1) & 1
        return trial[discriminant.merits(trial).argmax()]
