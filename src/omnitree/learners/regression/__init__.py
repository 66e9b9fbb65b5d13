"""Split learners for a numeric target, by name.

A new one is a file here and a line below.
"""

from omnitree.growing.learner import SplitLearner
from omnitree.growing.part import Registry
from omnitree.learners.regression.linear import RegressionLinear
from omnitree.learners.regression.omnivariate import RegressionOmnivariate
from omnitree.learners.regression.univariate import RegressionUnivariate

REGRESSION_LEARNERS = Registry(
    "regression learner",
    SplitLearner,
    {
        "univariate": RegressionUnivariate,
        "linear": RegressionLinear,
        "omnivariate": RegressionOmnivariate,
    },
)

__all__ = [
    "REGRESSION_LEARNERS",
    "RegressionLinear",
    "RegressionOmnivariate",
    "RegressionUnivariate",
]
