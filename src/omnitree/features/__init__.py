"""Feature selections in a test, by name. A new one is a class here and a line below."""

from omnitree.features.base import AllFeatures, Selection, Trial, Trials, dispersion
from omnitree.features.gram import trials_of
from omnitree.features.lmdt import LMDTElimination
from omnitree.features.sequential import DSBE, HSS, SBE, SFS, MixedSBE
from omnitree.parts import Registry

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
    "Trial",
    "Trials",
    "dispersion",
    "trials_of",
]
