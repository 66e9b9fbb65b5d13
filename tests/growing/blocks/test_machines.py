"""Machines fitted to all rows: gradients as derivatives say, and a smaller loss."""

from __future__ import annotations

import json

import numpy as np
import pytest

from omnitree import presets
from omnitree.data.table import learn_table
from omnitree.estimators import large
from omnitree.growing.blocks.coder import CodedRows
from omnitree.growing.blocks.machines import Gradients, machine_at
from omnitree.growing.blocks.sizes import Sizes
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget


def table(n, n_classes, seed=0, quadratic=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    slope = np.random.default_rng(9).normal(size=(3, n_classes))
    scores = X @ slope + (X**2 @ slope[::-1] if quadratic else 0)
    return X, (scores + rng.gumbel(size=(n, n_classes))).argmax(axis=1)


def omni(**changes):
    """Without curves, which stay as the contest fitted them."""
    return presets.make("omni-1", random_state=0, **changes)


def log_loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize(
    ("n_classes", "quadratic"), [(2, False), (3, False), (3, True)]
)
def test_gradients_are_derivatives_of_the_log_loss(n_classes, quadratic):
    X, y = table(500, n_classes, quadratic=quadratic)
    rng = np.random.default_rng(1)
    tree = omni().fit(X, y).tree_
    assert tree.sharing == [0]
    data = learn_table(X)
    target = ClassTarget(y.astype(np.int32), np.arange(n_classes))
    machine = machine_at(tree, 0, Sample(data, target, np.ones(500)))
    proba = omni().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(machine.shares(data), proba)
    # The functions are the model: their softmax gives the same probabilities.
    scores = machine.terms(data) @ machine.functions.T
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, proba[:, list(machine.classes)], atol=1e-9)
    weight = rng.integers(1, 9, 500)
    rows = CodedRows(data, target.codes, None, weight, np.zeros(500, dtype=np.uint64))
    task = Gradients([machine], 8)
    slots = np.zeros((1, 500), dtype=np.int32)
    loss, gradient = task(rows, slots).of(0)
    own = -np.log(proba[np.arange(500), y])
    assert loss == pytest.approx(np.average(own, weights=weight), abs=1e-4)
    for k, j in np.argwhere(machine.free):
        step = np.zeros_like(machine.functions)
        step[k, j] = 1e-5
        up, down = (machine.moved(sign * step).shares(data) for sign in (-1, 1))
        change = (np.log(down) - np.log(up))[np.arange(500), y] / 2e-5
        assert gradient[k, j] == pytest.approx(
            np.average(change, weights=weight), abs=1e-4
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_rows_teach_a_machine(n_classes, monkeypatch):
    sizes = Sizes(sample_rows=500, node_rows=500, drawn_rows=300, bins=32)
    monkeypatch.setattr(large, "SIZES", sizes)
    X, y = table(6000, n_classes)

    def fit(order):
        batches = [(X[part], y[part]) for part in np.array_split(order, 4)]
        return omni(max_memory=1).fit(batches)

    model = fit(np.arange(6000))
    assert model.tree_.sharing == [0]
    assert model.tree_.value[0].sum() == 6000
    in_memory = omni().fit(X, y)
    assert log_loss(model, X, y) < log_loss(in_memory, X, y) + 0.003
    again = fit(np.random.default_rng(0).permutation(6000))
    assert json.dumps(again.tree_.to_dict()) == json.dumps(model.tree_.to_dict())
    monkeypatch.setattr(large, "fitted_to_all_rows", lambda tree, *rest: tree)
    assert log_loss(fit(np.arange(6000)), X, y) > log_loss(model, X, y)
