"""What a grouping is: a division of the classes of a node into two groups.

Groupings are searched for several problems in lock-step. A linear learner has one problem a
node, with all columns; the analytic learner has one for each column. All problems have the
same classes; arrays lead with the axis of the problems.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import discriminant as kernel
from omnitree.growing.clock import tick
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import Part

Groups = NDArray[np.bool_]  # (K,): true for the classes of the left group


class Discriminant(Protocol):
    """What a grouping may ask of the learner that will separate the groups."""

    rows: NodeColumns

    def merits(self, left: Groups) -> Floats:
        """Merit of the test for each of several groupings, a (C, K) array."""

    def sides(self, left: Groups, classes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Side of every row (true: left) by a test trained on some classes only."""


class Problems(Protocol):
    """Several discriminants over the same classes."""

    class_weight: Floats  # (K,)
    means: Floats  # (B, K, d)

    def merits(self, at: NDArray[np.intp], left: Groups) -> Floats:
        """Merit of groupings (A, C, K) of the problems `at` (A,), as (A, C)."""

    def exchange(self, left: Groups) -> Groups | None:
        """The whole exchange search from a start (B, K), where there is a compiled one."""

    def left_shares(self, left: Groups, placed: Groups) -> Floats:
        """Share of each class on the left of a test trained on those placed; all (B, K)."""


class OneProblem:
    """A discriminant as the only problem."""

    def __init__(self, discriminant: Discriminant):
        self.discriminant = discriminant
        self.class_weight = discriminant.rows.class_weight
        self.means = discriminant.rows.means[None]

    def merits(self, at: NDArray[np.intp], left: Groups) -> Floats:
        return self.discriminant.merits(left[0])[None]

    def exchange(self, left: Groups) -> Groups | None:
        compiled = getattr(self.discriminant, "exchange", None)
        found = None if compiled is None else compiled(left[0])
        return None if found is None else found[None]

    def left_shares(self, left: Groups, placed: Groups) -> Floats:
        side = self.discriminant.sides(left[0], np.flatnonzero(placed[0]))
        return share_of_classes(self.discriminant.rows, side)[None]


def share_of_classes(rows: NodeColumns, side: NDArray[np.bool_]) -> Floats:
    """Share of each class among the rows of one side."""
    size = np.maximum(rows.class_weight, np.finfo(float).tiny)
    return (rows.one_hot.T @ side) / size


class Grouping(Part):
    """Finds two groups of classes that are worth separating."""

    def find(self, discriminant: Discriminant) -> Groups:
        """Groups of the classes present."""
        return self.find_all(OneProblem(discriminant))[0]

    def find_all(self, problems: Problems) -> Groups:
        """Groups for each problem, (B, K)."""
        present = present_classes(problems)
        if len(present) == 2:
            left = np.zeros(problems.means.shape[:2], dtype=bool)
            left[:, present[0]] = True
            return left
        return self.search(problems)

    @abstractmethod
    def search(self, problems: Problems) -> Groups:
        """Groups of three classes or more."""


def present_classes(problems: Any) -> NDArray[np.intp]:
    """Classes that have rows."""
    return np.flatnonzero(problems.class_weight > 0)


def furthest_pairs(problems: Problems) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each problem the two classes present whose means are furthest apart."""
    present = present_classes(problems)
    means = problems.means[:, present]
    distance = ((means[:, :, None] - means[:, None]) ** 2).sum(axis=-1)
    top = distance.reshape(len(means), -1).argmax(axis=1)
    a, b = np.divmod(top, len(present))
    b = np.where(a == b, 1, b)  # all means coincide: the first two
    return present[np.minimum(a, b)], present[np.maximum(a, b)]


def group_distances(
    problems: Problems, groups: Groups, weighted: bool = True
) -> Floats:
    """Squared distance of each class mean to the means of groups (B, G, K): (B, K, G).

    The mean of a group is that of its rows, or without weights that of its classes' means.
    """
    share = groups * (problems.class_weight if weighted else 1.0)
    size = np.maximum(share.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    centre = np.einsum("bgk,bkd->bgd", share / size, problems.means)
    return ((problems.means[:, :, None] - centre[:, None]) ** 2).sum(axis=-1)


def nearest_starts(problems: Problems) -> Groups:
    """LDT05's start: the two furthest classes, then the nearest class to either group.

    The distance to a group is that to its mean.
    """
    present = present_classes(problems)
    means = np.ascontiguousarray(problems.means[:, present])
    groups = np.zeros((len(means), len(problems.class_weight)), dtype=bool)
    left = np.empty((len(means), len(present)), dtype=np.uint8)
    kernel.nearest_starts(means, problems.class_weight[present], left, tick)
    groups[:, present] = left
    return groups


def halved_starts(problems: Problems) -> Groups:
    """The classes halved by weight along the line through the two furthest means."""
    present, each = present_classes(problems), np.arange(len(problems.means))
    a, b = furthest_pairs(problems)
    line = problems.means[each, b] - problems.means[each, a]
    place = np.einsum("bkd,bd->bk", problems.means[:, present], line)
    order = np.argsort(place, axis=1, kind="stable")
    before = np.cumsum(problems.class_weight[present][order], axis=1)
    half = before - problems.class_weight[present][order] / 2 < before[:, -1:] / 2
    half[:, 0], half[:, -1] = True, False
    groups = np.zeros((len(each), len(problems.class_weight)), dtype=bool)
    np.put_along_axis(groups, present[order], half, axis=1)
    return groups
