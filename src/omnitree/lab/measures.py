"""How good the answers to held-out rows are, as text and tables.

For classes: error, sensitivity and specificity, AUC, log loss, Brier score, calibration
slope, costs, and the confusion matrix. For numbers: root mean squared error, mean absolute
error and R squared. Each has its 95 % interval (`intervals`) and, for comparison, the figure
of a constant answer: the class that is best under the user's weights and costs, or the mean.
The rarer of two classes is the positive one. Log loss is scikit-learn's; the Brier score is
the sum over all classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from omnitree.lab.estimate import HeldOutAnswers
from omnitree.lab.intervals import Interval, ScoredRows
from omnitree.lab.procedure import LearningRows, Procedure
from omnitree.lab.tables import TextTable

MOST_CLASSES_SHOWN = 12
MOST_CONFUSIONS = 10
# Near zero: an error of at most this, and of at most this share of the constant answer's.
TOO_GOOD = 0.02
TOO_GOOD_SHARE = 0.2
TOO_GOOD_R2 = 0.99
COLUMNS = ("measure", "estimate", "95 % interval")
TITLE = "On held-out rows"


def measures_of(
    procedure: Procedure, rows: LearningRows, held_out: HeldOutAnswers
) -> ClassMeasures | NumberMeasures:
    """The measures that suit the target."""
    if procedure.numeric:
        return NumberMeasures(rows, held_out)
    return ClassMeasures(procedure, rows, held_out)


@dataclass(frozen=True)
class ClassMeasures:
    """Of answers that are classes."""

    procedure: Procedure
    rows: LearningRows
    held_out: HeldOutAnswers

    @cached_property
    def truth(self) -> np.ndarray:
        """The place of each row's label among the classes."""
        return np.searchsorted(self.held_out.classes, self.rows.y)

    @cached_property
    def said(self) -> np.ndarray:
        """The place of each answer among the classes."""
        return np.searchsorted(self.held_out.classes, self.held_out.answer)

    @cached_property
    def shares(self) -> np.ndarray:
        """The share of each class."""
        weight = self.held_out.sample.weight
        sums = np.bincount(self.truth, weight, len(self.held_out.classes))
        return sums / sums.sum()

    @cached_property
    def costs(self) -> np.ndarray:
        """What each answer costs each row."""
        return self.procedure.row_costs(self.held_out.classes, self.rows.y)

    @cached_property
    def weighted(self) -> ScoredRows:
        """The rows weighted by class, too."""
        sample = self.held_out.sample
        weight = sample.weight * self.procedure.class_weights(self.rows.y)
        return ScoredRows(weight, sample.groups, sample.folds)

    @cached_property
    def constant(self) -> int:
        """The best constant answer; the most frequent class, if several are as good."""
        cost = self.weighted.weight @ self.costs
        best = cost <= cost.min() * (1 + 1e-9)
        return int(np.argmax(np.where(best, self.shares, -1)))

    @cached_property
    def own_costs(self) -> np.ndarray:
        """What the answers cost."""
        return self.costs[np.arange(len(self.said)), self.said]

    @property
    def always(self) -> str:
        """The constant answer in words."""
        return f"always {str(self.held_out.classes[self.constant])!r}"

    @cached_property
    def error(self) -> Interval:
        """The share of wrong answers."""
        return self.held_out.sample.share(self.said != self.truth)

    @property
    def constant_error(self) -> float:
        """That of the constant answer."""
        return self.held_out.sample.mean(self.truth != self.constant)

    @property
    def is_too_good(self) -> bool:
        """Whether the error is near zero."""
        most = min(TOO_GOOD, TOO_GOOD_SHARE * self.constant_error)
        return self.error.value <= most

    @cached_property
    def area(self) -> Interval | None:
        """The area under the ROC curve, of two classes."""
        if len(self.shares) != 2:
            return None
        return self.held_out.sample.area(self.held_out.proba[:, 1], self.truth == 1)

    def headline(self) -> str:
        """The error in a few words."""
        return (
            f"{_percent(self.error.value)} (95 % interval {_percents(self.error)}; "
            f"{self.always}: {_percent(self.constant_error)}), by"
        )

    def tables(self) -> Iterator[TextTable]:
        """All measures, and which classes are mistaken for which."""
        rows = tuple(self._lines())
        yield TextTable(TITLE, (*COLUMNS, self.always), rows, self._note())
        yield self._confusions()

    def _lines(self) -> Iterator[tuple[str, ...]]:
        sample, classes = self.held_out.sample, self.held_out.classes
        yield _line("error", self.error, self.constant_error)
        if self.procedure.class_weight is not None:
            found = self.weighted.share(self.said != self.truth)
            constant = self.weighted.mean(self.truth != self.constant)
            yield _line("error, classes weighted", found, constant)
        if self.procedure.costs is not None:
            constant = sample.mean(self.costs[:, self.constant])
            yield _line(
                "cost per row", sample.positive(self.own_costs), constant, ".3g"
            )
        if self.area is not None:
            rare = int(np.argmin(self.shares))
            for name, k in (("sensitivity", rare), ("specificity", 1 - rare)):
                of = self.truth == k
                found = sample.take(np.flatnonzero(of)).share(self.said[of] == k)
                recall = f"{name} (recall of {str(classes[k])!r})"
                yield _line(recall, found, float(self.constant == k))
            yield _line("AUC", self.area, 0.5, ".3f")
        loss = sample.positive(self._log_losses(self.held_out.proba))
        shares, proba = np.tile(self.shares, (len(self.said), 1)), self.held_out.proba
        yield _line("log loss", loss, sample.mean(self._log_losses(shares)), ".3f")
        brier = sample.positive(self._brier_scores(proba))
        yield _line(
            "Brier score", brier, sample.mean(self._brier_scores(shares)), ".3f"
        )
        slope = self._slope
        if slope is not None:
            yield "calibration slope", f"{slope.value:.2f}", _numbers(slope, ".2f"), ""

    @cached_property
    def _slope(self) -> Interval | None:
        return self.held_out.sample.calibration_slope(self.held_out.proba, self.truth)

    def _log_losses(self, proba: np.ndarray) -> np.ndarray:
        own = proba[np.arange(len(self.truth)), self.truth]
        return -np.log(np.maximum(own, np.finfo(float).eps))

    def _brier_scores(self, proba: np.ndarray) -> np.ndarray:
        own = proba[np.arange(len(self.truth)), self.truth]
        return (proba**2).sum(axis=1) - 2 * own + 1

    def _note(self) -> str:
        notes = ["Log loss and Brier score beside those of the class shares."]
        if self._slope is not None:
            notes.append(f"Calibration: {_calibration(self._slope)}.")
        if self.procedure.class_weight is not None:
            notes.append("Class weights shift probabilities towards heavy classes.")
        return " ".join(notes)

    def _confusions(self) -> TextTable:
        sample, classes = self.held_out.sample, [str(c) for c in self.held_out.classes]
        k = len(classes)
        cells = np.bincount(self.truth * k + self.said, sample.weight, k * k)
        counts = cells.reshape(k, k)
        note = "" if self.rows.weight is None else "Sums of weights."
        if k > MOST_CLASSES_SHOWN:
            wrong = counts - np.diag(np.diag(counts))
            places = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS]
            pairs = [divmod(int(place), k) for place in places]
            most = [
                (classes[i], classes[j], f"{wrong[i, j]:.6g}")
                for i, j in pairs
                if wrong[i, j] > 0
            ]
            title = "The most frequent confusions"
            return TextTable(title, ("class", "answer", "rows"), tuple(most), note, 2)
        recall = [_percent(v) for v in np.diag(counts) / counts.sum(axis=1)]
        rows = tuple(
            (classes[i], *(f"{v:.6g}" for v in counts[i]), recall[i]) for i in range(k)
        )
        columns = ("class \\ answer", *classes, "recall")
        return TextTable("Confusion matrix", columns, rows, note)

    def verdicts(self) -> Iterator[str]:
        """Whether anything was learned."""
        difference = self.own_costs - self.costs[:, self.constant]
        better = self.weighted.difference(difference)
        if better.high < 0:
            return
        text = _no_better(better, self.always.replace("always", "always answering"))
        if self.area is not None and self.area.low > 0.5:
            text += f"; but its probabilities rank rows (AUC {self.area.value:.2f})"
        yield text + "."


@dataclass(frozen=True)
class NumberMeasures:
    """Of answers that are numbers."""

    rows: LearningRows
    held_out: HeldOutAnswers

    @cached_property
    def squares(self) -> np.ndarray:
        """Squared error of each row."""
        return (self.held_out.answer - self.rows.y) ** 2

    @cached_property
    def constant_squares(self) -> np.ndarray:
        """That of the mean."""
        return (self.rows.y - self.held_out.sample.mean(self.rows.y)) ** 2

    @cached_property
    def root(self) -> Interval:
        """The root of the mean squared error."""
        return Interval(*np.sqrt(self.held_out.sample.positive(self.squares)).tolist())

    @cached_property
    def determination(self) -> Interval | None:
        """R squared, if the target varies."""
        if not self.constant_squares.any():
            return None
        return self.held_out.sample.determination(self.squares, self.constant_squares)

    @property
    def is_too_good(self) -> bool:
        """Whether the error is near zero."""
        found = self.determination
        return found is not None and found.value >= TOO_GOOD_R2

    def headline(self) -> str:
        """The error in a few words."""
        constant = np.sqrt(self.held_out.sample.mean(self.constant_squares))
        return (
            f"{self.root.value:.4g} (root mean squared; 95 % interval "
            f"{_numbers(self.root, '.4g')}; always the mean: {constant:.4g}), by"
        )

    def tables(self) -> Iterator[TextTable]:
        """All measures."""
        sample, spread = self.held_out.sample, self.constant_squares
        absolute = sample.positive(np.abs(self.held_out.answer - self.rows.y))
        root, mean = np.sqrt(sample.mean(spread)), sample.mean(np.sqrt(spread))
        rows = [
            _line("root mean squared error", self.root, root, ".4g"),
            _line("mean absolute error", absolute, mean, ".4g"),
        ]
        if self.determination is not None:
            found = self.determination
            rows.append(("R²", f"{found.value:.3f}", _numbers(found, ".3f"), "0"))
        yield TextTable(TITLE, (*COLUMNS, "always the mean"), tuple(rows))

    def verdicts(self) -> Iterator[str]:
        """Whether anything was learned."""
        better = self.held_out.sample.difference(self.squares - self.constant_squares)
        if better.high < 0:
            return
        yield _no_better(better, "always answering the mean") + "."


def _no_better(difference: Interval, constant: str) -> str:
    """That the difference to a constant answer may be none."""
    if difference.value < 0:
        return f"Not clearly better than {constant}: the difference may be chance"
    return f"No better than {constant}"


def _line(
    name: str, found: Interval, constant: float, form: str = "%"
) -> tuple[str, ...]:
    """A measure beside that of the constant answer: shares, or numbers of a format."""
    if form == "%":
        return name, _percent(found.value), _percents(found), _percent(constant)
    return name, f"{found.value:{form}}", _numbers(found, form), f"{constant:{form}}"


def _percent(share: float) -> str:
    return f"{_hundredfold(share)} %"


def _percents(found: Interval) -> str:
    return f"{_hundredfold(found.low)} to {_hundredfold(found.high)} %"


def _hundredfold(share: float) -> str:
    """With one decimal, or the first digit that is not 0 of a tiny share."""
    return f"{100 * share:.1f}" if share == 0 or share >= 5e-4 else f"{100 * share:.1g}"


def _numbers(found: Interval, form: str) -> str:
    return f"{found.low:{form}} to {found.high:{form}}"


def _calibration(slope: Interval) -> str:
    found = "no sign that probabilities are wrong"
    if slope.high < 1:
        found = "probabilities are too close to 0 and 1"
    if slope.low > 1:
        found = "probabilities are too far from 0 and 1"
    return f"{found} (a slope of 1 is right)"
