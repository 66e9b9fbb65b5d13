"""Scores of a softmax test for rows that its functions have not seen, in nested folds.

While fold i is held out, a row of fold j is scored by functions fitted without i and j, so
what is learned from these scores knows nothing of the labels of fold i. Each pair of folds
has one fit for both; all fits go side by side. Only the penalty, the scale of the scores and
the number of weights of a sparse test are those that all folds have chosen, as in the
cross-validation of the softmax test itself. Used by `score_trees.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from omnitree.learners.trial import Trial

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CrossFitted:
    """What a softmax test says of rows that it has not seen, as calibrated log odds.

    Attributes
    ----------
    fold : int array (n,)
    y : int array (n,)
        Classes as positions among those present.
    scores : float array (n, k)
        By functions fitted without the row's fold.
    nested : float array (folds, n, k)
        While fold i is held out: of its own rows by functions fitted without it, of all
        others by functions fitted without fold i and without their own fold.
    """

    fold: NDArray[np.intp]
    y: NDArray[np.intp]
    scores: Floats
    nested: Floats

    @classmethod
    def of_folds(cls, trial: Trial) -> CrossFitted:
        """As the cross-validation of the softmax test scored them; nothing is nested."""
        fold = trial.fold
        assert fold is not None
        y = np.searchsorted(trial.rows.present, trial.rows.y)
        scores = trial.scores - trial.scores.mean(axis=1, keepdims=True)
        scores *= trial.scale
        n_folds = int(fold.max()) + 1
        return cls(fold, y, scores, np.broadcast_to(scores, (n_folds, *scores.shape)))

    @classmethod
    def of(cls, trial: Trial) -> CrossFitted | None:
        """Fit without every pair of folds; None where there are not three folds."""
        fold = trial.fold
        if fold is None or (n_folds := int(fold.max()) + 1) < 3:
            return None
        pairs = list(combinations(range(n_folds), 2))
        alone = [] if trial.tested.all() else [(i, i) for i in range(n_folds)]
        held = np.array([(fold == i) | (fold == j) for i, j in pairs + alone]).T
        scores = np.where(trial.tested[:, None], trial.scores, 0.0)
        nested = np.empty((n_folds, *scores.shape))
        found = trial.scores_without(held)
        for (i, j), by_pair in zip(pairs + alone, found, strict=True):
            nested[i, fold == j] = by_pair[fold == j]
            nested[j, fold == i] = by_pair[fold == i]
        for i, own in enumerate(nested):
            if alone:
                scores[fold == i] = own[fold == i]
            else:
                own[fold == i] = scores[fold == i]
        for some in (scores, *nested):
            some -= some.mean(axis=1, keepdims=True)
            some *= trial.scale
        y = np.searchsorted(trial.rows.present, trial.rows.y)
        return cls(fold, y, scores, nested)
