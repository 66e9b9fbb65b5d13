"""Sources of blocks: all rows, each time; and clear errors for what cannot be one."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from omnitree.data.encoding.columns import TableColumn
from omnitree.data.sources import open_blocks
from omnitree.data.sources.base import Block
from omnitree.data.sources.coding import compact, joined, read_rows

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")


def frame(n=50, seed=0):
    rng = np.random.default_rng(seed)
    words = rng.choice(["a", "b", None], n)
    return pd.DataFrame({"x": rng.normal(size=n), "word": words, "y": np.arange(n)})


def all_rows(source, pickled=False):
    """y of all blocks, after going through them twice."""
    for _ in range(2):
        parts = list(source.parts())
        if pickled:
            parts = pickle.loads(pickle.dumps(parts))
        blocks = [block for part in parts for block in part.blocks()]
    for block in blocks:
        assert block.n_rows == len(block.y)
        names = getattr(block.X, "column_names", getattr(block.X, "columns", None))
        if names is not None:
            assert "y" not in list(names)
    return np.concatenate([np.asarray(b.y) for b in blocks]).tolist()


def test_files(tmp_path):
    rows = frame()
    rows[:20].to_parquet(tmp_path / "a.parquet", row_group_size=7)
    rows[20:20].to_parquet(tmp_path / "b.parquet")
    rows[20:].to_parquet(tmp_path / "c.parquet")
    two = [tmp_path / "a.parquet", tmp_path / "c.parquet"]
    for given in (tmp_path, f"{tmp_path}/*.parquet", two):
        source = open_blocks(given, "y")
        assert source.n_rows == 50
        assert all_rows(source, pickled=True) == list(range(50))
        source = open_blocks(given, np.arange(50), columns=["x"])
        assert all_rows(source) == list(range(50))


def test_row_groups_are_read_in_pieces(tmp_path):
    cells = np.random.default_rng(0).normal(size=(20, 100_000))
    table = pa.table({f"x{j}": column for j, column in enumerate(cells)})
    table = table.append_column("y", pa.array(np.arange(100_000)))
    # Dictionaries of columns without equal cells would take more memory than the cells.
    pa.parquet.write_table(table, tmp_path / "one.parquet", use_dictionary=False)
    (part,) = open_blocks(tmp_path / "one.parquet", "y").parts(cells=100_000)
    before = pa.total_allocated_bytes()
    first = next(part.blocks())
    assert first.n_rows < 5000
    assert pa.total_allocated_bytes() - before < table.nbytes / 2
    assert all_rows(open_blocks(tmp_path / "one.parquet", "y")) == list(range(100_000))


def test_columns_of_files_come_as_asked_for(tmp_path):
    import pyarrow.dataset as ds

    columns = {name: np.arange(9) for name in ("a", "a.b", "c", "y")}
    table = pa.table(columns | {"word": ["u", "v", "w"] * 3})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    options = ds.ParquetReadOptions(dictionary_columns={"word"})
    given = ds.dataset(
        tmp_path / "t.parquet", format=ds.ParquetFileFormat(read_options=options)
    )
    wanted = ["word", "c", "a"]
    (part,) = open_blocks(given, "y", columns=wanted).parts()
    (block,) = part.blocks()
    assert block.X.column_names == wanted
    assert pa.types.is_dictionary(block.X["word"].type)


def test_datasets_and_lazy_frames():
    pl = pytest.importorskip("polars")
    import pyarrow.dataset as ds

    table = pa.Table.from_pandas(frame(), preserve_index=False)
    assert all_rows(open_blocks(ds.dataset(table), "y")) == list(range(50))
    lazy = pl.from_arrow(table).lazy()
    assert all_rows(open_blocks(lazy, "y")) == list(range(50))
    assert open_blocks(lazy, "y").n_rows == 50


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_mapped_arrays(tmp_path, order):
    file = np.memmap(tmp_path / "x", np.float32, "w+", shape=(40, 2), order=order)
    file[:] = np.arange(80).reshape(40, 2)
    file.flush()
    source = open_blocks(file, np.arange(40))
    assert all_rows(source, pickled=True) == list(range(40))
    (part,) = pickle.loads(pickle.dumps(list(source.parts())))
    assert (np.arange(80).reshape(40, 2) == next(part.blocks()).X).all()
    with pytest.raises(ValueError, match="have no names"):
        all_rows(open_blocks(file, "y"))
    # Its place travels, not its cells.
    assert len(pickle.dumps(part.array)) > len(pickle.dumps(part)) - 800


def test_batches():
    rows = frame()
    batches = [rows[:10], rows[10:10], rows[10:]]
    assert all_rows(open_blocks(batches, "y")) == list(range(50))
    pairs = [(b[["x"]], b["y"]) for b in batches]
    assert all_rows(open_blocks(pairs)) == list(range(50))


def test_dask_collections():
    dd = pytest.importorskip("dask.dataframe")
    da = pytest.importorskip("dask.array")
    rows = frame()
    lazy = dd.from_pandas(rows, npartitions=4)
    assert all_rows(open_blocks(lazy, "y")) == list(range(50))
    assert all_rows(open_blocks(lazy[["x"]], lazy["y"])) == list(range(50))
    array = da.from_array(rows[["x", "y"]].to_numpy(), chunks=(9, 1))
    assert all_rows(open_blocks(array, array[:, 1])) == list(range(50))
    with pytest.raises(ValueError, match="partitions"):
        all_rows(open_blocks(lazy, lazy["y"].repartition(npartitions=2)))
    with pytest.raises(ValueError, match="names of columns"):
        all_rows(open_blocks(lazy, np.arange(50)))


@pytest.mark.parametrize(
    "X", [np.zeros((3, 2)), [[1, 2], [3, 4]], frame(), {"a": [1]}, None, 3, range(3)]
)
def test_what_lies_in_memory_is_no_source(X):
    assert open_blocks(X) is None


def test_clear_errors(tmp_path):
    rows = frame()
    rows.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileNotFoundError, match=r"no file .*nothing"):
        open_blocks(f"{tmp_path}/nothing-*.parquet", "y")
    with pytest.raises(ValueError, match=r"not a Parquet file.*scan_csv"):
        rows.to_csv(tmp_path / "a.csv")
        open_blocks(tmp_path / "a.csv", "y")
    with pytest.raises(ValueError, match="no column 'z'"):
        all_rows(open_blocks(tmp_path / "a.parquet", "z"))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        all_rows(open_blocks(tmp_path / "a.parquet", np.arange(3)))
    with pytest.raises(TypeError, match="only once"):
        open_blocks(iter([rows]), "y")
    with pytest.raises(ValueError, match="Batches without y"):
        all_rows(open_blocks([rows]))
    source = open_blocks(tmp_path / "a.parquet", "y")
    parts = list(source.parts())
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(OSError, match=r"a\.parquet"):
        list(parts[0].blocks())


def test_a_row_has_the_same_hash_in_any_block():
    rows = frame(40)
    whole = read_rows(Block(rows[["x", "word"]], rows["y"]), 1)
    back = rows[["word", "x"]][::-1]
    again = [
        read_rows(Block(pa.Table.from_pandas(back[i : i + 7], preserve_index=False)), 1)
        for i in range(0, 40, 7)
    ]
    found = np.concatenate([r.key for r in again])
    assert (found == whole.key[::-1]).all()
    assert len(set(whole.key.tolist())) == 40
    assert (read_rows(Block(rows[["x", "word"]]), 2).key != whole.key).all()


def test_columns_of_blocks_become_one():
    a = TableColumn("c", "categorical", np.array([0.0, 1.0, np.nan]), ("x", "z"))
    b = TableColumn("c", "categorical", np.array([1.0, 0.0]), ("y", "x"))
    unknown = TableColumn("c", "numeric", np.full(2, np.nan), ())
    whole = joined([a, unknown, b], ["1", "2", "3"])
    assert whole.categories == ("x", "y", "z")
    np.testing.assert_array_equal(whole.values, [0, 2, np.nan, np.nan, np.nan, 0, 1])
    assert compact(joined([a], ["1"])).categories == ("x", "z")
    with pytest.raises(ValueError, match=r"'c' is categorical in 1, but numeric in 2"):
        joined([a, TableColumn("c", "numeric", np.ones(1))], ["1", "2"])
