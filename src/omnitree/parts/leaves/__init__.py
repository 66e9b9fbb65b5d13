"""What leaves answer, by name. A new kind is a file here and a line below."""

from omnitree.growing.part import Registry
from omnitree.parts.leaves.additive import AdditiveLeaves
from omnitree.parts.leaves.base import Leaves, Majority
from omnitree.parts.leaves.logistic import LogisticLeaves
from omnitree.parts.leaves.ridge import ConstantLeaves, RidgeLeaves

LEAVES = Registry(
    "leaves",
    Leaves,
    {
        "majority": Majority,
        "logistic": LogisticLeaves,
        "constant": ConstantLeaves,
        "ridge": RidgeLeaves,
        "additive": AdditiveLeaves,
    },
)

__all__ = [
    "LEAVES",
    "AdditiveLeaves",
    "ConstantLeaves",
    "Leaves",
    "LogisticLeaves",
    "Majority",
    "RidgeLeaves",
]
