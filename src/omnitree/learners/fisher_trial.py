"""Fisher's discriminants trained on all parts of some folds, in compiled code.

What `Linear.fit` finds on each training part, with groups by exchange and cuts for equal
variances (`_core/fisher_trials.hpp`). Used by `Linear.trial_losses`.
"""

from __future__ import annotations

import numpy as np

from omnitree._core.linear import fisher_tree as kernel
from omnitree.growing.clock import check_time, tick
from omnitree.growing.fisher_trees import FisherSearch
from omnitree.growing.node_columns import Floats
from omnitree.growing.node_folds import NodeFolds
from omnitree.growing.threads import one_thread

# With more columns moments had better be summed by BLAS.
NARROW = 100


def train_parts(
    folds: NodeFolds, expansion: str, search: FisherSearch
) -> tuple[Floats, Floats] | None:
    """Weights (D, p) and cuts (D,) of the tests; None where compiled code does not serve.

    A part without a test has weights of 0 only.
    """
    node, view = folds.node, folds.node.view(expansion)
    lies, p = view.matrix_lines(), view.n_columns
    if lies is None or not p or not len(view.rows):
        return None
    sums = second = None
    if p > NARROW:
        moments = folds.moments(expansion)
        if moments is None:
            return None
        sums = np.stack([part.sums for part in moments])
        second = np.stack([part.second for part in moments])
    matrix, lines = lies
    y = np.empty(len(matrix), dtype=np.int32)
    y[lines] = node.y
    cell, member = folds.cells
    weights, cuts = np.empty((len(folds), p)), np.empty(len(folds))
    with one_thread():
        kernel.train_parts(
            matrix,
            y,
            lines,
            cell,
            member.view(np.uint8),
            None if view.plain else np.ascontiguousarray(view.weight),
            view.n_classes,
            search.pca,
            search.epsilon,
            search.merit,
            sums,
            second,
            # NumPy's large arrays lie in large pages, which are much faster to fill.
            np.empty(np.count_nonzero(~folds.tested) * view.n_classes + 1),
            weights,
            cuts,
            tick,
        )
    check_time()
    return weights, cuts
