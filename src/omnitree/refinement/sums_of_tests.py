"""Sums of softmax tests at one node, which are one test again.

Tests that were learned in different ways (all columns with a penalty, or a few by small
steps: `learners/softmax.py`, `stagewise.py`, `steps.py`) err in different places, as a test
and a tree do (`tree_sums.py`). Their log odds are added, each times a number of its own that
held-out rows choose; what is said of a row while it is held out takes the numbers that the
other folds choose. Lines, curves and products of all are columns of one view of the node,
so the sum has the terms of each; several curves and lines of one feature become one curve.
Candidates of the refinement `contest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.curve_basis import beside
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.scaling import Scaling
from omnitree.learners.trial import Trial, folds_of
from omnitree.parts.discriminants.calibration import added, best_parts
from omnitree.refinement.tree_sums import FAINT, FOLDS, held_out_log_odds


@dataclass(frozen=True)
class SumOfTests(Trial):
    """Softmax tests, each times a number.

    Attributes
    ----------
    tests : tuple of Trial
    parts : tuple of float
        What the calibrated scores of each are multiplied by.
    places : tuple of int arrays
        Where the columns of each are among those of the sum.
    """

    tests: tuple[Trial, ...]
    parts: tuple[float, ...]
    places: tuple[NDArray[np.intp], ...]

    @property
    def summands(self) -> list[str]:
        """The names of the tests."""
        return [test.name for test in self.tests]

    @property
    def bends(self) -> bool:
        """Whether the first test is a line, and the sum is not."""
        return self.tests[0].expansion == "linear" and self.expansion != "linear"

    def functions(self) -> tuple[Floats, Floats]:
        k = len(self.rows.present)
        weights, bias = np.zeros((k, self.rows.n_columns)), np.zeros(k)
        for test, part, at in zip(self.tests, self.parts, self.places, strict=True):
            own, own_bias = test.fitted
            weights[:, at] += part * test.scale * own
            bias += part * test.scale * own_bias
        return weights, bias

    def used_terms(self) -> NDArray[np.bool_]:
        out = np.zeros(super().used_terms().shape, dtype=bool)
        for test, at in zip(self.tests, self.places, strict=True):
            columns = test.used_terms()[test.rows.scaling.terms]
            out[self.rows.scaling.terms[at[columns]]] = True
        return out


def sum_of_tests(
    node: Node, tests: Sequence[Trial], whole: Trial | None = None
) -> SumOfTests | None:
    """The likeliest sum of some tests at a node; None if fewer than two add something.

    Of rows that a sparse first test was not tested on, the scores of the `whole` test count.
    """
    fold = folds_of(node, FOLDS)
    if fold is None:
        return None
    said = [held_out_log_odds(tests[0], whole), *map(held_out_log_odds, tests[1:])]
    scores, y, weight = np.stack(said), tests[0].target.of_present().y, node.weight
    kept = np.flatnonzero(best_parts(scores, y, weight, mean_of(tests)) >= FAINT)
    if len(kept) < 2:
        return None
    tests = [tests[i] for i in kept.tolist()]
    parts, sums = added(scores[kept], y, weight, mean_of(tests), fold)
    expansion, rows, at = _joined(node, tests)
    if not all(map(rows.scaling.are_apart, rows.scaling.curves)):
        return None
    return SumOfTests(
        " + ".join(test.name for test in tests),
        rows,
        expansion,
        sums,
        tests[0].target,
        tests[0].groups,
        tuple(tests),
        tuple(parts.tolist()),
        tuple(at),
    )


def mean_of(tests: Sequence[Trial]) -> Floats:
    """What tests are multiplied by in their mean."""
    return np.full(len(tests), 1 / len(tests))


def _joined(
    node: Node, tests: Sequence[Trial]
) -> tuple[str, NodeColumns, list[NDArray[np.intp]]]:
    """A view of the node with the columns of all tests, and where those of each are.

    The curves of a test that is made of steps join those of the others.
    """
    kinds = {test.expansion for test in tests} - {"linear", "steps"}
    expansion = "blocks" if len(kinds) > 1 else kinds.pop() if kinds else "linear"
    rows, scaling = node.view(expansion), node.view(expansion).scaling
    steps = next((test for test in tests if test.expansion == "steps"), None)
    if steps is None:
        return expansion, rows, [places(t.rows.scaling, scaling) for t in tests]
    curves, own, new = beside(scaling.curves, steps.rows.scaling.curves)
    first = scaling.n_plain + len(scaling.a)
    moved = np.concatenate([np.arange(first), first + own])
    of_steps = np.concatenate([np.arange(scaling.n_plain), first + new])
    at = [
        of_steps if test is steps else moved[places(test.rows.scaling, scaling)]
        for test in tests
    ]
    expansion = {"linear": "curves", "quadratic": "blocks"}.get(expansion, expansion)
    return expansion, rows.with_curves(curves), at


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
