"""Fisher's discriminants trained on all parts of some divisions, in compiled code.

What `Linear.fit` finds on each training part, with groups by exchange and cuts for equal
variances: directions from the moments of cells (`divisions.py`), or of the part itself
where it has few rows. Used by `Linear.trial_errors`.
"""

from __future__ import annotations

import numpy as np

from omnitree._core import fisher_tree as kernel
from omnitree.coefficients.threads import one_thread
from omnitree.direction import Fisher
from omnitree.direction.fisher import PCA
from omnitree.divisions import Divisions
from omnitree.linear_rows import Floats, Moments
from omnitree.merit import Merit

# With more columns the moments of a part had better be summed by BLAS.
NARROW = 128


def train_parts(
    divisions: Divisions,
    expansion: str,
    moments: list[Moments] | None,
    direction: Fisher,
    merit: Merit,
) -> tuple[Floats, Floats] | None:
    """Weights (p, D) and cuts (D,) of the tests; None where compiled code does not serve.

    A part without a test has weights of 0 only.
    """
    direction.checked()
    node, view = divisions.node, divisions.node.view(expansion)
    lines = view.matrix_lines()
    if lines is None or not view.n_columns:
        return None
    if moments is None and view.n_columns > NARROW:
        return None
    matrix, at = lines
    y = np.empty(len(matrix), dtype=np.int32)
    y[at] = node.y
    plain = view.plain and divisions.whole
    weight = None if plain else np.empty(len(matrix))
    order = view.by_class[0]
    weights = np.zeros((len(divisions), view.n_columns))
    cuts = np.zeros(len(divisions))
    with one_thread():
        for d, trained in enumerate(divisions.trained):
            rows = order[trained[order]]
            if not len(rows):
                continue
            if weight is not None:
                weight[at] = divisions.kept[:, d]
            known = (None, None)
            if moments is not None:
                known = moments[d].sums, moments[d].second
            cuts[d] = kernel.train(
                matrix,
                y,
                weight,
                at[rows],
                view.n_classes,
                PCA.index(direction.pca),
                direction.epsilon,
                merit.code,
                *known,
                weights[d],
            )
    return weights.T, cuts
