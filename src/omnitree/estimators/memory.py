"""How much memory a fit may take, and reading what fits.

Used by the estimators' `fit` for data that is not in memory yet, and to refuse at once what
memory cannot hold: the counts of thousands of classes in thousands of nodes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from omnitree.data.sources import Block, BlockSource
from omnitree.growing.stopping import Limits

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
# A fit in memory needs the table, its encoded form and what is sorted.
COPIES = 4
SHARE = 0.5  # of the free memory, where nobody says how much
# How often a fit needs the counts of all nodes, where each class has a leaf: as often as
# C4.5 with 1,000 classes of five rows. Most other presets need more. Each further tree that
# is kept has its own counts (of held-out rows only those that are not 0 are kept), and who
# keeps trees compares what several candidates answer to all rows.
COUNTS, KEPT_COUNTS, ANSWERS = 6, 1, 4
FEW_BYTES = 2**26  # nobody has to look whether there is room for so few


def memory_limit(max_memory: int | str | None) -> int:
    """Bytes that may be held.

    Examples
    --------
    >>> memory_limit("1.5 GB") == 1.5 * 2**30
    True
    """
    if max_memory is None:
        return int(SHARE * free_memory())
    if isinstance(max_memory, str):
        found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)i?b?\s*", max_memory.lower())
        if found is not None:
            return int(float(found[1]) * UNITS[found[2]])
    elif not isinstance(max_memory, bool) and max_memory > 0:
        return int(max_memory)
    raise ValueError(
        f"max_memory must be a number of bytes or a text such as '2GB', not {max_memory!r}"
    )


def check_counts(
    n_classes: int, limits: Limits, total: float, n_rows: int, n_trees: int
) -> None:
    """Refuse trees whose counts this machine has no room for, before they are grown.

    As many leaves are reckoned with as there are classes, if the limits allow them: a tree
    that tells all classes apart has no fewer.
    """
    leaves = min(n_classes, 2 * total / max(limits.min_rows, 1e-300))
    if limits.max_leaves is not None:
        leaves = min(leaves, limits.max_leaves)
    if limits.max_depth >= 0:
        leaves = min(leaves, 2.0 ** min(limits.max_depth, 60))
    times = COUNTS + KEPT_COUNTS * (n_trees - 1)
    needed = times * 8 * n_classes * (2 * leaves - 1)
    if n_trees > 1:
        needed += ANSWERS * 8 * n_classes * n_rows
    if needed > FEW_BYTES and needed > free_memory(whole=True):
        raise MemoryError(
            f"counts and answers of {n_classes:,} classes need {needed:.1e} bytes"
        )


def free_memory(whole: bool = False) -> int:
    """Bytes that are free, as far as the system says; else 4 GiB.

    With `whole`, what other processes and cached files take counts as free.
    """
    found = [4 * 2**30]
    pages = "SC_PHYS_PAGES" if whole else "SC_AVPHYS_PAGES"
    if hasattr(os, "sysconf") and pages in os.sysconf_names:
        found = [os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")]
    group = Path("/sys/fs/cgroup")
    try:
        most = int((group / "memory.max").read_text())
        found.append(
            most if whole else most - int((group / "memory.current").read_text())
        )
    except (OSError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return max(min(found), FEW_BYTES)
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        used = int(Path("/proc/self/statm").read_text().split()[0])
        found.append(most - used * os.sysconf("SC_PAGE_SIZE"))
    return max(min(found), FEW_BYTES)


def read_whole(source: BlockSource, limit: int) -> tuple[Any, Any, Any] | None:
    """X, y and weights if they fit into memory, else None."""
    if source.n_bytes is not None and COPIES * source.n_bytes > limit:
        return None
    blocks: list[Block] = []
    size = 0
    for part in source.parts():
        for block in part.blocks():
            blocks.append(block)
            size += 8 * int(np.prod(block.X.shape))
            if COPIES * size > limit:
                return None
    if not blocks:
        raise ValueError("Found array with 0 sample(s): the data has no rows.")
    y, weight = (
        None if values[0] is None else np.concatenate([_plain(v) for v in values])
        for values in zip(*((b.y, b.weight) for b in blocks), strict=True)
    )
    return _stacked(blocks), y, weight


def _plain(values: Any) -> np.ndarray:
    """An array that joins others without texts being cut or numbers becoming texts."""
    array = np.asarray(values)
    return array.astype(object) if array.dtype.kind in "SUT" else array


def _stacked(blocks: list[Block]) -> Any:
    """Arrays or data frames one below the other."""
    pieces = [b.X for b in blocks]
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(pieces)
    import narwhals as nw

    frames = [nw.from_native(piece, eager_only=True) for piece in pieces]
    numbers = _numbers_of_several_types(frames, [b.place for b in blocks])
    if numbers:
        as_floats = [nw.col(name).cast(nw.Float64) for name in numbers]
        frames = [frame.with_columns(*as_floats) for frame in frames]
    return nw.concat(frames, how="vertical").to_native()


def _numbers_of_several_types(frames: list[Any], places: list[str]) -> list[str]:
    """Columns that hold numbers everywhere, but not of the same type.

    A column of numbers here and of something else there is refused.
    """
    found, (first, *others) = [], [frame.schema for frame in frames]
    for name, dtype in first.items():
        for other, place in zip(others, places[1:], strict=True):
            own = other.get(name, dtype)
            if own == dtype:
                continue
            # What has no values, or texts of several types, is left to who joins them.
            if not own.is_numeric() and not dtype.is_numeric():
                continue
            if "Unknown" in (str(own), str(dtype)):
                continue
            if not (own.is_numeric() and dtype.is_numeric()):
                raise ValueError(
                    f"Column {name!r} is {dtype} in {places[0]}, but {own} in {place}. "
                    "Give it the same type everywhere."
                )
            found.append(name)
            break
    return found
