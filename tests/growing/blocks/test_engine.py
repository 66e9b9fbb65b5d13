"""Threads over blocks: each block once, whatever the parts are; none waits for ever."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
import pytest

from omnitree.data.sources import Block
from omnitree.growing.blocks.engine import LocalEngine, SharedBlocks


@dataclass
class Part:
    """Blocks of one row, each with a number."""

    numbers: range

    def blocks(self):
        for number in self.numbers:
            n = 0 if number % 7 == 3 else 1  # some have no rows
            yield Block(np.full((n, 1), number))


@dataclass
class Source:
    """Parts of different sizes."""

    sizes: list[int]
    travels = False
    n_rows = n_bytes = None

    def parts(self, cells=0):
        start = 0
        for size in self.sizes:
            yield Part(range(start, start + size))
            start += size


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("sizes", [[], [0], [40], [0, 1, 30, 0, 9], [1] * 40])
def test_every_block_is_seen_once(n_jobs, sizes):
    found = LocalEngine(Source(sizes), n_jobs).map_blocks(lambda b: [int(b.X[0, 0])])
    expected = [i for i in range(sum(sizes)) if i % 7 != 3]
    assert sorted(found or []) == expected


def test_one_part_keeps_two_threads_busy():
    both = threading.Barrier(2, timeout=30)  # breaks if one thread has all blocks

    def wait_for_the_other(block):
        both.wait()
        return 1

    source = Source([42])
    assert LocalEngine(source, 2).map_blocks(wait_for_the_other) == 36


def test_threads_stay_from_pass_to_pass():
    engine, seen = LocalEngine(Source([42]), 2), set()
    for _ in range(20):
        engine.map_blocks(lambda block: seen.add(threading.get_ident()) or 1)
    assert threading.get_ident() not in seen
    assert len(seen) <= 2


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_engine_goes_on_after_an_error(n_jobs):
    engine = LocalEngine(Source([42]), n_jobs)
    with pytest.raises(ZeroDivisionError):
        engine.map_blocks(lambda block: 1 // 0)
    assert engine.map_blocks(lambda block: 1) == 36


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_ends_the_pass(n_jobs):
    seen = []

    def fail(block):
        seen.append(int(block.X[0, 0]))
        if seen[-1] == 5:
            raise ValueError("block 5")
        return 1

    with pytest.raises(ValueError, match="block 5"):
        LocalEngine(Source([10, 100_000]), n_jobs).map_blocks(fail)
    assert len(seen) < 90_000


def test_an_error_of_a_source_ends_the_pass():
    class Broken(Source):
        def parts(self, cells=0):
            yield Part(range(2))
            raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        LocalEngine(Broken([]), 2).map_blocks(lambda b: 1)


def test_a_stopped_source_gives_nothing():
    blocks = SharedBlocks(Source([3]).parts())
    assert blocks.next() is not None
    blocks.stop()
    assert blocks.next() is None
