"""Whether the classes differ in their means at all: Wilks' lambda with Bartlett's test.

Along the principal directions of the columns, each with variance 1 (`Whitened`), lambda is
the product of 1 - e over the eigenvalues e of the scatter between classes; minus its
logarithm, times n - 1 - (r + K) / 2, has nearly a chi-square distribution with r (K - 1)
degrees of freedom if the means of all K classes are equal. Rows count alike, whatever their
weight. Used by the refinement `contest`, as evidence for a tree on few rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from omnitree.growing.node_columns import Floats
from omnitree.parts.discriminants.softmax import Whitened

# Rows that are needed for each direction; with fewer the test says nothing.
ROWS = 3


def wilks_p_value(columns: Floats, y: NDArray[np.int32]) -> float:
    """Probability of means that differ as much if those of all classes are equal.

    1 where there are too few rows to tell.

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> x, y = rng.normal(size=(200, 3)), np.arange(200, dtype=np.int32) % 2
    >>> wilks_p_value(x, y) > 0.1, wilks_p_value(x + y[:, None], y) < 1e-9
    (True, True)
    """
    n = len(y)
    whitened = Whitened.of(columns, np.ones(n))
    classes, code, size = np.unique(y, return_inverse=True, return_counts=True)
    if whitened is None or n < ROWS * len(whitened.variance) or len(classes) < 2:
        return 1.0
    scores = whitened.scores[:, :-1] / np.sqrt(whitened.variance)
    sums = np.zeros((len(classes), scores.shape[1]))
    np.add.at(sums, code, scores)
    means = sums / np.sqrt(size * n)[:, None]
    between = np.clip(np.linalg.eigvalsh(means @ means.T), 0.0, 1 - 1e-12)
    r, k = scores.shape[1], len(classes)
    statistic = -(n - 1 - (r + k) / 2) * np.log1p(-between).sum()
    return float(stats.chi2.sf(statistic, r * (k - 1)))
