"""The report of `omnitree fit`: the error of the procedure on rows it has not seen.

A sentence with the error and its interval, a table of measures, the confusion matrix, and
notes if nothing was learned, if the result looks too good to be true, or if fewer folds
than requested were used. The measures are in `lab.measures`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from omnitree.lab.estimate import FoldCount, hold_out
from omnitree.lab.measures import ClassMeasures, NumberMeasures, measures_of
from omnitree.lab.procedure import LearningRows, Procedure
from omnitree.lab.tables import TextTable

# Number of the most important columns that are tried alone if the error is near zero.
COLUMNS_TRIED = 5
FOLDS_OF_ONE_COLUMN = 3


@dataclass(frozen=True)
class FitReport:
    """Sentences and tables, in order, on a model fitted on all rows."""

    procedure: Procedure
    rows: LearningRows
    folds: FoldCount
    model: Any

    @cached_property
    def measures(self) -> ClassMeasures | NumberMeasures:
        """Of the answers to all rows, each held out in turn."""
        found = hold_out(self.procedure, self.rows, self.folds.n)
        return measures_of(self.procedure, self.rows, found)

    def parts(self) -> Iterator[str | TextTable]:
        """What to print, in order."""
        yield f"Error on new rows: {self.measures.headline()} {self._how()}"
        yield from self.measures.tables()
        for text in (*self.measures.verdicts(), self._too_good()):
            if text:
                yield text

    def _how(self) -> str:
        kind = "" if self.procedure.numeric else " stratified"
        extra = "" if self.rows.weight is None else ", weighted"
        if self.rows.groups is not None:
            n_groups = len(np.unique(self.rows.groups))
            extra += f", {n_groups} groups kept together"
        fewer = f" (fewer folds, because {self.folds.reason})" * bool(self.folds.reason)
        return (
            f"{self.folds.n}-fold{kind} cross-validation of the whole procedure on "
            f"{len(self.rows.y)} rows{extra}{fewer}."
        )

    def _too_good(self) -> str:
        """A warning if one column alone reaches an error near zero."""
        if not self.measures.is_too_good:
            return ""
        for name in self._columns_by_importance()[:COLUMNS_TRIED]:
            alone = self.rows.with_column(name)
            folds = min(self.folds.n, FOLDS_OF_ONE_COLUMN)
            try:
                found = hold_out(self.procedure, alone, folds)
            except ValueError:  # all values in a fold are missing
                continue
            if measures_of(self.procedure, alone, found).is_too_good:
                return (
                    f"Too good to be true? {name!r} alone predicts nearly every row. If "
                    "it is only known once the target is, or computed from it, that is a "
                    f"leak: fit again with --drop {name!r}."
                )
        return ""

    def _columns_by_importance(self) -> list[str]:
        """Columns of the tests; for a linear model in a single leaf, by correlation."""
        importance = np.asarray(self.model.feature_importances_)
        if self.procedure.numeric and not importance.any():
            X = self.rows.X.select_dtypes("number")
            rank = X.corrwith(pd.Series(self.rows.y, X.index), method="spearman")
            importance = rank.abs().reindex(self.rows.X.columns).fillna(0).to_numpy()
        order = np.argsort(-importance, kind="stable")
        return [str(self.rows.X.columns[k]) for k in order if importance[k] > 0]
