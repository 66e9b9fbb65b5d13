"""Obvious feature selections: every subset trained anew, nothing shared between steps."""

from __future__ import annotations

import numpy as np
from scipy import stats


class Search:
    """Tests on subsets of columns, given as sorted tuples."""

    def __init__(self, cases, train, merit, drop=0.1, underfitting=True):
        self.cases, self.train, self.merit = cases, train, merit
        self.drop, self.underfitting = drop, underfitting
        self.all = tuple(range(cases.z.shape[1]))
        self.steps = []  # the subsets gone through

    def test(self, columns):
        """Machine, merit and accuracy of the test on some columns."""
        machine = self.train(self.cases.take(np.array(columns)))
        branch = machine.branches(self.cases.z[:, list(columns)])
        table = np.zeros((max(2, len(machine.bias)), self.cases.n_classes))
        right = 0.0
        for b, k, w in zip(branch, self.cases.y, self.cases.weight, strict=True):
            table[b, k] += w
            right += w * (b == k)
        empty = (table.sum(axis=1) > 0).sum() < 2
        merit = -np.inf if empty else float(self.merit(table))
        return machine, merit, right / self.cases.weight.sum()

    def allowed(self, columns, merit):
        rows = {tuple(row) for row in self.cases.z.tolist()}
        crowded = self.underfitting and len(rows) < 2 * (len(columns) + 1)
        return merit > -np.inf and not crowded

    def spread(self, machine):
        """How far the weights of each column are apart."""
        w = machine.weights
        if len(w) == 1:
            return [abs(v) for v in w[0]]
        pairs = [(a, b) for a in range(len(w)) for b in range(a)]
        return [
            np.mean([(w[a, j] - w[b, j]) ** 2 for a, b in pairs])
            for j in range(w.shape[1])
        ]

    def backward(self, width):
        """SBE with width None, DSBE with 1."""
        columns, best, best_merit, best_accuracy = self.all, None, -np.inf, -np.inf
        while True:
            self.steps.append(columns)
            machine, merit, accuracy = self.test(columns)
            if self.allowed(columns, merit) and merit >= best_merit - 1e-12:
                best, best_merit, best_accuracy = columns, merit, accuracy
            if len(columns) == 1 or (
                best and accuracy < best_accuracy - self.drop - 1e-9
            ):
                return best
            spread = self.spread(machine)
            spread = [round(s / max(spread), 6) for s in spread]  # equal to six digits
            order = sorted(range(len(columns)), key=spread.__getitem__)[:width]
            fewer = [columns[:i] + columns[i + 1 :] for i in order]
            columns = self.first_best(fewer)

    def forward(self):
        columns, best, best_merit, best_accuracy = (), None, -np.inf, -np.inf
        while True:
            others = [j for j in self.all if j not in columns]
            columns = self.first_best([tuple(sorted((*columns, j))) for j in others])
            self.steps.append(columns)
            _, merit, accuracy = self.test(columns)
            if self.allowed(columns, merit) and (
                merit > best_merit + 1e-12 or not best
            ):
                best, best_merit, best_accuracy = columns, merit, accuracy
            bigger = (*columns, -1)
            if len(columns) == len(self.all) or not self.allowed(bigger, 0.0):
                return best
            if best and accuracy < best_accuracy - self.drop - 1e-9:
                return best

    def heuristic(self):
        single = self.first_best([(j,) for j in self.all])
        if self.test(single)[1] > self.test(self.all)[1] + 1e-12:
            return self.forward()
        return self.backward(None)

    def answers(self, columns):
        """1 for every row that is right, rows repeated by their weight; and the machine."""
        machine = self.train(self.cases.take(np.array(columns)))
        right = machine.branches(self.cases.z[:, list(columns)]) == self.cases.y
        return np.repeat(right * 1.0, self.cases.weight.astype(int)), machine

    def dwindling(self, against, delta=0.1, alpha=0.01):
        """LMDT's elimination, with SciPy's t-tests of the answers."""
        columns = saved = self.all
        right, machine = self.answers(columns)
        held, best = right, right.mean()
        while len(columns) > 1:
            spread = self.spread(machine)
            spread = [round(s / max(spread), 6) for s in spread]
            i = spread.index(min(spread))
            columns = columns[:i] + columns[i + 1 :]
            self.steps.append(columns)
            right, machine = self.answers(columns)
            if len(right) <= 2 * len(columns):
                best = right.mean()
            best = max(best, right.mean())
            if right.mean() < best - delta - 1e-9:
                break
            level = best if against == "best" else min(best, held.mean())
            if (
                right.mean() >= level - 1e-12
                or self.chance(against, best, held, right) >= alpha
            ):
                saved, held = columns, right
        return saved

    def chance(self, against, best, held, right):
        """The p value of a loss of accuracy."""
        if against == "saved":
            return stats.ttest_rel(held, right, alternative="greater").pvalue
        n = len(right)  # one sample: the best machine's answers vary, the loss does not
        spread = max(np.sqrt(best * (1 - best) / (n - 1)), 1e-300)
        return stats.t.sf((best - right.mean()) / spread, n - 1)

    def first_best(self, subsets):
        best, best_merit = subsets[0], -np.inf
        for subset in subsets:
            merit = self.test(subset)[1]
            if merit > best_merit + 1e-12:
                best, best_merit = subset, merit
        return best
