"""Fits beyond memory: one tree however the rows are divided, and near that in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from omnitree import OmniTreeClassifier, OmniTreeRegressor, TreeRegressor, load, presets
from omnitree import save as save_model
from omnitree.data.schema import Feature, Schema
from omnitree.estimators import large
from omnitree.growing.blocks.coder import Coder
from omnitree.growing.blocks.engine import LocalEngine
from omnitree.growing.blocks.grower import BlockGrower
from omnitree.growing.blocks.open_nodes import Open
from omnitree.growing.blocks.sizes import Sizes
from omnitree.growing.missing import Mean
from omnitree.growing.node import Rules
from omnitree.growing.stopping import Stopping
from omnitree.learners import Univariate


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch):
    """Sizes at which a few thousand rows are a large table."""
    sizes = Sizes(
        sample_rows=600, node_rows=500, node_cells=10**9, bins=24, drawn_rows=300
    )
    monkeypatch.setattr(large, "SIZES", sizes)


class Batches:
    """Rows in some order and some number of batches, again and again."""

    def __init__(self, *columns, parts=1, seed=None):
        self.columns, self.parts, self.seed = columns, parts, seed

    def __iter__(self):
        n = len(self.columns[0])
        order = np.arange(n)
        if self.seed is not None:
            order = np.random.default_rng(self.seed).permutation(n)
        for at in np.array_split(order, self.parts):
            X, *rest = self.columns
            yield (X.iloc[at], *(c[at] for c in rest))


def table(n=2500, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{j}": rng.normal(size=n).round(3) for j in range(4)})
    X["colour"] = rng.choice(["red", "green", "blue", "grey"], n)
    X["flag"] = rng.random(n) < 0.5
    target = X.x0 + X.x1 * (X.colour == "red") + X.flag + 0.4 * rng.normal(size=n)
    X.loc[rng.random(n) < missing, "x1"] = np.nan
    X.loc[rng.random(n) < missing, "colour"] = None
    weight = rng.integers(1, 8, n) / 7
    return X, target.to_numpy(), weight


def labels(target):
    return np.where(target > 0.9, "high", np.where(target < 0, "low", "middle"))


def digest(model):
    return json.dumps(model.tree_.to_dict(), sort_keys=True)


MODELS = {
    "omni": lambda: OmniTreeClassifier(random_state=1),
    "ldt": lambda: presets.make("ldt", random_state=1),
    "cart": lambda: presets.make("cart", random_state=1),
    "regression": lambda: TreeRegressor(
        Univariate(min_branch=20),
        stopping=Stopping(min_rows=60),
        pruning="cost_complexity",
        missing="surrogate",
        random_state=1,
    ),
    "default regression": lambda: OmniTreeRegressor(random_state=1, max_rows=300),
}


# All divisions of the rows, for all methods, instead of some that span them.
GRID = bool(os.environ.get("OMNITREE_LARGE_GRID"))
# Number of parts, number of threads, and what the parts are.
SOME = {
    "omni": ((1, 1, "batches"), (7, 2, "parquet")),
    "ldt": ((2, 2, "batches"), (64, 1, "parquet")),
    "cart": ((64, 2, "batches"), (1, 1, "parquet"), (7, 1, "batches")),
    "regression": ((7, 2, "batches"), (2, 1, "parquet")),
    "default regression": ((1, 1, "batches"), (64, 2, "parquet")),
}


def divisions(name):
    if GRID:
        return list(product((1, 2, 7, 64), (1, 2), ("batches", "parquet")))
    return SOME[name]


def to_files(folder, X, parts=3, seed=5, **others):
    """The rows in files of several row groups, in another order."""
    order = np.random.default_rng(seed).permutation(len(X))
    for i, at in enumerate(np.array_split(order, parts)):
        whole = X.assign(**others).iloc[at]
        file = folder / f"part-{i}.parquet"
        whole.to_parquet(file, row_group_size=300, index=False)
    return str(folder / "part-*.parquet")


@pytest.mark.parametrize("name", MODELS)
def test_one_tree_however_the_rows_are_divided(name, tmp_path):
    X, y, weight = table(1000 if name == "default regression" else 2000)
    y = y if "regression" in name else labels(y)
    found = {}
    for seed, (parts, n_jobs, kind) in enumerate(divisions(name)):
        model = MODELS[name]().set_params(max_memory=1, n_jobs=n_jobs)
        if kind == "batches":
            model.fit(Batches(X, y, weight, parts=parts, seed=seed))
        else:
            folder = tmp_path / str(seed)
            folder.mkdir()
            files = to_files(folder, X, parts, seed, y=y, w=weight)
            model.fit(files, "y", "w")
        found[parts, n_jobs, kind] = digest(model)
    assert len(set(found.values())) == 1, found.keys()
    assert model.tree_.n_leaves > 1
    save_model(model, tmp_path / "model.json")
    assert (load(tmp_path / "model.json").predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("name", ["omni", "ldt", "cart", "regression"])
def test_one_tree_of_arrays_on_disk(name, tmp_path):
    rng = np.random.default_rng(2)
    n = 2048
    X = rng.normal(size=(n, 3)).round(3)
    X[rng.random(n) < 0.1, 1] = np.nan
    score = X[:, 0] + X[:, 2] + rng.normal(size=n) / 3
    y = score if name == "regression" else (score > 0.3) + 2 * (score < -0.5)
    weight = rng.integers(1, 8, n) / 7
    file = np.memmap(tmp_path / "x", np.float64, "w+", shape=X.shape)
    weights = np.memmap(tmp_path / "w", np.float64, "w+", shape=n)
    file[:], weights[:] = X, weight
    found = set()
    for n_jobs in (1, 2):
        model = MODELS[name]().set_params(max_memory=1, n_jobs=n_jobs)
        if GRID or n_jobs == 2:
            found.add(digest(model.fit(file, y, weights)))
        for parts in (1, 2, 7, 64) if GRID else (64,) if n_jobs == 1 else ():
            some = [(X[i::parts], y[i::parts], weight[i::parts]) for i in range(parts)]
            found.add(digest(model.fit(some[::-1])))
    assert len(found) == 1


@pytest.mark.parametrize("name", ["ldt", "cart", "regression"])
def test_one_tree_whatever_nodes_share_a_pass(name, monkeypatch):
    X, y, weight = table(1500)
    y = y if name == "regression" else labels(y)
    found, passes = set(), []
    plain = LocalEngine.map_blocks

    def counted(self, function):
        passes.append(function)
        return plain(self, function)

    monkeypatch.setattr(LocalEngine, "map_blocks", counted)
    for memory in (1, 1 << 30):
        monkeypatch.setattr(
            Sizes, "within", lambda self, _, memory=memory: replace(self, memory=memory)
        )
        model = MODELS[name]().set_params(max_memory=1)
        found.add(digest(model.fit(Batches(X, y, weight))))
        passes.append(None)
    assert len(found) == 1
    # With one node a pass there are more of them.
    assert passes.index(None) > len(passes) - passes.index(None) - 2


@pytest.mark.parametrize("n_jobs, expected", [(1, 7), (2, 5), (9, 3)])
def test_rows_that_wait_for_a_thread_are_held_once(n_jobs, expected):
    schema = Schema(tuple(Feature(f"x{j}", "numeric") for j in range(6)), True)
    coder, growth = Coder(schema, 0, np.arange(2)), SimpleNamespace(rules=Rules(Mean()))
    # Room for nine times the rows of a node: those of busy threads count three times.
    sizes = Sizes(memory=9 * 8 * 100 * (6 + 4))
    grower = BlockGrower(
        None, coder, growth, None, None, 1.0, 10**6, sizes, n_jobs=n_jobs
    )
    nodes = [Open(0, i, 1, 100.0) for i in range(12)]
    now, others = grower._next(nodes)
    assert (len(now), len(others)) == (expected, 12 - expected)
    assert grower._fits_beside_subtrees(now)


@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_subtrees_go_on_while_the_next_pass_begins(memory, monkeypatch):
    X, y, _ = table(6000)
    sizes = replace(large.SIZES, memory=memory)
    monkeypatch.setattr(Sizes, "within", lambda self, _: sizes)
    side_by_side, plain, grown = [], BlockGrower._pass, BlockGrower._subtree

    def seen(self, tops, now):
        side_by_side.append(sum(not g.tree.done() for g in self.growing))
        return plain(self, tops, now)

    def slow(*given):
        time.sleep(0.03)
        return grown(*given)

    monkeypatch.setattr(BlockGrower, "_pass", seen)
    monkeypatch.setattr(BlockGrower, "_subtree", slow)
    found = set()
    for n_jobs in (1, 2, 3):
        model = presets.make(
            "cart",
            random_state=1,
            pruning=None,
            max_depth=5,
            n_jobs=n_jobs,
            max_memory=1,
        )
        found.add(digest(model.fit(Batches(X, labels(y), parts=5))))
    assert len(found) == 1
    assert any(side_by_side) == (memory > 1)  # with little memory, never

    def broken(self, node, slot, rows):
        if node.at % 3:
            raise RuntimeError("no subtree")
        return grown(self, node, slot, rows)

    monkeypatch.setattr(BlockGrower, "_subtree", broken)
    with pytest.raises(RuntimeError, match="no subtree"):
        model.fit(Batches(X, labels(y)))


def test_predictions_as_lazy_as_the_data(tmp_path):
    pl = pytest.importorskip("polars")
    X, y, _ = table(900)
    y = labels(y)
    files = to_files(tmp_path, X, y=y)
    model = presets.make("cart", random_state=1).fit(X, y)
    order = np.random.default_rng(5).permutation(len(X))
    expected, proba = model.predict(X)[order], model.predict_proba(X)[order]
    # Files: an array, block by block; other columns do not matter.
    assert (model.predict(files) == expected).all()
    assert (model.predict_proba(files) == proba).all()
    lazy = model.predict(pl.scan_parquet(files))
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect()["prediction"].to_list() == expected.tolist()
    shares = model.predict_proba(pl.scan_parquet(files)).collect()
    assert shares.columns == model.classes_.tolist()
    assert (shares.to_numpy() == proba).all()
    with pytest.raises(ValueError, match=r"lacks column\(s\) 'x0'"):
        model.predict(pl.scan_parquet(files).drop("x0"))


def test_predictions_of_dask_collections_are_dask_collections():
    dd = pytest.importorskip("dask.dataframe")
    da = pytest.importorskip("dask.array")
    X, y, _ = table(400)
    model = presets.make("cart", random_state=1).fit(X, labels(y))
    found = model.predict(dd.from_pandas(X, npartitions=3))
    assert (found.compute() == model.predict(X)).all()
    found = model.predict_proba(dd.from_pandas(X, npartitions=3))
    assert (found.compute().to_numpy() == model.predict_proba(X)).all()
    numbers = X[["x0", "x2"]].to_numpy()
    model = presets.make("cart", random_state=1).fit(numbers, labels(y))
    lazy = da.from_array(numbers, chunks=(150, 1))
    assert (model.predict(lazy).compute() == model.predict(numbers)).all()
    assert (model.predict_proba(lazy).compute() == model.predict_proba(numbers)).all()


def test_data_that_fits_gets_the_tree_of_the_frame(tmp_path):
    pl = pytest.importorskip("polars")
    X, y, weight = table(600)
    y = labels(y)
    files = to_files(tmp_path, X, y=y, w=weight)
    order = np.random.default_rng(5).permutation(len(X))
    rows = X.iloc[order], y[order], weight[order]
    expected = digest(OmniTreeClassifier(random_state=1).fit(*rows))
    for source in (files, pl.scan_parquet(files)):
        model = OmniTreeClassifier(random_state=1).fit(source, "y", "w")
        assert digest(model) == expected


def test_error_is_near_that_of_a_fit_in_memory(monkeypatch):
    sizes = Sizes(sample_rows=3000, node_rows=500, bins=64, drawn_rows=500)
    monkeypatch.setattr(large, "SIZES", sizes)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12_000, 4))
    noise = rng.gumbel(size=(12_000, 3)) / 2
    scores = np.stack([X[:, 0], X[:, 1] ** 2 - 1, X[:, 2] * (X[:, 3] > 0)], axis=1)
    y = (scores + noise).argmax(axis=1)
    batches = [(X[i:8000:7], y[i:8000:7]) for i in range(7)]
    for name in ("omni", "cart", "ldt"):
        near = MODELS[name]().fit(X[:8000], y[:8000]).score(X[8000:], y[8000:])
        far = MODELS[name]().set_params(max_memory=1).fit(batches)
        assert abs(far.score(X[8000:], y[8000:]) - near) < 0.03, name


def test_few_different_rows_are_held_with_their_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({c: rng.choice(list("uvw"), 3000) for c in "abc"})
    y = np.where((X.a == "u") & (rng.random(3000) < 0.9), "yes", "no")
    found = {
        digest(
            presets.make("cart", random_state=1, max_memory=1).fit(
                Batches(X, y, parts=parts, seed=seed)
            )
        )
        for parts, seed in ((1, None), (9, 1))
    }
    assert len(found) == 1
    tree = presets.make("cart", random_state=1, max_memory=1).fit(Batches(X, y)).tree_
    assert tree.n_leaves == 2
    assert tree.value[0].sum() == pytest.approx(3000)


def test_hard_partitions():
    X, y, _ = table(1500, missing=0)
    y = labels(y)
    expected = presets.make("cart", random_state=1, max_memory=1).fit(Batches(X, y))
    by_class = [(X[y == label], y[y == label]) for label in np.unique(y)]
    empty = (X[:0], y[:0])
    batches = [empty, *by_class[::-1], empty]
    model = presets.make("cart", random_state=1, max_memory=1).fit(batches)
    assert digest(model) == digest(expected)
    # Other orders of columns, too; then they are taken by name.
    turned = [(X[::-1][X.columns[::-1]], y[::-1])]
    assert presets.make("cart", max_memory=1).fit(turned).tree_.n_leaves > 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: [(X, y), (X.assign(x0="word"), y)], "'x0' is numeric in batch 0"),
        (lambda X, y: [(X, y), (X.drop(columns="x0"), y)], "'x0' is not in both"),
        (lambda X, y: [(X, y), (X, np.where(y == "low", None, y))], "missing value"),
        (lambda X, y: [(X, y[:-1])], "inconsistent numbers"),
        (lambda X, y: [(X, np.full(len(y), "low"))], "one class"),
        (lambda X, y: [(X.assign(x0=np.inf), y)] * 2, "infinite"),
        (lambda X, y: [(X, y, -np.ones(len(y)))], "negative"),
        (lambda X, y: [(X, y, np.zeros(len(y)))], "no row has a weight"),
        (lambda X, y: [(X[:0], y[:0])], "0 sample"),
        (lambda X, y: [(X, None)], "target y is None"),
    ],
)
def test_clear_errors(change, message):
    X, y, _ = table(900)
    with pytest.raises(ValueError, match=message):
        presets.make("cart", random_state=1, max_memory=1).fit(change(X, labels(y)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda x: "word",
            "'x0' is (numeric|categorical) in .*part-.*Give it the same",
        ),
        (lambda x: x > 0, "'x0' is (numeric|boolean) in .*part-.*Give it the same"),
        (lambda x: np.datetime64("2020-01-01"), "'x0' is (numeric|date) in"),
        (lambda x: x.astype("int64"), None),
        (lambda x: x.astype("float32"), None),
    ],
)
def test_a_column_with_another_type_in_one_file(change, message, tmp_path):
    X, y, _ = table(900)
    X["x0"] = (8 * X.x0).round()
    files = to_files(tmp_path, X, y=labels(y))
    model = presets.make(
        "cart", random_state=1, max_memory=1, max_depth=2, pruning=None
    )
    whole = presets.make("cart", random_state=1, max_depth=2, pruning=None)
    expected = digest(model.fit(files, "y")), digest(whole.fit(files, "y"))
    one = tmp_path / "part-1.parquet"
    rows = pd.read_parquet(one)
    rows.assign(x0=change(rows.x0)).to_parquet(one, index=False)
    if message is None:  # the same numbers
        found = digest(model.fit(files, "y")), digest(whole.fit(files, "y"))
        assert found == expected
        return
    for memory, says in (
        (1, message),
        (None, "'x0' is .* in .*part-.*Give it the same"),
    ):
        new = presets.make("cart", max_memory=memory)
        with pytest.raises(ValueError, match=says):
            new.fit(files, "y")
        assert not hasattr(new, "tree_")


@pytest.mark.parametrize("harm", [os.remove, lambda path: os.truncate(path, 2000)])
def test_a_file_that_is_lost_between_passes(harm, tmp_path, monkeypatch):
    X, y, _ = table(900)
    files, passes = to_files(tmp_path, X, y=labels(y)), []
    plain = LocalEngine.map_blocks

    def spoiled(self, function):
        passes.append(function)
        if len(passes) == 3:
            harm(tmp_path / "part-1.parquet")
        return plain(self, function)

    monkeypatch.setattr(LocalEngine, "map_blocks", spoiled)
    model = presets.make("cart", random_state=1, max_memory=1)
    with pytest.raises(OSError, match=r"part-1\.parquet cannot be read"):
        model.fit(files, "y")
    assert not hasattr(model, "tree_")


def test_warnings_point_at_the_fit():
    X, y, _ = table(900)
    X["name"] = [f"row {i}" for i in range(len(X))]
    model = presets.make(
        "cart", random_state=1, max_memory=1, max_depth=1, pruning=None
    )
    with pytest.warns(UserWarning, match="identify rows") as found:
        model.fit(Batches(X, labels(y)))
    assert found[0].filename == __file__


def test_what_cannot_be_grown_from_sums_says_so():
    X, y, _ = table(100)
    batches = Batches(X, labels(y))
    able = set()
    for name in presets.names():
        try:
            large.check_able(*_with_parts(presets.make(name)))
            able.add(name)
        except ValueError as error:
            assert "cart" in str(error) and "beyond memory" in str(error)
    assert able == {
        *("cart", "id3", "uni-gini", "uni-gain-ratio"),
        *("ldt", "quest", "lin", "omni", "omni-1"),
    }
    with pytest.raises(ValueError, match=r"has to see all rows.*These can: .*cart"):
        presets.make("oc1", max_memory=1).fit(batches)
    with pytest.raises(ValueError, match=r"'univariate' with threshold='value', rel"):
        presets.make("c4.5", max_memory=1).fit(batches)
    with pytest.raises(ValueError, match="groups needs data in memory"):
        presets.make("cart", max_memory=1).fit(batches, groups=np.arange(100))
    with pytest.raises(ValueError, match="max_memory must be"):
        presets.make("cart", max_memory="much").fit(batches)


def _with_parts(model):
    return model, model._resolved_parts()


def test_a_table_five_times_the_memory_allowed(tmp_path):
    """In a process of its own, whose limit makes it fail if it takes more."""
    resource = pytest.importorskip("resource")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    if not hasattr(resource, "RLIMIT_DATA") or not sys.platform.startswith("linux"):
        pytest.skip("needs a limit on memory that the system keeps")
    # More by OMNITREE_LARGE_MB=1000; the table has five times as much.
    allowed = int(os.environ.get("OMNITREE_LARGE_MB", "32")) << 20
    rng, n_columns, rows = np.random.default_rng(0), 40, 20_000
    writer = None
    for _ in range(5 * allowed // (8 * n_columns * rows) + 1):
        X = rng.normal(size=(rows, n_columns))
        y = (X[:, 0] + X[:, 1] + rng.normal(size=rows) / 4 > 0).astype(int)
        block = pa.table({**{f"x{j}": X[:, j] for j in range(n_columns)}, "y": y})
        if writer is None:
            writer = pq.ParquetWriter(tmp_path / "t.parquet", block.schema)
        writer.write_table(block)
    writer.close()
    program = """
        import resource, sys
        import numpy as np
        import pyarrow.parquet as pq
        from omnitree import presets
        path, allowed = sys.argv[1], int(sys.argv[2])
        # Whatever libraries take when they are first used.
        some = pq.ParquetFile(path).read_row_group(0).slice(0, 500).to_pandas()
        presets.make("ldt", random_state=0).fit(some.drop(columns="y"), some["y"])
        status = open("/proc/self/status").read().splitlines()
        (used,) = (int(s.split()[1]) * 1024 for s in status if s.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, (used + allowed,) * 2)
        model = presets.make("ldt", random_state=0, max_depth=2, max_memory=allowed // 2)
        print(model.fit(path, "y").score(some, some["y"]))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    given = [str(tmp_path / "t.parquet"), str(allowed)]
    done = subprocess.run([*command, *given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.8
