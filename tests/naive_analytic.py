"""The univariate learner with analytic cuts, one column and one grouping after another."""

from __future__ import annotations

import numpy as np

from omnitree.parts.threshold.base import Projected


def best_column(rows, grouping, threshold, merit):
    """Column, cut and merit of the best test, or None; `rows` as from `Node.linear`."""
    best = None
    for j in range(rows.columns.shape[1]):
        column = Column(rows.of_column(j), threshold, merit)
        if np.ptp(column.x) <= 1e-13 * np.abs(column.x).max():
            continue  # constant, but for a missing value filled with a rounded mean
        left = column.find(grouping)
        cut, value = column.cut(left)
        if value > (best[2] if best else -np.inf) + 1e-12:
            best = (j, cut, value)
    return best


class Column:
    """One column of a node; groupings are sets of classes on the left."""

    def __init__(self, rows, threshold, merit):
        self.rows, self.threshold, self.merit = rows, threshold, merit
        self.x = rows.columns[:, 0]
        self.present = [int(k) for k in rows.present]
        self.mean = {k: rows.means[k, 0] for k in self.present}
        self.weight = {k: rows.class_weight[k] for k in self.present}

    def cut(self, left):
        """Cut of a grouping and its merit, minus infinity where a side is empty."""
        mask = np.isin(np.arange(self.rows.n_classes), list(left))
        projected = Projected(self.rows, self.x[:, None], mask[None])
        cut = float(self.threshold.find(projected, self.merit)[0])
        above = self.x > cut
        if not np.isfinite(cut) or above.all() or not above.any():
            return cut, -np.inf
        table = [
            np.bincount(
                self.rows.y[side],
                weights=self.rows.weight[side],
                minlength=self.rows.n_classes,
            )
            for side in (~above, above)
        ]
        return cut, float(self.merit(np.array(table)))

    def find(self, grouping):
        """Left group by the method of that name."""
        if len(self.present) == 2:
            return {self.present[0]}
        return getattr(self, grouping)()

    def furthest_pair(self):
        pairs = [(a, b) for a in self.present for b in self.present if a < b]
        apart = [(self.mean[a] - self.mean[b]) ** 2 for a, b in pairs]
        return pairs[int(np.argmax(apart))]

    def centre(self, group):
        group = sorted(group)
        return np.average(
            [self.mean[k] for k in group], weights=[self.weight[k] for k in group]
        )

    def start(self):
        a, b = self.furthest_pair()
        groups = [{a}, {b}]
        waiting = [k for k in self.present if k not in (a, b)]
        while waiting:
            far = [
                ((self.mean[k] - self.centre(groups[g])) ** 2, i, g)
                for i, k in enumerate(waiting)
                for g in (0, 1)
            ]
            _, i, g = min(far)
            groups[g].add(waiting.pop(i))
        return groups[0]

    def halves(self):
        """Classes in the order of their means, from the first of the furthest pair on."""
        a, b = self.furthest_pair()
        sign = 1 if self.mean[b] > self.mean[a] else -1
        order = sorted(self.present, key=lambda k: sign * self.mean[k])
        total, before, left = sum(self.weight[k] for k in order), 0.0, {order[0]}
        for k in order[:-1]:
            if before + self.weight[k] / 2 < total / 2:
                left.add(k)
            before += self.weight[k]
        return left

    def restarted_exchange(self):
        left = self.exchange()
        return left if np.isfinite(self.cut(left)[1]) else self.exchange(self.halves())

    def exchange(self, left=None):
        left = left or self.start()
        best = self.cut(left)[1]
        while True:
            moves = [left ^ {k} for k in self.present]
            moves = [m for m in moves if 0 < len(m) < len(self.present)]
            merits = [self.cut(m)[1] for m in moves]
            if not max(merits) > best + 1e-12:
                return left
            best = max(merits)
            left = moves[merits.index(best)]

    def selection(self):
        a, b = self.furthest_pair()
        left, right = {a}, {b}
        waiting = [k for k in self.present if k not in (a, b)]
        while waiting:
            here = np.isin(self.rows.y, list(left | right))
            part = Column(self.rows.of_classes(sorted(left | right)), *self.parts)
            cut, _ = part.cut(left)
            side = self.x > cut
            in_left = np.isin(self.rows.y, list(left))
            means = [
                np.average(self.x[m], weights=self.rows.weight[m])
                for m in (here & in_left, here & ~in_left)
            ]
            if means[0] < means[1]:
                side = ~side
            share = {
                k: np.average(
                    side[self.rows.y == k], weights=self.rows.weight[self.rows.y == k]
                )
                for k in waiting
            }
            k = max(waiting, key=lambda c: abs(share[c] - 0.5))
            (left if share[k] > 0.5 else right).add(k)
            waiting.remove(k)
        return left

    @property
    def parts(self):
        return self.threshold, self.merit

    def two_means(self):
        left = self.start()
        for _ in range(100):
            centres = [self.centre(left), self.centre(set(self.present) - left)]
            moved = {
                k
                for k in self.present
                if (self.mean[k] - centres[0]) ** 2 <= (self.mean[k] - centres[1]) ** 2
            }
            if not moved or len(moved) == len(self.present) or moved == left:
                break
            left = moved
        return left

    def one_rest(self):
        return self.first_best([{k} for k in self.present])

    def exhaustive(self):
        *others, _ = self.present
        return self.first_best(
            {k for i, k in enumerate(others) if code >> i & 1}
            for code in range(1, 2 ** len(others))
        )

    def first_best(self, groups):
        groups = list(groups)
        return groups[int(np.argmax([self.cut(g)[1] for g in groups]))]
