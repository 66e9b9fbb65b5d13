"""Logistic discriminants: the log odds of each class against the others."""

from __future__ import annotations

import numpy as np

from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.part import number
from omnitree.parts.direction.logistic import logistic_weights
from omnitree.parts.discriminants.base import Discriminants, Functions


class LogisticDiscriminants(Discriminants):
    """A penalised logistic regression of every class against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn.
    """

    C: float = 1.0

    def fit(self, rows: NodeColumns, equal_priors: bool = False) -> Functions:
        C = number("C", self.C, least=1e-12)
        weights, bias = [], []
        for k in rows.present:
            side = rows.y == k
            weight = rows.weight
            if equal_priors:
                weight = weight / rows.class_weight[rows.y] * rows.total
                weight = weight / len(rows.present)
            w, b = logistic_weights(rows.columns, side, weight, C)
            weights.append(w)
            bias.append(b)
        return Functions(rows.present, np.stack(weights), np.array(bias))
