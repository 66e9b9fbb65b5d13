"""Trees from sums over blocks: error, threads, passes, rows, and beside others.

    python benchmarks/large_data.py [error] [threads] [reading] [rows] [others] -o FILE

Each part is a section, with its command; without a part, all of them are run. It fails if a
goal is missed. A generated table goes into a Parquet file of row groups of 50,000 rows.
Scores are linear in some columns and kinked in others, with noise, so that each tree has an
error. "From blocks" is a fit to the file as if it did not fit into memory. Each fit has a
process of its own, whose resident memory (of its workers, too) is looked at every 100 ms.
Where threads are not compared, CPU seconds of all processes count, so that other work on the
machine does not. `others` needs `pip install "omnitree[dask,bench]"`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
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

CLASSES, GROUP, TESTED = 5, 50_000, 2_000_000
METHODS = ("cart", "ldt", "omni", "TreeRegressor")
DEPTH = 8  # of trees beside those of others


# -- tables -------------------------------------------------------------------------


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
        columns |= {"label": label, "number": number, "two": (label < 2).astype(int)}
        block = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block)
    writer.close()


def names(d: int) -> list[str]:
    """Names of the features."""
    return [f"x{j}" for j in range(d)]


def in_memory(path: str, d: int, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Cells and target of a file."""
    table = pq.read_table(path, columns=[*names(d), target])
    return np.stack([table[c].to_numpy() for c in names(d)], axis=1), table[
        target
    ].to_numpy()


def error(model: Any, d: int, target: str, named: bool) -> float:
    """Percentage of wrong answers on other rows; of numbers, of the variance."""
    lost = spread = 0.0
    for seed in range(TESTED // 100_000):
        X, label, number = rows(100_000, d, 10**9 + seed)
        y = {"label": label, "number": number, "two": label < 2}[target]
        answer = np.asarray(
            model.predict(pd.DataFrame(X, columns=names(d)) if named else X)
        )
        if target == "number":
            lost, spread = lost + ((answer - y) ** 2).sum(), spread + y.var() * len(y)
        else:
            lost, spread = lost + (answer.astype(int) != y).sum(), spread + len(y)
    return 100 * lost / spread


# -- one fit, in a process of its own ------------------------------------------------


def estimator(name: str, n_jobs: int, **changes: Any) -> Any:
    """A method by its name."""
    options = {"random_state": 0, "n_jobs": n_jobs} | changes
    if name == "TreeRegressor":
        return TreeRegressor(
            Univariate(min_branch=20),
            stopping=Stopping(min_rows=50),
            pruning="cost_complexity",
            **options,
        )
    if name == "OmniTreeRegressor":
        return OmniTreeRegressor(**options)
    return presets.make(name, **options)


def as_if_large(path: str, d: int, target: str) -> DatasetSource:
    """A file as a source that does not fit, whatever `max_memory` is."""
    memory.COPIES = 10**6
    return DatasetSource(ds.dataset(path), Roles(target), names(d))


def own_fit(given: dict[str, Any]) -> dict[str, Any]:
    """Fit one of our methods; seconds, passes and error."""
    path, d, name = given["path"], given["d"], given["method"]
    target = given.get("target", "number" if "Regressor" in name else "label")
    model = estimator(name, given["n_jobs"], **given.get("changes", {}))
    passes: list[float] = []
    if given["way"] == "memory":
        X, y = in_memory(path, d, target)
        start, used = time.perf_counter(), time.process_time()
        model.fit(X, y)
    else:
        plain = LocalEngine.map_blocks

        def timed(self, function):
            begin = time.process_time()
            found = plain(self, function)
            passes.append(time.process_time() - begin)
            return found

        LocalEngine.map_blocks = timed
        source = as_if_large(path, d, target)
        start, used = time.perf_counter(), time.process_time()
        model.set_params(max_memory="1GB").fit(source)
    seconds, cpu = time.perf_counter() - start, time.process_time() - used
    found = {"seconds": seconds, "cpu": cpu, "passes": len(passes)}
    found |= {"in_passes": sum(passes), "leaves": model.tree_.n_leaves}
    found["depth"] = model.tree_.depth
    if given.get("tested"):
        found["error"] = error(model, d, target, given["way"] != "memory")
    return found


def on_dask(given: dict[str, Any]) -> dict[str, Any]:
    """Fit one tree on two workers: ours, LightGBM's or XGBoost's."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    path, d, name = given["path"], given["d"], given["method"]
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**workers) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        columns = [*names(d), "two"]

        def read(i):
            return pq.ParquetFile(path).read_row_group(i, columns).to_pandas()

        n_groups = pq.ParquetFile(path).num_row_groups
        data = dd.from_map(read, range(n_groups), meta=read(0)[:0])
        start = cpu_of(client)
        if name == "cart":
            memory.COPIES = 10**6
            model = estimator(
                "cart", 2, max_depth=DEPTH, pruning=None, max_memory="1GB"
            )
            model.fit(data, "two")
            fitted = model
        elif name == "lightgbm":
            import lightgbm

            # Both want partitions that the workers hold.
            X, y = data[names(d)].persist(), data["two"].persist()
            model = lightgbm.DaskLGBMClassifier(
                client=client,
                n_estimators=1,
                learning_rate=1.0,
                max_depth=DEPTH,
                num_leaves=2**DEPTH,
                verbose=-1,
            )
            model.fit(X, y)
            fitted = model.to_local()
        else:
            from xgboost import dask as xgb_dask

            X, y = data[names(d)].persist(), data["two"].persist()
            model = xgb_dask.DaskXGBClassifier(
                n_estimators=1, learning_rate=1.0, max_depth=DEPTH, tree_method="hist"
            )
            model.client = client
            model.fit(X, y)
            fitted = model.get_booster()
        cpu = cpu_of(client) - start
    if name == "xgboost":
        fitted = _Booster(fitted)
    return {"cpu": cpu, "error": error(fitted, d, "two", True)}


def cpu_of(client: Any) -> float:
    """CPU seconds of this process and the workers so far."""
    return time.process_time() + sum(client.run(time.process_time).values())


class _Booster:
    """XGBoost's model, which answers by probabilities."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    def predict(self, X: Any) -> np.ndarray:
        return self.booster.inplace_predict(X) > 0.5


def scikit_learn(given: dict[str, Any]) -> dict[str, Any]:
    """Fit scikit-learn's tree in memory; reading the file is not timed."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = in_memory(given["path"], given["d"], "two")
    start = time.process_time()
    model = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(X, y)
    cpu = time.process_time() - start
    return {"cpu": cpu, "error": error(model, given["d"], "two", False)}


def reading(given: dict[str, Any]) -> dict[str, Any]:
    """The quicker of two passes that only read."""
    found = []
    for _ in range(2):
        start = time.process_time()
        source = open_blocks(given["path"], "label", columns=names(given["d"]))
        LocalEngine(source, given["n_jobs"]).map_blocks(lambda block: block.n_rows)
        found.append(time.process_time() - start)
    return {"cpu": min(found)}


KINDS = {
    "fit": own_fit,
    "dask": on_dask,
    "sklearn": scikit_learn,
    "reading": reading,
}


def apart(kind: str, **given: Any) -> dict[str, Any]:
    """What one of these gives in a process of its own, and the memory that it took."""
    command = [sys.executable, __file__, "one", json.dumps(given | {"kind": kind})]
    job = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    peak, process = 0, psutil.Process(job.pid)
    while job.poll() is None:
        try:
            every = [process, *process.children(recursive=True)]
            peak = max(peak, sum(p.memory_info().rss for p in every))
        except psutil.Error:
            pass
        time.sleep(0.1)
    out, wrong = job.communicate()
    if job.returncode:
        raise RuntimeError(wrong)
    return json.loads(out.splitlines()[-1]) | {"MB": peak / 2**20}


# -- sections --------------------------------------------------------------------------

Missed = list[str]


def part_error(folder: Path, given: argparse.Namespace) -> Missed:
    """Error against fits in memory."""
    n, d = given.rows or 1_000_000, given.columns or 20
    path = str(folder / "table.parquet")
    write(Path(path), n, d)
    print(f"{n:,} rows x {d} columns, 5 classes; {TESTED:,} other rows for the test.\n")
    print(
        "| method | error in memory | from blocks | leaves | from blocks | CPU s "
        "| from blocks | MB | from blocks |\n|---|" + "---:|" * 8
    )
    missed = []
    for name in given.methods or METHODS:
        common = {
            "path": path,
            "d": d,
            "method": name,
            "n_jobs": given.jobs,
            "tested": 1,
        }
        a, b = (apart("fit", way=way, **common) for way in ("memory", "blocks"))
        cells = [
            f"{r[k]:.{c}f}"
            for k, c in (("error", 2), ("leaves", 0), ("cpu", 0), ("MB", 0))
            for r in (a, b)
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        if b["error"] > a["error"] + 0.1:
            missed.append(f"error of {name} more than 0.1 points above that in memory")
    print(
        "\nErrors are percentages of wrong answers; of the regressor, the squared error as "
        "a percentage of the variance. Goal: at most 0.1 points above the fit in memory."
    )
    return missed


def part_threads(folder: Path, given: argparse.Namespace) -> Missed:
    """One thread and two."""
    n, d = given.rows or 1_000_000, given.columns or 50
    path = str(folder / "table.parquet")
    write(Path(path), n, d)
    print(
        f"{n:,} rows x {d} columns, trees of depth {DEPTH}, not pruned, from blocks.\n"
    )
    print("| method | one thread, s | two, s | ratio | two fits at once, ratio |")
    print("|---|---:|---:|---:|---:|")
    missed = []
    for name in given.methods or ("cart", "ldt"):
        common = {"path": path, "d": d, "method": name, "way": "blocks"}
        common["changes"] = {"max_depth": DEPTH, "pruning": None}
        one, two = (apart("fit", n_jobs=j, **common)["seconds"] for j in (1, 2))
        with ThreadPoolExecutor(2) as pool:
            fits = [pool.submit(apart, "fit", n_jobs=1, **common) for _ in range(2)]
            both = max(fit.result()["seconds"] for fit in fits)
        line = f"{one:.1f} | {two:.1f} | {one / two:.2f} | {2 * one / both:.2f}"
        print(f"| {name} | {line} |", flush=True)
        if one / two < 1.7:
            missed.append(f"two threads of {name} {one / two:.2f} times one, not 1.7")
    print(
        "\nTwo fits at once are two processes of one thread each, which share nothing but "
        "the machine: its cores and memory allow no better ratio. Goal: two threads at "
        "least 1.7 times as fast as one."
    )
    return missed


def part_reading(folder: Path, given: argparse.Namespace) -> Missed:
    """The fit of `ldt` beside reading the file."""
    n, d = given.rows or 2_000_000, given.columns or 20
    path = str(folder / "table.parquet")
    write(Path(path), n, d)
    common = {"path": path, "d": d, "n_jobs": 1}
    read = apart("reading", **common)["cpu"]
    fit = apart("fit", method="ldt", way="blocks", **common)
    levels, passes = (fit["cpu"] / (read * fit[k]) for k in ("depth", "passes"))
    a_pass = fit["in_passes"] / fit["passes"]
    print(
        f"`ldt` on {n:,} rows x {d} columns, from blocks, one thread. Reading takes "
        f"{read:.2f} CPU s, the fit {fit['cpu']:.1f}: {fit['passes']} passes of "
        f"{a_pass:.2f} each ({a_pass / read:.1f} times reading), and subtrees in memory. "
        f"The tree has {fit['depth']} levels: the fit takes {levels:.2f} times "
        f"reading the file once a level, {passes:.2f} times reading it once a pass.\n\n"
        "Goal: at most 1.5 times reading the file once a level."
    )
    return (
        [] if levels <= 1.5 else ["ldt takes more than 1.5 times reading once a level"]
    )


def part_rows(folder: Path, given: argparse.Namespace) -> Missed:
    """Time by the number of rows."""
    d = given.columns or 8
    print(f"{d} columns, trees of depth {DEPTH}, not pruned, from blocks.\n")
    print("| method | rows | CPU s | a million rows, CPU s | MB |\n|---|" + "---:|" * 4)
    missed, cost = [], {}
    for n in (100_000, 1_000_000, given.rows or 10_000_000):
        path = folder / "table.parquet"
        write(path, n, d)
        for name in given.methods or ("cart", "ldt"):
            changes = {"max_depth": DEPTH, "pruning": None}
            r = apart(
                "fit",
                path=str(path),
                d=d,
                method=name,
                way="blocks",
                n_jobs=given.jobs,
                changes=changes,
            )
            each = r["cpu"] / n * 1e6
            print(
                f"| {name} | {n:,} | {r['cpu']:.1f} | {each:.2f} | {r['MB']:.0f} |",
                flush=True,
            )
            if n == 100_000:  # all of them are in the sample: grown in memory
                continue
            if each > 1.2 * min(cost.get(name, [each])):
                missed.append(f"time of {name} grows faster than the number of rows")
            cost.setdefault(name, []).append(each)
    print(
        "\nThe survey's sample has all of 100,000 rows, so that they are fitted in memory. "
        "Goal: from 1,000,000 rows on a row costs no more (by a fifth at most) where there "
        "are more of them."
    )
    return missed


def part_others(folder: Path, given: argparse.Namespace) -> Missed:
    """One tree of LightGBM, XGBoost and scikit-learn."""
    n, d = given.rows or 1_000_000, given.columns or 20
    path = str(folder / "table.parquet")
    write(Path(path), n, d)
    print(
        f"{n:,} rows x {d} columns, two classes, one tree of depth {DEPTH}, not pruned; two "
        "processes on Dask. Times include reading the file, but for the fits in memory.\n"
    )
    print("| tree | CPU s | MB | error |\n|---|---:|---:|---:|")
    common = {"path": path, "d": d}
    ours = {"method": "cart", "target": "two", "tested": 1, "n_jobs": given.jobs}
    ours["changes"] = {"max_depth": DEPTH, "pruning": None}
    found = {}
    for label, kind, more in (
        ("scikit-learn, in memory", "sklearn", {}),
        ("`cart`, in memory", "fit", ours | {"way": "memory"}),
        ("`cart`, from blocks", "fit", ours | {"way": "blocks"}),
        ("`cart`, Dask", "dask", {"method": "cart"}),
        ("LightGBM, Dask", "dask", {"method": "lightgbm"}),
        ("XGBoost, Dask", "dask", {"method": "xgboost"}),
    ):
        if given.methods and not any(m in label for m in given.methods):
            continue
        r = found[label] = apart(kind, **common, **more)
        print(
            f"| {label} | {r['cpu']:.1f} | {r['MB']:.0f} | {r['error']:.2f} |",
            flush=True,
        )
    print(
        "\nMemory is that of all processes together, the libraries that each loads "
        "included. Goal: an error at most 0.1 points above scikit-learn's."
    )
    if given.methods:
        return []  # nothing to compare with
    worst = max(r["error"] for label, r in found.items() if "cart" in label)
    above = worst - found["scikit-learn, in memory"]["error"]
    return [] if above <= 0.1 else [f"error {above:.2f} points above scikit-learn's"]


PARTS = {
    "error": part_error,
    "threads": part_threads,
    "reading": part_reading,
    "rows": part_rows,
    "others": part_others,
}


def main() -> None:
    if sys.argv[1:2] == ["one"]:
        given = json.loads(sys.argv[2])
        print(json.dumps(KINDS[given["kind"]](given)))
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*")
    parser.add_argument(
        "-o", type=Path, help="file for the results; else standard output"
    )
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    options = [
        f" --{name} {' '.join(map(str, np.atleast_1d(value)))}"
        for name in ("rows", "columns", "jobs", "methods")
        if (value := getattr(given, name)) != parser.get_default(name)
    ]
    missed = []
    with redirect_stdout(given.o.open("w") if given.o else sys.stdout):
        print("# Trees from sums over blocks")
        for part in given.parts or PARTS:
            print(f"\n## {PARTS[part].__doc__.rstrip('.')}\n")
            print(f"    python benchmarks/large_data.py {part}{''.join(options)}\n")
            with tempfile.TemporaryDirectory() as folder:
                missed += PARTS[part](Path(folder), given)
    if missed:
        sys.exit("Missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
