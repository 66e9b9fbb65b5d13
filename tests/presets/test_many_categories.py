"""A feature of a thousand categories: every preset ends in time, with a sound tree."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from omnitree import presets
from omnitree.growing.clock import by_clock

SECONDS = 3.0


@pytest.mark.slow
@pytest.mark.parametrize("name", presets.names())
def test_a_thousand_categories(name, rng):
    cells = np.concatenate([np.arange(1000), rng.integers(0, 1000, 2000)])
    frame = pd.DataFrame({f"x{j}": rng.normal(size=3000) for j in range(3)})
    frame["c"] = pd.Categorical([f"c{i}" for i in cells])
    y = np.where(rng.random(3000) < 0.1, rng.integers(0, 3, 3000), cells % 3)
    with by_clock(time.process_time):
        start = time.process_time()
        clf = presets.make(name, random_state=0, max_seconds=SECONDS).fit(frame, y)
        took = time.process_time() - start
    assert took < 1.1 * SECONDS
    tree = clf.tree_
    inner = np.flatnonzero(tree.n_children)
    for node in inner:
        first = tree.first_child[node]
        below = tree.value[first : first + tree.n_children[node]].sum(axis=0)
        np.testing.assert_allclose(below, tree.value[node])
    few = frame[:50]
    alone = [clf.predict(few[i : i + 1])[0] for i in range(50)]
    assert clf.predict(few).tolist() == alone
