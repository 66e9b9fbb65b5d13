"""The direction of a logistic regression of one group of classes against the other.

Unlike Fisher's direction it must be fitted for each grouping; fits of a node are kept, since
groupings ask for the same one again. Columns are standardised on
the whole training table, so the penalty means the same for all of them. Used by the learner
`linear` and by the logistic discriminants of `lgtree`.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import check_time
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import number
from omnitree.parts.direction.base import Direction
from omnitree.parts.threshold.base import Projected

# Newton's steps that most fits need.
STEPS = 9


def logistic_weights(
    columns: Floats, side: NDArray[np.bool_], weight: Floats, C: float
) -> tuple[Floats, float]:
    """Weights and bias of the log odds of `side`, by penalised maximum likelihood.

    Minimises ``sum(weight * loss) + |w|^2 / (2 C)``: a weight counts as repeats, and
    separable rows have a finite solution.
    """
    check_time(2.0 * STEPS * columns.shape[0] * columns.shape[1] ** 2)
    # Imported here: it loads half of scikit-learn, which few will need.
    from sklearn.linear_model import LogisticRegression

    # Newton's steps end at the optimum itself, whatever the order of the rows.
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rounding may stop it a little before `tol`
        model.fit(columns, side, sample_weight=weight)
    return model.coef_[0], float(model.intercept_[0])


class LogisticProjections:
    """Rows of a node along the logistic direction of every grouping asked for."""

    def __init__(self, rows: NodeColumns, C: float):
        self.rows, self.C = rows, C
        self.fitted: dict[bytes, Floats] = {}

    def weights(self, left: NDArray[np.bool_]) -> Floats:
        """Weights of the columns for one grouping; the left group lies above."""
        key = left[self.rows.present].tobytes()
        if key not in self.fitted:
            side = left[self.rows.y]
            fit = logistic_weights(self.rows.columns, side, self.rows.weight, self.C)
            self.fitted[key] = fit[0]
        return self.fitted[key]

    def project(self, left: NDArray[np.bool_]) -> Projected:
        """The rows on the direction of each grouping."""
        basis = np.stack([self.weights(groups) for groups in left], axis=1)
        return Projected(self.rows, (self.rows.columns - self.rows.mean) @ basis, left)


class Logistic(Direction):
    """Logistic regression, penalised by the squared length of the weights.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn.
    """

    C: float = 1.0

    def project(self, rows: NodeColumns) -> LogisticProjections:
        """Directions for the rows of a node, fitted when they are asked for."""
        return LogisticProjections(rows, number("C", self.C, least=1e-12))
