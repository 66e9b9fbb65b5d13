"""What leaves answer, by name. A new kind is a file here and a line below."""

from omnitree.leaves.base import Leaves, Majority
from omnitree.leaves.logistic import LogisticLeaves
from omnitree.leaves.ridge import ConstantLeaves, RidgeLeaves
from omnitree.parts import Registry

LEAVES = Registry(
    "leaves",
    Leaves,
    {
        "majority": Majority,
        "logistic": LogisticLeaves,
        "constant": ConstantLeaves,
        "ridge": RidgeLeaves,
    },
)

__all__ = [
    "LEAVES",
    "ConstantLeaves",
    "Leaves",
    "LogisticLeaves",
    "Majority",
    "RidgeLeaves",
]
