"""Groupings of classes into two, by name. A new one is a class here and a line below."""

from omnitree.grouping.base import Grouping
from omnitree.grouping.exchange import Exchange
from omnitree.grouping.others import (
    AllGroupings,
    OneAgainstRest,
    Selection,
    TwoMeans,
)
from omnitree.parts import Registry

GROUPINGS = Registry(
    "grouping",
    Grouping,
    {
        "exchange": Exchange,
        "selection": Selection,
        "two_means": TwoMeans,
        "one_rest": OneAgainstRest,
        "exhaustive": AllGroupings,
    },
)

__all__ = [
    "GROUPINGS",
    "AllGroupings",
    "Exchange",
    "Grouping",
    "OneAgainstRest",
    "Selection",
    "TwoMeans",
]
