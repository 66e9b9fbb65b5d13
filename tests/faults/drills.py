"""What happens at the worst moment: run by `test_faults.py` in a process with `shim.cpp`.

``python -m tests.faults.drills FOLDER [NAME ...]`` prints how many faults there were. Each
hits a forked child; the parent looks at what is left. Any surprise is an exception.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.files import same_fold, sound_store
from tests.tables import random_sample

from omnitree import TreeClassifier, TreeRegressor, load, presets, save
from omnitree.lab.store import Store

MOST = int(
    os.environ.get("OMNITREE_FAULTS", "6")
)  # allocations that fail per operation
SHIM = ctypes.CDLL(None)  # its functions are among those of the process


def in_child(work: Callable[[], None]) -> int:
    """Run a function in a fork: its exit code, or minus the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_at_every_step(
    folder: Path, work: Callable[[], object], look: Callable[[], object]
) -> int:
    """Kill `work` at its first step on a file of `folder`, its second, and so on.

    `look` is called after each kill, and after the run that ended by itself. Returns how
    many there were.
    """
    for step in range(1, 1000):

        def killed(step: int = step) -> None:
            SHIM.fault_kill_at(ctypes.c_long(step), str(folder).encode())
            work()

        code = in_child(killed)
        assert code in (0, -signal.SIGKILL), f"step {step} ended with {code}"
        look()
        if code == 0:
            return step - 1
    raise AssertionError("it never ends")


def _model(seed: int) -> TreeClassifier:
    sample = random_sample(np.random.default_rng(seed), n=60, d=3)
    return TreeClassifier().fit(sample.frame, sample.y)


def saving(folder: Path) -> int:
    """`save` over an old model: the old one or the new one, whole."""
    path, old, new = folder / "model.json", _model(0), _model(1)
    save(old, path)

    def look() -> None:
        assert load(path).export("json") in (old.export("json"), new.export("json"))
        save(old, path)

    return kill_at_every_step(folder, lambda: save(new, path), look)


def fitting(folder: Path) -> int:
    """`omnitree fit -o`: no model, or the whole model."""
    from omnitree.cli.app import main

    out = folder / "out"
    out.mkdir()
    data, model = folder / "data.csv", out / "model.json"
    sample = random_sample(np.random.default_rng(0), n=40, d=3)
    sample.frame.assign(y=sample.y).to_csv(data, index=False)

    def fit() -> None:
        sys.argv = ["omnitree", "fit", str(data), "--target", "y", "--preset", "c4.5"]
        sys.argv += ["-o", str(model)]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            try:
                main()
            except SystemExit as done:
                assert not done.code

    def look() -> None:
        if model.exists():
            load(model)
            model.unlink()

    return kill_at_every_step(out, fit, look)


def storing(folder: Path) -> int:
    """A fold is added to a store: as it was, or with the fold, and sound."""
    sound, place = folder / "sound.sqlite", folder / "store"
    folds = sound_store(sound)
    extra, new = next(iter(folds))[0], next(iter(folds.values()))

    def fresh() -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        shutil.copy(sound, place / "s.sqlite")

    def add() -> None:
        store = Store(place / "s.sqlite")
        store.add(extra, 99, new)
        store.close()

    def look() -> None:
        store = Store(place / "s.sqlite")
        for run in dict.fromkeys(run for run, _ in folds):
            found = store.folds(run)
            known = {n: f for (r, n), f in folds.items() if r == run}
            assert set(known) <= set(found) <= {*known, 99}
            assert all(same_fold(known.get(n, new), fold) for n, fold in found.items())
        store.close()
        fresh()

    fresh()
    return kill_at_every_step(place, add, look)


def comparing(folder: Path) -> int:
    """A comparison is killed, resumed, killed again: its folds are those of a plain run."""
    from omnitree.lab import data, methods, protocols
    from omnitree.lab.runner import Task, run

    sample = data.load("gaussians:rows=60:classes=3:features=3:distance=1.5")
    protocol = protocols.parse("4fold")
    tasks = [Task(sample, methods.parse(m), protocol) for m in ("c4.5", "ldt")]
    plain = [r.scores("error").tolist() for r in run(tasks, Store())]
    path, faults = folder / "s.sqlite", 0

    def compare() -> None:
        # Far enough to finish a fold or two, each time at another step.
        SHIM.fault_kill_at(ctypes.c_long(17 + faults), str(folder).encode())
        run(tasks, Store(path))

    while in_child(compare) != 0:
        faults += 1
        assert faults < 100, "no progress"
    assert [r.scores("error").tolist() for r in run(tasks, Store(path))] == plain
    return faults


def reporting(folder: Path) -> int:
    """The page of a model is written over an old file: the old or the new one."""
    model, path = _model(0), folder / "page.html"
    model.to_html(path)
    new = path.read_text()

    def look() -> None:
        assert path.read_text() in ("old", new)
        path.write_text("old")

    return kill_at_every_step(folder, lambda: model.to_html(path), look)


# -- memory ----------------------------------------------------------------------------


def _operations() -> dict[str, Callable[[], str]]:
    """Fits and predictions that reach every kernel; each gives what it found as text."""
    rng = np.random.default_rng(0)
    plain = random_sample(rng, n=60, d=3, categorical=0.0)
    mixed = random_sample(rng, n=60, d=4, missing_share=0.1)

    def fit(make: Callable[[], TreeClassifier], sample) -> Callable[[], str]:
        def run() -> str:
            model = make().fit(sample.frame, sample.y)
            return model.export("json") + repr(model.predict(sample.frame).tolist())

        return run

    out = {
        f"{name}, {kind}": fit(lambda name=name: presets.make(name, random_state=0), s)
        for name in presets.names()
        for kind, s in (("numbers", plain), ("mixed", mixed))
        if kind == "mixed" or name in ("cart", "c4.5", "ldt")
    }
    out["numbers"] = fit(
        lambda: TreeRegressor(random_state=0, pruning="cost_complexity"), plain
    )
    out["ridge"] = fit(lambda: TreeRegressor(random_state=0, leaves="ridge"), mixed)
    return out


def allocating(folder: Path) -> int:
    """Allocations of kernels fail: a MemoryError, and afterwards all works as before."""
    faults = 0
    for name, run in _operations().items():
        expected = run()
        SHIM.fault_fail_at(ctypes.c_long(2**40))
        run()
        total = SHIM.fault_seen()
        SHIM.fault_fail_at(ctypes.c_long(-1))
        for n in sorted({1 + k * max(total - 1, 0) // MOST for k in range(MOST)}):

            def failing(n: int = n, run=run, expected: str = expected) -> None:
                SHIM.fault_fail_at(ctypes.c_long(n))
                # Sorting does without the room that it asks for.
                with suppress(MemoryError):
                    assert run() == expected, "another result"
                SHIM.fault_fail_at(ctypes.c_long(-1))
                assert run() == expected, "another result afterwards"

            code = in_child(failing)
            assert code == 0, f"{name}: allocation {n} of {total}: exit code {code}"
            faults += 1
    return faults


DRILLS = {
    f.__name__: f for f in (saving, fitting, storing, comparing, reporting, allocating)
}


def main(folder: Path, names: list[str]) -> dict[str, Any]:
    """How many faults each drill injected, or what went wrong in it."""
    out: dict[str, Any] = {}
    for name in names or list(DRILLS):
        place = folder / name
        place.mkdir()
        try:
            out[name] = DRILLS[name](place)
        except Exception:
            out[name] = traceback.format_exc()
    return out


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2:]), indent=1))
