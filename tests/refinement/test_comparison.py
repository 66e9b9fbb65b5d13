"""When one answer is better than another, and when a tree is proven."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.samples import sample_of

from omnitree import OmniTreeClassifier
from omnitree.growing.missing import Mean
from omnitree.growing.node import Rules
from omnitree.refinement.comparison import Comparison, _n_others, is_proven
from omnitree.resampling.held_out import HeldOut


def held(errors, log_loss=None):
    errors = np.asarray(errors, dtype=float)
    log_loss = errors if log_loss is None else np.asarray(log_loss, dtype=float)
    return HeldOut(np.ones(len(errors)), errors, log_loss)


@pytest.mark.parametrize("saved", range(0, 30, 3))
@pytest.mark.parametrize(("size", "needed"), [(9, 1.5), (2, 0.0)])
def test_what_is_richer_needs_more(saved, size, needed):
    """Each error saved is one; of s of them the gain is s / sqrt(s)."""
    old, new = held(np.ones(50)), held(np.arange(50) >= saved)
    found = Comparison("errors", se=needed or 1.5).is_better(new, size, old, 5)
    assert found == (np.sqrt(saved) > needed)


def test_log_loss_decides_where_errors_do_not_differ():
    old, new = held(np.ones(40), np.ones(40)), held(np.ones(40), np.full(40, 0.5))
    for se in (0.0, 1.0):
        assert Comparison("errors", se).is_better(new, 9, old, 5)
    worse = held(np.r_[np.ones(41)][:40], np.full(40, 2.0))
    assert not Comparison("errors").is_better(worse, 2, old, 5)


def test_what_is_harder_to_read_must_be_worth_it():
    strict, lax = (Comparison("errors", cautious=c) for c in (True, False))
    old = held(np.arange(100) < 30, np.full(100, 0.5))

    def judged(saved, log_loss, size=9, noise=0.02):
        noise = noise * (2 * (np.arange(100) % 2) - 1)
        new = held((np.arange(100) >= saved) & (np.arange(100) < 30), log_loss + noise)
        return [c.is_worth(new, size, old, 5) for c in (strict, lax)]

    # Without one of s rows the gain is (s - 1) / sqrt(s), which must be more than 1.
    assert judged(2, 0.5) == [False, True]
    assert judged(3, 0.5) == [True, True]
    # As many errors, and likelier: by little, by enough, by enough with 1.5 standard errors.
    assert judged(0, 0.485) == [False, True]
    assert judged(0, 0.47) == [True, True]
    assert judged(0, 0.47, noise=0.2) == [False, True]
    assert judged(0, 0.5) == [False, False]
    # Three rows in a third of the cross-validations are one row.
    thirds = held((np.arange(100) < 30) - (np.arange(100) < 3) / 3, np.full(100, 0.5))
    assert [c.is_worth(thirds, 9, old, 5) for c in (strict, lax)] == [False, True]
    assert judged(2, 0.5, size=4) == [True, True]  # easier to read


def test_a_tree_must_beat_a_leaf_beyond_doubt(rng):
    n = 200
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
    rules = Rules(Mean())
    noise = sample_of(X, y)
    clear = sample_of(X + 5 * y[:, None], y)
    leaf, better = held(y, np.full(n, 0.69)), held(np.zeros(n), np.full(n, 0.01))
    assert is_proven(better, leaf, noise, noise, rules)
    assert not is_proven(leaf, leaf, noise, noise, rules)
    # No better by much, but the classes plainly differ: then a little is enough.
    little = held(y, np.full(n, 0.69) - 0.01 * (np.arange(n) == 0))
    assert not is_proven(little, leaf, noise, noise, rules)
    assert is_proven(little, leaf, clear, clear, rules)


def test_groups_that_hold_several_classes(rng):
    """Rows sorted by class: the first row of every group is of the first class."""
    y = np.repeat([0, 1, 2], 40)
    X = y[:, None] + 0.2 * rng.normal(size=(120, 2))
    groups = np.arange(120) % 30
    assert OmniTreeClassifier(random_state=0).fit(X, y, groups=groups).score(X, y) > 0.9
    noise = rng.normal(size=(120, 2))
    clf = OmniTreeClassifier(random_state=0).fit(noise, y, groups=groups)
    assert clf.tree_.n_leaves == 1


def test_groups_of_one_class_count_once(rng):
    """Ten rows of a group are no more evidence than one."""
    y = np.repeat([0, 1, 1, 0, 1, 0], 10)
    sample = sample_of(rng.normal(size=(60, 1)), y)
    assert _n_others(sample) == 30
    assert _n_others(replace(sample, groups=np.repeat(np.arange(6), 10))) == 3
    assert _n_others(replace(sample, groups=np.arange(60) % 20)) == 20
