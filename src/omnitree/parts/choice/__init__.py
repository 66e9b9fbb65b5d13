"""Choices among the learners of an omnivariate node, by name.

A new one is a file here and a line below.
"""

from omnitree.growing.part import Registry
from omnitree.parts.choice.base import Choice, Proposal, Verdict, remembered
from omnitree.parts.choice.crossvalidation import (
    CombinedF,
    CombinedT,
    FiveByTwoT,
    OneStandardError,
)
from omnitree.parts.choice.information import AIC, BIC, InformationCriterion

CHOICES = Registry(
    "choice",
    Choice,
    {
        "aic": AIC,
        "bic": BIC,
        "5x2t": FiveByTwoT,
        "combined_5x2t": CombinedT,
        "5x2f": CombinedF,
        "one_se": OneStandardError,
    },
)

__all__ = [
    "AIC",
    "BIC",
    "CHOICES",
    "Choice",
    "CombinedF",
    "CombinedT",
    "FiveByTwoT",
    "InformationCriterion",
    "OneStandardError",
    "Proposal",
    "Verdict",
    "remembered",
]
