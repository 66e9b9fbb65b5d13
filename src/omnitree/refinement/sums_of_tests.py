"""Sums of two softmax tests at one node, which are one test again.

A test that all columns have a part in and one made by small steps (`learners/stagewise.py`,
`learners/steps.py`) err in different places, as a test and a tree do (`tree_sums.py`). Their
log odds are added, each times a number of its own that held-out rows choose. Lines, curves
and products of both are columns of one view of the node, so the sum has the terms of either;
two curves of one feature become one. Candidates of the refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.curve_basis import beside
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.scaling import Scaling
from omnitree.learners.steps import with_curves
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
    places : pair of int arrays
        Where the columns of each are among those of the sum.
    """

    tests: tuple[Trial, Trial]
    parts: tuple[float, float]
    places: tuple[NDArray[np.intp], NDArray[np.intp]]

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
    node: Node, one: Trial, other: Trial, whole: Trial | None = None
) -> SumOfTests | None:
    """The likeliest sum of two tests at a node; None if one of them adds nothing.

    Of rows that a sparse first test was not tested on, the scores of the `whole` test count.
    """
    scores = np.stack([held_out_log_odds(one, whole), held_out_log_odds(other)])
    parts = best_parts(scores, one.target.of_present(), one.rows.weight)
    if parts.min() < FAINT:
        return None
    joined = _with_steps(node, one, other) or _with_products(node, one, other)
    expansion, rows, at = joined
    if not all(map(rows.scaling.are_apart, rows.scaling.curves)):
        return None
    return SumOfTests(
        f"{one.name} + {other.name}",
        rows,
        expansion,
        np.tensordot(parts, scores, 1),
        one.target,
        one.groups,
        (one, other),
        (float(parts[0]), float(parts[1])),
        at,
    )


Joined = tuple[str, NodeColumns, tuple[NDArray[np.intp], NDArray[np.intp]]]


def _with_products(node: Node, one: Trial, other: Trial) -> Joined:
    """The view that has the columns of two tests, and where these are."""
    kinds = {one.expansion, other.expansion} - {"linear"}
    expansion = "blocks" if len(kinds) > 1 else kinds.pop() if kinds else "linear"
    rows = node.view(expansion)
    at = [places(test.rows.scaling, rows.scaling) for test in (one, other)]
    return expansion, rows, (at[0], at[1])


def _with_steps(node: Node, one: Trial, other: Trial) -> Joined | None:
    """The same, if one of the tests is made of steps: its curves join those of the other."""
    made = [test.expansion == "steps" for test in (one, other)]
    if not any(made):
        return None
    steps, base = (one, other) if made[0] else (other, one)
    curves, own, new = beside(base.rows.scaling.curves, steps.rows.scaling.curves)
    scaling = base.rows.scaling
    first, plain = scaling.n_plain + len(scaling.a), np.arange(scaling.n_plain)
    of_base = np.concatenate([np.arange(first), first + own])
    of_steps = np.concatenate([plain, first + new])
    at = (of_steps, of_base) if made[0] else (of_base, of_steps)
    return base.expansion, with_curves(base.rows, curves), at


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
