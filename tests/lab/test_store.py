"""Stores that were damaged, filled or written by an older version."""

from __future__ import annotations

import sqlite3
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

from omnitree.cli.app import app
from omnitree.data.reading import InputError
from omnitree.lab.store import Fold, Run, Store

RUNS = [
    Run(name, f"{name}{'0' * 60}", ("a", "b"), "cart", "{}", "5x2fold", 0, "0.1")
    for name in ("iris", "wine", "glass")
]


def fold_of(i: int) -> Fold:
    rng = np.random.default_rng(i)
    return Fold(
        error=float(i) / 3,
        leaves=i,
        kinds={"axis": i},
        rows=rng.integers(0, 99, 60, dtype=np.int32),
        predicted=rng.integers(0, 2, 60, dtype=np.int32),
        detail={"nodes": [["axis", 1, float(i), 2, [0, 1], 2]] * 5},
    )


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "s.sqlite"
    store = Store(found)
    for run in RUNS:
        for i in range(10):
            store.add(run, i, fold_of(i))
    store.close()
    return found


def plain(fold: Fold) -> tuple:
    return (
        *(fold.failure, fold.error, fold.leaves, fold.kinds, fold.detail),
        *(fold.rows.tolist(), fold.predicted.tolist()),
    )


def contents(store: Store) -> dict:
    return {
        (run.data, i): plain(fold)
        for run in RUNS
        for i, fold in store.folds(run).items()
    }


WHOLE = {(run.data, i): plain(fold_of(i)) for run in RUNS for i in range(10)}


def test_flipped_bytes_never_change_a_result(path, rng):
    """Each of many damaged stores is refused in one line or gives only sound folds."""
    raw = path.read_bytes()
    sizes = []
    for _ in range(60):
        broken = bytearray(raw)
        for at in rng.integers(0, len(raw), size=rng.integers(1, 4)):
            broken[at] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                store = Store(path)
            except InputError as error:
                assert str(path) in str(error) and "\n" not in str(error)
                continue
        found = contents(store)
        assert all(WHOLE[key] == fold for key, fold in found.items())
        said = [str(w.message) for w in caught]
        assert bool(said) or found == WHOLE
        store.add(RUNS[0], 3, fold_of(3))  # can be gone on with
        assert contents(store)["iris", 3] == WHOLE["iris", 3]
        store.close()
        sizes.append(len(found))
    assert len(sizes) > 40 and np.mean(sizes) > 25  # good folds are kept


def test_truncated(path):
    raw = path.read_bytes()
    for share in (0.3, 0.6, 0.95):
        path.write_bytes(raw[: int(share * len(raw))])
        with pytest.warns(UserWarning, match="is damaged: .* are kept"):
            store = Store(path)
        found = contents(store)
        assert all(WHOLE[key] == fold for key, fold in found.items())
        store.close()
    assert path.with_name("s.sqlite.damaged").exists()


@pytest.mark.parametrize("word", [b"TABLE runs", b"TABLE folds"])
def test_damaged_definitions_of_tables(word, path):
    """SQLite quotes them in its message, which is then no text."""
    raw = path.read_bytes()
    for at in range(raw.index(word), raw.index(word) + 5):
        path.write_bytes(raw[:at] + b"\xfd" + raw[at + 1 :])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                store = Store(path)
        except InputError as error:
            assert str(path) in str(error) and "\n" not in str(error)
        else:
            assert all(WHOLE[key] == fold for key, fold in contents(store).items())
            store.close()


def test_a_damaged_row_is_named_and_run_again(path):
    with sqlite3.connect(path) as db:
        db.execute(
            "UPDATE folds SET error = 0 WHERE fold = 7 AND run = ?", [RUNS[1].key]
        )
    db.close()
    with pytest.warns(UserWarning, match="damaged: fold 7 of cart on wine cannot"):
        store = Store(path)
    assert store.done(RUNS[1]) == set(range(10)) - {7}
    assert contents(store) == {k: v for k, v in WHOLE.items() if k != ("wine", 7)}


def test_a_full_disk(path):
    store = Store(path)
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(
        InputError, match=r"cannot write .*s\.sqlite: database or disk is fu"
    ):
        for i in range(10, 99):
            store.add(RUNS[0], i, fold_of(i))
    store.close()
    assert contents(Store(path)).items() >= WHOLE.items()


def test_one_line_on_the_command_line(tmp_path):
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    found = CliRunner().invoke(
        app, ["compare", "iris", "--presets", "c4.5", "--store", str(path)]
    )
    assert found.exit_code == 1 and found.exception.__class__ is SystemExit
    assert len(found.output.strip().splitlines()) == 1
    assert "s.sqlite is no store of results" in found.output
