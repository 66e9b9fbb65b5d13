"""Trees in the place of leaves of another tree, by arrays: subtrees may be large."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from omnitree.tree.tree import LEAF, Tree


def graft(top: Tree, subtrees: Mapping[int, Tree]) -> Tree:
    """The tree with a subtree in the place of each of some leaves.

    Subtrees have no models. The nodes come in breadth-first order.
    """
    if not subtrees:
        return top
    trees = [top, *subtrees.values()]
    offset = np.cumsum([0, *(t.n_nodes for t in trees)])
    pool = _pooled(trees)
    # Where each node's test and counts are: those of a leaf may be in its subtree.
    source = np.arange(offset[-1])
    for leaf, root in zip(subtrees, offset[1:-1], strict=True):
        source[leaf] = root
    first = np.concatenate(
        [
            np.where(t.first_child >= 0, t.first_child + start, -1)
            for t, start in zip(trees, offset[:-1], strict=True)
        ]
    )
    kept, parent, first_new = [np.zeros(1, dtype=np.int64)], [np.full(1, -1)], []
    level, above, n = source[:1], 0, 1
    kept[0] = level
    while len(level):
        sizes = pool.n_children[level]
        starts = np.where(sizes > 0, n + np.cumsum(sizes) - sizes, -1)
        first_new.append(starts)
        inner = sizes > 0
        begin, size = first[level[inner]], sizes[inner]
        shift = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        children = source[np.repeat(begin, size) + shift]
        parent.append(np.repeat(above + np.flatnonzero(inner), size))
        kept.append(children)
        above, n = above + len(level), n + len(children)
        level = children
    order = np.concatenate(kept)
    return pool._take(
        order,
        pool.kind[order] == LEAF,
        np.concatenate(first_new),
        np.concatenate(parent),
    )


def _pooled(trees: list[Tree]) -> Tree:
    """The nodes and tests of several trees side by side; not connected."""

    def beside(name: str) -> np.ndarray:
        return np.concatenate([getattr(t, name) for t in trees])

    def pointers(name: str) -> np.ndarray:
        parts, end = [], 0
        for t in trees:
            own = getattr(t, name)
            parts.append(own[:-1] + end)
            end += int(own[-1])
        return np.append(np.concatenate(parts), end)

    names = ("kind", "first_child", "n_children", "parent", "missing", "merit", "value")
    tests = ("test_kind", "index", "weight")
    arrays = {name: beside(name) for name in (*names, *tests)}
    arrays |= {
        name: pointers(name) for name in ("test_start", "index_ptr", "weight_ptr")
    }
    if trees[0].constant is not None:
        arrays |= {name: beside(name) for name in ("constant", "loss")}
    if any(t.free is not None for t in trees):
        free = [
            np.zeros(t.n_nodes, np.int32) if t.free is None else t.free for t in trees
        ]
        arrays["free"] = np.concatenate(free)
    return trees[0].replace(**arrays)
