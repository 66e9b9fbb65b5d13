"""The answers of a procedure to rows it has not seen, by cross-validation.

The whole procedure is fitted anew for every fold, so that whatever it chooses is chosen
without the fold. Folds are stratified by class; rows of one group stay together. There are
no more folds than the rarest class has rows (groups, if there are any), but two at least.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from omnitree.lab.intervals import Sample
from omnitree.lab.procedure import Procedure, Rows


class NoEstimate(Exception):
    """The rows do not allow for an estimate; the message says why."""


@dataclass(frozen=True)
class Folds:
    """How many folds there are, and why not as many as asked for."""

    n: int
    reason: str = ""


@dataclass(frozen=True)
class HeldOut:
    """Answers to all rows, each by a fit without it.

    Attributes
    ----------
    answer : array (n,)
        Labels or numbers.
    classes : array of str
        All labels, sorted; empty for numbers.
    proba : float64 array (n, K)
    sample : Sample
        Weights and groups, as intervals need them.
    """

    answer: np.ndarray
    classes: np.ndarray
    proba: np.ndarray
    sample: Sample


def choose_folds(rows: Rows, asked: int) -> Folds:
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
    return Folds(asked) if asked <= most else Folds(most, why)


def hold_out(procedure: Procedure, rows: Rows, folds: int) -> HeldOut:
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
        for train, test in _watched(_divisions(procedure, rows, folds)):
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
    return HeldOut(answer, classes, proba, Sample(weight.astype(float), groups, folds))


def _divisions(procedure: Procedure, rows: Rows, folds: int) -> list[Any]:
    options = {"n_splits": folds, "shuffle": True, "random_state": procedure.seed}
    if procedure.numeric:
        cut = KFold(**options) if rows.groups is None else GroupKFold(**options)
    elif rows.groups is None:
        cut = StratifiedKFold(**options)
    else:
        cut = StratifiedGroupKFold(**options)
    parts = cut.split(np.zeros(len(rows.y)), rows.y, rows.groups)
    # With groups a fold may be empty.
    return [(train, test) for train, test in parts if len(train) and len(test)]


def _watched(divisions: list[Any]) -> Iterator[Any]:
    """The folds, with a bar that shows the time left on a terminal."""
    from rich.console import Console
    from rich.progress import track

    yield from track(
        divisions,
        "estimating the error",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
