"""What wheels for the stable ABI (abi3) would cost: both builds beside each other.

Builds the last commit twice into a folder, as it is and with Cython's limited API for
CPython 3.11 and newer, then times both in turn, each round in a process of its own.

    python benchmarks/abi3.py -o benchmarks/results/abi3.md

Needs what a build needs (`make test` has put it into the environment) and some minutes.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from page import versions

ROOT = Path(__file__).parent.parent
BUILDS = ("usual", "abi3")


def build(folder: Path, limited: bool) -> Path:
    """The last commit, built and installed into a folder of its own."""
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    source, site = folder / "source", folder / "site"
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(source, filter="data")
    names = ("abi3", "python.allow_limited_api")
    allow = [f"-Csetup-args=-D{name}={str(limited).lower()}" for name in names]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", *allow, "--target", str(site), str(source)]
    subprocess.run([*install, *options], check=True)
    return site


def best(work: Callable[[], object], runs: int) -> float:
    """CPU seconds of one call, best of three rounds of some calls."""
    found = np.inf
    for _ in range(3):
        start = time.process_time()
        for _ in range(runs):
            work()
        found = min(found, (time.process_time() - start) / runs)
    return float(found)


def measure() -> dict[str, float]:
    """CPU seconds of each kind of work, by the omnitree that is imported."""
    from omnitree import OmniTreeClassifier, presets

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.5 * rng.normal(size=len(X)) > 0) * 1
    many = rng.normal(size=(1_000_000, 10))
    cart = presets.make("cart", n_jobs=1, random_state=0)
    omni = OmniTreeClassifier(n_jobs=1, random_state=0)
    some = slice(0, 2000)
    times = {
        "fit cart, 20,000 x 10": best(lambda: cart.fit(X, y), 1),
        "fit omni, 2,000 x 10": best(lambda: omni.fit(X[some], y[some]), 1),
    }
    for name, clf in (("cart", cart), ("omni", omni)):
        times[f"predict a row, {name}"] = best(lambda clf=clf: clf.predict(X[:1]), 300)
        times[f"predict 10^6 rows, {name}"] = best(lambda clf=clf: clf.predict(many), 1)
    return times


def times_of(site: Path) -> dict[str, float]:
    """`measure` in a process that imports omnitree from a folder."""
    # An editable omnitree has a finder, which would be asked first.
    run = (
        "import sys; sys.meta_path = [f for f in sys.meta_path "
        "if 'editable' not in type(f).__module__]; "
        f"sys.path[:0] = [{str(site)!r}, {str(Path(__file__).parent)!r}]; "
        "import abi3, json; print(json.dumps(abi3.measure()))"
    )
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", run],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | threads,
    )
    return json.loads(done.stdout)


def main() -> None:
    """Build, time in turn, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--built", type=Path, help="folder of an earlier run")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    folder = args.built or Path(tempfile.mkdtemp(prefix="abi3-"))
    sites = {name: folder / name / "site" for name in BUILDS}
    for name, site in sites.items():
        if not site.exists():
            build(folder / name, name == "abi3")
    found: dict[str, list[dict[str, float]]] = {name: [] for name in BUILDS}
    for _ in range(args.rounds):
        for name, site in sites.items():
            found[name].append(times_of(site))
    lines = [
        "# Wheels for the stable ABI beside the usual ones",
        f"`python benchmarks/abi3.py --rounds {args.rounds}`; "
        f"{versions('Cython')}. CPU milliseconds, best of {args.rounds} rounds of three.",
    ]
    table = ["| work | usual | abi3 | ratio |", "|---|---|---|---|"]
    for work in found["usual"][0]:
        usual, abi3 = (min(t[work] for t in found[name]) for name in BUILDS)
        table.append(
            f"| {work} | {1e3 * usual:.3g} | {1e3 * abi3:.3g} | {abi3 / usual:.2f} |"
        )
    sizes = [
        sum(p.stat().st_size for p in site.rglob("*.so")) / 1e6
        for site in sites.values()
    ]
    ratio = sizes[1] / sizes[0]
    table.append(
        f"| compiled modules, MB | {sizes[0]:.1f} | {sizes[1]:.1f} | {ratio:.2f} |"
    )
    text = "\n\n".join([*lines, "\n".join(table)])
    print(text)
    if args.output:
        args.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
