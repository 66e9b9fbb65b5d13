"""What a procedure predicts for rows it has not seen, by cross-validation.

The whole procedure is fitted again for every fold, so that all its choices are made without
the held-out rows. Folds are stratified by class, and rows of one group stay together. There
are at most as many folds as the rarest class has rows (or groups), but at least two.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from omnitree.lab.intervals import ScoredRows
from omnitree.lab.procedure import LearningRows, Procedure
from omnitree.lab.runner import watched


class NoEstimate(Exception):
    """The rows do not allow for an estimate; the message says why."""


@dataclass(frozen=True)
class FoldCount:
    """How many folds there are, and why not as many as asked for."""

    n: int
    reason: str = ""


@dataclass(frozen=True)
class HeldOutAnswers:
    """Answers to all rows, each by a fit without it."""

    answer: np.ndarray  # labels or numbers
    classes: np.ndarray  # all labels, sorted; empty for numbers
    proba: np.ndarray  # (rows, classes)
    sample: ScoredRows  # weights and groups, as intervals need them


def choose_folds(rows: LearningRows, asked: int) -> FoldCount:
    """As many folds as asked for, or as there can be."""
    units = np.arange(len(rows.y)) if rows.groups is None else rows.groups
    word = "row" if rows.groups is None else "group"
    n_units = len(np.unique(units))
    if n_units < 2 or (n_units < 4 and rows.y.dtype.kind == "f"):
        raise NoEstimate(f"there are too few {word}s")
    if rows.y.dtype.kind == "f":
        most = n_units // 2 if rows.groups is None else n_units
        why = f"there are {n_units} {word}s"
    else:
        labels = np.unique(rows.y)
        sizes = [len(np.unique(units[rows.y == label])) for label in labels]
        if sorted(sizes)[-2] < 2:
            raise NoEstimate(f"all classes but one have a single {word}")
        size = min(sizes)
        most = max(2, size)
        why = f"class {str(labels[int(np.argmin(sizes))])!r} has {size} {word}"
        why += "s" * (size > 1)
    return FoldCount(asked) if asked <= most else FoldCount(most, why)


def hold_out(procedure: Procedure, rows: LearningRows, folds: int) -> HeldOutAnswers:
    """Fit on all folds but one and answer that one, in turn."""
    n = len(rows.y)
    classes = np.array([]) if procedure.numeric else np.unique(rows.y)
    answer = np.empty(n, dtype=rows.y.dtype)
    proba = np.zeros((n, len(classes)))
    weight = np.ones(n) if rows.weight is None else rows.weight
    groups = None
    if rows.groups is not None:
        groups = np.unique(rows.groups, return_inverse=True)[1]
    with warnings.catch_warnings():  # the fit to all rows has said what there is to say
        warnings.simplefilter("ignore")
        parts = _divisions(procedure, rows, folds)
        shown = sys.stderr.isatty()
        for train, test in watched(parts, "estimating the error", len(parts), shown):
            known = np.unique(rows.y[train])
            if len(classes) and len(known) == 1:
                answer[test] = known[0]
                proba[test, np.searchsorted(classes, known[0])] = 1
                continue
            model = procedure.fit(rows.take(train))
            X = rows.X.iloc[test]
            answer[test] = model.predict(X)
            if len(classes):
                columns = np.searchsorted(classes, model.classes_)
                proba[np.ix_(test, columns)] = model.predict_proba(X)
    sample = ScoredRows(weight.astype(float), groups, folds)
    return HeldOutAnswers(answer, classes, proba, sample)


def _divisions(procedure: Procedure, rows: LearningRows, folds: int) -> list[Any]:
    """Training and test rows of each fold."""
    if rows.groups is None:
        kind = KFold if procedure.numeric else StratifiedKFold
    else:
        kind = GroupKFold if procedure.numeric else StratifiedGroupKFold
    cut = kind(folds, shuffle=True, random_state=procedure.seed)
    parts = cut.split(np.zeros(len(rows.y)), rows.y, rows.groups)
    # With groups a fold may be empty.
    return [(train, test) for train, test in parts if len(train) and len(test)]
