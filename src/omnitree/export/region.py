"""What a row must be like to reach a node: the tests of its path, put together.

Bounds of one number are merged to one interval and sets of categories to their
intersection; tests on several features stay as they are. Rules print a region,
counterfactuals search one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from omnitree.export.model import Model, NodeTest
from omnitree.export.words import (
    Sides,
    branch_text,
    largest,
    number,
    set_text,
    sum_name,
    sums_of,
)
from omnitree.tree.shared_models import terms_of

# Terms of all inequalities up to which a machine's branch is told by them.
SMALL_RULE = 8
# Letters up to which a sum stands in the rule itself.
SHORT_SUM = 88


@dataclass
class Region:
    """Rows that reach a node.

    Attributes
    ----------
    intervals : dict
        Of a number: above the first bound, up to and including the second.
    categories : dict
        Of a feature with categories: the codes that pass.
    others : list
        Tests on several features, with the branch that must be taken.
    missing values : dict
        Whether a missing value in a feature passes all univariate tests of that feature.
        None if other features decide that, or the row is divided.
    """

    intervals: dict[int, tuple[float, float]] = field(default_factory=dict)
    categories: dict[int, list[int]] = field(default_factory=dict)
    others: list[tuple[NodeTest, int]] = field(default_factory=list)
    missing: dict[int, bool | None] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no value of some feature passes."""
        return any(low >= high for low, high in self.intervals.values()) or not all(
            self.categories.values()
        )


def region_of(model: Model, node: int) -> Region:
    """The region of a node."""
    region = Region()
    for above, b in model.path(node):
        test = model.tests(above)[0]
        if not test.can_fail:
            region.others.append((test, b))
            continue
        feature = test.feature
        region.missing.setdefault(feature, True)
        if len(model.tests(above)) > 1 or above in model.dividing:
            passes = None
        else:
            passes = model.missing(above) == b
        before = region.missing[feature]
        region.missing[feature] = passes if before else before
        codes = model.branch_of_codes(test)
        if codes is not None:
            known = region.categories.get(feature, range(len(codes)))
            region.categories[feature] = [c for c in known if codes[c] == b]
            continue
        low, high = region.intervals.get(feature, (-math.inf, math.inf))
        cut = test.data["threshold"]
        if b == test.data["low"]:
            high = min(high, cut)
        else:
            low = max(low, cut)
        region.intervals[feature] = (low, high)
    return region


def region_text(model: Model, region: Region) -> list[str]:
    """The conditions of a region in words."""
    lines = []
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
        lines.append(f"{text}, or missing" if region.missing[j] else text)
    for test, b in region.others:
        lines += [text for text in _conditions(model, test, b) if text not in lines]
    return lines


def is_told_by_sums(model: Model, test: NodeTest) -> bool:
    """Whether a test is too long for a rule, so that its sums are given apart."""
    if test.can_fail:
        return False
    if "values" in test.data:
        return True
    if test.is_machine and test.n_branches > 2:
        return len(terms_of(test.data)) * (test.n_branches - 1) > SMALL_RULE
    return len(branch_text(test, 0, model.tree["schema"])) > SHORT_SUM


def _conditions(model: Model, test: NodeTest, b: int) -> list[str]:
    """What a test on several features asks for on a branch."""
    schema = model.tree["schema"]
    if is_told_by_sums(model, test):
        found = sums_of(test, schema)
        if isinstance(found, Sides):
            return [found.conditions(sum_name(test.node))[b]]
        return [f"{largest(b, test.names)} of the sums of node {test.node}"]
    if test.is_machine and test.n_branches > 2:
        # Imported here: few trees need the linear programmes.
        from omnitree.export.machine_rules import machine_rules

        rules = machine_rules(test, schema)
        return [str(inequality) for inequality in rules[b]]
    return [branch_text(test, b, schema)]
