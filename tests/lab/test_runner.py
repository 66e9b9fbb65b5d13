"""Runs: kept fold by fold, resumed after a kill, the same for any number of processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from omnitree import presets
from omnitree.data.reading import InputError
from omnitree.lab import data, methods, paths, protocols
from omnitree.lab.fitting import TimeLimit, time_limit
from omnitree.lab.runner import Task, run
from omnitree.lab.store import Fold, Run, Store
from omnitree.tree.tree import LEAF

IRIS = data.load("iris")


def tasks(names=("c4.5", "ldt"), protocol="5x2cv", sample=IRIS):
    kind = protocols.parse(protocol)
    return [Task(sample, methods.parse(name), kind) for name in names]


def stored(results, timed=True):
    """What is known of every fold, with times and memory or without."""
    clock = () if timed else ("seconds", "memory")
    folds = [asdict(fold) for result in results for fold in result.folds]
    return [{k: str(v) for k, v in f.items() if k not in clock} for f in folds]


def test_errors_are_those_of_plain_code():
    (result,) = run(tasks(["c4.5"]), Store())
    parts = protocols.parse("5x2cv").divide(IRIS, 0)
    for part, fold in zip(parts, result.folds, strict=True):
        clf = presets.make("c4.5").fit(IRIS.X.iloc[part.train], IRIS.y[part.train])
        right = clf.score(IRIS.X.iloc[part.test], IRIS.y[part.test])
        assert fold.error == pytest.approx(100 * (1 - right))
        assert fold.leaves == clf.tree_.n_leaves and fold.nodes == clf.tree_.n_nodes
        assert fold.kinds == clf.tree_.node_kinds()
        assert len(fold.detail["nodes"]) == clf.tree_.n_nodes - clf.tree_.n_leaves
        assert fold.detail["nodes"][0][1:4] == [1, 75.0, 3]
    assert result.wrong().mean() * 100 == pytest.approx(result.scores("error").mean())


def test_number_of_processes_does_not_matter(tmp_path: Path):
    one = run(tasks(), Store(), n_jobs=1)
    two = run(tasks(), Store(tmp_path / "s.sqlite"), n_jobs=2)
    assert stored(one, timed=False) == stored(two, timed=False)


def test_finished_folds_are_not_repeated(tmp_path: Path, monkeypatch):
    from omnitree.lab import runner

    store = Store(tmp_path / "s.sqlite")
    first = run(tasks(), store)

    def never(*_):
        raise AssertionError("a finished fold was repeated")

    monkeypatch.setattr(runner, "fit_and_test", never)
    again = run(tasks(), store)
    assert stored(first) == stored(again)
    with pytest.raises(AssertionError, match="repeated"):
        run(tasks(["cart"]), store)


def test_the_key_holds_what_decides_the_result():
    base = tasks(["cart"])[0].run
    assert base.key == tasks(["cart:se=0.0"])[0].run.key  # the default, written out
    led = data.load("led:rows=150")
    others = [
        tasks(["cart:se=1.0"])[0],
        tasks(["cart"], "10fold")[0],
        tasks(["cart"], sample=led)[0],
        Task(IRIS, methods.parse("cart"), protocols.parse("5x2cv"), seed=1),
    ]
    keys = {base.key, *(task.run.key for task in others)}
    assert len(keys) == 5


def test_prune_rows_reach_the_method():
    (with_set,) = run(tasks(["rp-c4.5"], "10x4fold+prune"), Store())
    part = protocols.parse("bu95").divide(IRIS, 0)[0]
    clf = presets.make("rp-c4.5").fit(
        IRIS.X.iloc[part.train],
        IRIS.y[part.train],
        prune_set=(IRIS.X.iloc[part.prune], IRIS.y[part.prune]),
    )
    assert with_set.folds[0].nodes == clf.tree_.n_nodes
    predicted = IRIS.classes[with_set.folds[0].predicted]
    assert predicted.tolist() == clf.predict(IRIS.X.iloc[part.test]).tolist()


def test_a_failing_fit_is_recorded_and_can_be_tried_again(monkeypatch):
    from omnitree.estimators.classifier import TreeClassifier

    store = Store()
    real = TreeClassifier.fit
    calls = []

    def sometimes(self, X, y, **given):
        calls.append(1)
        if len(calls) == 3:
            raise ZeroDivisionError("no luck")
        return real(self, X, y, **given)

    monkeypatch.setattr(TreeClassifier, "fit", sometimes)
    (result,) = run(tasks(["c4.5"]), store)
    assert result.failures == ["ZeroDivisionError: no luck"]
    assert np.isnan(result.scores("error")).tolist() == [i == 2 for i in range(10)]
    (kept,) = run(tasks(["c4.5"]), store)
    assert kept.failures and len(calls) == 10
    (again,) = run(tasks(["c4.5"]), store, retry=True)
    assert not again.failures and len(calls) == 11


def test_time_limit(monkeypatch):
    from omnitree.estimators.classifier import TreeClassifier

    with pytest.raises(TimeLimit), time_limit(0.05):
        while True:
            pass
    monkeypatch.setattr(TreeClassifier, "fit", lambda self, X, y: time.sleep(30))
    (result,) = run(tasks(["c4.5"], "2fold"), Store(), limit=0.1)
    assert result.failures == ["time limit of 0.1 s"] * 2


SCRIPT = """
import sys
from pathlib import Path
from omnitree.lab import data, methods, protocols
from omnitree.lab.runner import Task, run
from omnitree.lab.store import Store
sample = data.load("waveform:rows=300")
protocol = protocols.parse("3x10fold")
tasks = [Task(sample, methods.parse(m), protocol) for m in ("cart", "ldt")]
run(tasks, Store(Path(sys.argv[1])), n_jobs=2)
"""


def count(path: Path) -> int:
    try:
        with sqlite3.connect(path) as db:
            return db.execute("SELECT count(*) FROM folds").fetchone()[0]
    except sqlite3.OperationalError:  # no table yet
        return 0


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_killed_runs_resume(tmp_path: Path):
    """Killed twice, a run goes on where it was and ends as an unkilled one."""
    path = tmp_path / "s.sqlite"
    kept: dict[tuple[str, int], tuple] = {}
    for more in (4, 10):
        before = count(path)
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(path)],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        end = time.monotonic() + 120
        while count(path) < before + more and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            rows = db.execute("SELECT run, fold, seconds, error FROM folds").fetchall()
        now = {row[:2]: row[2:] for row in rows}
        assert len(now) >= before + more
        assert kept.items() <= now.items()  # nothing lost, nothing done twice
        kept = now
    assert 14 <= len(kept) < 60
    sample = data.load("waveform:rows=300")
    todo = [
        Task(sample, methods.parse(m), protocols.parse("3x10fold"))
        for m in ("cart", "ldt")
    ]
    resumed = run(todo, Store(path), n_jobs=1)
    plain = run(todo, Store())
    for a, b in zip(resumed, plain, strict=True):
        assert a.scores("error").tolist() == b.scores("error").tolist()
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT run, fold, seconds, error FROM folds").fetchall()
    assert len(rows) == 60
    assert kept.items() <= {row[:2]: row[2:] for row in rows}.items()


def test_a_file_that_is_no_store(tmp_path: Path):
    path = tmp_path / "s.sqlite"
    path.write_text("not a database, but long enough to look like something " * 20)
    with pytest.raises(InputError, match="no store"):
        Store(path)
    later = tmp_path / "later.sqlite"
    with sqlite3.connect(later) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="format 99"):
        Store(later)


def test_store_keeps_everything(tmp_path: Path):
    key = Run("d", "h", ("a", "b"), "m", "{}", "p", 3, "0")
    fold = Fold(
        error=1.5,
        leaves=2,
        nodes=3,
        depth=1,
        parameters=4,
        kinds={"axis": 1},
        seconds=0.1,
        memory=2.0,
        rows=np.array([4, 2]),
        predicted=np.array([1, 0]),
        detail={"nodes": [["axis", 1, 2.0, 2, [3], 1]]},
    )
    Store(tmp_path / "s").add(key, 5, fold)
    (found,) = Store(tmp_path / "s").folds(key).values()
    assert found.rows.tolist() == [4, 2] and found.predicted.tolist() == [1, 0]
    assert (found.detail, found.kinds, found.error) == (fold.detail, fold.kinds, 1.5)


# -- leave-one-out by paths ----------------------------------------------------------


@pytest.mark.parametrize("preset", ["id3", "ldt:pruning=null"])
def test_unpruned_paths_end_where_whole_trees_lead(preset: str):
    """A path is what the row meets in the tree of all other rows."""
    sample = data.load("gaussians:rows=40:classes=3:features=3:distance=1.5")
    estimator = methods.parse(preset).make()
    found = paths.leave_one_out(estimator, sample.X, sample.y, 0)
    for i, path in enumerate(found):
        rest = np.delete(np.arange(40), i)
        clf = methods.parse(preset).make().fit(sample.X.iloc[rest], sample.y[rest])
        assert sample.classes[path.label] == clf.predict(sample.X.iloc[[i]])[0]
        if preset == "id3":
            nodes = clf.decision_path(sample.X.iloc[[i]]).indices
            inner = [n for n in nodes if clf.tree_.kind[n] != LEAF]
            assert list(path.features) == [clf.tree_.split(n).feature for n in inner]


def test_paths_are_pruned_to_the_last_significant_test():
    sample = data.generate("lw94", experiment=1, noise=5)
    whole = methods.parse("random-attribute:choice=best:pruning=null").make()
    cut = methods.parse("random-attribute:choice=best").make()
    long = paths.leave_one_out(whole, sample.X, sample.y, 0)
    short = paths.leave_one_out(cut, sample.X, sample.y, 0)
    for a, b in zip(long, short, strict=True):
        assert a.features[: len(b.features)] == b.features
    assert sum(len(p.features) for p in short) < sum(len(p.features) for p in long)


@pytest.mark.parametrize("preset", ["cart", "c4.5:pruning=null"])
def test_paths_need_a_method_of_paths(preset: str):
    (result,) = run(tasks([preset], "loo-path"), Store())
    assert "needs the whole tree" in result.failures[0]
