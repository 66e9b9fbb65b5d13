"""Sums of two softmax tests at one node, which are one test again.

A test that all columns have a part in and one made by small steps (`learners/stagewise.py`)
err in different places, as a test and a tree do (`tree_sums.py`). Their log odds are added,
each times a number of its own that held-out rows choose. Lines, curves and products of both
are columns of one view of the node, so the sum has the terms of either. Candidates of the
refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.scaling import Scaling
from omnitree.learners.trial import Trial
from omnitree.refinement.tree_sums import FAINT, best_parts, held_out_log_odds


@dataclass(frozen=True)
class SumOfTests(Trial):
    """Two softmax tests, each times a number.

    Attributes
    ----------
    tests : pair of Trial
    parts : pair of float
        What the calibrated scores of each are multiplied by.
    """

    tests: tuple[Trial, Trial]
    parts: tuple[float, float]

    def functions(self) -> tuple[Floats, Floats]:
        k = len(self.rows.present)
        weights, bias = np.zeros((k, self.rows.n_columns)), np.zeros(k)
        for test, part in zip(self.tests, self.parts, strict=True):
            own, own_bias = test.fitted
            weights[:, self._places(test)] += part * test.scale * own
            bias += part * test.scale * own_bias
        return weights, bias

    def used_terms(self) -> NDArray[np.bool_]:
        out = np.zeros(super().used_terms().shape, dtype=bool)
        for test in self.tests:
            columns = test.used_terms()[test.rows.scaling.terms]
            out[self.rows.scaling.terms[self._places(test)[columns]]] = True
        return out

    def _places(self, test: Trial) -> NDArray[np.intp]:
        return places(test.rows.scaling, self.rows.scaling)


def sum_of_tests(
    node: Node, one: Trial, other: Trial, whole: Trial | None = None
) -> SumOfTests | None:
    """The likeliest sum of two tests at a node; None if one of them adds nothing.

    Of rows that a sparse first test was not tested on, the scores of the `whole` test count.
    """
    scores = np.stack([held_out_log_odds(one, whole), held_out_log_odds(other)])
    parts = best_parts(scores, one.target.of_present(), one.rows.weight)
    if parts.min() < FAINT:
        return None
    kinds = {one.expansion, other.expansion} - {"linear"}
    expansion = "blocks" if len(kinds) > 1 else kinds.pop() if kinds else "linear"
    return SumOfTests(
        f"{one.name} + {other.name}",
        node.view(expansion),
        expansion,
        np.tensordot(parts, scores, 1),
        one.target,
        one.groups,
        (one, other),
        (float(parts[0]), float(parts[1])),
    )


def places(some: Scaling, every: Scaling) -> NDArray[np.intp]:
    """Where the columns of one view of a node are among those of another that has them all.

    Examples
    --------
    >>> plain = Scaling(np.arange(3), np.zeros(3), np.ones(3))
    >>> places(plain, plain.with_products())
    array([0, 1, 2])
    """
    products = dict(
        zip(zip(every.a, every.b, strict=True), range(len(every.a)), strict=True)
    )
    at = [products[pair] for pair in zip(some.a, some.b, strict=True)]
    first = every.n_plain + len(every.a)
    n_of_curves = some.n_columns - some.n_plain - len(some.a)
    of_curves = np.arange(first, first + n_of_curves)
    return np.concatenate(
        [
            np.arange(every.n_plain),
            every.n_plain + np.array(at, dtype=np.intp),
            of_curves,
        ]
    ).astype(np.intp)
