"""Trees from sums over blocks beside trees in memory: error, time and memory.

    python benchmarks/large_data.py --rows 1000000 --columns 20

A generated table goes into a Parquet file of row groups of 50,000 rows. Each method is
fitted to the file as if it did not fit into memory, and to the same rows in memory, each in
a process of its own; both are tested on 200,000 other rows. Scores are linear in some
columns and kinked in others, with noise, so that no tree is without error.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from omnitree import OmniTreeRegressor, TreeRegressor, presets
from omnitree.data.sources import open_blocks
from omnitree.data.sources.base import Roles
from omnitree.data.sources.files import DatasetSource
from omnitree.estimators import memory
from omnitree.growing.blocks.engine import LocalEngine
from omnitree.growing.stopping import Stopping
from omnitree.learners import Univariate

CLASSES, GROUP, TESTED = 5, 50_000, 200_000
METHODS = ("cart", "ldt", "omni", "TreeRegressor", "OmniTreeRegressor")


def rows(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells, classes and numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    slope = np.random.default_rng(99).normal(size=(d, CLASSES))
    slope[8:] = 0.0
    scores = X @ slope + 2 * np.abs(X[:, :CLASSES])
    noisy = scores + 1.5 * rng.gumbel(size=scores.shape)
    return X, noisy.argmax(axis=1), noisy[:, 0]


def write(path: Path, n: int, d: int) -> None:
    """The table as a Parquet file."""
    writer = None
    for start in range(0, n, GROUP):
        X, label, number = rows(min(GROUP, n - start), d, start + 1)
        columns = {f"x{j}": X[:, j] for j in range(d)}
        block = pa.table(columns | {"label": label, "number": number})
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block)
    writer.close()


def estimator(name: str, n_jobs: int):
    """A method by its name."""
    if name == "TreeRegressor":
        return TreeRegressor(
            Univariate(min_branch=20),
            stopping=Stopping(min_rows=50),
            pruning="cost_complexity",
            random_state=0,
            n_jobs=n_jobs,
        )
    if name == "OmniTreeRegressor":
        return OmniTreeRegressor(random_state=0, n_jobs=n_jobs)
    return presets.make(name, random_state=0, n_jobs=n_jobs)


def one(path: str, name: str, way: str, d: int, n_jobs: int) -> None:
    """Fit and test one method, and print what it took as JSON."""
    target = "number" if "Regressor" in name else "label"
    names = [f"x{j}" for j in range(d)]
    model = estimator(name, n_jobs)
    passes: list[float] = []
    if way == "memory":
        table = pq.read_table(path, columns=[*names, target])
        X = np.stack([table[c].to_numpy() for c in names], axis=1)
        y = table[target].to_numpy()
        start = time.perf_counter()
        model.fit(X, y)
    else:
        plain = LocalEngine.map_blocks

        def timed(self, function):
            begin = time.perf_counter()
            found = plain(self, function)
            passes.append(time.perf_counter() - begin)
            return found

        LocalEngine.map_blocks = timed
        memory.COPIES = 10**6  # so that it does not fit, whatever max_memory is
        model.set_params(max_memory="1GB")
        source = DatasetSource(ds.dataset(path), Roles(target), names)
        start = time.perf_counter()
        model.fit(source)
    seconds = time.perf_counter() - start
    X, label, number = rows(TESTED, d, 0)
    y = number if target == "number" else label
    answer = model.predict(X if way == "memory" else pd.DataFrame(X, columns=names))
    if target == "number":
        lost = np.mean((answer - y) ** 2) / y.var()
    else:
        lost = np.mean(answer != y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = (seconds, 100 * lost, model.tree_.n_leaves, peak, len(passes), sum(passes))
    print(json.dumps(found))


def reading(path: Path, n_jobs: int) -> float:
    """Seconds of one pass that only reads."""
    start = time.perf_counter()
    LocalEngine(open_blocks(str(path), "label"), n_jobs).map_blocks(lambda b: b.n_rows)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--one", nargs=3, metavar=("PATH", "METHOD", "WAY"))
    given = parser.parse_args()
    if given.one:
        one(*given.one, given.columns, given.jobs)
        return
    print("# Trees from sums over blocks, and in memory\n")
    print(
        f"    python benchmarks/large_data.py --rows {given.rows} "
        f"--columns {given.columns} --jobs {given.jobs}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write(path, given.rows, given.columns)
        read = reading(path, given.jobs)
        print(f"One pass that only reads takes {read:.1f} s.\n")
        print(
            "| method | error in memory | from blocks | leaves | from blocks | seconds "
            "| from blocks | MB | from blocks | passes | a pass / reading |"
        )
        print("|---|" + "---:|" * 10)
        for name in given.methods:
            found = []
            for way in ("memory", "blocks"):
                command = [sys.executable, __file__, "--columns", str(given.columns)]
                command += ["--jobs", str(given.jobs), "--one", str(path), name, way]
                done = subprocess.run(
                    command, capture_output=True, text=True, check=True
                )
                found.append(json.loads(done.stdout.splitlines()[-1]))
            (s, e, k, m, _, _), (bs, be, bk, bm, n, spent) = found
            print(
                f"| {name} | {e:.2f} | {be:.2f} | {k} | {bk} | {s:.0f} | {bs:.0f} "
                f"| {m:.0f} | {bm:.0f} | {n} | {spent / n / read:.1f} |",
                flush=True,
            )
    print(
        "\nErrors are percentages of wrong answers; of regressors, the squared error as a "
        "percentage of the variance."
    )


if __name__ == "__main__":
    main()
