"""Pruning methods, by name. A new one is a file here and a line below."""

from omnitree.growing.part import Registry
from omnitree.pruning.base import Evidence, Pruning
from omnitree.pruning.cost_complexity import CostComplexity
from omnitree.pruning.criterion import CriterionPruning
from omnitree.pruning.cross_validated import CrossValidatedPruning
from omnitree.pruning.error_based import ErrorBased
from omnitree.pruning.functional import FunctionalPruning
from omnitree.pruning.information import InformationPruning
from omnitree.pruning.pessimistic import Pessimistic
from omnitree.pruning.reduced_error import ReducedError
from omnitree.pruning.significance import Significance

PRUNINGS = Registry(
    "pruning",
    Pruning,
    {
        "reduced_error": ReducedError,
        "pessimistic": Pessimistic,
        "error_based": ErrorBased,
        "cost_complexity": CostComplexity,
        "information": InformationPruning,
        "criterion": CriterionPruning,
        "cross_validated": CrossValidatedPruning,
        "significance": Significance,
        "functional": FunctionalPruning,
    },
)

__all__ = [
    "PRUNINGS",
    "CostComplexity",
    "CriterionPruning",
    "CrossValidatedPruning",
    "ErrorBased",
    "Evidence",
    "FunctionalPruning",
    "InformationPruning",
    "Pessimistic",
    "Pruning",
    "ReducedError",
    "Significance",
]
