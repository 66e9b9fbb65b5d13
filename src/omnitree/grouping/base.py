"""What a grouping is: a division of the classes of a node into two groups."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from omnitree.linear_rows import Floats, LinearRows
from omnitree.parts import Part

Groups = NDArray[np.bool_]  # (K,): true for the classes of the left group


class Discriminant(Protocol):
    """What a grouping may ask of the learner that will separate the groups."""

    rows: LinearRows

    def merits(self, left: Groups) -> Floats:
        """Merit of the test for each of several groupings, a (C, K) array."""

    def exchange(self, left: Groups) -> Groups | None:
        """The whole exchange search from a start, where there is a compiled one."""

    def sides(self, left: Groups, classes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Side of every row (true: left) by a test trained on some classes only."""


class Grouping(Part):
    """Finds two groups of classes that are worth separating."""

    def find(self, discriminant: Discriminant) -> Groups | None:
        """Groups of the classes present, or None if no grouping can be separated."""
        present = discriminant.rows.present
        if len(present) == 2:
            left = np.zeros(discriminant.rows.n_classes, dtype=bool)
            left[present[0]] = True
            return left
        return self.search(discriminant)

    def search(self, discriminant: Discriminant) -> Groups | None:
        """Groups of three classes or more."""
        raise AssertionError(f"{type(self).__name__} does not search")


def furthest_pair(rows: LinearRows) -> tuple[int, int]:
    """The two classes present whose means are furthest apart."""
    means = rows.means[rows.present]
    distance = ((means[:, None] - means[None]) ** 2).sum(axis=-1)
    a, b = np.unravel_index(distance.argmax(), distance.shape)
    if a == b:  # all means coincide
        a, b = 0, 1
    return int(rows.present[min(a, b)]), int(rows.present[max(a, b)])


def nearest_start(rows: LinearRows) -> Groups:
    """LDT05's start: the two furthest classes, then the nearest class to either group.

    The distance to a group is that to its mean.
    """
    a, b = furthest_pair(rows)
    left = np.zeros(rows.n_classes, dtype=bool)
    left[a] = True
    centres = rows.means[[a, b]]
    size = rows.class_weight[[a, b]]
    waiting = rows.present[(rows.present != a) & (rows.present != b)]
    while len(waiting):
        apart = ((rows.means[waiting, None] - centres) ** 2).sum(axis=2)
        i, g = divmod(int(apart.argmin()), 2)
        k = waiting[i]
        left[k] = g == 0
        size[g] += rows.class_weight[k]
        step = rows.class_weight[k] / size[g]
        centres[g] += step * (rows.means[k] - centres[g])
        waiting = np.delete(waiting, i)
    return left
