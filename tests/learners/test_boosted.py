"""The boosted learner: few columns, held-out answers, limits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.samples import root_of

from omnitree.data.table import learn_table
from omnitree.learners import Boosted


def root(X, y, costs=None):
    return root_of(X, y, costs=costs)


def ring(n=400, p=12):
    """Two columns in a ring, the others noise."""
    X = np.random.default_rng(0).normal(size=(n, p))
    return X, ((X[:, 0] ** 2 + X[:, 1] ** 2) > 1.4).astype(int)


def test_few_of_many_terms():
    X, y = ring()
    trial = Boosted("quadratic").trial(root(X, y))
    split = trial.replacement.split
    assert split.kind == trial.kind == "quadratic"
    assert trial.n_parameters < 30 < 12 * 13 / 2
    assert trial.held_out.complete and trial.held_out.mean("errors") < 0.1
    new, truth = ring(4000)
    branch = split.route(learn_table(new), np.arange(4000))
    assert (branch != truth).mean() == pytest.approx(
        trial.held_out.mean("errors"), abs=0.04
    )


def test_held_out_errors_are_not_those_of_training():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 20)), rng.integers(2, size=100)
    assert 0.35 < Boosted("quadratic").trial(root(X, y)).held_out.mean("errors") < 0.65


@pytest.mark.parametrize(
    ("expansion", "kind"), [("linear", "machine"), ("quadratic", 0)]
)
def test_three_classes(expansion, kind):
    X, y = load_iris(return_X_y=True)
    trial = Boosted(expansion).trial(root(X, y))
    assert trial.replacement.split.kind == trial.kind == (kind or "quadratic_machine")
    assert trial.held_out.mean("errors") <= 0.08


def test_costs():
    X, y = ring()
    plain = Boosted("quadratic").trial(root(X, y)).held_out
    twice = Boosted("quadratic").trial(root(X, y, 2 * (1 - np.eye(2)))).held_out
    np.testing.assert_array_equal(twice.errors, 2 * plain.errors)


def test_limits_and_bad_values():
    X, y = load_iris(return_X_y=True)
    assert Boosted(min_columns=5).trial(root(X, y)) is None
    assert Boosted(max_cells=150 * 4 * 3 - 1).trial(root(X, y)) is None
    assert Boosted(max_cells=150 * 4 * 3).trial(root(X, y)) is not None
    assert Boosted().trial(root(X, np.zeros(150))) is None
    with pytest.raises(ValueError, match="linear, quadratic"):
        Boosted("cubic").trial(root(X, y))
    with pytest.raises(ValueError, match="patience"):
        Boosted(patience=0).trial(root(X, y))
