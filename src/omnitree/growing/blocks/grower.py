"""Trees grown level by level from sums over blocks.

A pass asks all open nodes of all trees at once: large nodes give histograms or moments, from
which the learner finds their tests; a node with few enough rows to be held gives its rows,
and its whole subtree is grown by the in-memory grower, from its rows in an order that only
depends on what they hold, while the next pass begins. So every test of a small node is
exact, and every result is the same however the table is divided. The next pass refines the
cuts of large nodes: rows in the bins beside a cut come here, the exact cut is found among
them, and they are counted in the branches as all others are. Several trees grow side by
side: those of folds see only the rows that their fold does not hold out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush, nlargest
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from omnitree.growing.blocks.coder import CodedRows, Coder, Floats, concatenated
from omnitree.growing.blocks.engine import Engine
from omnitree.growing.blocks.grafting import graft
from omnitree.growing.blocks.moments import (
    MomentSums,
    Room,
    Standard,
    StandardSample,
    larger,
)
from omnitree.growing.blocks.open_nodes import Growing, Open, Top, Unrefined
from omnitree.growing.blocks.sizes import Sizes
from omnitree.growing.blocks.statistics import (
    Asked,
    AskedZone,
    Bins,
    Counts,
    FoundRows,
    Gather,
    Histograms,
    KeyRange,
    Pass,
    Results,
    from_digits,
)
from omnitree.growing.blocks.sum_node import FoundSplit, SumNode
from omnitree.growing.grower import beyond_best_leaves
from omnitree.growing.growth import Growth
from omnitree.growing.missing import Surrogate
from omnitree.growing.node import Node, Rules
from omnitree.growing.progress import progress
from omnitree.growing.sample import Sample
from omnitree.growing.threads import CallingThread, one_thread
from omnitree.tree.records import NodeRecord
from omnitree.tree.splits import AxisSplit
from omnitree.tree.tree import Tree, tree_from_nodes

DRAWN_NODES = 4  # rows of so many small nodes are drawn in all large nodes
ZONE_NODES = 4  # rows of so many small nodes may come to refine the cuts of a level


@dataclass(eq=False)
class BlockGrower:
    """Grows trees on the rows of an engine."""

    engine: Engine
    coder: Coder
    growth: Growth  # the learner and its rules
    bins: Bins
    standard: Callable[[], Standard]  # how columns are standardised
    scale: float  # weight of a unit
    n_rows: int
    sizes: Sizes = field(default_factory=Sizes)
    n_jobs: int | None = None
    pool: Executor = field(default_factory=CallingThread)  # of so many threads
    verbose: int = 0
    n_trees: int = 1  # that grow side by side
    unrefined: list[Unrefined] = field(default_factory=list)
    growing: list[Growing] = field(default_factory=list)
    room: Room = field(default_factory=Room)

    def grow(self, seen: Sequence[KeyRange]) -> list[Tree]:
        """A tree for each of several sets of rows."""
        tops = [Top(keys, [self._record(-1)]) for keys in seen]
        whole = [self.n_rows * keys.share for keys in seen]
        open_nodes = [Open(t, 0, 0, whole[t]) for t in range(len(tops))]
        self.n_trees, finished, every = len(tops), 0.0, sum(whole)
        with one_thread(), progress("growing", self.verbose) as show:
            try:
                while open_nodes:
                    now, open_nodes = self._next(open_nodes)
                    if not self._fits_beside_subtrees(now):
                        self._finish_subtrees()
                    grown = self._pass(tops, now)
                    open_nodes += grown
                    finished += sum(o.size for o in now) - sum(o.size for o in grown)
                    show(finished / every)
                self._finish_subtrees()
            finally:  # after an error
                for subtree in self.growing:
                    subtree.tree.cancel()
        return [self._tree(top) for top in tops]

    # -- one pass -------------------------------------------------------------------

    def _next(self, waiting: list[Open]) -> tuple[list[Open], list[Open]]:
        """The nodes that the next pass asks about, large ones first, and the others.

        Of small ones the largest, which leaves the last pass, whose subtrees no other pass
        goes on beside, those that are grown soonest.
        """
        room = self.sizes.memory - 3 * sum(map(self._row_bytes, self.unrefined))
        now: list[Open] = []
        n_jobs, busy = effective_n_jobs(self.n_jobs), list[float]()

        def rank(node: Open) -> tuple[float, int, int]:
            size = -np.inf if self._is_large(node) else -node.size
            return size, node.tree, node.at

        for node in sorted(waiting, key=rank):
            rows = self._row_bytes(node)
            # Threads may be busy with the nodes of most rows, all at the same time.
            least = busy[0] if len(busy) == n_jobs else 0.0
            needed = self._sum_bytes(node) + rows + 2 * max(rows - least, 0.0)
            if now and needed > room:
                continue
            room -= needed
            now.append(node)
            heappush(busy, rows)
            if len(busy) > n_jobs:
                heappop(busy)
        chosen = set(map(id, now))
        return now, [o for o in waiting if id(o) not in chosen]

    def _sum_bytes(self, node: Open) -> float:
        """Bytes of the sums of a node."""
        if self._is_last(node) or not self._is_large(node):
            return 0.0
        p = self.coder.schema.n_columns
        by_moments = self.growth.learner.grows_from == "moments"
        numbers = 4 * p * p if by_moments else self.bins.size(self.coder.n_statistics)
        # Each thread has a sum of its own, and there are two more when they are added up.
        return 8.0 * (2 + effective_n_jobs(self.n_jobs)) * numbers

    def _row_bytes(self, node: Open | Unrefined) -> float:
        """Bytes of the rows of a node that are collected.

        They are held once, and three times while a thread sorts and divides them; those
        beside cuts three times, all of them.
        """
        rows = node.size
        if isinstance(node, Open):
            if self._is_last(node):
                return 0.0
            rows *= self._draw(node) if self._is_large(node) else 1.0
        return 8.0 * rows * (self.coder.schema.n_features + 4)

    def _fits_beside_subtrees(self, now: list[Open]) -> bool:
        """Whether a pass may begin while threads grow the subtrees of the last one.

        Threads take up the work of the pass when all those subtrees are begun.
        """
        busy = [self._row_bytes(g.node) for g in self.growing if not g.tree.done()]
        if not busy:
            return True
        rows = list(map(self._row_bytes, now))
        needed = sum(map(self._sum_bytes, now)) + sum(rows)
        needed += 3 * sum(map(self._row_bytes, self.unrefined))
        needed += 2 * sum(nlargest(effective_n_jobs(self.n_jobs), [*rows, *busy]))
        return needed <= self.sizes.memory

    def _finish_subtrees(self) -> None:
        """Wait for all subtrees."""
        while self.growing:
            top, node, subtree = self.growing[-1]
            if (tree := subtree.result()) is not None:
                top.subtrees[node.at] = tree
            self.growing.pop()

    def _is_large(self, node: Open) -> bool:
        return node.size > self.sizes.rows_of_node(self.coder.schema.n_features)

    def _is_last(self, node: Open) -> bool:
        """Whether no test is wanted any more."""
        limits = self.growth.rules.limits
        return 0 <= limits.depth_needed <= node.depth or limits.expired()

    def _draw(self, node: Open) -> float:
        """Share of the rows of a large node that is drawn.

        With moments, groups of classes are compared by as many rows as are held of some
        small nodes, divided among the large nodes of a level. Nothing here depends on which
        nodes share a pass, so neither does the tree.
        """
        wanted = 0
        if self.growth.learner.grows_from == "moments":
            most = self.sizes.rows_of_node(self.coder.schema.n_features)
            each = int(DRAWN_NODES * most * node.size / (self.n_rows * self.n_trees))
            wanted = min(most, max(each, self.sizes.drawn_rows))
        elif self.coder.may_miss and isinstance(self.growth.rules.missing, Surrogate):
            wanted = self.sizes.drawn_rows
        return min(1.0, wanted / node.size)

    def _pass(self, tops: list[Top], now: list[Open]) -> list[Open]:
        """Ask about some nodes; returns the children of those that got a test."""
        last = [self._is_last(o) for o in now]
        large = [
            self._is_large(o) and not end for o, end in zip(now, last, strict=True)
        ]
        order = np.argsort(np.logical_not(large), kind="stable")
        now = [now[i] for i in order]
        last, n_large = [last[i] for i in order], sum(large)
        share = np.array(
            [self._share(o, end) for o, end in zip(now, last, strict=True)]
            + [2.0 for _ in self.unrefined]
        )
        tasks: list[Any] = [Counts(len(now), len(self.coder.classes)), Gather(share)]
        by_moments = self.growth.learner.grows_from == "moments"
        if n_large and by_moments:
            tasks.append(MomentSums(self.standard(), n_large, len(self.coder.classes)))
        elif n_large:
            tasks.append(Histograms(self.bins, n_large, self.coder.n_statistics))
        asking = Pass(self.coder, self._asked(tops, now), tasks)
        results = self.engine.map_blocks(asking)
        assert results is not None  # the survey found rows
        results = self._refine(tops, now, asking, results)
        counts = from_digits(results.each[0])

        def test_at(i: int) -> FoundSplit | None:
            if self._stays_leaf(counts[i]):
                return None
            rows = self._rows(results.each[1], i)
            seen = self._seen(now[i], i, n_large, counts[i], results.each[2], rows)
            rng = np.random.default_rng(
                [self.growth.rules.seed, now[i].depth, *now[i].path]
            )
            return self.growth.learner.fit_sums(seen, rng)

        # The largest first, so that no thread has one of them left when others are done.
        by_rows = sorted(range(n_large), key=lambda i: -self._row_bytes(now[i]))
        tests = {i: self.pool.submit(test_at, i) for i in by_rows}
        # The largest first; they go on while the next pass begins.
        for i in sorted(range(n_large, len(now)), key=lambda i: -now[i].size):
            if not last[i]:
                top, found_rows = tops[now[i].tree], [results.each[1]]
                tree = self.pool.submit(self._subtree, now[i], i, found_rows)
                self.growing.append(Growing(top, now[i], tree))
        for node, own in zip(now, counts, strict=True):
            self._fill(tops[node.tree].records[node.at], own)
        children: list[Open] = []
        for i, node in enumerate(now[:n_large]):
            found = tests[i].result()
            if found is not None:
                children += self._children(tops[node.tree], node, found)
        return children

    def _refine(
        self, tops: list[Top], now: list[Open], asking: Pass, results: Results
    ) -> Results:
        """Make the cuts of the last pass exact, and count the rows beside them."""
        slot = {(o.tree, o.at): i for i, o in enumerate(now)}
        unrefined, self.unrefined = self.unrefined, []

        def exact(i: int) -> tuple[CodedRows, Floats] | None:
            """Cut a node; its rows beside the cut, and where they are counted."""
            rows = results.each[1].of_slot(len(now) + i)
            if rows is None:
                return None
            node = unrefined[i]
            record = tops[node.tree].records[node.at]
            values = rows.table.values[:, node.feature]
            cut, merit = node.zone.refine(*self._sums_up_to(rows, values))
            assert isinstance(record.split, AxisSplit)
            record.split = replace(
                record.split, threshold=cut, merit=self._merit(merit)
            )
            first = record.children[0]
            branch = [slot.get((node.tree, first + b), -1) for b in range(2)]
            return rows, np.where(values > cut, branch[1], branch[0])

        found = self.pool.map(exact, range(len(unrefined)))
        placed = [one for one in found if one is not None]
        if not placed:
            return results
        every = concatenated([rows for rows, _ in placed])
        slots = np.concatenate([slots for _, slots in placed]).astype(np.int32)
        return asking.add_rows(results, every, slots[None])

    def _sums_up_to(self, rows: CodedRows, values: Floats) -> tuple[Floats, Floats]:
        """Different values in ascending order, and statistics of the rows up to each."""
        order = np.argsort(values, kind="stable")
        values, weight = values[order], rows.weights[order]
        sums = np.zeros((len(rows), self.coder.n_statistics), dtype=np.int64)
        if rows.number is None:
            sums[np.arange(len(rows)), rows.y[order]] = weight
        else:
            sums[:, 0], sums[:, 1] = weight, weight * rows.number[order]
        last = np.append(values[1:] > values[:-1], True)
        up_to = np.cumsum(sums, axis=0)[last]  # in whole numbers
        return values[last], self.scale * up_to

    def _share(self, node: Open, last: bool) -> float:
        """Share of the rows that are to be brought here."""
        if last:
            return 0.0
        return self._draw(node) if self._is_large(node) else 2.0

    def _asked(self, tops: list[Top], now: list[Open]) -> list[Asked]:
        asked = []
        for t, top in enumerate(tops):
            zones = [
                AskedZone(
                    top.records[node.at].children[0],
                    node.feature,
                    node.zone.low,
                    node.zone.high,
                    len(now) + i,
                )
                for i, node in enumerate(self.unrefined)
                if node.tree == t
            ]
            slot = np.full(len(top.records), -1, dtype=np.int32)
            for i, node in enumerate(now):
                if node.tree == t:
                    slot[node.at] = i
            if zones or (slot >= 0).any():
                asked.append(Asked(self._packed(top), slot, top.keys, zones))
        return asked

    def _seen(self, node, i, n_large, counts, sums, drawn) -> SumNode:
        """A large node as the learner sees it."""
        coder, k = self.coder, len(self.coder.classes)
        statistics = np.array(counts, dtype=np.float64)[: coder.n_statistics]
        statistics[: k or 1] *= self.scale
        loss, rows = 0.0, None
        histograms: list[Floats] | None = None
        if not k:
            weight, total, squares = counts
            statistics[1] *= self.scale
            loss = self.scale * (squares - total * total / weight)
        by_moments = self.growth.learner.grows_from == "moments"
        if not by_moments:
            found = self.bins.of_slot(sums, i, n_large, coder.n_statistics)
            histograms = [h.astype(np.float64) * self.scale for h in found]
        rules = self._rules_below(node.depth)
        if drawn is not None and len(drawn):
            sample = self._drawn(drawn, statistics)
            rows = Node(sample, rules, np.arange(len(sample)), sample.weight, node.path)
            if by_moments:
                rows.views["linear"] = sums.view(i, self.standard(), rows, self.scale)
        return SumNode(
            coder.schema,
            rules,
            k,
            statistics,
            loss,
            self.bins.edges,
            self.bins.several,
            histograms,
            rows,
        )

    def _drawn(self, rows: CodedRows, statistics: Floats) -> Sample:
        """Rows drawn at a node, with weights that add up to its class counts."""
        sample = self.coder.sample(rows, self.scale)
        weight = sample.weight
        if len(self.coder.classes):
            found = np.bincount(rows.y, weight, len(statistics))
            weight = weight * (statistics / np.where(found > 0, found, 1.0))[rows.y]
        sample = replace(sample, weight=weight)
        return self._standardised(sample)

    def _children(self, top: Top, node: Open, found: FoundSplit) -> list[Open]:
        split = found.split
        first, n = len(top.records), split.n_children
        record = top.records[node.at]
        merit = self._merit(split.merit)
        record.split = replace(split, constructed=(), direction=0, merit=merit)
        record.children = range(first, first + n)
        top.records += [self._record(node.at) for _ in range(n)]
        self._ask_zone(node, found)
        return [
            Open(node.tree, first + b, node.depth + 1, node.size * s, (*node.path, b))
            for b, s in enumerate(found.shares)
        ]

    def _ask_zone(self, node: Open, found: FoundSplit) -> None:
        """Have a cut refined by the next pass, if zones like this hold not too many rows."""
        if found.zone is None:
            return
        assert isinstance(found.split, AxisSplit)
        coder, share = self.coder, found.zone.share
        width = max(coder.schema.n_features, coder.n_statistics)
        room = ZONE_NODES * self.sizes.rows_of_node(width)
        if share * self.n_rows * self.n_trees <= room:
            feature, size = found.split.feature, share * node.size
            self.unrefined.append(
                Unrefined(node.tree, node.at, feature, found.zone, size)
            )

    def _merit(self, found: float) -> float:
        """A merit in the units of the target."""
        return found if len(self.coder.classes) else found * self.coder.step**2

    # -- nodes ----------------------------------------------------------------------

    def _rules_below(self, depth: int) -> Rules:
        """The rules for a subtree that begins at a depth."""
        rules = self.growth.rules
        most = rules.limits.depth_needed
        limits = replace(
            rules.limits, max_depth=most - depth if most >= 0 else -1, max_leaves=None
        )
        return replace(rules, limits=limits)

    def _subtree(self, node: Open, slot: int, found: list[FoundRows]) -> Tree | None:
        """The subtree of a small node, grown in memory; None: no row came there.

        The rows are popped, so that those of all nodes are given up when each has its own.
        """
        rows = self._rows(found.pop(), slot)
        if rows is None:
            return None
        sample = self._standardised(self.coder.sample(rows, self.scale))
        growth = replace(self.growth, rules=self._rules_below(node.depth))
        return growth.grow(sample)

    def _rows(self, found: FoundRows, slot: int) -> CodedRows | None:
        """Rows of a node, which stay until this thread asks for those of another."""
        rows = found.of_slot(slot, self.room.cells)
        if rows is not None:
            self.room.cells = larger(self.room.cells, rows.table.values)
        return rows

    def _standardised(self, sample: Sample) -> StandardSample:
        """The rows of a node, standardised when someone asks."""
        return StandardSample.of(sample, self.standard, self.room)

    def _record(self, parent: int) -> NodeRecord:
        k = len(self.coder.classes)
        number = None if k else 0.0
        return NodeRecord(parent, np.zeros(k or 1), constant=number, loss=number)

    def _fill(self, record: NodeRecord, counts: list[int]) -> None:
        """What the tree keeps of the statistics of a node."""
        if len(self.coder.classes):
            record.value = self.scale * np.array(counts, dtype=np.float64)
            return
        weight, total, squares = counts
        record.value = np.array([self.scale * weight])
        if weight:
            step = self.coder.step
            record.constant = self.coder.centre + step * (total / weight)
            # Exact in whole numbers up to here: no digits are lost by the difference.
            scatter = (squares * weight - total * total) / weight
            record.loss = self.scale * step * step * scatter

    def _stays_leaf(self, counts: list[int]) -> bool:
        limits = self.growth.rules.limits
        if len(self.coder.classes):
            pure, total = sum(n > 0 for n in counts) < 2, sum(counts)
        else:
            total, first, squares = counts
            pure = squares * total == first * first
        return pure or total * self.scale < limits.min_rows - 1e-9

    def _packed(self, top: Top) -> Tree:
        labels = tuple(self.coder.classes.tolist())
        return tree_from_nodes(self.coder.schema, labels, top.records)

    def _tree(self, top: Top) -> Tree:
        tree = graft(self._packed(top), top.subtrees)
        tree = tree.collapse(np.zeros(tree.n_nodes, dtype=bool))
        if self.coder.costs is not None:
            tree = tree.replace(costs=self.coder.costs)
        max_leaves = self.growth.rules.limits.max_leaves
        if max_leaves is not None:
            tree = tree.collapse(beyond_best_leaves(tree, max_leaves))
        return tree
