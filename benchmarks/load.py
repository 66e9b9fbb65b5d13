"""What omnitree bears: many calls, many threads, many rows, features, classes, categories.

Each load runs in a process of its own that may take 8 GB. "Grew" is how much more memory was
resident at the end than after the first tenth of the calls (many calls), or the peak above
what was there at the start (large tables). Seconds of calls are those on the clock; fits
under a limit (`max_seconds`) are timed, and limited, by the time of the processor.

Limits: each preset has 0.5 and 2 s on the first of some tables (rows x features) on which it
would go on for more than three times as long, or on the largest, for as long as is said.

Goals: no error; many calls grow by less than 20 MB; rows in blocks grow by less than ten
blocks; no fit takes more than 1.1 times its `max_seconds`.

    python benchmarks/load.py -o benchmarks/results/load.md

`--scale 0.01` makes every load smaller, `--only many:classes` chooses some; lines of other
loads stay in the file. The script exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import resource
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import omnitree
from omnitree import OmniTreeClassifier, OmniTreeRegressor, TreeClassifier, presets
from omnitree.growing.clock import by_clock

MEMORY = 8.0  # gigabytes, unless `--memory` says otherwise
SECONDS = 10.0
FLAT = 20.0  # megabytes
LIMITS = [0.5, 2.0]
LONGER = 3.0  # times its limit that a fit would take
MORE = 1.25  # a fit that is stopped by this much more takes that long, at least
SHAPES = (
    *((200, 1000), (2000, 200), (20_000, 50), (100_000, 20), (300_000, 20)),
    (1_000_000, 20),
)


def megabytes(field: str = "VmRSS") -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def repeated(call: Callable[[int], Any], n: int) -> tuple[float, float]:
    """Seconds of n calls, and megabytes grown after the first tenth of them."""
    start = time.perf_counter()
    early = 0.0
    for i in range(n):
        if i == n // 10:
            early = megabytes()
        call(i)
    return time.perf_counter() - start, megabytes() - early


def rows_of(n: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (np.argsort(np.argsort(X[:, 0] + rng.normal(size=n) / 4)) * k) // n
    return X, y


# -- many calls ------------------------------------------------------------------------


def single_rows(scale: float) -> dict[str, Any]:
    X, y = rows_of(1000, 5, 3)
    clf = presets.make("ldt").fit(X, y)
    n = int(10**6 * scale)
    seconds, grew = repeated(lambda i: clf.predict(X[i % 1000 : i % 1000 + 1]), n)
    return {"n": f"{n:,} predicts of one row", "s": seconds, "grew": grew, "flat": True}


def small_fits(scale: float) -> dict[str, Any]:
    X, y = rows_of(60, 4, 3)
    makers = [TreeClassifier, *(lambda p=p: presets.make(p) for p in ("c4.5", "ldt"))]
    n = int(10**4 * scale)
    seconds, grew = repeated(lambda i: makers[i % 3]().fit(X, y), n)
    return {"n": f"{n:,} fits of 60 rows", "s": seconds, "grew": grew, "flat": True}


def threads(scale: float) -> dict[str, Any]:
    X, y = rows_of(500, 5, 3)
    models = [presets.make(p, random_state=0).fit(X, y) for p in ("cart", "ldt", "lmt")]
    known = [m.predict_proba(X) for m in models]
    expected = models[0].tree_.to_dict()
    wrong: list[str] = []
    counts = [0] * 64
    end = time.monotonic() + 60 * scale

    def work(me: int) -> None:
        while time.monotonic() < end and not wrong:
            which = (me + counts[me]) % 3
            if not np.array_equal(models[which].predict_proba(X), known[which]):
                wrong.append("another answer")
            if counts[me] % 20 == 0:
                again = presets.make("cart", random_state=0).fit(X, y)
                if again.tree_.to_dict() != expected:
                    wrong.append("another tree")
            counts[me] += 1

    early = megabytes()
    crowd = [threading.Thread(target=work, args=(k,)) for k in range(64)]
    start = time.perf_counter()
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert not wrong, wrong
    seconds = time.perf_counter() - start
    return {
        "n": f"64 threads: {sum(counts):,} predicts of 500 rows, fits among them",
        "s": seconds,
        "grew": megabytes() - early,
    }


def blocks(scale: float) -> dict[str, Any]:
    X, y = rows_of(10**5, 10, 3)
    clf = presets.make("cart").fit(X[:20_000], y[:20_000])
    n = max(int(100 * scale), 10)
    counts = np.zeros(3)

    def one(_: int) -> None:
        counts[:] += np.bincount(clf.predict(X), minlength=3)

    seconds, grew = repeated(one, n)
    assert counts.sum() == n * 10**5
    return {
        "n": f"{n * 10**5:,} rows predicted in blocks of 100,000",
        "s": seconds,
        "grew": grew,
        "most": 10 * X.nbytes / 2**20,
    }


def limits(name: str, scale: float) -> dict[str, Any]:
    """How long a fit takes with each limit, on a table that is too large for it."""
    begin = time.perf_counter()
    shapes, told, late = list(SHAPES), [], False
    X, y = rows_of(*shapes[0], 3)
    for limit in LIMITS:
        most = MORE * LONGER * limit
        while (full := seconds_within(most, name, X, y)) < LONGER * limit:
            if len(shapes) == 1:
                break
            del shapes[: 2 if full < limit / 5 and len(shapes) > 2 else 1]
            X, y = rows_of(*shapes[0], 3)
        took = seconds_within(limit, name, X, y)
        late |= took > 1.1 * limit
        whole = f", of {full:.1f}" if full < LONGER * limit else ""
        told.append(f"{took:.2f} ({X.shape[0]:,} x {X.shape[1]:,}{whole})")
    found = {
        "n": f"`{name}`, `max_seconds` {' and '.join(f'{x:g}' for x in LIMITS)}",
        "s": time.perf_counter() - begin,
        "grew": 0.0,
        "end": f"CPU s: {', '.join(told)}",
    }
    return found | ({"wrong": found["end"]} if late else {})


def seconds_within(limit: float, name: str, X: Any, y: Any) -> float:
    """CPU time of a fit, and of its limit: nothing else on the machine counts."""
    start = time.process_time()
    with by_clock(time.process_time):
        maker(name)(max_seconds=limit, random_state=0).fit(X, y)
    return time.process_time() - start


def maker(name: str) -> Callable[..., Any]:
    """What makes the preset or estimator of that name."""
    return ESTIMATORS.get(name) or presets.PRESETS[name]


# -- large tables ----------------------------------------------------------------------


def fitted(name: str, X: Any, y: Any, what: str) -> dict[str, Any]:
    """Fit once, predict all rows, and say how it went."""
    early = megabytes()
    start = time.process_time()
    model = maker(name)(random_state=0, max_seconds=SECONDS)
    found: dict[str, Any] = {"n": f"{what}, `{name}`"}
    try:
        with by_clock(time.process_time):
            model.fit(X, y)
        end = f"{model.tree_.n_leaves:,} leaves"
    except (ValueError, MemoryError) as error:
        end = f"{type(error).__name__}: {error}"
    seconds = time.process_time() - start
    grew = megabytes("VmHWM") - early
    if hasattr(model, "tree_"):
        right = float(np.mean(model.predict(X) == y))
        end += f", {100 * right:.0f} % of the rows right"
    found |= {"s": seconds, "grew": grew, "end": end}
    return found | ({"wrong": end} if seconds > 1.1 * SECONDS else {})


def many(kind: str, name: str, scale: float) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    if kind == "features":
        X, y = rows_of(100, max(int(10**5 * scale), 100), 3)
        return fitted(name, X, y, f"100 rows x {X.shape[1]:,} features")
    if kind == "classes":
        k = max(int(10**4 * scale), 100)
        X, y = rows_of(5 * k, 5, k)
        return fitted(name, X, y, f"{5 * k:,} rows, {k:,} classes")
    n = max(int(20_000 * scale), 2000)
    cells = rng.integers(0, 1000, n)
    y = (cells % 3 + (rng.random(n) < 0.2)) % 3
    # Declared: of undeclared text with so many values, a warning says that it is left out.
    words = pd.Categorical([f"c{i}" for i in cells])
    numbers = {f"x{j}": rng.normal(size=n) for j in range(3)}
    frame = pd.DataFrame({"c": words, **numbers})
    return fitted(name, frame, y, f"{n:,} rows x 4 features, 1,000 categories")


ESTIMATORS: dict[str, Callable[..., Any]] = {
    "OmniTreeClassifier": OmniTreeClassifier,
    "OmniTreeRegressor": OmniTreeRegressor,
}
EVERY = [*presets.names(), *ESTIMATORS]
NAMES = {
    "features": ("cart", "c4.5", "ldt", "OmniTreeClassifier"),
    "classes": ("ldt", "omni", "cart", "c4.5", "lmdt", "quest"),
    "categories": presets.names(),
}
LOADS: list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = [
    (single_rows, ()),
    (small_fits, ()),
    (threads, ()),
    (blocks, ()),
    *((limits, (name,)) for name in EVERY),
    *((many, (kind, name)) for kind, names in NAMES.items() for name in names),
]


def _child(
    function: Any, arguments: tuple[Any, ...], scale: float, memory: float, queue: Any
) -> None:
    most = int(memory * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    warnings.simplefilter("ignore")
    try:
        queue.put(function(*arguments, scale))
    except MemoryError:
        queue.put({"n": f"{arguments}", "s": 0, "grew": 0, "end": "MemoryError"})
    except Exception as error:
        queue.put({"n": f"{arguments}", "s": 0, "grew": 0, "wrong": repr(error)})


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument(
        "--only", nargs="*", help="how names of loads begin; all if left out"
    )
    parser.add_argument("--memory", type=float, default=MEMORY, help="of each load, GB")
    parser.add_argument("--limits", nargs="*", type=float, default=LIMITS)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    LIMITS[:] = given.limits
    head = [
        "# Load",
        f"`python benchmarks/load.py`; omnitree {omnitree.__version__}, "
        f"Python {platform.python_version()}, {multiprocessing.cpu_count()} cores",
        "",
        "| load | seconds | grew, MB | end |",
        "|---|---|---|---|",
    ]
    known = {}
    if given.output and given.output.exists():
        old = [
            li for li in given.output.read_text().splitlines() if li.startswith("| ")
        ]
        known = {line.split(" | ")[0]: line for line in old if line not in head}
    failed = False
    context = multiprocessing.get_context("fork")
    for function, arguments in LOADS:
        name = ":".join((function.__name__, *arguments))
        if given.only and not name.startswith(tuple(given.only)):
            continue
        queue = context.Queue()
        child = context.Process(
            target=_child,
            args=(function, arguments, given.scale, given.memory, queue),
        )
        child.start()
        try:
            found = queue.get(timeout=3600)
        except Exception:
            found = {"n": name, "s": 0, "grew": 0, "wrong": "killed"}
        child.join()
        end = found.get("end", "no error")
        most = found.get("most", FLAT if found.get("flat") else float("inf"))
        if "wrong" in found or found["grew"] > most:
            failed = True
            end = f"MISSED: {found.get('wrong', 'memory grows')}"
        line = f"| {found['n']} | {found['s']:.1f} | {found['grew']:.0f} | {end} |"
        known[line.split(" | ")[0]] = line
        print(line, flush=True)
        if given.output:  # after each load: what was measured is kept
            given.output.write_text("\n".join([*head, *known.values()]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
