"""Merits of a partition of rows, by name. A new one is a class here and a line below."""

from omnitree.growing.part import Registry
from omnitree.parts.merit.association import ChiSquare, KolmogorovSmirnov, SymmetricGini
from omnitree.parts.merit.base import CUSTOM, Merit
from omnitree.parts.merit.impurity import Gini, Misclassification, VarianceReduction
from omnitree.parts.merit.information import Entropy, Gain, GainRatio, GStatistic
from omnitree.parts.merit.twoing import OrderedTwoing, Twoing

MERITS = Registry(
    "merit",
    Merit,
    {
        "gini": Gini,
        "gain": Gain,
        "gain_ratio": GainRatio,
        "entropy": Entropy,
        "twoing": Twoing,
        "ordered_twoing": OrderedTwoing,
        "symmetric_gini": SymmetricGini,
        "chi_square": ChiSquare,
        "g_statistic": GStatistic,
        "kolmogorov_smirnov": KolmogorovSmirnov,
        "misclassification": Misclassification,
        "variance": VarianceReduction,
    },
)

__all__ = [
    "CUSTOM",
    "MERITS",
    "ChiSquare",
    "Entropy",
    "GStatistic",
    "Gain",
    "GainRatio",
    "Gini",
    "KolmogorovSmirnov",
    "Merit",
    "Misclassification",
    "OrderedTwoing",
    "SymmetricGini",
    "Twoing",
    "VarianceReduction",
]
