"""The path of one row, each test taken apart.

A row is a list of numbers and codes, NaN if missing, as `omnitree.data.table` encodes
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from omnitree.data.plain import one_line
from omnitree.explain.alike import most_alike
from omnitree.explain.contributions import (
    Contribution,
    column_parts,
    columns_of,
    curve_parts,
    filled_features,
    joined,
    leading,
    taken_apart,
    values_of,
)
from omnitree.explain.counterfactual import (
    Counterfactual,
    find_counterfactual,
    reach,
)
from omnitree.explain.goals import Goal, usual_goals
from omnitree.export.merging import merged
from omnitree.export.model import Model, NodeTest, decide
from omnitree.export.probabilities import probability_text
from omnitree.export.words import (
    MOST_TERMS,
    Sides,
    branch_text,
    known_of,
    largest,
    model_kind,
    sum_name,
    sums_of,
)

# What is printed of long tests; the explanation itself holds all of it.
LONGEST_TEXT = 88
MOST_PARTS = 10
NO_PART = 1e-12


@dataclass(frozen=True)
class Step:
    """A decision node on the path of a row, or a leaf that answers by its model.

    Attributes
    ----------
    node : int
    kind : str
        Kind of the test that placed the row, the surrogate's if it was one; "model" in a
        leaf, whose sums are read like a machine's.
    text : str
        The condition that held; of a divided row, what was tested.
    branch : int or None
        None if the row was divided, and in a leaf.
    share : float
        Part of the row that came here.
    value : float or None
        The number that was compared with the threshold; of a machine, by how much the
        largest discriminant exceeds the next.
    threshold : float or None
    margin : float or None
        How far the value is from the other side; None where a category is looked up.
    contributions : list of Contribution
        What the value is made of, together with that of an average row, which has the
        means that stand in for missing cells.
    note : str
        What happened to missing cells here; empty if none mattered.
    adds_up : bool
        Whether the contributions add up. Where the value is no sum, as of a network, each
        is what the value would lose with the feature at its mean.
    is_lead : bool
        Whether the value is by how much the largest score exceeds the next.
    summary : str
        Of a long sum, the condition by the sum's name, as `describe` has it; else empty.
    offset : float
        How much more the value is than the sum of that name.
    alike : str
        The stored cases that the row is most like, where it is compared with some.
    """

    node: int
    kind: str
    text: str
    branch: int | None
    share: float
    value: float | None = None
    threshold: float | None = None
    margin: float | None = None
    contributions: list[Contribution] = field(default_factory=list)
    note: str = ""
    adds_up: bool = True
    is_lead: bool = False
    summary: str = ""
    offset: float = 0.0
    alike: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why a row gets its answer.

    Attributes
    ----------
    label
        The class, or the number.
    probabilities : dict
        By class; empty if the answer is a number.
    steps : list of Step
        From the root; of a divided row, the steps of all its parts.
    counterfactual : Counterfactual or None
        The smallest change found that gives another class; None if none was found.
    """

    label: Any
    probabilities: dict[Any, float]
    steps: list[Step]
    counterfactual: Counterfactual | None

    def to_dict(self) -> dict[str, Any]:
        """The explanation in plain types; probabilities as pairs, by class."""
        return asdict(self) | {
            "probabilities": [[c, p] for c, p in self.probabilities.items()]
        }

    def __str__(self) -> str:
        shares = ", ".join(f"{c} {p:.1%}" for c, p in self.probabilities.items() if p)
        lines = [f"{self.label}  ({shares})" if shares else f"{self.label:.6g}"]
        if not self.steps:
            lines.append("  the tree has no test")
        for step in self.steps:
            part = f"{step.share:.1%} of the row: " if step.share < 1 else ""
            lines.append(f"  {part}{_headline(step)}")
            lines += [f"      {text}" for text in _details(step)]
        wanted = (
            "gives another class" if self.probabilities else "moves the answer so far"
        )
        none = f"No change of a few features was found that {wanted}."
        lines.append(none if self.counterfactual is None else str(self.counterfactual))
        return "\n".join(one_line(line) for line in lines)


def _headline(step: Step) -> str:
    """The condition; of a long sum, by its name."""
    if step.summary:
        return f"{step.summary} ({len(step.contributions)} terms)"
    if len(step.text) <= LONGEST_TEXT:
        return step.text
    return step.text[: LONGEST_TEXT - 4] + " ..."


def _details(step: Step) -> list[str]:
    lines = []
    if step.margin is not None and step.value is not None:
        # The condition of one term may have its sign turned: told by what the row has.
        value = f"{step.value - step.offset:.6g}"
        if len(step.contributions) == 1:
            (only,) = step.contributions
            if not isinstance(only.value, float) or abs(only.value) == abs(step.value):
                value = _cell(only)
        lines.append(
            f"by {step.margin:.4g}"
            if step.is_lead
            else f"value {value}, {step.margin:.4g} from the cut"
        )
    if len(step.contributions) > 1:
        if step.adds_up and step.margin is not None and step.value is not None:
            bias = step.value - sum(c.amount or 0.0 for c in step.contributions)
            bias -= step.offset
            lines.append(f"{bias:+.4g}  for an average row")
        order = sorted(step.contributions, key=lambda c: -abs(c.amount or 0))
        # What is 0 but for rounding says nothing, unless all is.
        least = NO_PART * abs(order[0].amount or 0.0)
        order = [c for c in order if c.filled or abs(c.amount or 0.0) >= least]
        most = MOST_PARTS + (len(order) == MOST_PARTS + 1)  # no "1 other"
        for c in order[:most]:
            lines.append(f"{c.amount:+.4g}  {c.name} = {_cell(c)}")
        if rest := order[most:]:
            amount = sum(c.amount or 0.0 for c in rest)
            lines.append(f"{amount:+.4g}  {len(rest)} others")
    return lines + [text for text in (step.alike, step.note) if text]


def _cell(c: Contribution) -> str:
    """What a row has in a feature, or what stands in for it."""
    value = f"{c.value:.6g}" if isinstance(c.value, float) else c.value
    filled = " (filled in)" if c.filled else ""
    return "missing" if value is None else f"{value}{filled}"


def explain(
    model: Model,
    row: Sequence[float],
    predict: Callable[[list[list[float]]], list[Any]],
    max_changes: int = 3,
    goal: str | None = None,
) -> Explanation:
    """The explanation of one row.

    Parameters
    ----------
    model : Model
    row : sequence of float
        Encoded by the tree's schema.
    predict : callable
        Class numbers of encoded rows, or the numbers answered; checks a counterfactual.
    max_changes : int
        Most features that a counterfactual may change.
    goal : str, optional
        Where the answer is a number: what a counterfactual is to reach.
    """
    steps = []
    search = merged(model)
    total = [0.0] * model.n_outputs
    stack = [(0, 1.0)]
    while stack:
        node, share = stack.pop()
        if model.is_leaf(node):
            answer = model.outputs[node]
            if (test := model.model(node)) is not None:
                answer = answers(model, test, row)
                steps.append(_model_step(model, node, test, row, share))
            total = [t + share * p for t, p in zip(total, answer, strict=True)]
            continue
        step = _step(model, node, row, share)
        steps.append(step)
        children = model.children(node)
        if step.branch is not None:
            stack.append((children[step.branch], share))
            continue
        for child in reversed(children):
            if model.shares[child] > 0:
                stack.append((child, share * model.shares[child]))
    if model.numeric:
        goals = usual_goals(model, total[0]) if goal is None else [Goal.read(goal)]
        found = [reach(search, list(row), g, predict, max_changes) for g in goals]
        kept = sorted((c for c in found if c), key=lambda c: c.cost)
        return Explanation(total[0], {}, steps, kept[0] if kept else None)
    best = decide(total, model.costs)
    return Explanation(
        model.classes[best],
        dict(zip(model.classes, total, strict=True)),
        steps,
        find_counterfactual(search, list(row), best, predict, max_changes),
    )


def _step(model: Model, node: int, row: Sequence[float], share: float) -> Step:
    schema, tests = model.tree["schema"], model.tests(node)
    note = ""
    for i, test in enumerate(tests):
        branch = model.branch(test, row)
        if branch < 0:
            continue
        value, threshold, parts = taken_apart(model, test, row)
        text = branch_text(test, branch, schema)
        if test.is_machine:
            first, second = leading(values_of(model, test, row))
            text = f"{largest(first, test.names)}, ahead of {test.names[second]}"
        if i:
            name = model.features[tests[0].feature]["name"]
            note = f"{name} is missing: surrogate test {i}"
        if any(c.filled for c in parts):
            note = _filled("the mean of the node's rows instead", model, test, row)
        margin = None if value is None else abs(value - (threshold or 0.0))
        told = value, threshold, margin, parts, note
        adds_up = test.can_fail or "weights" in test.data
        found = _named_sum(model, node)
        step = Step(
            node, test.kind, text, branch, share, *told, adds_up, test.is_machine
        )
        if found is None:
            return replace(step, alike=most_alike(model, test, row, test.names))
        condition = found.conditions(sum_name(node))[branch]
        return replace(step, summary=condition, offset=(threshold or 0.0) - found.cut)
    test, missing = tests[0], model.missing(node)
    name = model.features[test.feature]["name"]
    known = not math.isnan(row[test.feature])
    what = f"{name} is {'not told apart here' if known else 'missing'}"
    if missing is None or missing < 0:
        note = f"{what}: the row goes down every branch by the training rows there"
        return Step(node, test.kind, name, None, share, note=note)
    text = branch_text(test, missing, schema)
    note = f"{what}: such rows take this branch"
    return Step(node, test.kind, text, missing, share, note=note)


def _named_sum(model: Model, node: int) -> Sides | None:
    """The sum that a node tests as `describe` writes it, if it is long."""
    test, tree = model.tests(node)[0], model.tree
    if test.can_fail or test.is_machine:
        return None
    if len(branch_text(test, 0, tree["schema"])) <= LONGEST_TEXT:
        return None
    found = sums_of(test, tree["schema"], **_as_described(model))
    return found if isinstance(found, Sides) else None


def _as_described(model: Model) -> dict[str, Any]:
    """The options with which `describe` writes sums."""
    return {**known_of(model.tree), "most": MOST_TERMS}


def _filled(how: str, model: Model, test: NodeTest, row: Sequence[float]) -> str:
    """What stands in for missing values, if there are any."""
    names = filled_features(model, test, row)
    return f"missing, {how}: {', '.join(names)}" if names else ""


def answers(model: Model, test: NodeTest, row: Sequence[float]) -> list[float]:
    """Class probabilities, or the number, by the model of a leaf."""
    sums = values_of(model, test, row)
    if model.numeric:
        return sums
    powers = [math.exp(s - max(sums)) for s in sums]
    return [p / sum(powers) for p in powers]


def _model_step(
    model: Model, node: int, test: NodeTest, row: Sequence[float], share: float
) -> Step:
    """What the model of a leaf makes of a row: the leading class against the next.

    Where it makes a number, what each feature adds to the mean of the leaf. Where it is
    the functions of the test above, which the step before took apart, just that.
    """
    if model.numeric:
        return _number_step(model, node, test, row, share)
    above = model.above(node)
    if model.shared.get(above) is not None:
        if _named_sum(model, above) is None:
            text = probability_text(model, above, "value")
        else:
            text = probability_text(model, above, **_as_described(model))
        return Step(node, "model", text, None, share)
    if len(test.values) == 1:
        text = f"model of leaf {node}: {model.classes[0]}"
        return Step(node, "model", text, None, share)
    value, _, parts = taken_apart(model, test, row)
    best, next_ = leading(values_of(model, test, row))
    ahead = f"{model.classes[best]} ahead of {model.classes[next_]}"
    text = f"model of leaf {node}: {ahead}"
    note = _filled("filled as in training", model, test, row)
    told = value, 0.0, value, parts, note
    step = Step(node, "model", text, None, share, *told, is_lead=True)
    alike = most_alike(model, test, row, model.classes)
    return replace(step, adds_up=test.cases is None, alike=alike)


def _number_step(
    model: Model, node: int, test: NodeTest, row: Sequence[float], share: float
) -> Step:
    kind = model_kind(model.nodes[node]["model"])
    text = f"{kind} model of leaf {node}"
    if test.cases is not None:
        value, _, parts = taken_apart(model, test, row)
        step = Step(node, "model", text, None, share, value, contributions=parts)
        alike = most_alike(model, test, row, ())
        return replace(step, text=f"{text}: {value:.6g}", adds_up=False, alike=alike)
    weights = test.data["weights"][0]
    columns = columns_of(model, test, row)
    (value,) = values_of(model, test, row)
    found = column_parts(model, test, test.data, row, columns, weights, test.fill)
    lines = [own[0] for own in zip(*test.data.get("curve_values", ()), strict=True)]
    parts = joined(found, curve_parts(model, test, row, lines))
    mean = value - sum(part.amount or 0.0 for part in parts)
    text = f"{text}: {value:.6g}, its mean {mean:.6g} and"
    note = _filled("filled as in training", model, test, row)
    return Step(node, "model", text, None, share, value, None, None, parts, note)
