"""What a threshold is: a cut of each of several projections of a node's rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import Part
from omnitree.parts.merit import Merit


@dataclass
class Projected:
    """Projections of a node's rows, each with two groups of classes."""

    rows: NodeColumns
    scores: Floats  # (n, C): of linear directions, or plain features
    left: NDArray[np.bool_]  # (C, K): classes of the left group of each projection

    def weights(self) -> Floats:
        """Weights (2, C) of the groups: left, then right."""
        left = self.left @ self.rows.class_weight
        return np.stack([left, self.rows.total - left])

    def groups(self) -> tuple[Floats, Floats, Floats]:
        """Weights, means and within-group scatters, each (2, C): left, then right."""
        sums = self.rows.one_hot.T @ self.scores  # (K, C)
        centre = sums.sum(axis=0) / self.rows.total
        # Around the node's mean, so that a distant origin costs no digits.
        centred = self.scores - centre
        sums = self.rows.one_hot.T @ centred
        squares = self.rows.one_hot.T @ centred**2
        side = np.stack([self.left.T, ~self.left.T]).astype(float)  # (2, K, C)
        weight = self.weights()
        safe = np.maximum(weight, np.finfo(float).tiny)
        mean = np.einsum("gkc,kc->gc", side, sums) / safe
        scatter = np.einsum("gkc,kc->gc", side, squares) - weight * mean**2
        return weight, mean + centre, np.maximum(scatter, 0.0)

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Weights (2, C), means (2, C) and the sum of both scatters (C,)."""
        weight, mean, scatter = self.groups()
        return weight, mean, scatter.sum(axis=0)

    def counts(self, cuts: Floats) -> Floats:
        """Class counts (C, 2, K) below and above each cut."""
        above = (self.rows.one_hot.T @ (self.scores > cuts)).T
        return np.stack([self.rows.class_weight - above, above], axis=1)


class Threshold(Part):
    """Finds a cut on each projection."""

    @abstractmethod
    def find(self, projected: Projected, merit: Merit) -> Floats:
        """Cut of each projection; NaN where there is none."""
