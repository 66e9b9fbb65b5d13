"""Fitted tests, a file for each kind: what a decision node remembers.

`SPLITS` has the kinds by name. Their order is that of `Kind` in `_core/predict/route.hpp`;
kinds that are registered later have no compiled case there and are routed by their rule.
"""

from omnitree.tree.splits.additive import AdditiveSplit
from omnitree.tree.splits.additive_machine import AdditiveMachineSplit
from omnitree.tree.splits.axis import AxisSplit
from omnitree.tree.splits.base import (
    KINDS,
    SPLITS,
    Considered,
    Constructed,
    Packed,
    Split,
    all_finite,
    columns_problem,
    fields_from_dict,
    register,
    renumbered,
    split_from_dict,
    widths_problem,
)
from omnitree.tree.splits.cases import CasesSplit
from omnitree.tree.splits.linear import LinearSplit
from omnitree.tree.splits.machine import MachineSplit
from omnitree.tree.splits.multiway import MultiwaySplit
from omnitree.tree.splits.network import NetworkSplit
from omnitree.tree.splits.quadratic import QuadraticSplit
from omnitree.tree.splits.quadratic_machine import QuadraticMachineSplit
from omnitree.tree.splits.subset import SubsetSplit

for _cls in (
    AxisSplit,
    MultiwaySplit,
    SubsetSplit,
    LinearSplit,
    QuadraticSplit,
    MachineSplit,
    NetworkSplit,
    QuadraticMachineSplit,
    AdditiveSplit,
    AdditiveMachineSplit,
    CasesSplit,
):
    register(_cls)

__all__ = [
    "KINDS",
    "SPLITS",
    "AdditiveMachineSplit",
    "AdditiveSplit",
    "AxisSplit",
    "CasesSplit",
    "Considered",
    "Constructed",
    "LinearSplit",
    "MachineSplit",
    "MultiwaySplit",
    "NetworkSplit",
    "Packed",
    "QuadraticMachineSplit",
    "QuadraticSplit",
    "Split",
    "SubsetSplit",
    "all_finite",
    "columns_problem",
    "fields_from_dict",
    "register",
    "renumbered",
    "split_from_dict",
    "widths_problem",
]
