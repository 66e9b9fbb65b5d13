"""Learners of the weights of a linear test, by name. A new one is a file and a line."""

from omnitree.coefficients.base import Cases, Coefficients, Machine
from omnitree.parts import Registry

COEFFICIENTS = Registry("coefficients", Coefficients, {})

__all__ = ["COEFFICIENTS", "Cases", "Coefficients", "Machine"]
