"""Obvious, slow versions of what omnitree computes: all tests tried, all counts recomputed.

Nothing here imports compiled code. Trees are the public nodes of `Tree.to_dict()`, so a
result is compared with a fitted tree by comparing plain lists. Rows at a node are pairs
(row, weight).

- `branch_of`, `leaf_shares`: the routing rule, one row at a time
- `grow`: univariate trees with all rules of the general grower, C4.5's among them
- `prune_error_based`: C4.5's pruning with subtree raising, recursive
- `pruned_subtrees`: every way to prune a small tree, for methods that promise an optimum
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Rows = list[tuple[int, float]]
EPSILON = 1e-3  # C4.5's


# -- merits of a table branches x classes ------------------------------------------------


def entropy(counts: Sequence[float]) -> float:
    """Entropy in bits."""
    total = math.fsum(counts)
    return -math.fsum(n / total * math.log2(n / total) for n in counts if n > 0)


def gini_index(counts: Sequence[float]) -> float:
    total = math.fsum(counts)
    return 1 - math.fsum((n / total) ** 2 for n in counts)


def decrease(impurity: Callable[[Sequence[float]], float], table: Any) -> float:
    """Impurity of all rows less the mean impurity of the branches."""
    table = np.asarray(table, dtype=float)
    total = table.sum()
    inside = math.fsum(b.sum() / total * impurity(b) for b in table if b.sum() > 0)
    return impurity(table.sum(axis=0)) - inside


def gain(table: Any) -> float:
    return decrease(entropy, table)


def gini(table: Any) -> float:
    return decrease(gini_index, table)


def is_better(merit: float, best: float) -> bool:
    """Better by more than rounding, so that ties go to what came first."""
    return merit > best + 1e-11 * (1 + abs(best))


# -- routing -----------------------------------------------------------------------------


def encoded_columns(schema: dict[str, Any]) -> list[tuple[int, int]]:
    """Feature and category (-1: a number) of each column that linear tests see."""
    out = []
    for j, feature in enumerate(schema["features"]):
        if feature["kind"] in ("numeric", "ordered"):
            out.append((j, -1))
        elif len(feature["categories"]) == 2:
            out.append((j, 1))
        elif len(feature["categories"]) > 2:
            out.extend((j, s) for s in range(len(feature["categories"])))
    return out


def column_values(
    schema: dict[str, Any], test: dict[str, Any], row: Any
) -> list[float]:
    """What a linear test sees of a row: +1/-1 for categories, missing values filled."""
    columns = encoded_columns(schema)
    out = []
    for c, fill in zip(test["columns"], test["fill"], strict=True):
        feature, category = columns[c]
        v = row[feature]
        if math.isnan(v):
            out.append(fill)
        elif category < 0:
            out.append(v)
        else:
            out.append(1.0 if v == category else -1.0)
    return out


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(u * v for u, v in zip(a, b, strict=True))


def curve_value(knots: Sequence[float], line: Sequence[float], x: float) -> float:
    """A curve at a number: straight between knots, constant beyond them."""
    if math.isnan(x):
        return line[-1]
    if x <= knots[0]:
        return line[0]
    if x >= knots[-1]:
        return line[len(knots) - 1]
    i = max(i for i, knot in enumerate(knots) if knot < x)
    slope = (line[i + 1] - line[i]) / (knots[i + 1] - knots[i])
    return line[i] + (x - knots[i]) * slope


def curve_sum(
    schema: dict[str, Any], test: dict[str, Any], lines: Any, row: Any
) -> float:
    """What the curves of a test or a model add up to."""
    columns = encoded_columns(schema)
    parts = zip(test["curve_columns"], test["knots"], lines, strict=True)
    return sum(curve_value(t, v, row[columns[c][0]]) for c, t, v in parts)


def likeness(
    precision: Sequence[float], case: Sequence[float], z: Sequence[float]
) -> float:
    """How alike a row is to a case: 1 where all columns that count are equal."""
    apart = 0.0
    for own, at, v in zip(precision, case, z, strict=True):
        apart += own * (v - at) ** 2
    return math.exp(-apart)


def case_sums(holder: dict[str, Any], z: Sequence[float]) -> list[float]:
    """What the cases of a test or a model add to each of its sums."""
    alike = [likeness(holder["precision"], case, z) for case in holder["cases"]]
    return [dot(weights, alike) for weights in holder["case_weights"]]


def branch_of(kind: str, test: dict[str, Any], row: Any, schema: dict[str, Any]) -> int:
    """Branch of one encoded row under one test; -1: cannot tell."""
    if kind == "axis":
        v = row[test["feature"]]
        if math.isnan(v):
            return -1
        return test["low"] if v <= test["threshold"] else 1 - test["low"]
    if kind in ("multiway", "subset"):
        v = row[test["feature"]]
        if math.isnan(v) or not 0 <= v < len(test["branch"]):
            return -1
        return test["branch"][int(v)]
    z = column_values(schema, test, row)
    if kind == "linear":
        return int(dot(test["weights"], z) > test["threshold"])
    if kind == "quadratic":
        terms = [z[a] * (z[b] if b >= 0 else 1.0) for a, b in test["terms"]]
        return int(dot(test["weights"], terms) > test["threshold"])
    if kind in ("additive", "additive_machine"):
        terms = [z[a] * (z[b] if b >= 0 else 1.0) for a, b in test["terms"]]
        if kind == "additive":
            bends = curve_sum(schema, test, test["curve_values"], row)
            return int(dot(test["weights"], terms) + bends > test["threshold"])
        rows = zip(test["bias"], test["weights"], test["curve_values"], strict=True)
        g = [b + dot(w, terms) + curve_sum(schema, test, v, row) for b, w, v in rows]
        return g.index(max(g))
    if kind in ("machine", "quadratic_machine"):
        if kind == "quadratic_machine":
            z = [z[a] * (z[b] if b >= 0 else 1.0) for a, b in test["terms"]]
        g = [b + dot(w, z) for b, w in zip(test["bias"], test["weights"], strict=True)]
        return g.index(max(g))
    if kind == "cases":
        g = [b + s for b, s in zip(test["bias"], case_sums(test, z), strict=True)]
        return g.index(max(g))
    assert kind == "network"
    hidden = [
        math.tanh(b + dot(w, z))
        for b, w in zip(test["hidden_bias"], test["hidden_weights"], strict=True)
    ]
    return int(test["output_bias"] + dot(test["output_weights"], hidden) > 0)


def branch_at(node: dict[str, Any], row: Any, schema: dict[str, Any]) -> int:
    """Branch of a row at a node: test, surrogates, missing branch; -1: divide it."""
    for holder in (node, *node.get("surrogates", [])):
        b = branch_of(holder["kind"], holder["test"], row, schema)
        if b >= 0:
            return b
    return -1 if node["missing"] == "divide" else node["missing"]


def leaf_shares(tree: dict[str, Any], row: Any, at: int = 0) -> dict[int, float]:
    """The part of a row that ends in each leaf."""
    node = tree["nodes"][at]
    if node["kind"] == "leaf":
        return {at: 1.0}
    b = branch_at(node, row, tree["schema"])
    if b >= 0:
        return leaf_shares(tree, row, node["children"][b])
    weight = [sum(tree["nodes"][c]["value"]) for c in node["children"]]
    out: dict[int, float] = {}
    for child, w in zip(node["children"], weight, strict=True):
        if w > 0 or sum(weight) == 0:
            part = w / sum(weight) if sum(weight) else 1 / len(weight)
            for leaf, share in leaf_shares(tree, row, child).items():
                out[leaf] = share * part
    return out


# -- growing -----------------------------------------------------------------------------


@dataclass
class Rules:
    """How a tree is grown; the words of `Univariate`, `Stopping` and the policies."""

    merit: Callable[[Any], float]
    ratio: bool = False  # `merit` is the gain, features compete on the gain ratio
    categories: str = "subset"
    missing: str = "mean"
    min_rows: float = 2.0
    min_branch: float = 1.0
    max_depth: float = math.inf
    release8: bool = False
    threshold: str = "midpoint"


@dataclass
class Found:
    """A test and what it is worth."""

    kind: str
    test: dict[str, Any]
    merit: float
    gain: float
    info: float
    missing: int | str
    n_children: int


class Grower:
    """Grows a tree breadth first, as lists of public nodes.

    `follow` holds the nodes of a fitted tree. Only two things are taken from it: which of
    several equally good subsets a test uses (after checking that it is), and surrogates.
    """

    def __init__(
        self,
        values: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        n_categories: Sequence[int],
        n_classes: int,
        rules: Rules,
        follow: list[dict[str, Any]] | None = None,
    ):
        self.values, self.y, self.weight = values, y, weight
        self.n_categories, self.n_classes = n_categories, n_classes
        self.rules, self.follow = rules, follow

    def grow(self) -> list[dict[str, Any]]:
        rules = self.rules
        nodes: list[dict[str, Any]] = []
        start: Rows = [(i, float(w)) for i, w in enumerate(self.weight)]
        queue: list[tuple[int, int, Rows]] = [(-1, 0, start)]
        for at, (parent, depth, rows) in enumerate(queue):
            counts = self.counts(rows)
            node: dict[str, Any] = {"id": at, "parent": parent, "kind": "leaf"}
            node["value"] = counts.tolist()
            nodes.append(node)
            stays = (
                np.count_nonzero(counts) < 2
                or counts.sum() < rules.min_rows - 1e-9
                or depth >= rules.max_depth
            )
            found = None if stays else self.best_test(rows)
            if found is None:
                continue
            given = self.follow[at] if self.follow and at < len(self.follow) else {}
            if found.kind == "subset" and given.get("kind") == "subset":
                self.adopt(found, rows, given)
            node["kind"], node["test"], node["merit"] = (
                found.kind,
                found.test,
                found.merit,
            )
            node["missing"] = found.missing
            if rules.missing == "surrogate" and "surrogates" in given:
                node["surrogates"] = given["surrogates"]
            node["children"] = list(range(len(queue), len(queue) + found.n_children))
            queue += [(at, depth + 1, part) for part in self.divide(node, rows)]
        return nodes

    def counts(self, rows: Rows) -> np.ndarray:
        out = np.zeros(self.n_classes)
        for i, w in rows:
            out[self.y[i]] += w
        return out

    def divide(self, node: dict[str, Any], rows: Rows) -> list[Rows]:
        return divide(node, rows, self.values, None)

    # Features against each other.

    def best_test(self, rows: Rows) -> Found | None:
        found = [self.evaluate(rows, f) for f in range(self.values.shape[1])]
        if not self.rules.ratio:
            best = None
            for test in found:
                if test and (best is None or is_better(test.merit, best.merit)):
                    best = test
            return best
        # C4.5: of the features with at least average gain, the one with the best ratio.
        total = self.weight.sum()
        plain = [m < 0.3 * total for m in self.n_categories]
        usual = [
            t.gain
            for f, t in enumerate(found)
            if t and t.gain > -EPSILON and (plain[f] or not any(plain))
        ]
        average = sum(usual) / len(usual) if usual else 1e6
        best = None
        for test in found:
            if test is None or test.gain < average - EPSILON or test.info <= EPSILON:
                continue
            if best is None or is_better(test.merit, best.merit):
                best = test
        return best

    def evaluate(self, rows: Rows, f: int) -> Found | None:
        return (
            self.categorical(rows, f) if self.n_categories[f] else self.numeric(rows, f)
        )

    def rate(
        self, known_merit: float, sizes: list[float], unknown: float, penalty: float
    ):
        """Merit, gain and split information, missing values counted as one more branch."""
        total = sum(sizes) + unknown
        worth = known_merit * (total - unknown) / total - penalty
        info = entropy([*sizes, unknown])
        merit = worth
        if self.rules.ratio:
            merit = worth / info if info > EPSILON else 0.0
        return merit, worth, info

    # One numeric feature.

    def numeric(self, rows: Rows, f: int) -> Found | None:
        rules = self.rules
        known = [(self.values[i, f], w, self.y[i]) for i, w in rows]
        missing_rows = [(v, w, k) for v, w, k in known if math.isnan(v)]
        known = [(v, w, k) for v, w, k in known if not math.isnan(v)]
        if not known:
            return None
        values = [v for v, _, _ in known]
        mean = sum(v * w for v, w, _ in known) / sum(w for _, w, _ in known)
        mean = min(max(mean, min(values)), max(values))
        unknown = sum(w for _, w, _ in missing_rows)
        if rules.missing == "mean" and missing_rows:
            known += [(mean, w, k) for _, w, k in missing_rows]
            unknown = 0.0
        weight = sum(w for _, w, _ in known)
        at_least = rules.min_branch
        if rules.release8:
            at_least = max(at_least, min(0.1 * weight / self.n_classes, 25.0))
        best: tuple[float, float, float, list[float]] | None = None
        tries = 0
        distinct = sorted({v for v, _, _ in known})
        for a, b in itertools.pairwise(distinct):
            table = np.zeros((2, self.n_classes))
            for v, w, k in known:
                table[int(v > a), k] += w
            sizes = table.sum(axis=1)
            if sizes.min() < at_least - 1e-9:
                continue
            tries += 1
            merit = float(self.rules.merit(table))
            if best is None or is_better(merit, best[0]):
                best = merit, a, b, sizes.tolist()
        if best is None:
            return None
        merit, a, b, sizes = best
        penalty = math.log2(tries) / (weight + unknown) if rules.release8 else 0.0
        rated = self.rate(merit, sizes, unknown, penalty)
        if rules.release8 and rated[1] <= 0:
            return None
        cut = a + (b - a) / 2
        cut = cut if cut < b else a
        if rules.threshold == "value":  # the largest value in the training table
            column = self.values[:, f]
            cut = float(column[column <= cut].max())
        missing: int | str = "divide"
        if rules.missing == "mean":
            missing = int(mean > cut)
        elif rules.missing == "surrogate":
            missing = int(sizes[1] > sizes[0])
        test = {"feature": f, "threshold": cut, "low": 0}
        return Found("axis", test, *rated, missing, 2)

    # One categorical feature.

    def category_table(self, rows: Rows, f: int) -> tuple[np.ndarray, float, int]:
        """Counts codes x classes, weight of the missing values, most frequent code."""
        table = np.zeros((self.n_categories[f], self.n_classes))
        missing_rows = np.zeros(self.n_classes)
        for i, w in rows:
            v = self.values[i, f]
            (missing_rows if math.isnan(v) else table[int(v)])[self.y[i]] += w
        mode = int(table.sum(axis=1).argmax())
        if self.rules.missing == "mean":
            table[mode] += missing_rows
            missing_rows[:] = 0
        return table, float(missing_rows.sum()), mode

    def categorical(self, rows: Rows, f: int) -> Found | None:
        rules = self.rules
        table, unknown, mode = self.category_table(rows, f)
        present = [v for v in range(len(table)) if table[v].sum() > 0]
        if len(present) < 2:
            return None
        best: tuple[float, list[int]] | None = None
        for branch in self.partitions(table, present, unknown):
            sums = fold(table, branch)
            if np.count_nonzero(sums.sum(axis=1) >= rules.min_branch - 1e-9) < 2:
                continue
            merit = float(rules.merit(sums))
            if best is None or is_better(merit, best[0]):
                best = merit, branch
        if best is None:
            return None
        merit, branch = best
        sizes = fold(table, branch).sum(axis=1).tolist()
        rated = self.rate(merit, sizes, unknown, 0.0)
        missing: int | str = "divide"
        if rules.missing == "mean":
            missing = branch[mode]
        elif rules.missing == "surrogate":
            missing = sizes.index(max(sizes))
        kind = "subset" if rules.categories in ("subset", "one_rest") else "multiway"
        test = {"feature": f, "branch": branch}
        return Found(kind, test, *rated, missing, len(sizes))

    def partitions(
        self, table: np.ndarray, present: list[int], unknown: float
    ) -> Iterator[list[int]]:
        """The partitions of the codes that are tried."""
        m, how = len(table), self.rules.categories
        if how == "multiway" or (how == "groups" and m <= 2):
            yield list(range(m))
        elif how == "groups":
            yield from merged(table, present, unknown, self.rules)
        elif how == "one_rest":
            for alone in present:
                side = [int((v == alone) == (present[0] != alone)) for v in range(m)]
                yield [side[v] if v in present else -1 for v in range(m)]
        else:  # every subset; the lowest code is on side 0
            for mask in range(1, 2 ** (len(present) - 1)):
                branch = [-1] * m
                for place, v in enumerate(present):
                    branch[v] = mask >> (place - 1) & 1 if place else 0
                yield branch

    def adopt(self, found: Found, rows: Rows, given: dict[str, Any]) -> None:
        """Take the fitted tree's subset if it is as good as the best."""
        branch = given["test"]["branch"]
        if given["test"]["feature"] != found.test["feature"]:
            return
        table, unknown, mode = self.category_table(rows, found.test["feature"])
        present = [v for v in range(len(table)) if table[v].sum() > 0]
        legal = all((branch[v] in (0, 1)) == (v in present) for v in range(len(table)))
        if not legal or branch[present[0]] != 0:
            return
        sums = fold(table, branch)
        sizes = sums.sum(axis=1)
        merit, *_ = self.rate(
            float(self.rules.merit(sums)), sizes.tolist(), unknown, 0.0
        )
        if (
            abs(merit - found.merit) > 1e-9
            or sizes.min() < self.rules.min_branch - 1e-9
        ):
            return
        found.test["branch"] = list(branch)
        if self.rules.missing == "mean":
            found.missing = branch[mode]
        elif self.rules.missing == "surrogate":
            found.missing = int(sizes.argmax())


def fold(table: np.ndarray, branch: list[int]) -> np.ndarray:
    """Counts branches x classes of a partition of codes; -1 leaves a code out."""
    out = np.zeros((max(branch) + 1, table.shape[1]))
    for v, b in enumerate(branch):
        if b >= 0:
            out[b] += table[v]
    return out


def merged(
    table: np.ndarray, present: list[int], unknown: float, rules: Rules
) -> Iterator[list[int]]:
    """C4.5's -s: codes of one class are one group; pairs of groups are merged while the gain
    ratio rises. Rows with a missing value count as one more branch."""

    def worth(groups: list[list[int]]) -> float:
        sums = np.array([table[g].sum(axis=0) for g in groups])
        sizes = sums.sum(axis=1)
        if np.count_nonzero(sizes >= rules.min_branch - 1e-9) < 2:
            return -1.0
        info = entropy([*sizes, unknown])
        if info <= EPSILON:
            return -1.0
        known = gain(sums) * sizes.sum() / (sizes.sum() + unknown)
        return known / info if rules.ratio else known

    groups: list[list[int]] = []
    of_class: dict[int, list[int]] = {}
    for v in present:
        pure = [k for k, n in enumerate(table[v]) if n >= table[v].sum() - 0.1]
        if pure and pure[0] in of_class:
            of_class[pure[0]].append(v)
            continue
        groups.append([v])
        if pure:
            of_class[pure[0]] = groups[-1]
    best = worth(groups)
    while len(groups) > 2:
        pick = None
        for a, b in itertools.combinations(range(len(groups)), 2):
            trial = [
                [*g, *groups[b]] if i == a else g
                for i, g in enumerate(groups)
                if i != b
            ]
            if is_better(w := worth(trial), best):
                best, pick = w, trial
        if pick is None:
            break
        groups = pick
    if best > -1:
        branch = [-1] * len(table)
        for b, group in enumerate(groups):
            for v in group:
                branch[v] = b
        yield branch


def divide(
    node: dict[str, Any], rows: Rows, values: np.ndarray, schema: Any
) -> list[Rows]:
    """The rows of each branch; what the node cannot place goes to all in proportion."""
    parts: list[Rows] = [[] for _ in node["children"]]
    missing_rows: Rows = []
    for i, w in rows:
        b = branch_at(node, values[i], schema)
        (parts[b] if b >= 0 else missing_rows).append((i, w))
    sizes = [sum(w for _, w in part) for part in parts]
    for i, w in missing_rows:
        for part, size in zip(parts, sizes, strict=True):
            if size > 0:
                part.append((i, w * size / sum(sizes)))
    return parts


def assert_same_nodes(ours: list[dict[str, Any]], naive: list[dict[str, Any]]) -> None:
    """Tests and structure equal, counts and merits up to rounding."""
    for a, b in zip(ours, naive, strict=False):  # the first difference tells most
        assert a["kind"] == b["kind"], (a, b)
        np.testing.assert_allclose(a["value"], b["value"], rtol=1e-9, atol=1e-9)
        assert a["parent"] == b["parent"]
        if a["kind"] == "leaf":
            continue
        for key in ("test", "missing", "children"):
            assert a[key] == b[key], (key, a, b)
        np.testing.assert_allclose(a["merit"], b["merit"], rtol=1e-7, atol=1e-9)
    assert len(ours) == len(naive)


# -- pruning -----------------------------------------------------------------------------


def nested(nodes: list[dict[str, Any]], at: int = 0) -> dict[str, Any]:
    """A tree whose children are trees."""
    node = dict(nodes[at])
    node["children"] = [nested(nodes, c) for c in node.get("children", [])]
    return node


def flat(tree: dict[str, Any], keep_ids: bool = False) -> list[dict[str, Any]]:
    """The nodes of a nested tree, breadth first, with ids as a `Tree` has them.

    `keep_ids` keeps the ids of before in "was".
    """
    queue = [(tree, -1)]
    out = []
    for at, (node, parent) in enumerate(queue):
        new = {k: v for k, v in node.items() if k != "children"} | {
            "id": at,
            "parent": parent,
        }
        if keep_ids:
            new["was"] = node["id"]
        if node["children"]:
            new["children"] = list(
                range(len(queue), len(queue) + len(node["children"]))
            )
            queue += [(c, at) for c in node["children"]]
        else:
            for key in ("test", "merit", "missing", "surrogates"):
                new.pop(key, None)
            new["kind"] = "leaf"
        out.append(new)
    return out


def add_errors(n: float, e: float, cf: float) -> float:
    """Errors that C4.5 adds to `e` of `n` rows (its stats.c)."""
    chances = [0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00]
    deviates = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00]
    z2 = float(np.interp(cf, chances, deviates)) ** 2
    if n <= 0:
        return 0.0
    none = n * (1 - cf ** (1 / n))
    if e < 1e-6:
        return none
    if e < 0.9999:
        return none + e * (add_errors(n, 1.0, cf) - none)
    if e + 0.5 >= n:
        return 0.67 * (n - e)
    f = e + 0.5
    limit = (f + z2 / 2 + math.sqrt(z2 * (f * (1 - f / n) + z2 / 4))) / (n + z2)
    return n * limit - e


def prune_error_based(
    tree: dict[str, Any],
    values: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    cf: float = 0.25,
    raising: bool = True,
) -> list[dict[str, Any]]:
    """C4.5's pruning of a public tree; returns the nodes with the counts of the new tree."""
    schema, n_classes = tree["schema"], len(tree["classes"])

    def counts(rows: Rows) -> np.ndarray:
        out = np.zeros(n_classes)
        for i, w in rows:
            out[y[i]] += w
        return out

    def as_leaf(rows: Rows) -> float:
        n = counts(rows)
        wrong = float(n.sum() - n.max())
        return wrong + add_errors(float(n.sum()), wrong, cf)

    def estimate(node: dict[str, Any], rows: Rows) -> float:
        """Errors of a subtree as it is."""
        if not node["children"]:
            return as_leaf(rows)
        parts = divide(node, rows, values, schema)
        return sum(
            estimate(c, p) for c, p in zip(node["children"], parts, strict=True) if p
        )

    def prune(node: dict[str, Any], rows: Rows) -> float:
        """Prune a subtree in place; returns its errors."""
        leaf = as_leaf(rows)
        if not node["children"]:
            return leaf
        parts = divide(node, rows, values, schema)
        errors = sum(
            prune(c, p) for c, p in zip(node["children"], parts, strict=True) if p
        )
        sizes = [sum(w for _, w in p) for p in parts]
        largest = node["children"][sizes.index(max(sizes))]
        branch = estimate(largest, rows) if raising else math.inf
        if leaf <= branch + 0.1 and leaf <= errors + 0.1:
            node["children"] = []
            return leaf
        if branch <= errors + 0.1:
            node.clear()
            node.update(largest)
            return prune(node, rows)
        return errors

    def recount(node: dict[str, Any], rows: Rows) -> None:
        node["value"] = counts(rows).tolist()
        if node["children"]:
            parts = divide(node, rows, values, schema)
            for child, part in zip(node["children"], parts, strict=True):
                recount(child, part)

    root = nested(tree["nodes"])
    start: Rows = [(i, float(w)) for i, w in enumerate(weight)]
    prune(root, start)
    recount(root, start)
    return flat(root)


def pruned_subtrees(
    nodes: list[dict[str, Any]], cost: Sequence[float], at: int = 0
) -> list[tuple[frozenset[int], float, int]]:
    """Every pruned subtree: the nodes cut to leaves, its cost and its number of leaves.

    `cost[node]` is the cost of a node as a leaf. There are very many: for small
    trees.
    """
    node = nodes[at]
    if node["kind"] == "leaf":
        return [(frozenset(), cost[at], 1)]
    out = [(frozenset([at]), cost[at], 1)]
    below = [pruned_subtrees(nodes, cost, c) for c in node["children"]]
    for choice in itertools.product(*below):
        cut = frozenset().union(*(c for c, _, _ in choice))
        out.append((cut, sum(r for _, r, _ in choice), sum(n for _, _, n in choice)))
    return out


def weakest_links(
    nodes: list[dict[str, Any]], cost: Sequence[float]
) -> list[tuple[float, frozenset[int]]]:
    """CART's sequence: the price of a leaf at which each next pruned tree is best."""

    def below(at: int) -> tuple[float, int]:
        if at in cut or nodes[at]["kind"] == "leaf":
            return cost[at], 1
        parts = [below(c) for c in nodes[at]["children"]]
        return sum(r for r, _ in parts), sum(n for _, n in parts)

    def standing(at: int = 0) -> Iterator[int]:
        if at not in cut and nodes[at]["kind"] != "leaf":
            yield at
            for c in nodes[at]["children"]:
                yield from standing(c)

    cut: set[int] = set()
    out = [(0.0, frozenset())]
    while 0 not in cut and nodes[0]["kind"] != "leaf":
        links = {}
        for at in standing():
            r, n = below(at)
            links[at] = max((cost[at] - r) / (n - 1), 0.0)
        price = max(min(links.values()), out[-1][0])
        cut |= {at for at, g in links.items() if g <= price + 1e-9}
        if out[-1][0] >= price - 1e-9:
            out.pop()
        out.append((price, frozenset(cut)))
    return out


def cut_nodes(
    nodes: list[dict[str, Any]], cut: frozenset[int], keep_ids: bool = False
) -> list[dict[str, Any]]:
    """The tree with some nodes made leaves."""
    tree = nested(nodes)
    queue = [tree]
    for node in queue:
        if node["id"] in cut:
            node["children"] = []
        queue += node["children"]
    return flat(tree, keep_ids)
