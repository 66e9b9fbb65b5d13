"""What a fit to more rows than one machine holds would cost: a simulation.

    python benchmarks/large_data_cost.py -o benchmarks/results/large_data_cost.md

Three steps. The price of the parts of a pass (reading, coding, histograms, moments, rows
that come to the grower, subtrees, adding up sums) is measured on this machine, in one
thread, with the functions that fits use. A real fit is then compared with what the model
says of it. At last growth is simulated: nodes divide at random (shares of a beta
distribution), and the planning of `BlockGrower`, the code that fits use, says which nodes
share a pass. Time is that of the slowest of: reading and counting on all cores, and sums
through the network; subtrees grow on the cores of the client's machine.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import tempfile
import time
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import large_data
import numpy as np

from omnitree import presets
from omnitree.data.schema import Feature, Schema
from omnitree.estimators.large import LargeFit
from omnitree.growing.blocks import grower as blocks
from omnitree.growing.blocks.coder import Coder
from omnitree.growing.blocks.engine import LocalEngine
from omnitree.growing.blocks.moments import MomentSums
from omnitree.growing.blocks.sizes import Sizes
from omnitree.growing.blocks.statistics import Asked, Bins, Gather, Histograms, Pass
from omnitree.growing.blocks.survey import SurveyBlock
from omnitree.tree.records import NodeRecord
from omnitree.tree.tree import tree_from_nodes

GB = 2.0**30
CACHE = 2.0**20  # bytes of the sums of one feature that stay near the core


@dataclass(frozen=True)
class Prices:
    """Seconds of one core."""

    read: float  # a cell
    code: float  # a cell: hash, type, place in the tree
    histogram: float  # a cell
    scattered: float  # a cell, where the sums of a feature are larger than the cache
    moment: float  # a product of two cells of a row
    gather: float  # a cell that is brought to the grower, and sorted
    grow: float  # a cell of a small node: its whole subtree
    add: float  # a byte of sums
    send: float  # a byte that is pickled and read again
    survey: float  # a cell: type and range
    sample: float  # a cell of the sample: schema, bins, standardisation


def clock(call: Any, repeats: int = 3) -> float:
    """CPU seconds, the least of some tries: other work on the machine does not count."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def measured_prices(path: str, n: int, d: int) -> Prices:
    """Prices on a file of so many rows and columns."""
    source = large_data.as_if_large(path, d, "label")
    engine = LocalEngine(source, 1)
    cells = n * d

    read = clock(lambda: engine.map_blocks(lambda b: b.n_rows))
    without_sample = SurveyBlock(0, True, Sizes(), limit=1 << 50)
    survey = clock(lambda: engine.map_blocks(without_sample))
    begin = time.process_time()
    model = presets.make("cart", random_state=0, n_jobs=1)
    fit = LargeFit(model, model._resolved_parts(), engine, n, Sizes())
    grower = fit.grower
    sample = time.process_time() - begin - survey
    coder, k = fit.coder, len(fit.classes)
    root = tree_from_nodes(
        coder.schema, tuple(fit.classes.tolist()), [NodeRecord(-1, np.zeros(k))]
    )
    asked = Asked(root, np.zeros(1, dtype=np.int32))
    coded = clock(lambda: engine.map_blocks(Pass(coder, [asked], [])))
    with_bins = Pass(coder, [asked], [Histograms(grower.bins, 1, k)])
    binned = clock(lambda: engine.map_blocks(with_bins))
    moments = MomentSums(grower.standard, 1, k)
    summed = clock(lambda: engine.map_blocks(Pass(coder, [asked], [moments])))
    held = min(n, 1 << 16)
    gather = Pass(coder, [asked], [Gather(np.array([held / n]))])
    gathered = clock(lambda: engine.map_blocks(gather).each[0].of_slot(0))
    rows = engine.map_blocks(gather).each[0].of_slot(0)
    rng, slots, classes = np.random.default_rng(0), 64, 100
    other = replace(rows, y=rng.integers(0, classes, len(rows)).astype(np.int32))
    at = rng.integers(0, slots, (1, len(rows))).astype(np.int32)
    wide = Histograms(grower.bins, slots, classes)
    total = wide(other, at)
    scattered = clock(lambda: wide.add_to(total, other, at))
    node = blocks.Open(0, 0, 0, held)
    grown = clock(lambda: grower._subtree(node, rows), 1)
    sums = np.zeros(1 << 23, dtype=np.int64)
    added = clock(lambda: sums + sums)
    sent = clock(lambda: pickle.loads(pickle.dumps(sums)))
    return Prices(
        read / cells,
        max(coded - read, 0) / cells,
        max(binned - coded, 0) / cells,
        scattered / (len(rows) * d),
        max(summed - coded, 0) / (n * d * d),
        max(gathered - coded, 0) / (len(rows) * d),
        grown / (len(rows) * d),
        added / sums.nbytes,
        sent / sums.nbytes,
        max(survey - read, 0) / cells,
        sample / (len(fit.table.values) * d),
    )


# -- growth -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """How large a table is, and how it is fitted."""

    rows: float
    features: int
    classes: int
    method: str = "cart"
    depth: int | None = 8
    trees: int = 1  # that grow side by side: folds


@dataclass(frozen=True)
class Cluster:
    """Machines that share the work."""

    machines: int = 1
    cores: int = 2
    memory: float = 4.0  # GB that a fit may hold on the client's machine
    network: float = 1.25  # GB a second, of each machine
    disk: float = 2.0  # GB a second that a machine reads


@dataclass
class Level:
    """What the passes of a growth add up to."""

    passes: int = 0
    seconds: float = 0.0
    read_gb: float = 0.0
    sent_gb: float = 0.0  # through the network card of the machine that gets most
    worker_gb: float = 0.0  # most that a worker holds
    open_nodes: int = 0  # that were left when the simulation was stopped


def planner(table: Table, cluster: Cluster) -> blocks.BlockGrower:
    """The planning part of a real grower, for a table that does not exist."""
    features = tuple(Feature(f"x{j}", "numeric") for j in range(table.features))
    schema = Schema(features, True)
    model = presets.make(table.method, random_state=0, max_depth=table.depth)
    parts = model._resolved_parts()
    coder = Coder(schema, 0, np.arange(table.classes), may_miss=False)
    edges, several = [np.arange(255.0)] * table.features, [np.ones(256, bool)]
    bins = Bins(edges, schema.n_categories, several * table.features)
    few = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    growth = LargeFit(
        model, parts, LocalEngine(large_data.open_blocks([few])), 50, Sizes()
    )
    grown = model._growth(parts, growth.sample, 0)
    least = table.rows / 500_000
    limits = replace(grown.rules.limits, min_rows=max(least, 1))
    rules = replace(grown.rules, limits=limits)
    sizes = Sizes().within(int(cluster.memory * GB))
    return blocks.BlockGrower(
        None,
        coder,
        replace(grown, rules=rules),
        bins,
        None,
        1.0,
        int(table.rows),
        sizes,
        n_jobs=cluster.cores,
        n_trees=table.trees,
    )


def simulated(
    table: Table, cluster: Cluster, prices: Prices, most_passes: int = 400
) -> Level:
    """The growth of a table, pass by pass."""
    plan, rng, found = planner(table, cluster), np.random.default_rng(1), Level()
    n, d = table.rows, table.features
    cores = cluster.machines * cluster.cores
    cells, read_gb = n * d, n * d * 8 / GB
    reading = max(
        cells * (prices.read + prices.code) / cores,
        read_gb / (cluster.disk * cluster.machines),
    )
    # The survey: its sample is sorted on one core.
    found.passes, found.read_gb = 1, read_gb
    found.seconds = reading + cells * (prices.survey - prices.code) / cores
    found.seconds += plan.sizes.rows_of_sample(d) * d * prices.sample
    waiting = [blocks.Open(t, 0, 0, n) for t in range(table.trees)]
    while waiting and found.passes < most_passes:
        now, waiting = plan._next(waiting)
        last = [plan._is_last(o) for o in now]
        large = [
            plan._is_large(o) and not end for o, end in zip(now, last, strict=True)
        ]
        asked = [o for o, yes in zip(now, large, strict=True) if yes]
        small = [o for o, a, b in zip(now, large, last, strict=True) if not (a or b)]
        rows_asked = sum(o.size for o in asked)
        if plan.growth.learner.grows_from == "moments":
            size = 8.0 * len(asked) * (2 * d * d + 2 * table.classes * d)
            counting = rows_asked * d * d * prices.moment
            brought = sum(plan._draw(o) * o.size for o in asked)
        else:
            size = 8.0 * len(asked) * plan.bins.size(table.classes)
            wide = size / d > CACHE
            counting = rows_asked * d * (prices.scattered if wide else prices.histogram)
            zone = 2 / plan.sizes.bins
            fits = (
                zone * n * table.trees <= blocks.ZONE_NODES * plan.sizes.rows_of_node(d)
            )
            brought = zone * rows_asked if fits else 0.0
        brought += sum(o.size for o in small)
        rows_gb = brought * (d + 4) * 8 / GB
        # A machine sends one sum and takes in up to eight; rows go to the client.
        sums_gb = size / GB
        fan_in = min(8, max(cluster.machines - 1, 0))
        sent_gb = sums_gb * fan_in + rows_gb * (cluster.machines > 1)
        computing = reading + counting / cores
        computing += size * prices.add * 2 + brought * d * prices.gather / cores
        through = sent_gb / cluster.network + sent_gb * GB * prices.send / cluster.cores
        growing = sum(o.size for o in small) * d * prices.grow / cluster.cores
        found.seconds += max(computing, through) + growing
        found.passes += 1
        found.read_gb += read_gb
        found.sent_gb += sent_gb
        held = sums_gb * (cluster.cores + 2)
        found.worker_gb = max(found.worker_gb, held)
        for o in asked:
            share = rng.beta(4, 4)
            for b, part in enumerate((share, 1 - share)):
                path = (*o.path, b)
                waiting.append(blocks.Open(o.tree, 0, o.depth + 1, o.size * part, path))
    found.open_nodes = len(waiting)
    return found


# -- what is printed -----------------------------------------------------------------------


def check(prices: Prices, folder: str, sizes: list[tuple[int, int, str]]) -> None:
    """Real fits beside what the model says of them."""
    print(
        "| method | rows | features | CPU s, measured | simulated | passes | simulated |"
    )
    print("|---|" + "---:|" * 6)
    for n, d, name in sizes:
        path = Path(folder) / f"check-{n}-{d}.parquet"
        large_data.write(path, n, d)
        source = large_data.as_if_large(str(path), d, "label")
        passes = []
        plain = LocalEngine.map_blocks

        def counted(self: Any, function: Any, passes: Any = passes, plain: Any = plain):
            passes.append(function)
            return plain(self, function)

        LocalEngine.map_blocks = counted
        changes = {"max_depth": 8, "pruning": None, "max_memory": "4GB", "n_jobs": 1}
        model = presets.make(name, random_state=0, **changes)
        start = time.process_time()
        model.fit(source)
        real = time.process_time() - start
        LocalEngine.map_blocks = plain
        table = Table(n, d, 5, name)
        model = simulated(table, Cluster(cores=1, disk=1e6), prices)
        print(
            f"| {name} | {n:,} | {d} | {real:.1f} | {model.seconds:.1f} | {len(passes)} "
            f"| {model.passes} |",
            flush=True,
        )


def main() -> None:
    """Prices, check and simulation, to a file or to standard output."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("-o", type=Path, help="file for the results")
    given = parser.parse_args()
    with redirect_stdout(given.o.open("w") if given.o else sys.stdout):
        report(given.rows, given.columns)


def report(rows: int, columns: int) -> None:
    """Print everything."""
    print("# What larger tables would cost\n")
    print("    python benchmarks/large_data_cost.py\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        large_data.write(path, rows, columns)
        prices = measured_prices(str(path), rows, columns)
        print(f"Prices, from {rows:,} rows x {columns} features, one core:\n")
        print("| what | ns |\n|---|---:|")
        units = {"moment": "a product", "add": "a byte", "send": "a byte"}
        units |= {"grow": "a cell of a small node", "sample": "a cell of the sample"}
        units["scattered"] = "a cell counted in sums beyond the cache"
        for name, seconds in asdict(prices).items():
            print(f"| {name}, {units.get(name, 'a cell')} | {1e9 * seconds:.2f} |")
        print("\nThe model beside real fits (trees of depth 8, one thread):\n")
        check(prices, folder, [(300_000, 50, "cart"), (600_000, 10, "ldt")])
    print("\nSimulated fits:\n")
    print(
        "| method | rows | features | classes | trees | depth | machines | GB each | passes "
        "| hours | TB read | TB through one card | GB of sums, a worker |"
    )
    print("|---|" + "---:|" * 12)
    wide = Table(1e9, 1000, 100)
    for table, cluster in (
        (Table(1e8, 50, 5), Cluster(1, 16, 32)),
        (Table(1e9, 50, 5), Cluster(1, 16, 32)),
        (Table(1e9, 50, 5), Cluster(16, 16, 32)),
        (replace(wide, classes=2), Cluster(16, 16, 64)),
        (wide, Cluster(16, 16, 64)),
        (wide, Cluster(100, 16, 64)),
        (wide, Cluster(100, 16, 256)),
        (replace(wide, depth=12), Cluster(100, 16, 256)),
        (replace(wide, depth=None), Cluster(100, 16, 256)),
        (replace(wide, trees=2), Cluster(100, 16, 256)),
        (replace(wide, method="ldt"), Cluster(100, 16, 256)),
        (replace(wide, method="ldt", depth=12), Cluster(100, 16, 256)),
    ):
        r = simulated(table, cluster, prices)
        more = f" (stopped: {r.open_nodes:,} nodes were open)" if r.open_nodes else ""
        print(
            f"| {table.method} | {table.rows:.0e} | {table.features:,} | {table.classes} "
            f"| {table.trees} | {table.depth or 'any'} | {cluster.machines} "
            f"| {cluster.memory:.0f} | {r.passes}{more} | {r.seconds / 3600:.2f} "
            f"| {r.read_gb / 1024:.1f} | {r.sent_gb / 1024:.2f} | {r.worker_gb:.1f} |",
            flush=True,
        )
    print(
        f"\nAssumed: machines of 16 cores as fast as this one, {Cluster.network} GB/s of "
        f"network and {Cluster.disk} GB/s of storage each. 'GB each' is what a fit may hold "
        "(`max_memory`); a quarter of it is for the sums and rows of a pass. The table is "
        "read from storage in each pass."
    )


if __name__ == "__main__":
    main()
