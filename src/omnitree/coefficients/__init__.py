"""Learners of the weights of a linear test, by name. A new one is a file and a line."""

from omnitree.coefficients.base import Cases, Coefficients, Machine
from omnitree.coefficients.fisher import FisherUnit
from omnitree.coefficients.gradient import Perceptron
from omnitree.coefficients.pocket import Pocket
from omnitree.coefficients.rls import RLS
from omnitree.coefficients.robust_lp import RobustLP
from omnitree.coefficients.thermal import LMDTThermal, Thermal
from omnitree.parts import Registry

COEFFICIENTS = Registry(
    "coefficients",
    Coefficients,
    {
        "rls": RLS,
        "fisher": FisherUnit,
        "pocket": Pocket,
        "thermal": Thermal,
        "lmdt_thermal": LMDTThermal,
        "perceptron": Perceptron,
        "robust_lp": RobustLP,
    },
)

__all__ = [
    "COEFFICIENTS",
    "RLS",
    "Cases",
    "Coefficients",
    "FisherUnit",
    "LMDTThermal",
    "Machine",
    "Perceptron",
    "Pocket",
    "RobustLP",
    "Thermal",
]
