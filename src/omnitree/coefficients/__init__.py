"""Learners of the weights of a linear test, by name. A new one is a file and a line."""

from omnitree.coefficients.base import Cases, Coefficients, Machine
from omnitree.coefficients.rls import RLS
from omnitree.parts import Registry

COEFFICIENTS = Registry(
    "coefficients",
    Coefficients,
    {
        "rls": RLS,
    },
)

__all__ = ["COEFFICIENTS", "RLS", "Cases", "Coefficients", "Machine"]
