"""The path of one row, each test taken apart.

A row is a list of numbers and codes, NaN if missing, as `omnitree.data.table` encodes
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from omnitree.explain.counterfactual import (
    Counterfactual,
    cell,
    find_counterfactual,
    reach,
)
from omnitree.explain.goals import Goal, usual_goals
from omnitree.export.merging import merged
from omnitree.export.model import Model, NodeTest, decide, one_line
from omnitree.export.plain import plain_test
from omnitree.export.probabilities import probability_text
from omnitree.export.words import branch_text, column_name, largest, term_names
from omnitree.tree.expression import Column, evaluate
from omnitree.tree.shared_models import terms_of

# What is printed of long tests; the explanation itself holds all of it.
LONGEST_TEXT = 88
MOST_PARTS = 10


@dataclass(frozen=True)
class Contribution:
    """What a feature, or a product of two, adds to the value of a test.

    Attributes
    ----------
    name : str
        The feature; in quadratic tests and models, the encoded column or the product of
        two, whose contribution is that of both together.
    value : float, or a category
        The row's value; if it is missing, what the test uses instead, None for a category,
        whose columns get means.
    amount : float or None
        What it adds to the value of the test, or of the model, for an average row; where
        it is the only one, the value itself. None where a category is looked up.
    filled : bool
        Whether `value` stands in for a missing value.
    """

    name: str
    value: Any
    amount: float | None
    filled: bool = False


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
    """

    node: int
    kind: str
    text: str
    branch: int | None
    share: float
    value: float | None
    threshold: float | None
    margin: float | None
    contributions: list[Contribution]
    note: str
    adds_up: bool = True
    is_lead: bool = False


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
        if self.counterfactual is None:
            lines.append(
                "No change of a few features was found that gives another class."
                if self.probabilities
                else "No change of a few features was found that moves the answer so far."
            )
        else:
            lines.append(str(self.counterfactual))
        return "\n".join(one_line(line) for line in lines)


def _headline(step: Step) -> str:
    """The condition; of a long sum, only what it is compared with."""
    if len(step.text) <= LONGEST_TEXT:
        return step.text
    if step.threshold is None:
        return step.text[: LONGEST_TEXT - 4] + " ..."
    sign = "<=" if step.branch == 0 else ">"
    n = len(step.contributions)
    return (
        f"{step.kind} sum of node {step.node}, {n} terms, {sign} {step.threshold:.6g}"
    )


def _details(step: Step) -> list[str]:
    lines = []
    if step.margin is not None and step.value is not None:
        # The condition of one term may have its sign turned: told by what the row has.
        value = f"{step.value:.6g}"
        if len(step.contributions) == 1:
            (only,) = step.contributions
            if not isinstance(only.value, float) or abs(only.value) == abs(step.value):
                value = _cell(only)
        lines.append(
            f"ahead by {step.margin:.4g}"
            if step.is_lead
            else f"value {value}, {step.margin:.4g} from the other side"
        )
    if len(step.contributions) > 1:
        if step.adds_up and step.margin is not None and step.value is not None:
            bias = step.value - sum(c.amount or 0.0 for c in step.contributions)
            lines.append(f"{bias:+.4g}  for an average row")
        order = sorted(step.contributions, key=lambda c: -abs(c.amount or 0))
        for c in order[:MOST_PARTS]:
            lines.append(f"{c.amount:+.4g}  {c.name} = {_cell(c)}")
        if rest := order[MOST_PARTS:]:
            amount = sum(c.amount or 0.0 for c in rest)
            lines.append(f"{amount:+.4g}  {len(rest)} others")
    return [*lines, step.note] if step.note else lines


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
        value, threshold, parts = _taken_apart(model, test, row)
        text = branch_text(test, branch, schema)
        if test.is_machine:
            first, second = _leading(_values(model, test, row))
            text = f"{largest(first, test.names)}, before {test.names[second]}"
        if i:
            name = model.features[tests[0].feature]["name"]
            note = f"{name} is missing: surrogate test {i}"
        filled = [c.name for c in parts if c.filled]
        if filled:
            note = f"missing, the mean of the node's rows instead: {', '.join(filled)}"
        margin = None if value is None else abs(value - (threshold or 0.0))
        step = Step(
            node, test.kind, text, branch, share, value, threshold, margin, parts, note
        )
        adds_up = test.can_fail or "weights" in test.data
        return replace(step, adds_up=adds_up, is_lead=test.is_machine)
    test, missing = tests[0], model.missing(node)
    name = model.features[test.feature]["name"]
    known = not math.isnan(row[test.feature])
    what = f"{name} is {'not told apart here' if known else 'missing'}"
    if missing is None or missing < 0:
        note = f"{what}: the row goes down every branch by the training rows there"
        return Step(node, test.kind, name, None, share, None, None, None, [], note)
    text = branch_text(test, missing, schema)
    note = f"{what}: such rows take this branch"
    return Step(node, test.kind, text, missing, share, None, None, None, [], note)


def answers(model: Model, test: NodeTest, row: Sequence[float]) -> list[float]:
    """Class probabilities, or the number, by the model of a leaf."""
    sums = _values(model, test, row)
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
        text = probability_text(model, above, "value")
        return Step(node, "model", text, None, share, None, None, None, [], "")
    if test.n_branches == 1:
        text = f"model of leaf {node}: {model.classes[0]}"
        return Step(node, "model", text, None, share, None, None, None, [], "")
    value, _, parts = _taken_apart(model, test, row)
    best, next_ = _leading(_values(model, test, row))
    text = f"model of leaf {node}: {model.classes[best]} before {model.classes[next_]}"
    filled = [c.name for c in parts if c.filled]
    note = f"missing, filled as in training: {', '.join(filled)}" if filled else ""
    step = Step(node, "model", text, None, share, value, 0.0, value, parts, note)
    return replace(step, is_lead=True)


def _number_step(
    model: Model, node: int, test: NodeTest, row: Sequence[float], share: float
) -> Step:
    weights = test.data["weights"][0]
    columns = _columns(model, test, row)
    (value,) = _values(model, test, row)
    mean = float(evaluate(test.values[0], lambda column: column.fill))
    if "terms" in test.data:
        parts = _terms(model, test.data, row, columns, weights, test.fill)
        text = f"quadratic model of leaf {node}: {value:.6g}, its mean {mean:.6g} and"
    else:
        amounts = {
            feature: sum(
                weights[at] * (columns[at] - test.fill[at])
                for at in _places(model, test, feature)
            )
            for feature in model.features_of(test)
        }
        parts = _by_feature(model, test, row, amounts)
        text = f"linear model of leaf {node}: {value:.6g}, its mean {mean:.6g} and"
    filled = [c.name for c in parts if c.filled]
    note = f"missing, filled as in training: {', '.join(filled)}" if filled else ""
    return Step(node, "model", text, None, share, value, None, None, parts, note)


def _taken_apart(
    model: Model, test: NodeTest, row: Sequence[float]
) -> tuple[float | None, float | None, list[Contribution]]:
    """Value, threshold and contributions of a test that can tell."""
    if test.can_fail:
        feature, cell_ = model.features[test.feature], row[test.feature]
        if model.branch_of_codes(test) is not None:
            category = feature["categories"][int(cell_)]
            return None, None, [Contribution(feature["name"], category, None)]
        part = Contribution(feature["name"], cell_, cell_)
        return cell_, test.data["threshold"], [part]
    columns, cut = _columns(model, test, row), 0.0
    if "weights" not in test.data:
        return _by_removal(model, test, row)
    # Told as `describe` writes it: a category counts 1 or 0.
    plain = plain_test(test.data, model.features)
    told = [
        (value + 1) / 2 if model.columns[c].category >= 0 else value
        for c, value in zip(test.columns, columns, strict=True)
    ]
    base = plain["fill"]
    if test.is_machine:
        values = _values(model, test, row)
        best, next_ = _leading(values)
        rows = plain["weights"][best], plain["weights"][next_]
        weights = [w - v for w, v in zip(*rows, strict=True)]
        value = values[best] - values[next_]
    else:
        weights, cut = plain["weights"], plain["threshold"]
        value = _total(plain, told)
        parts = weights if "terms" in test.data else model.features_of(test)
        base = base if len(parts) > 1 else [0.0] * len(told)
    if "terms" in test.data:
        return value, cut, _terms(model, plain, row, told, weights, base)
    amounts = {
        feature: sum(
            weights[at] * (told[at] - base[at]) for at in _places(model, test, feature)
        )
        for feature in model.features_of(test)
    }
    return value, cut, _by_feature(model, test, row, amounts)


def _by_removal(
    model: Model, test: NodeTest, row: Sequence[float]
) -> tuple[float, float, list[Contribution]]:
    """Value and threshold, and what the value loses with each feature at its mean."""
    values = _values(model, test, row)
    best, next_ = _leading(values) if test.is_machine else (0, 0)

    def compared(values: list[float]) -> float:
        return values[best] - values[next_] if test.is_machine else values[0]

    amounts = {}
    for feature in model.features_of(test):
        without = [*row[:feature], math.nan, *row[feature + 1 :]]
        rest = compared(_values(model, test, without))
        amounts[feature] = compared(values) - rest
    parts = _by_feature(model, test, row, amounts)
    return compared(values), test.data.get("threshold", 0.0), parts


def _columns(model: Model, test: NodeTest, row: Sequence[float]) -> list[float]:
    """Values of the encoded columns of a test."""
    pairs = zip(test.columns, test.fill, strict=True)
    return [_column(model, Column(c, fill), row) for c, fill in pairs]


def _values(model: Model, test: NodeTest, row: Sequence[float]) -> list[float]:
    """What a test on several features compares."""
    return [
        float(evaluate(value, lambda column: _column(model, column, row)))
        for value in test.values
    ]


def _leading(sums: Sequence[float]) -> tuple[int, int]:
    """Positions of the largest sum, the first of several, and of the next."""
    best = max(range(len(sums)), key=sums.__getitem__)
    others = (k for k in range(len(sums)) if k != best)
    return best, max(others, key=sums.__getitem__)


def _places(model: Model, test: NodeTest, feature: int) -> list[int]:
    """Positions of a feature's columns in a test."""
    return [
        at for at, c in enumerate(test.columns) if model.columns[c].feature == feature
    ]


def _by_feature(
    model: Model, test: NodeTest, row: Sequence[float], amounts: dict[int, float]
) -> list[Contribution]:
    parts = []
    for feature, amount in amounts.items():
        value = cell(model, feature, row[feature])
        filled = value is None
        if filled and not model.is_categorical(feature):
            value = test.fill[_places(model, test, feature)[0]]
        name = model.features[feature]["name"]
        parts.append(Contribution(name, value, amount, filled))
    return parts


def _terms(
    model: Model,
    test: dict[str, Any],
    row: Sequence[float],
    columns: list[float],
    weights: Sequence[float],
    base: Sequence[float],
) -> list[Contribution]:
    """What each term of a quadratic test or model adds to its value at `base`."""
    own = test["columns"]
    names = term_names(test, [column_name(c, model.features) for c in own])
    missing = [math.isnan(row[model.columns[c].feature]) for c in own]
    parts = []
    for name, w, (a, b) in zip(names, weights, terms_of(test), strict=True):
        value = columns[a] * (columns[b] if b >= 0 else 1.0)
        filled = missing[a] or (b >= 0 and missing[b])
        start = base[a] * (base[b] if b >= 0 else 1.0)
        parts.append(Contribution(name, value, w * (value - start), filled))
    return parts


def _total(test: dict[str, Any], columns: Sequence[float]) -> float:
    """The weighted sum of a plain test."""
    total = 0.0
    for w, (a, b) in zip(test["weights"], terms_of(test), strict=True):
        total += w * (columns[a] if b < 0 else columns[a] * columns[b])
    return total


def _column(model: Model, value: Column, row: Sequence[float]) -> float:
    """Value of an encoded column, or what fills its missing cell."""
    column = model.columns[value.number]
    cell_ = row[column.feature]
    if math.isnan(cell_):
        return value.fill
    if column.category < 0:
        return cell_
    return 1.0 if int(cell_) == column.category else -1.0
