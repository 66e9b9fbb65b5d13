"""Surrogate tests: they repeat the main test, and stand in where it cannot tell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from omnitree import TreeClassifier
from omnitree.growing.missing import Surrogate


def sample(rng, n=120):
    """A feature that decides, a noisy copy, a turned copy, a category, and noise."""
    x = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "main": x,
            "copy": x + 0.3 * rng.normal(size=n),
            "turned": -x + 0.1 * rng.normal(size=n),
            "category": np.where(x + 0.2 * rng.normal(size=n) > 0, "high", "low"),
            "noise": rng.normal(size=n),
        }
    )
    y = (x > 0).astype(int)
    frame.loc[rng.random(n) < 0.1, "noise"] = np.nan
    return frame, y


def fit(frame, y, weight=None, most=5):
    clf = TreeClassifier(missing=Surrogate(max_surrogates=most), max_depth=1)
    return clf.fit(frame, y, sample_weight=weight)


def agreement(test, main, frame):
    """Share of rows that a surrogate sends where the main test sends them."""
    names = list(frame.columns)
    column = frame[names[test.feature]]
    if test.kind == "axis":
        side = np.where(column <= test.threshold, test.low, 1 - test.low)
    else:
        side = np.where(column == "high", test.branch[0], test.branch[1])
    return (side == (frame["main"] > main.threshold)).mean()


def test_best_agreement_first(rng):
    frame, y = sample(rng)
    main = fit(frame, y).tree_.split(0)
    assert main.feature == 0
    shares = [agreement(s, main, frame) for s in main.surrogates]
    assert len(shares) >= 3
    assert shares == sorted(shares, reverse=True)
    by_feature = {s.feature: s for s in main.surrogates}
    assert by_feature[1].low == 0 and by_feature[2].low == 1
    assert min(shares) > max(np.mean(y), 1 - np.mean(y))


def test_at_most_so_many(rng):
    frame, y = sample(rng)
    assert len(fit(frame, y, most=2).tree_.split(0).surrogates) == 2
    assert len(fit(frame, y, most=0).tree_.split(0).surrogates) == 0


def test_they_stand_in_for_missing(rng):
    frame, y = sample(rng)
    clf = fit(frame, y)
    hidden = frame.assign(main=np.nan)
    assert clf.score(hidden, y) > 0.85
    everything = hidden.assign(copy=np.nan, turned=np.nan, category=None, noise=np.nan)
    larger = clf.tree_.value[1:].sum(axis=1).argmax()
    assert (clf.apply(everything) == 1 + larger).all()


def test_no_missing_no_surrogates(rng):
    frame, y = sample(rng)
    whole = frame.drop(columns="noise")
    assert fit(whole, y).tree_.split(0).surrogates == ()


def test_weights_are_repeats(rng):
    for _ in range(20):
        frame, y = sample(rng, n=25)
        times = rng.integers(1, 4, size=len(y))
        rows = np.arange(len(y)).repeat(times)
        weighted = fit(frame, y, times.astype(float)).tree_
        repeated = fit(frame.iloc[rows], y[rows]).tree_
        assert weighted.n_nodes == repeated.n_nodes
        if weighted.n_nodes > 1:
            assert weighted.split(0) == repeated.split(0)
