"""Split learners, by name. A new one is a file here and a line below."""

from omnitree.learners.analytic import Analytic
from omnitree.learners.base import SplitLearner
from omnitree.learners.cart_lc import CartLC
from omnitree.learners.linear import Linear
from omnitree.learners.oc1 import OC1
from omnitree.learners.univariate import Univariate
from omnitree.parts import Registry

LEARNERS = Registry(
    "learner",
    SplitLearner,
    {
        "univariate": Univariate,
        "analytic": Analytic,
        "linear": Linear,
        "cart_lc": CartLC,
        "oc1": OC1,
    },
)

__all__ = [
    "LEARNERS",
    "OC1",
    "Analytic",
    "CartLC",
    "Linear",
    "SplitLearner",
    "Univariate",
]
