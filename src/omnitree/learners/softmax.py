"""The softmax learner: a branch for each class, by penalised multinomial regression.

The columns are taken as they are or with all their squares and products; the penalty is the
one with the best cross-validated likelihood. Of two classes this is one linear (quadratic)
test, of more a machine. A rival in the refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.learners.trial import Folds, Trial, TrialLearner
from omnitree.parts.discriminants.softmax import Whitened
from omnitree.parts.discriminants.softmax_folds import Validated, kept, validate
from omnitree.parts.discriminants.softmax_sparse import Thinned, enough, fewest
from omnitree.resampling.held_out import HeldOut

PENALTIES = (1.0, 0.1, 0.01, 0.001, 0.0001)
# Of rows and columns: to find the directions of so many takes minutes.
TOO_MANY = 3000
# Of the last fit, in products: with thousands of rows and columns the last digits of the
# weights take seconds and change no answer.
WORK = 4e8


@dataclass(frozen=True)
class SoftmaxTrial(Trial):
    """What `Softmax` found; `y` are classes as positions among those present."""

    whitened: Whitened
    y: np.ndarray
    validated: Validated

    def functions(self) -> tuple[Floats, Floats]:
        k = len(self.rows.present)
        with one_thread():
            (w,) = self.whitened.fit(
                self.y,
                self.rows.weight[:, None],
                k,
                self.validated.penalty,
                self.validated.start,
                tolerance=1e-6,
                most=_most(self.whitened.scores.size * k),
            )
        return self.whitened.functions(w)

    def sparser(self, margin: float) -> Trial | None:
        weight, valid = self.rows.weight, self.validated
        held = valid.held[:, : enough(valid.held)]
        start = Thinned.of(
            self.whitened,
            self.rows.columns,
            self.y,
            kept(weight, held),
            valid.penalty,
            valid.weights[: held.shape[1]],
            self.rows.scaling.factors,
        )
        with one_thread():
            costs = None if self.costs is None else self.costs[self.rows.present]
            found = fewest(start, weight, held, margin, costs)
        if found is None:
            return None
        sizes, scores = found
        return SparseTrial(
            f"sparse {self.name}",
            self.rows,
            self.expansion,
            scores,
            self.costs,
            self.groups,
            self.whitened,
            start.together(weight),
            sizes,
        )


@dataclass(frozen=True)
class SparseTrial(Trial):
    """A softmax test of which only some weights are left, the last of `sizes`.

    `start` has all weights, fitted to all rows or nearly so.
    """

    whitened: Whitened
    start: Thinned
    sizes: list[int]

    @property
    def n_parameters(self) -> int:
        return self.sizes[-1] + self.start.alive.shape[1]

    def functions(self) -> tuple[Floats, Floats]:
        thin = self.start
        with one_thread():
            for size in self.sizes:
                thin = thin.thinner(size)
            work = thin.x.size * thin.w.shape[1]
            (w,) = thin.fitted(1e-4, _most(work)).w
        weights = w[:, :-1] * self.whitened.unit
        return weights, w[:, -1] - weights @ self.whitened.mean


def _most(work: int) -> int:
    """Steps of a last fit that takes so many products a step."""
    return int(np.clip(WORK / work, 50, 300))


class Softmax(TrialLearner):
    """Multinomial logistic regression with a ridge penalty, one branch per class.

    Parameters
    ----------
    expansion : {"linear", "quadratic"}, default="linear"
        The columns: as they are, or with all their squares and products.
    penalties : sequence of float
        Tried from the second largest down, until the held-out likelihood gets worse; the
        largest, if that is at once.
    folds : int, default=5
        Of the cross-validation that chooses the penalty.
    min_columns, max_columns : int, default=1 and None
        Nodes with fewer or more columns, products included, get no test.
    max_cells : int, optional
        Nor do nodes with more rows times columns times classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Softmax
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = TreeClassifier(learner=Softmax(), max_depth=1).fit(X, y)
    >>> clf.tree_.n_leaves, clf.tree_.node_kinds()["machine"]
    (3, 1)
    """

    def __init__(
        self,
        expansion="linear",
        penalties=PENALTIES,
        folds=5,
        min_columns=1,
        max_columns=None,
        max_cells=None,
    ):
        self.expansion = expansion
        self.penalties = penalties
        self.folds = folds
        self.min_columns = min_columns
        self.max_columns = max_columns
        self.max_cells = max_cells

    def trial(self, node: Node, against: HeldOut | None = None) -> Trial | None:
        """Cross-validate every penalty; `validate` says when it gives up."""
        self.check_expansion()
        penalties = sorted((float(p) for p in self.penalties), reverse=True)
        number("penalties", penalties[-1], 1e-12)
        if not self.suits(node):
            return None
        rows = node.view(self.expansion)
        n, p, k = len(rows.rows), rows.n_columns, len(rows.present)
        if min(n, p) > TOO_MANY:
            return None
        f = Folds.of(node, rows, self.folds)
        if f is None:
            return None
        with one_thread():
            whitened = Whitened.of(rows.columns, rows.weight, rows.standard.spread)
            if whitened is None:
                return None
            validated = validate(
                whitened, f.y, k, rows.weight, f.fold, penalties, f.costs, against
            )
        name = f"{self.expansion} softmax"
        return SoftmaxTrial(
            name,
            rows,
            self.expansion,
            validated.scores,
            node.target.costs,
            node.sample.groups_of(rows.rows),
            whitened,
            f.y,
            validated,
        )
