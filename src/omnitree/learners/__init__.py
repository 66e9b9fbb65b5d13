"""Split learners, by name. A new one is a file here and a line below."""

from omnitree.learners.analytic import Analytic
from omnitree.learners.base import SplitLearner
from omnitree.learners.linear import Linear
from omnitree.learners.multivariate import Multivariate
from omnitree.learners.univariate import Univariate
from omnitree.parts import Registry

LEARNERS = Registry(
    "learner",
    SplitLearner,
    {
        "univariate": Univariate,
        "analytic": Analytic,
        "linear": Linear,
        "multivariate": Multivariate,
    },
)

__all__ = [
    "LEARNERS",
    "Analytic",
    "Linear",
    "Multivariate",
    "SplitLearner",
    "Univariate",
]
