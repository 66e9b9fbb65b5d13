"""What `omnitree fit` fits: a preset with the user's options, on any part of the rows.

A `Procedure` makes the same estimator for the whole table and for each fold; class weights
and costs are cut to the classes that a fold has. `LearningRows` are what it fits on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.class_weight import compute_sample_weight

from omnitree import OmniTreeClassifier, OmniTreeRegressor
from omnitree.data.reading import InputError
from omnitree.lab.methods import DEFAULT_PRESET, parse


@dataclass(frozen=True)
class LearningRows:
    """Features and labels, with weights and groups if there are any."""

    X: pd.DataFrame
    y: np.ndarray
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> LearningRows:
        """Some of the rows, by position."""
        return LearningRows(
            self.X.iloc[rows],
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            None if self.groups is None else self.groups[rows],
        )

    def with_column(self, name: str) -> LearningRows:
        """The same rows with one feature only."""
        return replace(self, X=self.X[[name]])


@dataclass(frozen=True)
class Procedure:
    """An estimator and how it is fitted."""

    preset: str  # with options, as `methods.parse` reads it
    seed: int
    numeric: bool = False  # whether a number is predicted
    class_weight: str | dict[str, float] | None = None  # "balanced", or by label
    costs: dict[str, dict[str, float]] | None = None  # by label and answer
    options: dict[str, Any] = field(default_factory=dict)  # others of the estimator

    def make(self, y: np.ndarray) -> Any:
        """The unfitted estimator for rows with these labels."""
        if self.numeric:
            if self.preset != DEFAULT_PRESET:
                raise InputError(
                    f"the preset {self.preset!r} is for classes; for a number use "
                    f"{DEFAULT_PRESET!r}, or --task classification"
                )
            estimator: Any = OmniTreeRegressor(random_state=self.seed)
        elif self.preset == DEFAULT_PRESET:
            estimator = OmniTreeClassifier(random_state=self.seed)
        else:
            estimator = parse(self.preset).make(self.seed)
        return estimator.set_params(**self._parameters(estimator, set(y.tolist())))

    def _parameters(self, estimator: Any, labels: set[str]) -> dict[str, Any]:
        given: dict[str, Any] = dict(self.options)
        if isinstance(self.class_weight, dict):
            given["class_weight"] = {
                label: w for label, w in self.class_weight.items() if label in labels
            }
        elif self.class_weight is not None:
            given["class_weight"] = self.class_weight
        if self.costs is not None:
            given["cost_matrix"] = {
                true: {said: c for said, c in line.items() if said in labels}
                for true, line in self.costs.items()
                if true in labels
            }
        known = estimator.get_params(deep=False)
        for name in given:
            if name not in known:
                raise InputError(f"{self.preset!r} has no {name.replace('_', '-')}")
        return given

    def fit(self, rows: LearningRows) -> Any:
        """The estimator, fitted."""
        given: dict[str, Any] = {}
        if rows.weight is not None:
            given["sample_weight"] = rows.weight
        if rows.groups is not None:
            given["groups"] = rows.groups
        return self.make(rows.y).fit(rows.X, rows.y, **given)

    def row_costs(self, classes: np.ndarray, y: np.ndarray) -> np.ndarray:
        """What each answer costs each row, 1 if it is wrong and nothing is said: (n, K)."""
        costs = 1.0 - np.eye(len(classes))
        if self.costs is not None:
            costs = np.array([[self.costs[t][s] for s in classes] for t in classes])
        return costs[np.searchsorted(classes, y)]

    def class_weights(self, y: np.ndarray) -> np.ndarray:
        """The weight of each row's class."""
        if self.class_weight is None:
            return np.ones(len(y))
        return compute_sample_weight(self.class_weight, y)
