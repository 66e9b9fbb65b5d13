"""Slow oracles of `_core/subtrees`: the loops over nodes, in plain Python."""

from __future__ import annotations

import heapq

import numpy as np

from omnitree.tree.tree import Tree


def children(tree: Tree, node: int) -> range:
    first = int(tree.first_child[node])
    return range(first, first + int(tree.n_children[node]))


def subtree_sums(tree: Tree, leaf_value: np.ndarray) -> np.ndarray:
    total = np.where(tree.n_children == 0, leaf_value, 0.0)
    for node in range(tree.n_nodes - 1, -1, -1):
        for child in children(tree, node):
            total[node] += total[child]
    return total


def weakest_links(tree: Tree, cost: np.ndarray, size: np.ndarray) -> np.ndarray:
    below, leaves = subtree_sums(tree, cost), subtree_sums(tree, size)
    alpha = np.full(tree.n_nodes, np.inf)

    def link(node: int) -> float:
        return (cost[node] - below[node]) / max(leaves[node] - size[node], 1.0)

    heap = [(link(node), node) for node in np.flatnonzero(tree.n_children).tolist()]
    heapq.heapify(heap)
    now = 0.0
    while heap:
        value, node = heapq.heappop(heap)
        if alpha[node] < np.inf or abs(value - link(node)) > 1e-12 * (1 + abs(value)):
            continue  # cut with an ancestor, or out of date
        now = max(now, value)
        stack = [node]
        while stack:
            at = stack.pop()
            if tree.n_children[at] and alpha[at] == np.inf:
                alpha[at] = now
                stack.extend(children(tree, at))
        lost, saved = leaves[node] - size[node], cost[node] - below[node]
        above = int(tree.parent[node])
        while above >= 0:
            leaves[above] -= lost
            below[above] += saved
            heapq.heappush(heap, (link(above), above))
            above = int(tree.parent[above])
    return alpha


def sums_at(
    tree: Tree, links: np.ndarray, as_leaf: np.ndarray, alphas: np.ndarray
) -> np.ndarray:
    """Cut the tree at every alpha and add up what its leaves have."""
    out = []
    for alpha in alphas:
        total, queue = 0.0, [0]
        for node in queue:
            if tree.n_children[node] and not links[node] <= alpha * (1 + 1e-12):
                queue.extend(children(tree, node))
            else:
                total += as_leaf[node]
        out.append(total)
    return np.array(out)


def kept(tree: Tree, to: np.ndarray) -> tuple[list[int], list[int], list[int]]:
    """Old numbers, parents and first children of the nodes that are left."""
    old, parent, first = [], [], []
    queue = [(0, -1)]
    for node, above in queue:  # grows while it is read: breadth first
        while to[node] >= 0 and to[node] != node:
            node = int(to[node])
        is_leaf = to[node] < 0 or not tree.n_children[node]
        old.append(node)
        parent.append(above)
        first.append(-1 if is_leaf else len(queue))
        if not is_leaf:
            queue += [(child, len(old) - 1) for child in children(tree, node)]
    return old, parent, first


def passing(tree: Tree, leaf: np.ndarray) -> list[list[int]]:
    """The rows that pass through each node."""
    out: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for row, node in enumerate(leaf.tolist()):
        while node >= 0:
            out[node].append(row)
            node = int(tree.parent[node])
    return out


def shrunken_shares(tree: Tree, m: float) -> np.ndarray:
    """Class shares in which those of the parent count as m rows, from the root down."""
    value, k = tree.value, tree.value.shape[1]
    shares = [(value[0] + 1 / k) / (value[0].sum() + 1)]
    for node in range(1, tree.n_nodes):
        prior = shares[tree.parent[node]] * m
        shares.append((value[node] + prior) / (value[node].sum() + m))
    return np.array(shares)


def log_losses(tree: Tree, counts: np.ndarray, m: float) -> np.ndarray:
    """Log loss at every node of rows with these class counts, class by class."""
    shares = shrunken_shares(tree, m)
    out = np.zeros(tree.n_nodes)
    for node, label in zip(*np.nonzero(counts), strict=True):
        out[node] -= counts[node, label] * np.log(shares[node, label])
    return out
