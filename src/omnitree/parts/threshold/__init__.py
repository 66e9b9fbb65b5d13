"""Thresholds on a projection, by name. A new one is a class here and a line below."""

from omnitree.growing.part import Registry
from omnitree.parts.threshold.analytic import EqualVariance, UnequalVariance
from omnitree.parts.threshold.base import Threshold
from omnitree.parts.threshold.exhaustive import (
    Exhaustive,
    KolmogorovSmirnovCut,
    best_cut,
)

THRESHOLDS = Registry(
    "threshold",
    Threshold,
    {
        "equal_variance": EqualVariance,
        "unequal_variance": UnequalVariance,
        "exhaustive": Exhaustive,
        "kolmogorov_smirnov": KolmogorovSmirnovCut,
    },
)

__all__ = [
    "THRESHOLDS",
    "EqualVariance",
    "Exhaustive",
    "KolmogorovSmirnovCut",
    "Threshold",
    "UnequalVariance",
    "best_cut",
]
