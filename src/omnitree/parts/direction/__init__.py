"""Directions of linear tests, by name. A new one is a file here and a line below."""

from omnitree.growing.part import Part, Registry
from omnitree.parts.direction.fisher import Fisher
from omnitree.parts.direction.logistic import Logistic

DIRECTIONS = Registry("direction", Part, {"fisher": Fisher, "logistic": Logistic})

__all__ = ["DIRECTIONS", "Fisher", "Logistic"]
