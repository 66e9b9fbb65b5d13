"""Split learners, by name. A new one is a file here and a line below."""

from omnitree.learners.base import SplitLearner
from omnitree.learners.univariate import Univariate
from omnitree.parts import Registry

LEARNERS = Registry("learner", SplitLearner, {"univariate": Univariate})

__all__ = ["LEARNERS", "SplitLearner", "Univariate"]
