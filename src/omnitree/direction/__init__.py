"""Directions of linear tests, by name. A new one is a file here and a line below."""

from omnitree.direction.fisher import Fisher
from omnitree.direction.logistic import Logistic
from omnitree.parts import Part, Registry

DIRECTIONS = Registry("direction", Part, {"fisher": Fisher, "logistic": Logistic})

__all__ = ["DIRECTIONS", "Fisher", "Logistic"]
