"""What the demo says about a tree, and its report: one page in the explorer's colours.

The words are made from the public form of the tree (`to_dict`), so they follow whatever
tree was fitted. The page is self-contained but for the explorers beside it, which it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from omnitree.export.candidates import SUBTREE, candidate_text
from omnitree.lab.comparison import MethodComparison
from omnitree.lab.data import Dataset
from omnitree.lab.report import explorer_colours
from omnitree.tree.splits import SPLITS

ABOUT = {
    "penguins": "Which species does a penguin belong to? Bill, flipper, weight, sex and "
    "island of birds near Palmer Station, Antarctica.",
    "thyroid": "Does a patient have an underactive thyroid? Six hormone levels, none of "
    "which was measured in every patient, and age, sex and history.",
}
MOST_REASONS = 4


@dataclass(frozen=True)
class Story:
    """A table and the tree fitted on it."""

    table: Dataset
    clf: Any

    @property
    def title(self) -> str:
        """Name of the table."""
        return self.table.name.capitalize()

    @property
    def facts(self) -> str:
        """What the table is, in two sentences."""
        X = self.table.X
        missing = int(X.isna().sum().sum())
        categorical = sum(not np.issubdtype(t.type, np.number) for t in X.dtypes)
        values = f"{missing:,} missing values" if missing else "no missing values"
        return (
            f"{ABOUT.get(self.table.name, '')} {len(X):,} rows, {X.shape[1]} features, "
            f"{categorical} of them categorical, {values}, "
            f"{len(self.table.classes)} classes."
        ).strip()

    @cached_property
    def nodes(self) -> list[dict[str, Any]]:
        """The nodes of the tree."""
        return self.clf.tree_.to_dict()["nodes"]

    @property
    def kinds(self) -> str:
        """How many tests of each family the tree has."""
        counts: dict[str, int] = {}
        for node in self.nodes:
            if node["kind"] != "leaf":
                name = SPLITS[node["kind"]].family or node["kind"]
                counts[name] = counts.get(name, 0) + 1
        words = [f"{n} {name} test{'s' * (n > 1)}" for name, n in counts.items()]
        words.append(f"{sum(n['kind'] == 'leaf' for n in self.nodes)} leaves")
        return f"The tree has {', '.join(words[:-1])} and {words[-1]}."

    def reasons(self) -> list[str]:
        """Why the tests are of these kinds, for the nodes with most rows."""
        found = [node for node in self.nodes if node.get("candidates")]
        found.sort(key=lambda node: -sum(node["value"]))
        simple = [n for n in found if _chosen(n)["learner"] == SUBTREE]
        other = [n for n in found if n not in simple]
        shown = [*simple[:2], *other][:MOST_REASONS]
        return [_reason(node) for node in sorted(shown, key=lambda n: n["id"])]

    @cached_property
    def _hardest(self) -> int:
        return int(self.clf.predict_proba(self.table.X).max(axis=1).argmin())

    @property
    def hardest_row(self) -> str:
        """The row that the tree is least sure of."""
        i = self._hardest
        return (
            f"Row {i + 1} ({self.table.y[i]}) is the one the tree is least sure about:"
        )

    @cached_property
    def explanation(self) -> str:
        """How that row gets its answer."""
        return str(self.clf.explain(self.table.X.iloc[[self._hardest]]))


def _chosen(node: dict[str, Any]) -> dict[str, Any]:
    return next(c for c in node["candidates"] if c["chosen"])


def _reason(node: dict[str, Any]) -> str:
    """A sentence on the candidates of a node."""
    own = _chosen(node)
    others = [c for c in node["candidates"] if not c["chosen"]]
    others.sort(key=lambda c: (c["learner"] != SUBTREE, c["score"]))
    where = "The root" if node["id"] == 0 else f"Node {node['id']}"
    rows = f"{sum(node['value']):,.0f} rows"
    named = []
    for candidate in others[:3]:
        close = candidate["score"] < own["score"]
        named.append(_scored(candidate) + " but no clear gain" * close)
    criterion = "error" if own["criterion"] == "error" else "log loss"
    what = f"with {'an' if criterion == 'error' else 'a'} {criterion} of {_score(own)}"
    text = f"{where} ({rows}): {_name(own)}, {what} on held-out rows"
    return f"{text} ({', '.join(named)})." if named else f"{text}."


def _scored(candidate: dict[str, Any]) -> str:
    return f"{_name(candidate)} {_score(candidate)}"


def _name(candidate: dict[str, Any]) -> str:
    return candidate_text(candidate["learner"], candidate["kind"])


def _score(candidate: dict[str, Any]) -> str:
    score = candidate["score"]
    return (
        f"{100 * score:.1f} %" if candidate["criterion"] == "error" else f"{score:.3f}"
    )


# -- the page ---------------------------------------------------------------------------


def page(stories: Sequence[Story], found: MethodComparison, versions: str) -> str:
    """The report."""
    from jinja2 import Environment, StrictUndefined

    source = files("omnitree.cli").joinpath("demo_report.html.j2").read_text("utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(source).render(
        colours=explorer_colours(),
        stories=[
            (story, _bars(story.table.name, found), verdict(story.table.name, found))
            for story in stories
        ],
        protocol=found.protocol.name,
        test=found.protocol.test_name,
        versions=versions,
    )


def verdict(name: str, found: MethodComparison) -> str:
    """Which systems do better or worse than the first on a table, in a sentence or two."""
    scores, first = found.scores()[name], found.methods[0]
    own = scores[first].mean()
    sides: dict[str, list[str]] = {"lower": [], "higher": []}
    clear = []
    for method, values in scores.items():
        if method != first and values.mean() != own:
            sides["lower" if values.mean() < own else "higher"].append(method)
            if found.protocol.compare(values, scores[first]).p < 0.05:
                clear.append(method)
    parts = [
        f"{listed(names)} {'have' if len(names) > 1 else 'has'} a {side} mean error"
        for side, names in sides.items()
        if names
    ]
    if not parts:
        return f"No system differs from {first}."
    certain = (
        f"The difference is clear (p below 0.05) for {listed(clear)} only."
        if clear
        else "No difference is clear (p below 0.05): by error alone there is nothing to "
        "choose between them here."
    )
    return f"{' and '.join(parts)} than {first}. {certain}"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _bars(name: str, found: MethodComparison) -> list[dict[str, Any]]:
    """A line per method: error with its deviation over folds, leaves, p."""
    scores, by = found.scores()[name], found.by_data[name]
    first = found.methods[0]
    widest = max(s.mean() + s.std(ddof=1) for s in scores.values())
    out = []
    for method, values in scores.items():
        mean, spread = float(values.mean()), float(values.std(ddof=1))
        low = max(mean - spread, 0.0)
        p = None
        if method != first:
            p = found.protocol.compare(values, scores[first]).p
        out.append(
            {
                "method": method,
                "error": f"{mean:.1f} %",
                "at": f"{100 * mean / widest:.1f}",
                "low": f"{100 * low / widest:.1f}",
                "span": f"{100 * (mean + spread - low) / widest:.1f}",
                "leaves": f"{by[method].scores('leaves').mean():.1f}",
                "p": "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}",
                "is_clear": p is not None and p < 0.05,
                "first": method == first,
            }
        )
    return out
