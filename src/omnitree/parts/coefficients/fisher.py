"""Fisher's linear discriminant as a coefficient learner, for two classes.

Least squares on the targets -1 and +1 have its direction: the total scatter differs from
that within the classes by a multiple of dd', d being the difference of the class means. Only
the constant is another. With n rows, n0 and n1 of each class, c = n0 n1 / n and class means
of the least-squares score that are D apart, the weights of Bayes' rule for two Gaussians
with a common covariance are those of least squares times (n - 2) / (c (2 - D)); `shift`
moves the score so that 0 is where that rule cuts. So the elimination for least squares
(`features/gram.py`) serves here too. Used by the preset bu95 on request.
"""

from __future__ import annotations

import numpy as np

from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Floats, Machine
from omnitree.parts.coefficients.rls import RLS


class FisherUnit(Coefficients):
    """Fisher's direction with the cut of Bayes' rule, for two classes.

    As the learner of LDT (Yildiz & Alpaydin 2005), but on the columns as they are: a
    singular scatter gets the ridge of recursive least squares, no principal components.
    """

    n_classes = 2

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
        found = RLS().train(cases, rng)
        score = cases.z @ found.weights[0] + found.bias[0]
        means = np.bincount(cases.y, cases.weight * score, 2) / cases.class_weight
        return Machine(found.weights, found.bias + shift(means, cases.class_weight))


def shift(means: Floats, class_weight: Floats) -> Floats:
    """What to add to least-squares scores with the given means, (2, ...), by class."""
    low, high = means
    n0, n1 = class_weight
    n = n0 + n1
    prior = np.log(n1 / n0) * (n0 * n1 / n) / max(n - 2, 1.0)
    return -(low + high) / 2 + prior * (2 - (high - low))
