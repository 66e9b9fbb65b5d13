"""The parts that an estimator is composed of, and whether they go together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.growing.constraints import Constraints
from omnitree.growing.missing import MISSING
from omnitree.growing.part import unknown
from omnitree.growing.stopping import STOPPING
from omnitree.learners import LEARNERS
from omnitree.parts.leaves import LEAVES
from omnitree.pruning import PRUNINGS
from omnitree.pruning.base import TreeChange
from omnitree.refinement import REFINEMENTS

SLOTS = {
    "learner": LEARNERS,
    "stopping": STOPPING,
    "pruning": PRUNINGS,
    "missing": MISSING,
    "leaves": LEAVES,
    "refinement": REFINEMENTS,
}


@dataclass(frozen=True)
class Parts:
    """Parts by name or as objects."""

    learner: Any
    stopping: Any = "pure"
    pruning: Any = None
    missing: Any = "mean"
    leaves: Any = "majority"
    refinement: Any = None

    def resolved(self, task: str) -> Parts:
        """All as objects that serve a task; errors name what would do."""
        found: dict[str, Any] = {}
        for slot, registry in SLOTS.items():
            given = getattr(self, slot)
            if given is not None or slot not in ("pruning", "refinement"):
                given = registry.resolve(given, task)
            found[slot] = given
        found["learner"].check_options(task)
        return Parts(**found)

    @property
    def resamples(self) -> bool:
        """Whether one of them holds rows out."""
        every = (getattr(self, slot) for slot in SLOTS)
        return any(part is not None and part.resamples for part in every)

    @property
    def needs_share(self) -> float:
        """Share of the training rows to hold out for pruning and refinement."""
        shares = [0.0 if p is None else p.needs_share for p in self._changing]
        return shares[0] or shares[1]

    @property
    def n_kept_trees(self) -> int:
        """Trees that are held at once: a contest keeps those of all its folds."""
        return 1 + int(getattr(self.refinement, "folds", 0))

    def with_prune_set(self) -> Parts:
        """Without the parts that hold no rows out once there is a prune set."""
        pruning, refinement = (
            None if part is None or part.takes_rows else part for part in self._changing
        )
        return replace(self, pruning=pruning, refinement=refinement)

    @property
    def _changing(self) -> tuple[TreeChange | None, TreeChange | None]:
        """What changes the tree after it was grown."""
        return self.pruning, self.refinement

    def check_changes(self, has_costs: bool) -> None:
        """Refuse a pruning or refinement that undoes what was asked of the tests."""
        for part in self._changing:
            if part is not None:
                self.check_change(part, has_costs)

    def check_change(self, part: TreeChange, has_costs: bool) -> None:
        """Refuse a part that would undo what was asked of the tests."""
        rules = [
            name
            for name in ("monotone", "interactions")
            if getattr(self.learner, name, None) is not None
        ]
        if rules and not part.only_cuts:
            raise ValueError(
                f"{type(part).__name__} does more than cut subtrees off (new tests, "
                f"raised subtrees or other counts), which may break {rules[0]}; take "
                "'cost_complexity' or 'reduced_error', or raising=False, or rivals=()"
            )
        if has_costs and part.adds_features:
            raise ValueError(
                f"{type(part).__name__} puts tests over all features in place of "
                "subtrees and does not look at feature_costs; give it rivals=()"
            )

    def constraints(
        self, schema: Schema, n_classes: int, smoothing: Any
    ) -> Constraints | None:
        """What the tests of the learner keep, if everything else lets it hold."""
        found = self.learner.constraints(schema)
        if found is not None and found.monotone:
            if n_classes > 2:
                raise ValueError(
                    f"monotone needs two classes or a numeric target, y has {n_classes} "
                    "classes"
                )
            if not self.leaves.plain or smoothing is not None:
                raise ValueError(
                    "models in leaves and smoothing would break monotone answers: take "
                    "plain leaves and smoothing=None"
                )
        return found

    def feature_costs(self, given: Any, schema: Schema) -> NDArray[np.float64] | None:
        """What each of the user's columns costs, in their order."""
        if given is None:
            return None
        if not self.learner.uses_costs:
            able = [name for name, cls in LEARNERS.items() if cls.uses_costs]
            raise ValueError(
                f"{type(self.learner).__name__} does not look at feature_costs; these "
                f"learners do: {', '.join(able) or 'none'}"
            )
        names = list(schema.inputs)
        if isinstance(given, dict):
            for name in given:
                if name not in names:
                    raise ValueError(unknown("feature in feature_costs", name, names))
            given = [given.get(name, 0.0) for name in names]
        costs = np.asarray(given, dtype=np.float64)
        if costs.shape != (len(names),):
            raise ValueError(
                f"feature_costs has shape {costs.shape}; one cost a feature is needed, "
                f"({len(names)},)"
            )
        if not (np.isfinite(costs).all() and (costs >= 0).all()):
            raise ValueError("feature_costs must hold numbers of at least 0")
        return costs
