"""Which rows reach a node: all tests on the way to it, combined.

Bounds on a number are merged into one interval, sets of categories into their intersection;
tests on several features are kept as they are, in paths that share what they have in common.
Rules print regions, and counterfactuals search them. A long path is told in pieces that all
rules below it refer to, so that rules grow with the tree, not with the square of its depth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from omnitree.export.model import Model, NodeTest
from omnitree.export.numbers import number
from omnitree.export.words import (
    Sides,
    branch_text,
    largest,
    set_text,
    sum_name,
    sums_of,
)
from omnitree.tree.shared_models import terms_of

# Terms of all inequalities up to which a machine's branch is told by them.
SMALL_RULE = 8
# Letters up to which a sum stands in the rule itself.
SHORT_SUM = 88
# Tests on several features that a rule lists; those above are told once for all rules.
LONGEST = 50


@dataclass(frozen=True, eq=False)
class BranchPath:
    """Tests on several features on the way to a node, with the branch to take at each.

    A path is the one above it and one test more, so that all paths of a tree take no more
    room than its tests. It is iterated from the root.
    """

    above: BranchPath | None = None
    bound: tuple[NodeTest, int] | None = None
    node: int = -1  # that the last test leads to
    length: int = 0

    def then(self, test: NodeTest, branch: int, node: int = -1) -> BranchPath:
        """The path with one test more."""
        return BranchPath(self, (test, branch), node, self.length + 1)

    def upwards(self) -> Iterator[BranchPath]:
        """The path and all above it, but for the empty one."""
        path: BranchPath | None = self
        while path is not None and path.length:
            yield path
            path = path.above

    @property
    def named(self) -> BranchPath:
        """The longest path above it that is told apart; empty if there is none."""
        above = (path for path in self.upwards() if path is not self)
        return next((path for path in above if not path.length % LONGEST), BranchPath())

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[tuple[NodeTest, int]]:
        bounds = [path.bound for path in self.upwards() if path.bound]
        return reversed(bounds)


@dataclass
class Region:
    """Rows that reach a node, by feature.

    A number is above the first bound of its interval, up to and including the second;
    of a feature with categories the codes that pass are listed. `others` are tests on
    several features with the branch that must be taken. `missing` says whether a missing
    value passes all univariate tests of a feature; None if other features decide that,
    or the row is divided.
    """

    intervals: dict[int, tuple[float, float]] = field(default_factory=dict)
    categories: dict[int, list[int]] = field(default_factory=dict)
    others: BranchPath = field(default_factory=BranchPath)
    missing: dict[int, bool | None] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no value of some feature passes."""
        return any(low >= high for low, high in self.intervals.values()) or not all(
            self.categories.values()
        )


def regions(model: Model) -> Iterator[tuple[int, Region]]:
    """Every leaf and its region, in the order of `Model.leaves`."""
    stack = [(0, Region())]
    while stack:
        node, region = stack.pop()
        if model.is_leaf(node):
            yield node, region
            continue
        below = list(enumerate(model.children(node)))
        stack.extend((c, _narrowed(model, region, node, b)) for b, c in reversed(below))


def _narrowed(model: Model, region: Region, node: int, b: int) -> Region:
    """The part of a node's region that takes a branch of its test."""
    test = model.tests(node)[0]
    if not test.can_fail:
        others = region.others.then(test, b, model.children(node)[b])
        return replace(region, others=others)
    feature = test.feature
    passes: bool | None = None
    if len(model.tests(node)) == 1 and node not in model.dividing:
        passes = model.missing(node) == b
    before = region.missing.get(feature, True)
    missing = region.missing | {feature: passes if before else before}
    codes = model.branch_of_codes(test)
    if codes is not None:
        known = region.categories.get(feature, range(len(codes)))
        left = {feature: [c for c in known if codes[c] == b]}
        return replace(region, categories=region.categories | left, missing=missing)
    low, high = region.intervals.get(feature, (-math.inf, math.inf))
    cut = test.data["threshold"]
    if b == test.data["low"]:
        high = min(high, cut)
    else:
        low = max(low, cut)
    intervals = region.intervals | {feature: (low, high)}
    return replace(region, intervals=intervals, missing=missing)


def region_text(model: Model, region: Region) -> list[str]:
    """The conditions of a region in words."""
    lines: dict[str, None] = {}  # in order, each once
    for j in region.missing:
        name = model.features[j]["name"]
        if j in region.categories:
            categories = model.features[j]["categories"]
            text = set_text(name, [categories[c] for c in region.categories[j]])
        else:
            low, high = region.intervals[j]
            if math.isinf(low):
                text = f"{name} <= {number(high, 6)}"
            elif math.isinf(high):
                text = f"{name} > {number(low, 6)}"
            else:
                text = f"{number(low, 6)} < {name} <= {number(high, 6)}"
        lines[f"{text}, or missing" if region.missing[j] else text] = None
    lines |= dict.fromkeys(path_text(model, region.others))
    return list(lines)


def path_text(model: Model, path: BranchPath) -> list[str]:
    """The conditions of a path in words, what is told apart by its name."""
    named = path.named
    own = []
    for part in path.upwards():
        if part is named or part.bound is None:
            break
        own.append(part.bound)
    lines = [f"the conditions of node {named.node}"] if named else []
    for test, b in reversed(own):
        if test.node not in model.conditions:
            model.conditions[test.node] = _conditions(model, test)
        lines += model.conditions[test.node][b]
    return lines


def named_paths(model: Model) -> list[BranchPath]:
    """Paths that rules refer to, from the top."""
    found: dict[int, BranchPath] = {}
    for _, region in regions(model):
        path = region.others.named
        while path and path.node not in found:
            found[path.node] = path
            path = path.named
    return sorted(found.values(), key=lambda path: (path.length, path.node))


def is_told_by_sums(model: Model, test: NodeTest) -> bool:
    """Whether a test is too long for a rule, so that its sums are given apart."""
    if test.can_fail:
        return False
    if "values" in test.data or "knots" in test.data:
        return True
    if test.is_machine and test.n_branches > 2:
        return len(terms_of(test.data)) * (test.n_branches - 1) > SMALL_RULE
    return len(branch_text(test, 0, model.tree["schema"])) > SHORT_SUM


def _conditions(model: Model, test: NodeTest) -> list[list[str]]:
    """What a test on several features asks for on each branch."""
    schema = model.tree["schema"]
    every = range(test.n_branches)
    if is_told_by_sums(model, test):
        found = sums_of(test, schema)
        if isinstance(found, Sides):
            return [[text] for text in found.conditions(sum_name(test.node))]
        sums = f"among the sums of node {test.node}"
        return [[f"{largest(b, test.names)} {sums}"] for b in every]
    if test.is_machine and test.n_branches > 2:
        # Imported here: few trees need the linear programmes.
        from omnitree.export.machine_rules import machine_rules

        return [list(map(str, rule)) for rule in machine_rules(test, schema)]
    return [[branch_text(test, b, schema)] for b in every]
