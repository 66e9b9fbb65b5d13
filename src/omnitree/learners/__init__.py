"""Split learners, by name. A new one is a file here and a line below."""

from omnitree.growing.learner import SplitLearner
from omnitree.growing.part import Registry
from omnitree.learners.adaptive import Adaptive
from omnitree.learners.analytic import Analytic
from omnitree.learners.boosted import Boosted
from omnitree.learners.cart_lc import CartLC
from omnitree.learners.case_based import CaseBased
from omnitree.learners.constructive import Constructive
from omnitree.learners.functional import Functional
from omnitree.learners.grouped import Grouped
from omnitree.learners.kway import KWay
from omnitree.learners.linear import Linear
from omnitree.learners.multivariate import Multivariate
from omnitree.learners.network import Network
from omnitree.learners.oc1 import OC1
from omnitree.learners.omnivariate import Omnivariate
from omnitree.learners.softmax import Softmax
from omnitree.learners.stagewise import Stagewise
from omnitree.learners.steps import Steps
from omnitree.learners.univariate import Univariate

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
        "functional": Functional,
        "multivariate": Multivariate,
        "grouped": Grouped,
        "network": Network,
        "cart_lc": CartLC,
        "oc1": OC1,
        "omnivariate": Omnivariate,
        "softmax": Softmax,
        "boosted": Boosted,
        "stagewise": Stagewise,
        "steps": Steps,
        "case_based": CaseBased,
    },
)

__all__ = [
    "LEARNERS",
    "OC1",
    "Adaptive",
    "Analytic",
    "Boosted",
    "CartLC",
    "CaseBased",
    "Constructive",
    "Functional",
    "Grouped",
    "KWay",
    "Linear",
    "Multivariate",
    "Network",
    "Omnivariate",
    "Softmax",
    "SplitLearner",
    "Stagewise",
    "Steps",
    "Univariate",
]
