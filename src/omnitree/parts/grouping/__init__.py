"""Groupings of classes into two, by name. A new one is a class here and a line below."""

from omnitree.growing.part import Registry
from omnitree.parts.grouping.base import Grouping
from omnitree.parts.grouping.exchange import Exchange, RestartedExchange
from omnitree.parts.grouping.others import (
    AllGroupings,
    OneAgainstRest,
    SelectionGrouping,
    TwoMeans,
)

GROUPINGS = Registry(
    "grouping",
    Grouping,
    {
        "exchange": Exchange,
        "restarted_exchange": RestartedExchange,
        "selection": SelectionGrouping,
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
    "RestartedExchange",
    "SelectionGrouping",
    "TwoMeans",
]
