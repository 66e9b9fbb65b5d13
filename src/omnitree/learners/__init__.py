"""Split learners, by name. A new one is a file here and a line below."""

from omnitree.learners.analytic import Analytic
from omnitree.learners.base import SplitLearner
from omnitree.learners.grouped import Grouped
from omnitree.learners.linear import Linear
from omnitree.learners.multivariate import Multivariate
from omnitree.learners.network import Network
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
        "grouped": Grouped,
        "network": Network,
    },
)

__all__ = [
    "LEARNERS",
    "Analytic",
    "Grouped",
    "Linear",
    "Multivariate",
    "Network",
    "SplitLearner",
    "Univariate",
]
