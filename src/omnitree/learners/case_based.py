"""The case-based learner: a branch for each class, by likeness to rows that were kept.

Where classes lie in patches that neither lines nor curves describe, a row is best told by
the rows that it is like. Some rows of each class are kept as its cases; the score of a class
is the weighted likeness to them (`discriminants/cases.py`). Held-out rows choose how quickly
likeness falls with distance and, if asked, how few cases do; a case in the fold that is held
out takes no part in what is said of its rows. One of the rivals in the refinement
`contest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number, one_of
from omnitree.growing.threads import one_thread
from omnitree.learners.trial import Replacement, Trial, TrialLearner
from omnitree.parts.discriminants.cases import Likeness, case_order, distances
from omnitree.parts.discriminants.softmax_folds import HeldRows
from omnitree.parts.merit import MERITS
from omnitree.resampling.folds import held_by
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import CasesSplit

NAME = "likeness to cases"
PENALTY = 3e-4
# Cases of a first look, and the rows that are enough to learn their weights from and to
# judge them by.
LOOK, LEARNED, JUDGED = 100, 1000, 200
# Cases that a sparse test has at least, for each class.
LEAST = 4
# The precision of a column that hardly varies may be as large.
STEEPEST = 1e150


@dataclass(frozen=True)
class CaseRows:
    """The rows of a node, without missing values, and those that may be cases.

    Attributes
    ----------
    cells, z : float arrays (n, m)
        The columns that vary: in their own units, and as distances are measured.
    columns : int array (m,)
        Their numbers.
    unit : float array (m,)
        What `cells` were multiplied by to become `z`, but for a shift.
    fill : float array (m,)
        What stands for a missing cell.
    held : bool array (n, m)
        The rows that each fold holds out.
    turn : int array (n,)
        The position of each row among all, in an order that is as good as random.
    order : int array
        Rows that may be cases; the first ones are.
    y, weight : arrays (n,)
        Classes and weights of the rows.
    """

    cells: Floats
    z: Floats
    columns: NDArray[np.intp]
    unit: Floats
    fill: Floats
    held: NDArray[np.bool_]
    turn: NDArray[np.intp]
    order: NDArray[np.intp]
    y: NDArray[np.int32]
    weight: Floats

    @classmethod
    def of(cls, node: Node, held: NDArray[np.bool_], most: int) -> CaseRows | None:
        """None where no column varies."""
        rows = node.view("linear")
        scaling, p = rows.scaling, rows.n_columns
        columns = rows.columns
        spread = rows.standard.spread[:p]
        used = np.flatnonzero((scaling.std > 0) & (np.ptp(columns, axis=0) > 0))
        if not len(used):
            return None
        unit = spread[used] / np.sqrt((spread[used] ** 2).sum())
        std = scaling.std[used]
        fill = rows.fill[used] * std + scaling.mean[used]
        cells = node.sample.table.encoded.cells[node.rows][:, used]
        cells = np.where(np.isnan(cells), fill, cells)
        y = node.target.of_present().y
        key = node.sample.row_hash(node.rules.seed)[node.rows]
        turn = np.empty(len(y), dtype=np.intp)
        turn[np.argsort(key, kind="stable")] = np.arange(len(y))
        order = case_order(y, turn)[:most]
        z = columns[:, used] * unit
        _, first = np.unique(np.c_[z[order], y[order]], axis=0, return_index=True)
        order = order[np.sort(first)]
        return cls(cells, z, used, unit / std, fill, held, turn, order, y, rows.weight)

    def chosen(self, n: int) -> NDArray[np.intp]:
        """The first n cases, in the order of their classes."""
        return self.order[:n][np.argsort(self.y[self.order[:n]], kind="stable")]

    def distances(self, at: NDArray[np.intp]) -> Floats:
        """Of all rows from some cases."""
        return distances(self.z, self.z[at])

    def likeness(
        self, at: NDArray[np.intp], precision: float, apart: Floats | None = None
    ) -> Likeness:
        """Of all rows to some cases, whose distances may be known."""
        apart = self.distances(at) if apart is None else apart
        return Likeness.of(apart, precision, self.y[at], int(self.y.max()) + 1)


@dataclass(frozen=True)
class CasesTrial(Trial):
    """What `CaseBased` found."""

    node: CaseRows
    n_cases: int
    precision: float

    @property
    def kind(self) -> str:
        return "cases"

    @cached_property
    def n_parameters(self) -> int:
        return self.n_cases + len(self.rows.present) + 1

    @property
    def is_finite(self) -> bool:
        """Whether distances are numbers that a file can hold in the table's units, too."""
        precision = np.asarray(self._parts()["precision"])
        with np.errstate(over="ignore"):
            apart = np.ptp(self.node.cells, axis=0)
        usual = (precision > 0) & (precision < STEEPEST) & np.isfinite(apart)
        return bool(usual.all()) and super().is_finite

    @cached_property
    def at(self) -> NDArray[np.intp]:
        """The rows that are cases."""
        return self.node.chosen(self.n_cases)

    @cached_property
    def likeness(self) -> Likeness:
        """Of all rows to them."""
        return self.node.likeness(self.at, self.precision)

    @cached_property
    def weights(self) -> Floats:
        """Biases of the classes and weights of the cases, fitted to all rows."""
        with one_thread():
            node, every = self.node, np.ones((len(self.at), 1), dtype=bool)
            weight = node.weight[:, None]
            return self.likeness.fit(node.y, weight, every, PENALTY)[:, 0]

    @cached_property
    def replacement(self) -> Replacement:
        return Replacement(self._cases_split(), self.leaf_model())

    def _sums(self, scale: float) -> tuple[Floats, Floats]:
        """Biases (k,), and weights (k, c) of the cases, of the classes that are present."""
        k = len(self.rows.present)
        own = np.zeros((k, len(self.at)))
        own[self.node.y[self.at], np.arange(len(self.at))] = self.weights[k:]
        return scale * self.weights[:k], scale * own

    def _parts(self) -> dict[str, Any]:
        """What tests and models of cases have in common."""
        node = self.node
        with np.errstate(over="ignore"):  # `is_finite` asks
            precision = self.precision * node.unit**2
        return {
            "columns": tuple(node.columns.tolist()),
            "fill": tuple(node.fill.tolist()),
            "precision": tuple(precision.tolist()),
            "cases": tuple(map(tuple, node.cells[self.at].tolist())),
        }

    def leaf_model(self, times: float = 1.0) -> LeafModel:
        bias, own = self._sums(times * self.scale)
        everywhere = np.zeros((self.rows.n_classes, own.shape[1]))
        everywhere[self.rows.present] = own
        return LeafModel(
            bias=tuple(self._of_all_classes(bias).tolist()),
            weights=((),) * self.rows.n_classes,
            case_weights=tuple(map(tuple, everywhere.tolist())),
            **self._parts(),
        )

    def _cases_split(self) -> CasesSplit | None:
        """The test; None if all rows take one branch."""
        branch = self.likeness.scores(self.weights[:, None])[..., 0].argmax(axis=0)
        bias, own = self._sums(1.0)
        counts = np.zeros((len(bias), self.rows.n_classes))
        np.add.at(counts, (branch, self.rows.y), self.rows.weight)
        used = np.flatnonzero(counts.sum(axis=1) > 0)
        kept = np.flatnonzero(own[used].any(axis=0))
        if len(used) < 2 or not len(kept):
            return None
        parts = self._parts()
        parts["cases"] = tuple(parts["cases"][i] for i in kept)
        return CasesSplit(
            bias=tuple(bias[used].tolist()),
            case_weights=tuple(map(tuple, own[used][:, kept].tolist())),
            merit=float(MERITS.resolve("gain")(counts[used])),
            **parts,
        )

    def sparser(self, margin: float, unlikelier: float | None = None) -> Trial | None:
        """With half the cases, and half of these, as long as held-out rows allow."""
        likely = margin if unlikelier is None else unlikelier
        least, found = LEAST * len(self.rows.present), None
        n = self.n_cases // 2
        while n >= least:
            scores = held_out_scores(self.node, n, self.precision)
            new = replace(self, name=f"sparse {NAME}", scores=scores, n_cases=n)
            if (
                new.held_out.gain(self.held_out, "errors") < -margin
                or new.held_out.gain(self.held_out, "log_loss") < -likely
            ):
                break
            found, n = new, n // 2
        return found


class CaseBased(TrialLearner):
    """Likeness to rows that were kept, one branch per class.

    Parameters
    ----------
    expansion : {"cases"}
        What the columns become.
    precisions : sequence of float, default=(2.0, 0.7, 6.0)
        How quickly likeness falls with squared distance, in units of its mean over all
        columns. Where the first is behind what the test has to beat, there is no test;
        else the likeliest of them is taken.
    folds : int, default=5
        Number of folds of the cross-validation that chooses the precision.
    max_cases : int, default=300
        Rows that are kept, at most; classes take turns.
    max_rows : int, default=10000
        Nodes with more rows get no test.
    numeric_only : bool, default=False
        Whether tables with categories get no test. Otherwise rows of two categories are as
        far apart as the columns that stand for them say.
    min_columns, max_columns, max_cells, max_weights, max_classes
        As for `Softmax`, of the columns as they are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import CaseBased
    >>> clf = TreeClassifier(CaseBased(), max_depth=1).fit(*load_iris(return_X_y=True))
    >>> clf.tree_.node_kinds()["cases"]
    1
    """

    expansion: str = "cases"
    precisions: Any = (2.0, 0.7, 6.0)
    folds: int = 5
    max_cases: int = 300
    max_rows: int = 10_000
    numeric_only: bool = False

    @property
    def counted(self) -> str:
        one_of("expansion", self.expansion, ("cases",))
        return "linear"

    def trial(
        self,
        node: Node,
        against: HeldOut | None = None,
        slack: float = 0.0,
        deals: int = 1,
    ) -> Trial | None:
        """Cross-validate the precision; None if a first look with few cases is behind."""
        number("folds", self.folds, 2)
        most = int(number("max_cases", self.max_cases, 2))
        rows = number("max_rows", self.max_rows, 2)
        if len(node.rows) > rows or not self.suits(node):
            return None
        categories = node.sample.table.schema.linear_columns()[1]
        if self.numeric_only and (categories >= 0).any():
            return None
        dealt = self.dealt(node, self.folds, deals)
        if dealt is None:
            return None
        held = held_by(dealt)
        with one_thread():
            known = CaseRows.of(node, held, most)
            if known is None:
                return None
            return self._trial(node, known, most, against)

    def _trial(
        self, node: Node, known: CaseRows, most: int, against: HeldOut | None
    ) -> CasesTrial | None:
        precisions = tuple(number("precisions", v, 1e-6, 1e6) for v in self.precisions)
        if not precisions:
            raise ValueError("precisions must hold a number")
        if len(precisions) == 1 and against is None:
            precision: float | None = precisions[0]
        else:
            precision = _precision(node, known, precisions, against)
        if precision is None:
            return None
        scores = held_out_scores(known, most, precision)
        rows, groups = node.view("linear"), node.sample.groups_of(node.rows)
        parts = (NAME, rows, "cases", scores, node.target, groups)
        n = min(most, len(known.order))
        return CasesTrial(*parts, known, n, precision)


def _precision(
    node: Node,
    known: CaseRows,
    precisions: Sequence[float],
    against: HeldOut | None,
) -> float | None:
    """The likeliest precision with few cases; None if the first is behind another test."""
    at = known.chosen(LOOK)
    apart = known.distances(at)
    rows, groups = node.view("linear"), node.sample.groups_of(node.rows)
    best, found = np.inf, None
    for precision in precisions:
        scores = _held_out(known, at, known.likeness(at, precision, apart), JUDGED)
        new = Trial(NAME, rows, "cases", scores, node.target, groups).held_out
        if against is not None and found is None:
            gains = [new.gain(against, loss) for loss in ("errors", "log_loss")]
            if max(gains) < 0:
                return None
        if (loss := new.mean("log_loss")) < best:
            best, found = loss, precision
    return found


def held_out_scores(known: CaseRows, n: int, precision: float) -> Floats:
    """Scores (n, k) of all rows while they were held out, with so many cases."""
    at = known.chosen(n)
    with one_thread():
        return _held_out(known, at, known.likeness(at, precision))


def _held_out(
    known: CaseRows, at: NDArray[np.intp], like: Likeness, n_rows: float = np.inf
) -> Floats:
    """Scores of the rows of each fold by the others, and by the cases among these.

    Of as many folds as have `n_rows`, in the mean of the deals; NaN of other rows.
    """
    n_folds = known.held.shape[1]
    tested = np.cumsum(known.held.sum(axis=0))
    held = known.held[:, : min(n_folds, int(np.searchsorted(tested, n_rows)) + 1)]
    weight, y, learned = known.weight[:, None] * ~held, known.y, like
    if held.shape[1] < n_folds and len(y) > LEARNED:
        some = np.flatnonzero(known.turn < LEARNED)
        weight, y, learned = weight[some], y[some], like.take(some)
    w = learned.fit(y, weight, ~held[at], PENALTY)
    out = np.zeros((len(held), like.n_classes))
    dealt, scores = HeldRows.of(held), like.scores(w)
    for i, rows in enumerate(dealt.rows):
        out[rows] += scores[:, rows, i].T
    return out / dealt.times
