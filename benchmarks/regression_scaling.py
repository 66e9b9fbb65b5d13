"""How the time of OmniTreeRegressor grows with the rows of a table.

Friedman's first function of five of 19 uniform features, with noise of deviation 1.
Reported: CPU seconds of a fit in one thread, how many times those of a tenth of the rows,
root mean squared error on 20,000 new rows in deviations of the target (no method can have
less than the noise), leaves. The goals, whose failure is the exit status: at most 12 times
the time for ten times the rows, 10 seconds for 10,000 rows, 100 for a million.

    python benchmarks/regression_scaling.py -o benchmarks/results/regression_scaling.md
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from omnitree import OmniTreeRegressor

FEATURES, NOISE = 19, 1.0
ROWS = (1_000, 10_000, 100_000, 1_000_000)
# Times the time for ten times the rows; CPU seconds that some numbers of rows may take.
GROWTH, MOST = 12.0, {10_000: 10.0, 1_000_000: 100.0}


def table(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function of five features, and others that do not matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, FEATURES))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + NOISE * rng.normal(size=n)
    return X, y


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    new, truth = table(20_000, seed=1)
    least = NOISE / truth.std()
    OmniTreeRegressor(random_state=0).fit(new[:100], truth[:100])  # imports
    lines = [
        f"| rows x {FEATURES} | CPU seconds | times those of a tenth | error | leaves |",
        "|---|---|---|---|---|",
    ]
    missed, before = [], None
    for n in args.rows:
        X, y = table(n, seed=0)
        start = time.process_time()
        model = OmniTreeRegressor(random_state=0, n_jobs=1).fit(X, y)
        seconds = time.process_time() - start
        error = np.sqrt(np.mean((model.predict(new) - truth) ** 2)) / truth.std()
        growth = "" if before is None else f"{seconds / before:.1f}"
        lines.append(
            f"| {n} | {seconds:.2f} | {growth} | {error:.4f} | {model.tree_.n_leaves} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
        if before is not None and seconds > GROWTH * before:
            missed.append(f"growth up to {n} rows")
        if seconds > MOST.get(n, np.inf):
            missed.append(f"time of {n} rows")
        before = seconds
    lines += ["", f"The noise alone has an error of {least:.4f}.", ""]
    lines.append(f"Missed: {', '.join(missed) or 'nothing'}.")
    command = "python benchmarks/regression_scaling.py " + " ".join(sys.argv[1:])
    text = "\n".join(["# Rows and time", "", f"`{command}`", "", *lines])
    (args.output.write_text(text + "\n") if args.output else print(text))
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
