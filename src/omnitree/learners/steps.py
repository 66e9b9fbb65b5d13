"""The steps learner: a branch for each class, by curves that jump at cuts.

Curves are sums of many small steps (`discriminants/steps.py`): where classes change at a
value, and not gradually, they say so with fewer rows than bends of a line can. Held-out
rows choose the number of steps. The model is the mean of those that were learned without
each fold, whose curves are smoother than any one of them. One of the rivals in the
refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number, one_of
from omnitree.learners.gradual import HeldOutPath, validated
from omnitree.learners.trial import Trial, TrialLearner
from omnitree.parts.discriminants.steps import STAGE, Binned, step_stages
from omnitree.resampling.folds import parts_of
from omnitree.resampling.held_out import HeldOut

NAME = "additive softmax of steps"
# Standard errors by which the first fold may lose more than another test: what is further
# behind is not chosen, and adds nothing to a test that is.
BEHIND = 1.0


@dataclass(frozen=True)
class StepsTrial(Trial):
    """What `Steps` found.

    Attributes
    ----------
    weights : float array (k, p)
        Of the columns that have two values.
    bias : float array (k,)
    """

    weights: Floats
    bias: Floats

    def functions(self) -> tuple[Floats, Floats]:
        k, p = self.weights.shape
        weights = np.zeros((k, self.rows.n_columns))
        weights[:, :p] = self.weights
        sides = class_parts(k)
        for first in range(p, self.rows.n_columns, sides.shape[1]):
            weights[:, first : first + sides.shape[1]] = sides
        return weights, self.bias

    def used_terms(self) -> NDArray[np.bool_]:
        out = super().used_terms()
        out[: self.weights.shape[1]] = self.weights.any(axis=0)
        return out


class Steps(TrialLearner):
    """Boosted cuts of single columns, one branch per class.

    Parameters
    ----------
    expansion : {"steps"}
        What the columns become.
    folds : int, default=5
        Number of folds of the cross-validation that chooses the number of steps.
    max_steps : int, default=150
        Steps are counted in tens.
    patience : int, default=10
        A fold stops this many steps after its log loss was lowest.
    rate : float, default=0.4
        What each step is multiplied by.
    ridge : float, default=1.0
        Penalty on the values of both sides of a cut, in rows.
    min_columns, max_columns, max_cells, max_weights, max_classes
        As for `Softmax`, of the columns as they are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Steps
    >>> clf = TreeClassifier(Steps(), max_depth=1).fit(*load_iris(return_X_y=True))
    >>> clf.tree_.node_kinds()["additive_machine"]
    1
    """

    expansion: str = "steps"
    folds: int = 5
    max_steps: int = 150
    patience: int = 10
    rate: float = 0.4
    ridge: float = 1.0

    @property
    def counted(self) -> str:
        one_of("expansion", self.expansion, ("steps",))
        return "linear"

    def is_richer(self, node: Node) -> bool:
        """Whether some number has more than two values."""
        return bool(node.view("curves").scaling.curves)

    def trial(
        self,
        node: Node,
        against: HeldOut | None = None,
        slack: float = 0.0,
        deals: int = 1,
    ) -> Trial | None:
        """Cross-validate the number of steps.

        None if no step helps, or if the first fold is behind.
        """
        for name, least in (("folds", 2), ("max_steps", STAGE), ("patience", 1)):
            number(name, getattr(self, name), least)
        number("rate", self.rate, 1e-3)
        number("ridge", self.ridge, 1e-3)
        if not self.suits(node):
            return None
        dealt, linear = self.dealt(node, self.folds, deals), node.view("linear")
        if dealt is None:
            return None
        is_number = node.sample.table.schema.linear_columns()[1] < 0
        plain = linear.standard.plain[node.rows]
        binned = Binned.of(plain, is_number, linear.weight, linear.scaling)
        y, k = node.target.of_present().y, len(linear.present)
        by_deal: list[list[HeldOutPath]] = []
        for fold in dealt:
            asked = ("paths", self, fold.tobytes())
            if asked not in node.memo:
                own = []
                for train, test in parts_of(fold):
                    own.append(self._path(binned, y, linear.weight, k, train, test))
                    if against is not None and _is_behind(own[0], against):
                        return None
                    against = None  # one look
                node.memo[asked] = own
            by_deal.append(node.memo[asked])
        paths = [path for own in by_deal for path in own]
        scores, n_stages = validated(by_deal)
        if n_stages < 2:  # no step, or none that others than its own rows confirm
            return None
        functions = _mean_functions(paths, n_stages)
        bias = np.mean([path.stages[0].bias for path in paths], axis=0)
        return _trial(node, binned, scores, functions, bias)

    def _path(
        self,
        binned: Binned,
        y: NDArray[np.int32],
        weight: Floats,
        k: int,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
    ) -> HeldOutPath:
        """Rows to test, as far as they stay patient."""
        size = (k, self.rate, self.ridge)
        ahead = step_stages(binned, train, y[train], weight[train], *size)
        path = HeldOutPath.of(test, binned.codes_of(test), y, weight, ahead, k)
        path.go_on(1 + self.max_steps // STAGE, self.patience // STAGE)
        return path


def _is_behind(path: HeldOutPath, against: HeldOut) -> bool:
    """Whether the rows of a path lose more than `against` by more than a standard error."""
    other = against.take(path.test)
    log_loss = path.log_losses(path.sums[int(np.argmin(path.losses))])
    return replace(other, log_loss=log_loss).gain(other, "log_loss") < -BEHIND


def _mean_functions(paths: list[HeldOutPath], n_stages: int) -> Floats:
    """The functions (bins, m) after so many stages, in the mean of all folds."""
    each = (sum(stage.functions for stage in path.stages[:n_stages]) for path in paths)
    return np.asarray(sum(each) / len(paths))


def _trial(
    node: Node, binned: Binned, scores: Floats, functions: Floats, bias: Floats
) -> StepsTrial:
    """The trial whose curves are these functions; of two values, straight lines."""
    linear, parts = node.view("linear"), class_parts(len(bias))
    weights, curves = np.zeros((len(bias), linear.n_columns)), []
    for i, j in enumerate(binned.columns):
        values = functions[binned.first[i] : binned.first[i + 1]]
        if binned.is_line(i):
            slope, shift = binned.line(i, values)
            weights[:, j] = parts @ slope
            bias = bias + parts @ shift
            continue
        made = binned.curve(i, values, linear.weight)
        if made is None:
            continue
        curves.append(made[0])
        bias = bias + parts @ made[1]
    rows = linear.with_curves(tuple(curves))
    groups = node.sample.groups_of(node.rows)
    return StepsTrial(NAME, rows, "steps", scores, node.target, groups, weights, bias)


def class_parts(k: int) -> Floats:
    """How functions (m,) add to the sums of k classes, (k, m).

    Of two classes there is one function: half of it counts for the second, and half against
    the first.
    """
    return np.array([[-0.5], [0.5]]) if k == 2 else np.eye(k)
