"""Twoing (CART): the best split of the classes into two superclasses.

For two branches twoing equals the largest decrease of the two-class impurity p(1 - p) over
all superclasses; ordered twoing allows only superclasses of neighbouring classes, in the
order of the class labels. With more branches both are summed over the pairs of branches.
"""

from __future__ import annotations

import numpy as np

from omnitree.parts.merit.base import Floats, Merit, pairs


class Twoing(Merit):
    """CART's twoing rule."""

    code = 4

    def score(self, counts: Floats) -> Floats:
        pa, pb, qa, qb = pairs(counts)
        return (pa * pb / 4 * np.abs(qa - qb).sum(axis=-1) ** 2).sum(axis=-1)


class OrderedTwoing(Merit):
    """CART's twoing rule for ordered classes."""

    code = 5

    def score(self, counts: Floats) -> Floats:
        pa, pb, qa, qb = pairs(counts)
        apart = np.cumsum(qa - qb, axis=-1) ** 2
        return (pa * pb * apart.max(axis=-1)).sum(axis=-1)
