"""Obvious searches for cuts under a numeric target: the oracles of `_core.targets`."""

from itertools import pairwise

import numpy as np


def median(target, weight):
    """The first target up to which half the weight lies."""
    order = np.argsort(target, kind="stable")
    sums = np.cumsum(weight[order])
    return target[order][np.searchsorted(sums, sums[-1] / 2 * (1 - 2e-9))]


def squared_loss(target, weight):
    """Weighted squared error around the mean."""
    return float(weight @ (target - np.average(target, weights=weight)) ** 2)


def absolute_loss(target, weight):
    """Weighted absolute error around the median."""
    return float(weight @ np.abs(target - median(target, weight)))


def ridge_loss(x, target, weight, penalty):
    """Least weighted squared error plus penalty times squared weights; the bias is free."""
    x = x - np.average(x, axis=0, weights=weight)
    t = target - np.average(target, weights=weight)
    gram = (x * weight[:, None]).T @ x + penalty * np.eye(x.shape[1])
    w = np.linalg.lstsq(gram, (x * weight[:, None]).T @ t, rcond=None)[0]
    return float(weight @ (t - x @ w) ** 2 + penalty * w @ w)


def cuts(z, weight, min_branch):
    """Each cut between distinct values: the value below, and which rows are left of it."""
    for a, _ in pairwise(np.unique(z)):
        left = z <= a
        if min(weight[left].sum(), weight[~left].sum()) >= min_branch - 1e-9:
            yield a, left


def best_cut(z, target, weight, min_branch, loss):
    """Greatest decrease of a loss, and the value below the first cut that has it."""
    best, at = -np.inf, None
    whole = loss(target, weight)
    for a, left in cuts(z, weight, min_branch):
        sides = sum(loss(target[s], weight[s]) for s in (left, ~left))
        if whole - sides > best + 1e-9 * (1 + whole):
            best, at = whole - sides, a
    return best, at
