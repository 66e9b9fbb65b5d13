"""What a counterfactual is to reach where a tree answers a number: one above or below.

Without a goal from the user, the answer is to move by half the spread of the tree's answers,
up or down, whichever is nearer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from omnitree.export.model import Model, NodeTest
from omnitree.export.region import Region, regions
from omnitree.tree.expression import Constant, Cut, Sum, parts
from omnitree.tree.importance import curve_sizes
from omnitree.tree.shared_models import terms_of


@dataclass(frozen=True)
class Goal:
    """An answer above (`up`) or below a number."""

    up: bool
    number: float

    @classmethod
    def read(cls, text: str) -> Goal:
        """A goal in words, "above 12.5" or "below 12.5"."""
        words = text.split() if isinstance(text, str) else []
        try:
            side, number = words
            value = float(number)
        except ValueError:
            side, value = "", math.nan
        if side not in ("above", "below") or not math.isfinite(value):
            raise ValueError(
                f"goal must be 'above NUMBER' or 'below NUMBER', not {text!r}"
            )
        return cls(side == "above", value)

    def __str__(self) -> str:
        return f"{'above' if self.up else 'below'} {self.number:.6g}"

    def reached(self, answer: float) -> bool:
        """Whether an answer is as wanted."""
        return answer > self.number if self.up else answer < self.number

    def regions(self, model: Model) -> Iterator[Region]:
        """Where the tree answers as wanted."""
        for leaf, region in regions(model):
            test = model.model(leaf)
            if test is None:
                if self.reached(model.outputs[leaf][0]):
                    yield region
                continue
            # The model's sum as a test of its own: bias + sum > number.
            start, *terms = parts(test.whole)[0].terms
            cut = Cut(Sum((Constant(0.0), *terms)), self.number - start.value)
            bound = NodeTest("model", cut, 2), int(self.up)
            yield replace(region, others=region.others.then(*bound))


def _slopes(test: NodeTest) -> list[float]:
    """How fast the sum of a model changes with each of its columns, where cells are missing.

    Of a linear model these are its weights. Likeness to cases is left out.
    """
    slopes = [0.0] * len(test.columns)
    table = test.table
    for w, (a, b) in zip(table["weights"][0], terms_of(table), strict=True):
        slopes[a] += w * (test.fill[b] if b >= 0 else 1.0)
        if b >= 0:
            slopes[b] += w * test.fill[a]
    return slopes


def usual_goals(model: Model, answer: float) -> list[Goal]:
    """Half the spread of the tree's answers away, on either side; none if it has none."""
    weight = [sum(model.nodes[leaf]["value"]) for leaf in model.leaves]
    answers = [model.outputs[leaf][0] for leaf in model.leaves]
    total = sum(weight) or 1.0
    mean = sum(w * a for w, a in zip(weight, answers, strict=True)) / total
    pairs = zip(weight, answers, strict=True)
    spread = [math.sqrt(w / total) * (a - mean) for w, a in pairs]
    deviations = model.tree.get("deviations", ())
    for leaf, w in zip(model.leaves, weight, strict=True):
        test = model.model(leaf)
        if test is not None and deviations:
            slopes = _slopes(test)
            parts = zip(slopes, test.columns, strict=True)
            spread += [math.sqrt(w / total) * v * deviations[c] for v, c in parts]
        if test is not None:
            spread += (math.sqrt(w / total) * curve_sizes(test.data)).tolist()
    step = math.hypot(*spread) / 2
    if not 0 < step < math.inf:
        return []
    return [Goal(True, answer + step), Goal(False, answer - step)]
