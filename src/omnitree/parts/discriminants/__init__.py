"""Discriminant functions of a node's classes, by name.

A new one is a file here and a line below.
"""

from omnitree.growing.part import Registry
from omnitree.parts.discriminants.base import Discriminants, Functions
from omnitree.parts.discriminants.gaussian import LDA, QDA
from omnitree.parts.discriminants.logistic import LogisticDiscriminants

DISCRIMINANTS = Registry(
    "discriminants",
    Discriminants,
    {"lda": LDA, "qda": QDA, "logistic": LogisticDiscriminants},
)

__all__ = [
    "DISCRIMINANTS",
    "LDA",
    "QDA",
    "Discriminants",
    "Functions",
    "LogisticDiscriminants",
]
