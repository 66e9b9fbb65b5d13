"""Compares stored results: a table per data set, wins of each pair, ranks.

Pairs are tested in the way that suits the protocol. Each method is tested against the
first; with several data sets, the wins of all pairs are counted as the papers do, and with
three or more methods the mean ranks are tested (Friedman, Nemenyi, Holm).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from omnitree.lab import ranks
from omnitree.lab.protocols import Protocol
from omnitree.lab.runner import Result
from omnitree.lab.tables import TextTable

TITLES = {
    "error": "error %",
    "log_loss": "log loss",
    "brier": "Brier score",
    "leaves": "leaves",
    "nodes": "nodes",
    "parameters": "parameters",
    "seconds": "fit s",
    "memory": "MB",
}
MEASURES = tuple(TITLES)
MAIN = ("error", "leaves", "parameters", "seconds")  # what fits into a terminal
DIGITS = {"error": 2, "leaves": 1, "nodes": 1, "parameters": 0, "memory": 1}  # else 3


@dataclass(frozen=True)
class MethodComparison:
    """Results of several methods on several data sets under one protocol."""

    results: list[Result]

    @property
    def protocol(self) -> Protocol:
        """How the data were divided."""
        return self.results[0].task.protocol

    @property
    def methods(self) -> list[str]:
        """Methods in order."""
        return list(dict.fromkeys(r.task.method.title for r in self.results))

    @property
    def by_data(self) -> dict[str, dict[str, Result]]:
        """Results by data set and method."""
        out: dict[str, dict[str, Result]] = {}
        for result in self.results:
            out.setdefault(result.task.data.name, {})[result.task.method.title] = result
        return out

    def scores(self, measure: str = "error") -> dict[str, dict[str, np.ndarray]]:
        """Scores of the methods without failed folds, as the tests need them."""
        rows = self.protocol.by_rows and measure == "error"
        return {
            name: {
                method: result.wrong() if rows else result.scores(measure)
                for method, result in by.items()
                if not result.failures and np.isfinite(result.scores(measure)).all()
            }
            for name, by in self.by_data.items()
        }

    def tables(self, measures: Sequence[str] = MEASURES) -> list[TextTable]:
        """The measures, wins and ranks where there are several data sets, and failures."""
        out = [self.summary(measures)]
        if len(self.methods) > 1 and len(self.by_data) > 1:
            out.append(self.wins("error"))
        if self.can_rank:
            out.append(self.rank_table())
        failures = self.failures()
        return [*out, failures] if failures.rows else out

    def summary(self, measures: Sequence[str] = MEASURES) -> TextTable:
        """Means and deviations of the measures, and p against the first method."""
        first = self.methods[0]
        rows = []
        for name, by in self.by_data.items():
            scores = self.scores()[name]
            for method, result in by.items():
                row = [name, method]
                row += [
                    mean_and_deviation(result.scores(m), DIGITS.get(m, 3))
                    for m in measures
                ]
                p = ""
                if method != first and {method, first} <= set(scores):
                    p = f"{self.protocol.compare(scores[method], scores[first]).p:.3f}"
                rows.append((*row, p))
        titles = [TITLES[m] for m in measures]
        columns = ("data set", "method", *titles, f"p against {first}")
        note = (
            f"Mean ± standard deviation over the folds of {self.protocol.name}; failed "
            f"folds are left out. p: {self.protocol.test_name}, errors of the same folds; "
            "not corrected for the number of tests. Fit s: CPU seconds of one fit."
            + " MB: memory that one fit needs."
            * ("memory" in measures)
        )
        return TextTable("Comparison", columns, tuple(rows), note, text_columns=2)

    def wins(self, measure: str, level: float = 0.05) -> TextTable:
        """Data sets on which the row's method is significantly better than the column's."""
        if self.protocol.by_rows and measure != "error":
            name = self.protocol.name
            raise ValueError(f"{name} gives no folds to test {measure} on")
        counts = ranks.win_table(self.scores(measure), self.protocol.compare, level)
        rows = [
            (str(m), *("" if m == c else str(counts.loc[m, c]) for c in counts))
            for m in counts.index
        ]
        note = (
            "Number of data sets on which the row's method has a significantly lower "
            f"{TITLES[measure].removesuffix(' %')} than the column's, out of "
            f"{len(self.by_data)} ({self.protocol.test_name}, level {level:g}). SUM: data "
            "sets on which the row's method beats at least one other, and on which the "
            "column's method is beaten by one."
        )
        title = f"Wins: {TITLES[measure]}"
        return TextTable(title, ("method", *map(str, counts)), tuple(rows), note)

    def mean_scores(self, measure: str) -> dict[str, list[float]]:
        """Means of each method by data set, where all methods finished."""
        means = {
            name: [float(by[m].mean()) for m in self.methods if m in by]
            for name, by in self.scores(measure).items()
        }
        return {n: row for n, row in means.items() if len(row) == len(self.methods)}

    @property
    def can_rank(self) -> bool:
        """Whether there are enough methods and data sets to test mean ranks."""
        return len(self.methods) > 2 and len(self.mean_scores("error")) > 1

    def rank_table(self) -> TextTable:
        """Mean ranks with Friedman's, Nemenyi's and Holm's tests."""
        scores = np.array(list(self.mean_scores("error").values()))
        n, k = scores.shape
        mean = ranks.mean_ranks(scores)
        best = int(mean.argmin())
        against = ranks.holm(scores, best)
        pairs = ranks.nemenyi(scores)
        overall = ranks.friedman(scores)
        rows = []
        for i in np.argsort(mean, kind="stable"):
            tests = (f"{pairs[i, best]:.3f}", f"{against[i]:.3f}")
            own = ("", "") if i == best else tests
            rows.append((self.methods[i], f"{mean[i]:.2f}", *own))
        note = (
            f"{n} data sets. Friedman: chi-square {overall.chi_square:.2f}, p "
            f"{overall.p:.3f} (Iman & Davenport: F {overall.f:.2f}, p "
            f"{overall.p_of_f:.3f}). Critical difference (Nemenyi, 0.05): "
            f"{ranks.critical_difference(k, n):.2f}."
        )
        columns = ("method", "mean rank", "p Nemenyi against the best", "p Holm")
        return TextTable(f"Ranks: {TITLES['error']}", columns, tuple(rows), note)

    def failures(self) -> TextTable:
        """Fits that failed, with what they said."""
        rows: list[tuple[str, ...]] = []
        for name, by in self.by_data.items():
            for method, result in by.items():
                for text in dict.fromkeys(result.failures):
                    n = result.failures.count(text)
                    rows.append((name, method, text, f"{n} of {len(result.folds)}"))
        columns = ("data set", "method", "failure", "folds")
        return TextTable("Failures", columns, tuple(rows), text_columns=3)


def mean_and_deviation(values: Sequence[float] | np.ndarray, digits: int = 2) -> str:
    """`12.3 ± 1.2`, of the finite values; empty if there are none.

    >>> mean_and_deviation([1.0, 2.0, float("nan")])
    '1.50 ± 0.71'
    """
    found = np.asarray(values, dtype=float)
    found = found[np.isfinite(found)]
    if not len(found):
        return ""
    text = f"{float(found.mean()):.{digits}f}"
    if len(found) > 1:
        text += f" ± {float(found.std(ddof=1)):.{digits}f}"
    return text
