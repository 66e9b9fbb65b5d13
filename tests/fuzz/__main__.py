"""Try hostile inputs: ``python -m tests.fuzz models --mutants 100000 --seed 1``.

Prints how the attempts ended and what was found, and exits with 1 if something was. A
finding is looked at alone by ``--only NUMBER``, with its traceback, under the same seed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.harness import examine, run


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("campaign", choices=CAMPAIGNS)
    parser.add_argument("--mutants", type=int, default=10_000, help="inputs to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--start", type=int, default=0, help="number of the first input"
    )
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", type=int, help="try this input alone, in full")
    given = parser.parse_args()
    # Files in memory, where there are such: writing to a disk takes longer than an attempt.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        campaign = CAMPAIGNS[given.campaign](given.seed, Path(folder))
        if given.only is not None:
            ending, finding = examine(campaign, given.only)
            print(ending if finding is None else f"{finding.what}\n{finding.details}")
            return int(finding is not None)
        start = time.monotonic()
        numbers = range(given.start, given.start + given.mutants)
        report = run(campaign, numbers, given.processes, verbose=True)
    tried = sum(report.endings.values())
    print(f"{given.campaign}, seed {given.seed}: {tried:,} inputs", end="")
    print(f" in {time.monotonic() - start:,.0f} s\n{report.text()}")
    return int(bool(report.findings))


sys.exit(main())
