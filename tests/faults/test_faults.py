"""Killed, out of memory, out of disk, out of rights: nothing is lost, nothing lies.

`drills.py` has the faults that need `shim.cpp`; OMNITREE_FAULTS=1000 lets every allocation
of every operation fail.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.faults.drills import DRILLS, in_child
from tests.fuzz.files import same_fold, sound_store
from tests.tables import random_sample

from omnitree import TreeClassifier, load, presets, save
from omnitree.data.reading import InputError
from omnitree.lab.store import Store

ROOT = Path(__file__).parents[2]
X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 0, 0, 1, 1, 1, 1])


@pytest.fixture(scope="module")
def drilled(tmp_path_factory) -> dict[str, Any]:
    """What all drills gave: how many faults, or what went wrong."""
    if sys.platform != "linux":
        pytest.skip("needs LD_PRELOAD and /proc")
    folder = tmp_path_factory.mktemp("drills")
    source, library = Path(__file__).with_name("shim.cpp"), folder / "shim.so"
    command = ["g++", "-shared", "-fPIC", "-std=c++17", "-o", library, source, "-ldl"]
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        pytest.skip("needs g++")
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.drills", folder],
        cwd=ROOT,
        env=os.environ | {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", DRILLS)
def test_drill(name: str, drilled: dict[str, Any]):
    assert isinstance(drilled[name], int), drilled[name]
    assert drilled[name] >= 3, "too few faults to show anything"


# -- disk ------------------------------------------------------------------------------


def test_full_disk(tmp_path: Path):
    """No file may grow: the old model and the old folds stay."""
    path, store = tmp_path / "model.json", tmp_path / "s.sqlite"
    save(TreeClassifier().fit(X, Y), path)
    folds = sound_store(store)
    before = path.read_bytes()
    run, fold = next(iter(folds))[0], next(iter(folds.values()))

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        with pytest.raises(OSError):
            save(TreeClassifier().fit(X, 1 - Y), path)
        with pytest.raises((InputError, OSError)):
            opened = Store(store)
            for number in range(100, 400):
                opened.add(run, number, fold)

    assert in_child(work) == 0
    assert path.read_bytes() == before
    assert load(path).predict(X).tolist() == Y.tolist()
    assert not list(tmp_path.glob(".*.tmp"))
    again = Store(store)
    for (known, number), fold in folds.items():
        assert same_fold(fold, again.folds(known)[number])


def test_folder_that_cannot_be_written(tmp_path: Path):
    tmp_path.chmod(0o755)
    path = tmp_path / "model.json"
    model = TreeClassifier().fit(X, Y)
    save(model, path)
    before = path.read_bytes()
    for parent in (tmp_path, path):
        parent.chmod(parent.stat().st_mode & 0o555)

    def work() -> None:
        if os.geteuid() == 0:
            os.setuid(65534)  # rights do not bind root
        with pytest.raises(PermissionError):
            save(model, path)
        with pytest.raises(InputError):
            Store(tmp_path / "s.sqlite")

    assert in_child(work) == 0
    tmp_path.chmod(0o755)
    assert path.read_bytes() == before


# -- memory ----------------------------------------------------------------------------


LITTLE = """
import resource
from pathlib import Path
import numpy as np
from omnitree import presets

rng = np.random.default_rng(0)
X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1])
large = rng.normal(size=(200_000, 20))
target = (large[:, 0] > 0).astype(int)
fit = lambda name: presets.make(name, random_state=0).fit(X, y).export("json")
small = {name: fit(name) for name in ("cart", "ldt", "lmt")}
used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + 2**22, used + 2**22))
for name, expected in small.items():
    try:
        presets.make(name).fit(large, target)
    except MemoryError:
        pass
    else:
        raise SystemExit(f"{name}: no MemoryError")
    assert fit(name) == expected, name
"""


def test_little_memory():
    """As under `ulimit -v`: a MemoryError, and a smaller fit works afterwards.

    In a process of its own: one that has run other tests has memory to spare.
    """
    if sys.platform != "linux":
        pytest.skip("needs /proc")
    done = subprocess.run(
        [sys.executable, "-c", LITTLE], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


# -- processes and clocks --------------------------------------------------------------


def _fill(path: Path, first: int) -> None:
    store = Store(path)
    run, fold = _known()
    for number in range(first, first + 15):
        store.add(run, number, fold)
    store.close()


def _known():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        folds = sound_store(Path(folder) / "s")
    return next(iter(folds))[0], next(iter(folds.values()))


def test_two_processes_on_one_store(tmp_path: Path):
    path = tmp_path / "s.sqlite"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_fill, args=(path, k * 15)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    run, fold = _known()
    found = Store(path).folds(run)
    assert sorted(found) == list(range(45))
    assert all(same_fold(fold, other) for other in found.values())


# Longer than any test waits: a worker must be killed while there is work left.
WORKERS = """
import sys
from pathlib import Path
from omnitree.lab import data, methods, protocols
from omnitree.lab.runner import Task, run
from omnitree.lab.store import Store
sample = data.load("waveform:rows=1000")
tasks = [Task(sample, methods.parse("ldt"), protocols.parse("100x10fold"))]
run(tasks, Store(Path(sys.argv[1])), n_jobs=2)
"""


def _children(pid: int) -> list[int]:
    """The workers of a process: those of its descendants that compute."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            command = (entry / "cmdline").read_text()
        except (OSError, IndexError):
            continue
        if parent == pid and "popen_loky" in command:
            found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_killed_worker(tmp_path: Path):
    """The run ends with an error, its finished folds are there."""
    path = tmp_path / "s.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-c", WORKERS, str(path)], stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 120
    done = 0
    while done < 3 and time.monotonic() < end:
        time.sleep(0.05)
        done = _count(path)
    try:
        os.kill(_children(process.pid)[0], signal.SIGKILL)
        errors = process.communicate(timeout=120)[1]
    finally:
        process.kill()
    assert process.returncode != 0
    assert "worker" in errors.splitlines()[-1]
    assert _count(path) >= done


def _count(path: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(path, timeout=60) as db:
            return db.execute("SELECT count(*) FROM folds").fetchone()[0]
    except sqlite3.OperationalError:  # no table yet
        return 0


def test_clock_that_is_set_back(monkeypatch, rng):
    """Limits are kept by the clock that only goes forward."""
    monkeypatch.setattr(time, "time", lambda: -1e9)
    monkeypatch.setattr(time, "time_ns", lambda: -(10**18))
    sample = random_sample(rng, n=200, d=5, categorical=0.0)
    whole = TreeClassifier().fit(sample.values, sample.y)
    limited = TreeClassifier(max_seconds=3600).fit(sample.values, sample.y)
    assert limited.tree_.to_dict() == whole.tree_.to_dict()
    start = time.monotonic()
    presets.make("oc1", max_seconds=0.2).fit(sample.values, sample.y)
    assert time.monotonic() - start < 30
