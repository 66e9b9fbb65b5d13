"""Feature selections in a test, by name. A new one is a class here and a line below."""

from omnitree.growing.part import Registry
from omnitree.parts.feature_selection.base import (
    AllFeatures,
    Selection,
    SubsetTrial,
    Trials,
    dispersion,
)
from omnitree.parts.feature_selection.gram import trials_of
from omnitree.parts.feature_selection.lmdt import LMDTElimination
from omnitree.parts.feature_selection.sequential import DSBE, HSS, SBE, SFS, MixedSBE

SELECTIONS = Registry(
    "feature selection",
    Selection,
    {
        "none": AllFeatures,
        "sbe": SBE,
        "sfs": SFS,
        "dsbe": DSBE,
        "mixed_sbe": MixedSBE,
        "hss": HSS,
        "lmdt": LMDTElimination,
    },
)

__all__ = [
    "DSBE",
    "HSS",
    "SBE",
    "SELECTIONS",
    "SFS",
    "AllFeatures",
    "LMDTElimination",
    "MixedSBE",
    "Selection",
    "SubsetTrial",
    "Trials",
    "dispersion",
    "trials_of",
]
