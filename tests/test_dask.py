"""Fits on a Dask cluster: the tree of the local engine, whatever happens on the way."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from tests.estimators.test_large import (
    GRID,
    MODELS,
    Batches,
    digest,
    labels,
    small_sizes,  # noqa: F401
    table,
    to_files,
)

import omnitree
from omnitree import OmniTreeClassifier, TreeClassifier, load, presets, save
from omnitree.data.sources import open_blocks
from omnitree.estimators import large
from omnitree.growing.blocks.dask_engine import engine_for

distributed = pytest.importorskip(
    "distributed", reason="dask is not installed: pip install 'omnitree[dask]'"
)
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
aliases = omnitree.dask


@pytest.fixture(scope="module")
def client():
    """Two worker processes; not the default client, so that only `client=` finds it."""
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**workers) as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        yield client
        client.close()


def on_dask(model, client):
    """The alias with a client of an estimator."""
    cls = getattr(aliases, f"Dask{type(model).__name__}")
    return cls(**model.get_params(deep=False), client=client)


def shuffled(frame, n, seed=3):
    return dd.from_pandas(
        frame.sample(frac=1, random_state=seed), npartitions=n, sort=False
    )


def small_cart():
    """A tree of few passes."""
    options = {"random_state": 1, "max_memory": 1, "max_depth": 2, "pruning": None}
    return presets.make("cart", **options)


@pytest.fixture(scope="module")
def rows():
    X, y, weight = table(900)
    return X.assign(y=labels(y), w=weight)


@pytest.fixture
def expected(rows):
    """The tree of the local engine."""
    X, y, w = rows.drop(columns=["y", "w"]), rows.y.to_numpy(), rows.w.to_numpy()
    return digest(small_cart().fit(Batches(X, y, w)))


def lost_on_the_way(pieces, folder):
    """Partitions of which one kills its reader when it is read for the third time."""
    folder.mkdir()
    place = str(folder)

    def read(i):
        if i == len(pieces) // 2:
            times = len(os.listdir(place))
            with open(os.path.join(place, str(times)), "w"):
                pass
            if times == 2:
                os.kill(os.getpid(), 9)
        return pieces[i]

    return dd.from_map(read, range(len(pieces)), meta=pieces[0][:0])


@pytest.mark.parametrize(
    ("name", "n"),
    list(product(("omni", "ldt", "cart", "regression"), (1, 2, 7, 64)))
    if GRID
    else (("omni", 2), ("ldt", 3), ("cart", 7), ("regression", 3)),
)
def test_the_tree_of_the_local_engine(name, n, client, tmp_path):
    X, y, weight = table(800)
    y = y if name == "regression" else labels(y)
    model = MODELS[name]().set_params(max_memory=1, max_depth=4)
    local = digest(clone(model).fit(Batches(X, y, weight)))
    whole = X.assign(y=y, w=weight)
    found = on_dask(model, client).fit(shuffled(whole, n, seed=n), "y", "w")
    assert digest(found) == local
    assert found.tree_.n_leaves > 1
    if GRID:
        pieces = [whole.iloc[i::n] for i in range(n)]
        data = lost_on_the_way(pieces, tmp_path / "reads")
        assert digest(on_dask(model, client).fit(data, "y", "w")) == local
        assert len(os.listdir(tmp_path / "reads")) > 3
        client.wait_for_workers(2, timeout=300)


@pytest.mark.parametrize("n", [1, 64])
def test_one_tree_for_any_number_of_partitions(n, client, rows, expected):
    found = on_dask(small_cart(), client).fit(shuffled(rows, n, seed=n), "y", "w")
    assert digest(found) == expected


def test_a_worker_that_is_killed(client, rows, expected, tmp_path):
    pids = set(client.run(os.getpid).values())
    data = lost_on_the_way([rows.iloc[i::4] for i in range(4)], tmp_path / "reads")
    found = on_dask(small_cart(), client).fit(data, "y", "w")
    assert digest(found) == expected
    assert len(os.listdir(tmp_path / "reads")) > 3
    client.wait_for_workers(2, timeout=300)
    assert set(client.run(os.getpid).values()) != pids


def test_a_worker_that_joins(client, rows, expected, tmp_path):
    pieces, joined = [rows.iloc[i::4] for i in range(4)], str(tmp_path / "joined")
    begun = str(tmp_path / "begun")

    def read(i):
        import time

        with open(begun, "w"):
            pass
        while not os.path.exists(joined):
            time.sleep(0.02)
        return pieces[i]

    data = dd.from_map(read, range(4), meta=pieces[0][:0])
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(on_dask(small_cart(), client).fit, data, "y", "w")
        while not os.path.exists(begun):
            assert not fit.done()
        client.cluster.scale(3)  # while two partitions are being read
        client.wait_for_workers(3, timeout=300)
        with open(joined, "w"):
            pass
        assert digest(fit.result(timeout=300)) == expected
    client.cluster.scale(2)


def test_empty_partitions_and_partitions_of_one_class(client, rows, expected):
    pieces = [rows[:0], *(own for _, own in rows.groupby("y")), rows[:0]]
    data = dd.from_map(lambda i: pieces[i], range(len(pieces)), meta=rows[:0])
    assert digest(on_dask(small_cart(), client).fit(data, "y", "w")) == expected


def test_two_fits_at_once(client, rows, expected):
    def fit(n):
        return digest(on_dask(small_cart(), client).fit(shuffled(rows, n), "y", "w"))

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(fit, (2, 3), timeout=100)) == {expected}


def test_fits_in_tasks_do_not_wait_for_each_other(client, rows, expected):
    """More fits than the workers have threads, each with tasks of its own."""
    model, data, sizes = on_dask(small_cart(), None), shuffled(rows, 3), large.SIZES

    def fit(_):
        from distributed import get_client

        from omnitree.estimators import large

        large.SIZES = sizes
        return model.set_params(client=get_client()).fit(data, "y", "w").tree_

    for future in client.map(fit, range(3), pure=False):
        tree = future.result(timeout=100)
        assert json.dumps(tree.to_dict(), sort_keys=True) == expected


def test_collections_of_many_kinds(client, rows, expected, tmp_path):
    X, y, w = rows.drop(columns=["y", "w"]), rows.y, rows.w.to_numpy()
    parts = [dd.from_pandas(c, npartitions=2, sort=False) for c in (X, y)]
    weights = da.from_array(w, chunks=(tuple(map(len, parts[0].partitions)),))
    assert digest(on_dask(small_cart(), client).fit(*parts, weights)) == expected
    held = client.persist(shuffled(rows, 2))
    assert digest(on_dask(small_cart(), client).fit(held, "y", "w")) == expected
    files = to_files(tmp_path, X, y=y, w=w)
    assert digest(on_dask(small_cart(), client).fit(files, "y", "w")) == expected
    # The ordinary estimator takes the client that is current.
    with client.as_current():
        assert digest(small_cart().fit(held, "y", "w")) == expected
    numbers = X[["x0", "x1"]].to_numpy()
    lazy = da.from_array(numbers, chunks=(500, 1)), da.from_array(w > 0.5, chunks=500)
    found = on_dask(small_cart(), client).fit(*lazy)
    assert digest(found) == digest(small_cart().fit([(numbers, w > 0.5)]))


def test_what_fits_is_fitted_in_memory(client, rows):
    held = client.persist(dd.from_pandas(rows, npartitions=2, sort=False))
    model = aliases.DaskOmniTreeClassifier(random_state=1, client=client)
    local = OmniTreeClassifier(random_state=1).fit(
        rows.drop(columns=["y", "w"]), rows.y, rows.w
    )
    assert digest(model.fit(held, "y", "w")) == digest(local)


def test_an_ordinary_model(client, rows, tmp_path):
    data = shuffled(rows, 2)
    model = on_dask(small_cart(), client).fit(data, "y", "w")
    lazy = model.predict(data)
    assert isinstance(lazy, dd.Series)
    answers = client.compute(lazy).result()
    assert (answers == model.predict(rows.loc[answers.index])).all()
    save(model, tmp_path / "model.json")
    for other in (load(tmp_path / "model.json"), model.to_local()):
        assert type(other) is TreeClassifier
        assert digest(other) == digest(model)
    assert model.export("json") == model.to_local().export("json")
    copy = pickle.loads(pickle.dumps(model))
    assert digest(copy) == digest(model) and copy.client is None
    assert clone(model).client is client and not hasattr(clone(model), "tree_")


def test_clear_errors(client, rows):
    def fit(X, y="y", who=client):
        return on_dask(small_cart(), who).fit(X, y)

    pieces = [rows, rows.assign(x0="word")]
    data = dd.from_map(lambda i: pieces[i], range(2), meta=rows[:0])
    with pytest.raises(ValueError, match="'x0' is numeric in partition 0"):
        fit(data)
    with pytest.raises(ValueError, match="no column 'z'"):
        fit(shuffled(rows, 2), "z")
    with pytest.raises(ValueError, match="names of columns or"):
        fit(shuffled(rows, 2), np.zeros(len(rows)))
    with pytest.raises(ValueError, match="Leave client out"):
        fit([rows, rows])
    with pytest.raises(TypeError, match=r"must be a distributed\.Client"):
        fit(shuffled(rows, 2), who="tcp://10.0.0.1:8786")
    closed = distributed.Client(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(ConnectionError, match="client is closed: connect again"):
        fit(shuffled(rows, 2), who=closed)


def test_a_client_that_is_closed_during_the_fit(client, rows):
    other = distributed.Client(client.scheduler.address, set_as_default=False)

    def wait(frame):
        import time

        time.sleep(1)
        return frame

    data = shuffled(rows, 2).map_partitions(wait, meta=rows[:0])
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(on_dask(small_cart(), other).fit, data, "y")
        with pytest.raises(TimeoutError):
            fit.result(timeout=0.5)
        other.close()
        with pytest.raises(
            ConnectionError, match=r"closed or lost|client is closed|closing"
        ):
            fit.result(timeout=60)


def test_a_scheduler_that_dies_during_the_fit(rows, tmp_path):
    """A cluster in a process of its own, which is killed while a partition is read."""
    program = """
        import sys
        from distributed import LocalCluster
        if __name__ == "__main__":
            options = {"n_workers": 1, "processes": False, "protocol": "tcp"}
            cluster = LocalCluster(**options, dashboard_address=":0")
            print(cluster.scheduler_address, flush=True)
            sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    cluster = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    begun = tmp_path / "begun"

    def wait(frame):
        import time

        if len(frame):
            open(begun, "w").close()
            time.sleep(60)
        return frame

    with cluster, ThreadPoolExecutor(1) as pool:
        address = cluster.stdout.readline().strip()
        client = distributed.Client(address, set_as_default=False)
        data = shuffled(rows, 2).map_partitions(wait, meta=rows[:0])
        model = on_dask(small_cart(), client)
        fit = pool.submit(model.fit, data, "y")
        while not begun.exists():
            assert not fit.done()
        cluster.kill()
        with pytest.raises(
            ConnectionError, match=r"closed or lost|client is connecting"
        ):
            fit.result(timeout=60)
        assert not hasattr(model, "tree_")
        client.close(timeout=1)


def test_without_a_client_threads_do_it(rows, expected):
    data = shuffled(rows, 3)
    blocks = open_blocks(data, "y", "w")
    assert type(engine_for(blocks, 1)).__name__ == "LocalEngine"
    assert digest(small_cart().fit(data, "y", "w")) == expected


def test_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "omnitree.dask")
    with pytest.raises(ImportError, match=r"omnitree\[dask\]"):
        importlib.import_module("omnitree.dask")
