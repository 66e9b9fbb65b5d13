"""Every slot that takes a part refuses one of another kind, and says what it wants.

Slots are found in the registries, so a new part's slots are tested by its registration.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from omnitree import TreeClassifier, TreeRegressor
from omnitree.estimators.registries import REGISTRIES
from omnitree.growing.part import Part
from omnitree.growing.stopping import Stopping
from omnitree.learners import Linear, Omnivariate
from omnitree.parts.merit import Gini
from omnitree.parts.threshold import EqualVariance

WRONG = (Gini(), Stopping(), EqualVariance(), "nothing of the kind", 3)


def kind_of(value) -> str | None:
    """The kind of part that a default is, by its class or by its name."""
    for kind, registry in REGISTRIES.items():
        if isinstance(value, registry.base):
            return kind
        if isinstance(value, str) and value in registry:
            return kind
    return None


def slots():
    """(kind, name, parameter, whether it takes several) of every slot of a part."""
    for kind, registry in REGISTRIES.items():
        for name, cls in registry.items():
            for parameter, about in inspect.signature(cls).parameters.items():
                default = about.default
                several = isinstance(default, tuple) and len(default) > 0
                if all(map(kind_of, default if several else (default,))):
                    yield kind, name, parameter, several
    # Their defaults depend on the task.
    yield "learner", "omnivariate", "candidates", True
    yield "learner", "omnivariate", "choice", False
    yield "learner", "linear", "direction", False


def fit_with(kind: str, part: Part) -> None:
    """Fit a tree that asks this part for something."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    slot = kind.split()[-1]
    given = {slot: part, "random_state": 0, "max_depth": 2}
    if slot == "refinement":
        given["learner"] = "multivariate"
    TreeClassifier(**given).fit(X, y)


@pytest.mark.parametrize(("kind", "name", "parameter", "several"), list(slots()))
def test_slots_check_what_they_get(kind, name, parameter, several):
    cls = REGISTRIES[kind][name]
    right = inspect.signature(cls).parameters[parameter].default
    # Some names are both those of a merit and of a threshold.
    expected = kind_of(right[0] if several and right else right)
    expected = parameter if parameter in REGISTRIES else expected
    tried = 0
    for wrong in WRONG:
        if expected is not None and kind_of(wrong) == expected:
            continue
        tried += 1
        part = cls(**{parameter: (wrong,) if several else wrong})
        with pytest.raises((TypeError, ValueError)):
            fit_with(kind, part)
    assert tried >= 4


def test_the_error_says_what_is_wanted():
    X, y = [[0.0, 1.0], [1.0, 0.0]] * 6, [0, 1] * 6
    with pytest.raises(TypeError, match=r"direction .* a Direction, not Gini\(\)"):
        TreeClassifier(Linear(direction=Gini())).fit(X, y)
    with pytest.raises(ValueError, match="unknown candidate Gini"):
        TreeClassifier(Omnivariate(candidates=(Gini(),))).fit(X, y)


@pytest.mark.parametrize("estimator", [TreeClassifier, TreeRegressor])
@pytest.mark.parametrize(
    "slot", ["learner", "stopping", "pruning", "missing", "leaves"]
)
def test_slots_of_estimators(estimator, slot):
    for wrong in (Gini(), EqualVariance(), "nothing of the kind", 3):
        with pytest.raises((TypeError, ValueError)):
            estimator(**{slot: wrong}).fit([[0.0], [1.0]] * 6, [0, 1] * 6)
