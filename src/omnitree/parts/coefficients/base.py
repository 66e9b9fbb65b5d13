"""What a coefficient learner is: it turns the rows of a node into weights.

One discriminant for two classes (a linear threshold unit), or one a class (a linear
machine). Used by the feature selections and the multivariate learner.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from omnitree.growing.part import Part
from omnitree.parts.coefficients.cases import Cases, Machine


class Coefficients(Part):
    """Finds the weights of a linear test.

    Attributes
    ----------
    n_classes : int or None
        The number of classes it can separate; None: any.
    random : bool
        Whether the weights depend on the random numbers given.
    resumes : bool
        Whether `train` takes a machine to start from as its third argument.
    """

    n_classes: ClassVar[int | None] = None
    random = False
    resumes = False

    @abstractmethod
    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
