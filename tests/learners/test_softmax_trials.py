"""Softmax tests whose penalties and terms a sample of the rows has chosen."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import root_of

from omnitree.learners import Softmax
from omnitree.learners import trial as trial_module
from omnitree.learners.softmax_trials import SampledTrial


def drawn(rng, n, k):
    X = rng.normal(size=(n, 4))
    truth = np.stack([X[:, c] + np.sin(3 * X[:, c + 1]) for c in range(k)], axis=1)
    return X, (truth + 0.3 * rng.gumbel(size=truth.shape)).argmax(axis=1)


def cells(node, expansion, k):
    return len(node.rows) * node.view(expansion).n_columns * k


@pytest.mark.parametrize("expansion", ["linear", "quadratic", "curves", "blocks"])
@pytest.mark.parametrize("k", [2, 3])
def test_a_sample_chooses_and_all_rows_are_fitted(expansion, k):
    rng = np.random.default_rng(k)
    X, y = drawn(rng, 1500, k)
    node = root_of(X, y)
    whole = Softmax(expansion).trial(node)
    room = cells(node, expansion, k) // 3
    trial = Softmax(expansion, sample_cells=room).trial(root_of(X, y))
    assert isinstance(trial, SampledTrial) and 495 <= len(trial.at) <= 505
    assert trial.tested.all() and trial.fold is None
    # Others than those of the sample are answered by what was fitted to the sample.
    weights, bias = trial.some.fitted
    others = np.setdiff1d(np.arange(len(y)), trial.at)
    said = trial.rows.columns[others] @ weights.T + bias
    np.testing.assert_allclose(trial.scores[others], said)
    np.testing.assert_array_equal(trial.scores[trial.at], trial.some.scores)
    errors = [t.held_out.mean("errors") for t in (trial, whole)]
    assert errors[0] < errors[1] + 0.05
    # The last fit is nearer to that of all rows than the one to the sample is.
    answers = [
        (t.rows.columns @ w.T + b).argmax(axis=1)
        for t, (w, b) in (
            (whole, whole.fitted),
            (trial, trial.fitted),
            (trial, trial.some.fitted),
        )
    ]
    apart = [(answers[0] != other).mean() for other in answers[1:]]
    assert apart[0] < apart[1]
    assert apart[0] < 0.06


def test_a_sparse_form_of_a_sample(rng, monkeypatch):
    monkeypatch.setattr(trial_module, "STRAIGHT", -1.0)  # all knots stay
    X = rng.normal(size=(1500, 25))
    y = (X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=1500) > 0.8).astype(int)
    node = root_of(X, y)
    room = cells(node, "curves", 2) // 2
    trial = Softmax("curves", sample_cells=room).trial(node)
    sparse = trial.sparser(0.5)
    assert isinstance(sparse, SampledTrial) and sparse.name == f"sparse {trial.name}"
    assert sparse.n_parameters < trial.n_parameters / 2
    assert sparse.replacement.split.n_params == sparse.n_parameters
    weights, _ = sparse.fitted
    assert ((weights[1] != 0) == (sparse.some.fitted[0][1] != 0)).all()
    assert not np.allclose(weights, sparse.some.fitted[0])
    assert sparse.held_out.mean("errors") < trial.held_out.mean("errors") + 0.02


def test_noise_is_not_learned_from_the_rows_that_judge(rng):
    X, y = rng.normal(size=(1200, 10)), rng.integers(2, size=1200)
    node = root_of(X, y)
    room = cells(node, "curves", 2) // 4
    trial = Softmax("curves", sample_cells=room).trial(node)
    others = np.setdiff1d(np.arange(1200), trial.at)
    assert abs(trial.held_out.errors[others].mean() - 0.5) < 0.06


def test_rare_classes_stay_and_weigh_the_same(rng):
    X, y = drawn(rng, 2000, 3)
    y[:] = np.where(y == 2, 0, y)
    y[:8] = 2
    X[:8, 3] += 4
    weight = rng.uniform(0.5, 2.0, size=2000)
    node = root_of(X, y, weight)
    room = cells(node, "curves", 3) // 5
    trial = Softmax("curves", sample_cells=room).trial(node)
    assert (y[trial.at] == 2).sum() == 8
    share = np.bincount(y[trial.at], trial.some.rows.weight)
    expected = np.bincount(y, weight)
    np.testing.assert_allclose(share / share.sum(), expected / expected.sum())


def test_groups_are_in_the_sample_or_not(rng):
    X, y = drawn(rng, 1200, 2)
    groups = np.repeat(np.arange(300), 4)
    node = root_of(X, y, groups=groups)
    room = cells(node, "linear", 2) // 3
    trial = Softmax(sample_cells=room).trial(node)
    inside = np.zeros(1200, dtype=bool)
    inside[trial.at] = True
    assert 300 <= inside.sum() <= 500
    assert (inside.reshape(300, 4).sum(axis=1) % 4 == 0).all()
