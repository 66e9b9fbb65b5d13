"""Refinements of grown trees, by name. A new one is a file here and a line below."""

from omnitree.growing.part import Registry
from omnitree.refinement.base import Refinement
from omnitree.refinement.contest import Contest
from omnitree.refinement.feature_elimination import FeatureElimination
from omnitree.refinement.ties import UnassignedTies

REFINEMENTS = Registry(
    "refinement",
    Refinement,
    {
        "contest": Contest,
        "feature_elimination": FeatureElimination,
        "unassigned_ties": UnassignedTies,
    },
)

__all__ = [
    "REFINEMENTS",
    "Contest",
    "FeatureElimination",
    "Refinement",
    "UnassignedTies",
]
