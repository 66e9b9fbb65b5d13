"""Rows for tests of coefficient learners."""

from __future__ import annotations

import numpy as np
from tests.samples import root_of
from tests.tables import Sample, random_sample

from omnitree.growing.node import Node
from omnitree.growing.scaling import Scaling
from omnitree.parts.coefficients import Cases


def node_of(sample: Sample) -> Node:
    """All rows of a sample as the root of a tree."""
    return root_of(sample.table, sample.y, sample.weight, sample.n_classes)


def random_cases(rng: np.random.Generator, **options) -> Cases:
    """A small table with every nuisance, as a node's rows."""
    while True:
        cases = Cases.of(node_of(random_sample(rng, **options)))
        if len(cases.columns):
            return cases


def cases_from(z: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Cases:
    """Columns as they are, neither centred nor scaled."""
    classes, y = np.unique(y, return_inverse=True)
    return Cases(
        np.ascontiguousarray(z, dtype=float),
        y.astype(np.int32),
        np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float),
        np.arange(len(classes)),
        Scaling(np.arange(z.shape[1]), np.zeros(z.shape[1]), np.ones(z.shape[1])),
    )


def accuracy(machine, cases: Cases) -> float:
    """Weighted share of the rows whose branch is their class."""
    return float(np.average(machine.branches(cases.z) == cases.y, weights=cases.weight))
