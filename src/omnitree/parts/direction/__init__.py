"""Directions of linear tests, by name. A new one is a file here and a line below."""

from omnitree.growing.part import Registry
from omnitree.parts.direction.base import Direction
from omnitree.parts.direction.fisher import Fisher
from omnitree.parts.direction.logistic import Logistic

DIRECTIONS = Registry("direction", Direction, {"fisher": Fisher, "logistic": Logistic})

__all__ = ["DIRECTIONS", "Direction", "Fisher", "Logistic"]
