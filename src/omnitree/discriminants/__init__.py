"""Discriminant functions of the classes of a node, by name. A new one is a file, a line."""

from omnitree.discriminants.base import Discriminants, Functions
from omnitree.discriminants.gaussian import LDA, QDA
from omnitree.discriminants.logistic import LogisticDiscriminants
from omnitree.parts import Registry

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
