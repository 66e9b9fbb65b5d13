"""Split learners, by name. A new one is a file here and a line below."""

from omnitree.learners.adaptive import Adaptive
from omnitree.learners.analytic import Analytic
from omnitree.learners.base import SplitLearner
from omnitree.learners.constructive import Constructive
from omnitree.learners.grouped import Grouped
from omnitree.learners.kway import KWay
from omnitree.learners.linear import Linear
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
        "adaptive": Adaptive,
        "kway": KWay,
        "constructive": Constructive,
        "grouped": Grouped,
        "network": Network,
    },
)

__all__ = [
    "LEARNERS",
    "Adaptive",
    "Analytic",
    "Constructive",
    "Grouped",
    "KWay",
    "Linear",
    "Network",
    "SplitLearner",
    "Univariate",
]
