"""The presort kernel against a naive grower, scikit-learn, and interruptions."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.naive_presort import assert_same, grow, nested

from omnitree._core.univariate.presort import grow_numeric, sort_columns


def run(
    X,
    y,
    weight=None,
    k=None,
    merit=0,
    min_rows=2.0,
    min_branch=1.0,
    max_depth=-1,
    tick=None,
):
    k = int(y.max()) + 1 if k is None else k
    return grow_numeric(
        X, y.astype(np.int32), weight, k, merit, min_rows, min_branch, max_depth, tick
    )


def random_table(rng, most=40):
    """A small table and its labels.

    Few or many distinct values, now and then a constant column or repeated rows.
    """
    n, d, k = rng.integers(1, most), rng.integers(1, 6), rng.integers(2, 7)
    X = (
        rng.normal(size=(n, d))
        if rng.random() < 0.5
        else rng.integers(-3, 4, size=(n, d)) / 2
    )
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = rng.normal()
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, size=n)]
    if rng.random() < 0.2:
        X[:, 0] *= 10.0 ** rng.integers(-300, 300)
    y = rng.integers(0, 1 if rng.random() < 0.05 else k, size=n)
    return X, y, int(k)


def random_weight(rng, n):
    kind = rng.integers(3)
    if kind == 0:
        return None
    return (
        rng.integers(1, 5, size=n).astype(float) if kind == 1 else rng.random(n) + 0.01
    )


def partition(tree, X):
    """Leaf of every row."""
    node = np.zeros(len(X), dtype=int)
    while (inner := tree["first_child"][node] >= 0).any():
        at = node[inner]
        right = X[inner, tree["feature"][at]] > tree["threshold"][at]
        node[inner] = tree["first_child"][at] + right
    return node


@pytest.mark.parametrize("merit", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_equals_naive(seed, merit):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        X, y, k = random_table(rng)
        weight = random_weight(rng, len(y))
        limits = {
            "min_rows": float(rng.choice([0, 2, 3.5, 8])),
            "min_branch": float(rng.choice([0, 1, 2, 2.5, 5]))
            if rng.random() < 0.7
            else 1.0,
            "max_depth": int(rng.choice([-1, 0, 1, 2, 5]))
            if rng.random() < 0.5
            else -1,
        }
        tree = run(X, y, weight, k, merit, **limits)
        assert_same(nested(tree), grow(X, y, weight, k, merit, **limits))


@pytest.mark.parametrize("merit", [0, 1])
@pytest.mark.parametrize("seed", range(15))
def test_equals_naive_with_blocks(seed, merit):
    """Enough rows that lists are scanned in blocks, some of them skipped."""
    rng = np.random.default_rng(100 + seed)
    X, y, k = random_table(rng, most=250)
    y = np.where(rng.random(len(y)) < 0.6, (X[:, 0] > 0) * (k - 1), y)
    limits = {"min_rows": 20.0, "min_branch": float(rng.choice([1, 3])), "max_depth": 3}
    tree = run(X, y, None, k, merit, **limits)
    assert_same(nested(tree), grow(X, y, None, k, merit, **limits))


@pytest.mark.parametrize("seed", range(5))
def test_layout_of_nodes(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 3, size=500)
    tree = run(X, y)
    inner = np.flatnonzero(tree["first_child"] >= 0)
    child = tree["first_child"][inner]
    assert (child > inner).all()
    assert (tree["parent"][child] == inner).all() and (
        tree["parent"][child + 1] == inner
    ).all()
    assert tree["parent"][0] == -1 and len(child) * 2 + 1 == len(tree["parent"])
    np.testing.assert_array_equal(
        tree["value"][inner], tree["value"][child] + tree["value"][child + 1]
    )
    leaf = tree["first_child"] < 0
    assert (tree["feature"][leaf] == -1).all()
    assert not tree["threshold"][leaf].any() and not tree["merit"][leaf].any()
    np.testing.assert_array_equal(tree["value"][partition(tree, X)].argmax(1), y)


def noisy(n, k, seed=0, digits=20, d=8):
    """Labels from three columns, a tenth of them random; X in multiples of 2^-digits."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 2.0**digits) / 2.0**digits
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], np.linspace(-1, 1, k - 1))
    y = np.where(rng.random(n) < 0.1, rng.integers(0, k, size=n), y)
    return X, y.astype(np.int32)


@pytest.mark.parametrize("merit", [0, 1])
@pytest.mark.parametrize(
    ("n", "k"), [(2000, 2), (3000, 5), (40000, 2), (70000, 4), (40000, 40)]
)
def test_partition_equals_sklearn_up_to_ties(n, k, merit):
    """Walk down both trees while they split the rows alike; the gains are always equal."""
    X, y = noisy(n, k)
    tree = run(X, y, merit=merit, min_rows=150, min_branch=20)
    criterion = ["gini", "entropy"][merit]
    other = DecisionTreeClassifier(
        criterion=criterion, min_samples_split=150, min_samples_leaf=20, random_state=0
    )
    other = other.fit(X, y).tree_
    same, ties, stack = 0, 0, [(0, 0, np.arange(n))]
    while stack:
        ours, theirs, rows = stack.pop()
        child = tree["first_child"][ours]
        assert (child < 0) == (other.children_left[theirs] < 0)
        if child < 0:
            continue
        pair = [other.children_left[theirs], other.children_right[theirs]]
        share = other.n_node_samples[pair] / len(rows)
        gain = other.impurity[theirs] - share @ other.impurity[pair]
        assert tree["merit"][ours] == pytest.approx(gain, abs=1e-9)
        right = X[rows, tree["feature"][ours]] > tree["threshold"][ours]
        if ((X[rows, other.feature[theirs]] > other.threshold[theirs]) == right).all():
            stack += [(child, pair[0], rows[~right]), (child + 1, pair[1], rows[right])]
            same += 1
        else:
            ties += 1
    assert same > 5 and ties < 0.1 * same


@pytest.mark.parametrize("merit", [0, 1])
@pytest.mark.parametrize("k", [2, 3])
def test_full_depth_equals_sklearn_up_to_ties(k, merit):
    """Every node of ours gains as much as scikit-learn's best cut of the same rows."""
    X, y = noisy(1500, k, seed=3, digits=6)
    tree = run(X, y, merit=merit)
    rows = {0: np.arange(len(y))}
    for node in np.flatnonzero(tree["first_child"] >= 0):
        at = rows[node]
        right = X[at, tree["feature"][node]] > tree["threshold"][node]
        child = tree["first_child"][node]
        rows[child], rows[child + 1] = at[~right], at[right]
        stump = (
            DecisionTreeClassifier(criterion=["gini", "entropy"][merit], max_depth=1)
            .fit(X[at], y[at])
            .tree_
        )
        share = stump.weighted_n_node_samples / len(at)
        gain = stump.impurity[0] - (share[1:] * stump.impurity[1:]).sum()
        assert tree["merit"][node] == pytest.approx(gain, abs=1e-9)
    leaves = np.flatnonzero(tree["first_child"] < 0)
    assert all(
        len(np.unique(y[rows[leaf]])) == 1 or len(np.unique(X[rows[leaf]], axis=0)) == 1
        for leaf in leaves
    )


@pytest.mark.parametrize("merit", [0, 1])
@pytest.mark.parametrize(
    ("n", "k", "digits"), [(300, 2, 2), (300, 5, 20), (20000, 2, 3), (40000, 6, 20)]
)
def test_weights_are_repeated_rows(n, k, digits, merit):
    X, y = noisy(n, k, digits=digits)
    weight = np.random.default_rng(1).integers(1, 4, size=n)
    a = run(X, y, weight.astype(float), merit=merit)
    b = run(np.repeat(X, weight, axis=0), np.repeat(y, weight), merit=merit)
    ones, none = run(X, y, np.ones(n), merit=merit), run(X, y, merit=merit)
    for key in a:
        compare = (
            np.testing.assert_allclose
            if key == "merit"
            else np.testing.assert_array_equal
        )
        tolerance = {"atol": 1e-9, "rtol": 1e-9} if key == "merit" else {}
        compare(a[key], b[key], **tolerance)
        compare(ones[key], none[key], **tolerance)


@pytest.mark.parametrize("n", [300, 40000])
def test_any_strides(n):
    X, y = noisy(n, 2)
    expected = run(X, y)
    wide = np.zeros((n, 2 * X.shape[1]))
    wide[:, ::2] = X
    for other in (np.asfortranarray(X), wide[:, ::2], X[::-1].copy()[::-1]):
        for key, value in run(other, y).items():
            np.testing.assert_array_equal(value, expected[key])


@pytest.mark.parametrize("k", [300, 65535])
def test_many_classes(k):
    rng = np.random.default_rng(0)
    X = rng.permutation(70000).reshape(-1, 1)[:, [0, 0]] / 7
    y = (X[:, 0] // 1000).astype(np.int32) * (k // 11)
    tree = run(X, y, k=k)
    assert len(tree["parent"]) == 2 * len(np.unique(y)) - 1


def test_awkward_values():
    big = np.finfo(float).max
    tree = run(np.array([[-big], [big]]), np.array([0, 1]))
    assert tree["threshold"][0] == -big
    a = 1.0
    b = np.nextafter(a, 2)
    assert run(np.array([[b], [a]]), np.array([0, 1]))["threshold"][0] == a
    assert len(run(np.array([[0.0], [-0.0]]), np.array([0, 1]))["parent"]) == 1
    # Outliers and powers squeeze linear keys together: the sort must refine them.
    rng = np.random.default_rng(0)
    column = np.exp(rng.normal(size=2000) * 100)
    column[:3] = 1e300, -1e300, 5e-324
    y = (column > np.median(column)).astype(np.int32)
    assert len(run(column[:, None], y)["parent"]) == 3


def test_xor_is_grown_through_zero_gain():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    tree = run(X, np.array([0, 1, 1, 0]))
    assert (
        len(tree["parent"]) == 7 and tree["feature"][0] == 0 and tree["merit"][0] == 0
    )


def test_tick_stops_or_raises():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100000, 20)), rng.integers(0, 2, size=100000)
    seen = []
    full = run(X, y, tick=lambda f: seen.append(f))
    assert len(seen) > 1 and seen == sorted(seen) and 0 <= seen[0] <= seen[-1] <= 1
    deadline = time.monotonic() + 0.5
    cut = run(X, y, tick=lambda f: time.monotonic() > deadline)
    assert len(cut["parent"]) <= len(full["parent"])
    leaf = cut["first_child"] < 0
    assert cut["value"][leaf].sum() == len(y)

    def fail(fraction):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run(X, y, tick=fail)


def test_control_c():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200000, 20)), rng.integers(0, 2, size=200000)
    # What a shell starts in the background is deaf to it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(X, y)
            time.sleep(1)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("seed", range(30))
def test_rows_of_a_sorted_table(seed):
    """Some rows of a table that was sorted before give the tree that they give alone."""
    rng = np.random.default_rng(seed)
    X, y, k = random_table(rng)
    y = y.astype(np.int32)
    order = sort_columns(X)
    for column, entries in zip(X.T, order, strict=True):
        rows = entries & (2**31 - 1)
        assert rows.tolist() == np.argsort(column, kind="stable").tolist()
        new = np.diff(column[rows], prepend=-np.inf) > 0
        assert (entries >> 31).tolist() == new.astype(int).tolist()
    kept = np.flatnonzero(rng.random(len(y)) < 0.7)
    if not len(kept):
        return
    place = np.full(len(y), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    for weight in (None, random_weight(rng, len(kept))):
        for values in (False, True):
            part = (X[kept], y[kept], weight, k, 1, 2.0, 1.0, -1, None)
            alone = grow_numeric(*part, value_thresholds=values)
            together = grow_numeric(
                *part, value_thresholds=values, sorted_as=(order, place)
            )
            for name in alone:
                assert alone[name].tolist() == together[name].tolist()
    with pytest.raises(ValueError, match="rows"):
        grow_numeric(
            X[:1], y[:1], None, k, 1, 2.0, 1.0, -1, None, sorted_as=(order, place * 2)
        )
