"""Learners of the weights of a linear test, by name.

A new one is a file here and a line below.
"""

from omnitree.growing.part import Registry
from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Machine
from omnitree.parts.coefficients.fisher import FisherUnit
from omnitree.parts.coefficients.gradient import Perceptron, StochasticPerceptron
from omnitree.parts.coefficients.pocket import Pocket
from omnitree.parts.coefficients.rls import RLS
from omnitree.parts.coefficients.robust_lp import RobustLP
from omnitree.parts.coefficients.thermal import LMDTThermal, Thermal

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
        "stochastic_perceptron": StochasticPerceptron,
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
    "StochasticPerceptron",
    "Thermal",
]
