"""What benchmarks have in common: arguments, versions, and whether goals are met."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn


def versions(*packages: str) -> str:
    """Of omnitree, of packages, of Python, and the kind of machine.

    >>> versions("numpy").startswith("omnitree ")
    True
    """
    named = ", ".join(f"{name} {version(name)}" for name in ("omnitree", *packages))
    return f"{named}, Python {platform.python_version()}, {platform.machine()}"


def of_papers(doc: str) -> argparse.Namespace:
    """The arguments of a script that fits systems of papers: data, store and page."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    return parser.parse_args()


def finish(blocks: list[str], missed: list[str], output: Path | None) -> NoReturn:
    """Write the blocks with a verdict below them; missed goals are the exit status."""
    verdict = "Goals missed: " + "; ".join(missed) if missed else "All goals met."
    print("\n" + verdict)
    if output:
        output.write_text("\n\n".join([*blocks, verdict]) + "\n")
    sys.exit(bool(missed))
