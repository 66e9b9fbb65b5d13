"""One ANSI SQL expression over quoted column names.

A plain tree becomes CASE expressions. Databases limit how deep these may nest (SQLite to
about 25 levels), so of a node's subtrees the one that nests deepest continues the same
CASE, and only the others are nested: n leaves need log2(n) levels, however deep the tree
is.

Four things need names for values, which a scalar subquery gives: codes of categories, where
a test on several features asks for more than two of them, the discriminants of a linear
machine with more than two branches, the sums of models in leaves with the probabilities
that come from them step by step as in the library, and rows that missing values divide. For
the latter come, each from the one before: the branch of every node (-1: divided), the part
of the row in every leaf, the probability of every class, the class. DISTINCT keeps
databases from putting the expressions back in place of their names.

Where several leaves answer by the functions of one model, the number of the leaf gets a
name, too, and the model is written once: its sums begin with the leaf's biases. A row that
is divided needs the model of each leaf that it comes to, so there every leaf has its own.

A missing value is NULL, and categories never seen in training count as missing. Networks
need TANH (SQL:2016), and models in leaves need EXP.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from omnitree.export.model import Model, NodeTest
from omnitree.export.sql_values import (
    SqlValues,
    added,
    exp,
    largest,
    literal,
    number,
    quoted,
)
from omnitree.tree import expression as ex


def to_sql(model: Model, proba: bool = False) -> str:
    """An expression for the class, or for the number.

    With `proba` a list for SELECT instead: the class as "predicted" and the probability
    of each class C as "p(C)".
    """
    writer = SqlWriter(model)
    if model.numeric:
        if proba:
            raise ValueError("proba=True is for classes; this tree answers a number")
        return _remark(model) + writer.probability(0)
    label = writer.label()
    if not proba:
        return _remark(model) + label
    items = [f"{_remark(model)}{label} AS {quoted('predicted')}"]
    for k, c in enumerate(model.classes):
        items.append(f"{writer.probability(k)} AS {quoted(f'p({c})')}")
    return ",\n".join(items)


def _remark(model: Model) -> str:
    """A comment on columns that have to be computed from dates, if there are any."""
    if not model.meanings:
        return ""
    lines = [f"   {line}".replace("*/", "* /") for line in model.meanings]
    return "\n".join(["/* Columns computed from dates:", *lines, "*/ "])


class SqlWriter(SqlValues):
    def __init__(self, model: Model):
        self.model = model
        self.names = [quoted(f["name"]) for f in model.features]
        # What the subqueries call their values must not hide a column.
        lowered = [f["name"].lower() for f in model.features]
        self.prefix = "t"
        while any(name.startswith(self.prefix) for name in lowered):
            self.prefix += "_"
        self.nesting = self._nesting()
        # Whether leaves are told apart by a named number, so that some share a model.
        self.numbered = bool(model.shared_by) and not model.dividing

    # -- answers --------------------------------------------------------------------

    def label(self) -> str:
        """The class of a row."""
        model = self.model
        labels = [literal(c) for c in model.classes]
        if not model.dividing:
            return self._let(self._answers(lambda n: self._leaf_label(n, labels)))
        names = [self._alias("p", k) for k in range(len(labels))]
        sums = [f"{self._leaf_sum(k)} AS {name}" for k, name in enumerate(names)]
        source = self._table(sums, self._parts(), "p")
        return f"(SELECT {self._decide(names, labels)}{source})"

    def probability(self, k: int) -> str:
        """The probability of a class; the number, where there are no classes."""
        if self.model.dividing:
            return f"(SELECT {self._leaf_sum(k)}{self._parts()})"
        return self._let(self._answers(lambda node: self._leaf_share(node, k)))

    def _answers(self, leaf: Callable[[int], str]) -> str:
        """A value for each leaf: by the tests, or by the number of the leaf."""
        if not self.numbered:
            return self._cases(leaf)
        alike: dict[str, list[int]] = {}
        for own in self.model.leaves:
            alike.setdefault(leaf(own), []).append(own)
        *others, last = alike
        if not others:
            return last
        cases = (
            f"WHEN {self._alias('n')} IN ({', '.join(map(str, alike[text]))}) THEN {text}"
            for text in others
        )
        return f"CASE {' '.join(cases)} ELSE {last} END"

    def _leaf_label(self, leaf: int, labels: list[str]) -> str:
        """The class that a leaf answers."""
        if self.model.model(leaf) is None:
            return labels[self.model.labels[leaf]]
        return self._decide(self._leaf_names(leaf), labels)

    def _decide(self, shares: list[str], labels: list[str]) -> str:
        """The class that some probabilities predict."""
        costs = self.model.costs
        if costs is None:
            return largest(shares, labels)
        saved = []
        for k in range(len(labels)):
            pairs = zip(shares, costs, strict=True)
            saved.append(f"-({added([f'{p} * {number(c[k])}' for p, c in pairs])})")
        return largest(saved, labels)

    def _leaf_share(self, leaf: int, k: int) -> str:
        """The probability of a class in a leaf, or its number."""
        if self.model.model(leaf) is None:
            return number(self.model.outputs[leaf][k])
        return self._leaf_names(leaf)[k]

    # -- trees that divide no row ---------------------------------------------------

    def _nesting(self) -> list[int]:
        """How deep the CASE of each node nests if its deepest subtree goes on in it."""
        model = self.model
        deep = [0] * len(model.nodes)
        for node in range(len(model.nodes) - 1, -1, -1):
            below = sorted(deep[c] for c in model.children(node))
            if below:
                deep[node] = max(below[-1], below[-2] + 1, 1)
        return deep

    def _cases(self, leaf: Callable[[int], str]) -> str:
        """Nested CASE expressions with a value for each leaf."""
        model = self.model
        out: list[str] = []
        # Nodes to write as expressions of their own, and text to put between.
        stack: list[Any] = [0]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                out.append(item)
                continue
            if model.is_leaf(item):
                out.append(leaf(item))
                continue
            steps: list[Any] = ["CASE"]
            node = item
            while not model.is_leaf(node):
                children = model.children(node)
                deepest = max(reversed(children), key=self.nesting.__getitem__)
                for b, child in enumerate(children):
                    if child != deepest:
                        steps += [f" WHEN {self._condition(node, b)} THEN ", child]
                node = deepest
            stack.extend(reversed([*steps, f" ELSE {leaf(node)} END"]))
        return "".join(out)

    def _condition(self, node: int, b: int) -> str:
        """When a row takes branch b of a node that divides none; NULL is no."""
        tests, missing = self.model.tests(node), self.model.missing(node)
        if len(tests) > 1 or _needs_name(tests[0]):
            return f"{self._branch(node)} = {b}"
        test = tests[0]
        if not test.can_fail:
            return self._many(test, b)
        told = self._told(test, b)
        if missing != b:
            return told or "1 = 0"
        name = self.names[test.feature]
        codes = self.model.branch_of_codes(test)
        if codes is None:
            return f"{told} OR {name} IS NULL"
        others = [c for c, to in enumerate(codes) if to not in (-1, b)]
        if not others:
            return "1 = 1"
        return f"{name} IS NULL OR {name} NOT IN ({self._categories(test, others)})"

    # -- tests ----------------------------------------------------------------------

    def _branch(self, node: int) -> str:
        """Number of the branch that a row takes, -1: it is divided."""
        cases, other = [], str(self.model.missing(node))
        for i, test in enumerate(self.model.tests(node)):
            if _needs_name(test):
                other = self._alias("m", node, i)
                if self.model.dividing:
                    other = self._winner(node, i)
            elif not test.can_fail:
                cases.append(f"WHEN {self._many(test, 0)} THEN 0")
                other = "1"
            else:
                told = [(b, self._told(test, b)) for b in range(test.n_branches)]
                cases += [f"WHEN {text} THEN {b}" for b, text in told if text]
        return f"CASE {' '.join(cases)} ELSE {other} END" if cases else other

    def _told(self, test: NodeTest, b: int) -> str:
        """When a univariate test tells branch b; empty if it never does."""
        name = self.names[test.feature]
        codes = self.model.branch_of_codes(test)
        if codes is None:
            sign = "<=" if b == test.cut.low else ">"
            return f"{name} {sign} {number(test.cut.threshold)}"
        here = [c for c, to in enumerate(codes) if to == b]
        if not here:
            return ""
        if len(here) == 1:
            return f"{name} = {self._categories(test, here)}"
        return f"{name} IN ({self._categories(test, here)})"

    def _categories(self, test: NodeTest, codes: list[int]) -> str:
        categories = self.model.categories(test.feature)
        return ", ".join(literal(categories[c]) for c in codes)

    def _many(self, test: NodeTest, b: int) -> str:
        """When a test on several features takes branch b of two."""
        first, *others = map(self._value, test.values)
        if others:
            return f"{first} {'>=' if b == 0 else '<'} {others[0]}"
        return f"{first} {'<=' if b == 0 else '>'} {number(test.cut.threshold)}"

    # -- values with names ----------------------------------------------------------

    @cached_property
    def _machines(self) -> list[tuple[int, int]]:
        """Nodes and tests that are machines with more than two branches."""
        model = self.model
        tests = [(n, i, t) for n in model.inner for i, t in enumerate(model.tests(n))]
        return [(node, i) for node, i, test in tests if _needs_name(test)]

    def _codes(self) -> str:
        """FROM and a table of one row with codes of categories, -1 in a missing value."""
        if not self._coded:
            return ""
        codes = []
        for j in self._coded:
            values = map(str, range(len(self.model.categories(j))))
            code = self._translated(j, values, "-1")
            codes.append(f"{code} AS {self._alias('c', j)}")
        return self._table(codes, "", "c")

    def _leaf_names(self, leaf: int, what: str = "") -> list[str]:
        """Names of what a leaf's model gives: its number, or the probabilities.

        `what` names a step on the way: "h" the sums, "e" their powers.
        """
        what = what or ("h" if self.model.numeric else "q")
        leaf = self.model.speakers[leaf] if self.numbered else leaf
        return [self._alias(what, leaf, k) for k in range(self.model.n_outputs)]

    @property
    def _speaking(self) -> list[int]:
        """Leaves whose models are written down."""
        leaves = self.model.modelled
        return sorted({*self.model.speakers.values()}) if self.numbered else leaves

    def _all_leaf_names(self, what: str = "") -> list[str]:
        return [name for n in self._speaking for name in self._leaf_names(n, what)]

    def _model_sums(self) -> list[str]:
        """The sums of models in leaves, with their names."""
        values = []
        for leaf in self._speaking:
            model = self.model.model(leaf)
            assert model is not None
            for k, name in enumerate(self._leaf_names(leaf, "h")):
                text = self._value(model.values[k])
                if self.numbered and leaf in self.model.shared_by:
                    text = self._shared_sum(leaf, k, model.values[k])
                values.append(f"{text} AS {name}")
        return values

    def _shared_sum(self, first: int, k: int, value: ex.Value) -> str:
        """A sum that several leaves begin with biases of their own."""
        biases = [
            (leaf, number(self.model.biases(leaf)[k]))
            for leaf in self.model.shared_by[first]
        ]
        start = biases[0][1]
        if any(bias != start for _, bias in biases):
            cases = " ".join(f"WHEN {leaf} THEN {bias}" for leaf, bias in biases)
            start = f"CASE {self._alias('n')} {cases} ELSE 0.0E0 END"
        assert isinstance(value, ex.Sum)
        return added([start, *(self._factor(term) for term in value.terms[1:])])

    def _discriminants(self) -> str:
        """FROM and a table of one row: sums of machines, what models give, the codes."""
        if not self._machines and not self.model.modelled:
            return self._codes()
        codes = [self._alias("c", j) for j in self._coded]
        names, values = list(codes), list(codes)
        for node, i in self._machines:
            test = self.model.tests(node)[i]
            for k in range(test.n_branches):
                names.append(self._alias("g", node, i, k))
                values.append(f"{self._value(test.values[k])} AS {names[-1]}")
        if self.numbered:
            source = self._codes()
            if self._machines:
                source = self._winners(codes, self._table(values, source, "g"))
            leaf = f"{self._cases(str)} AS {self._alias('n')}"
            source = self._table([*codes, leaf], source, "n")
            names = [self._alias("n")]
            source = self._table([*names, *self._model_sums()], source, "h")
        else:
            source = self._table(values + self._model_sums(), self._codes(), "g")
        if self.model.modelled and not self.model.numeric:
            return self._softmax(names, source)
        return source

    def _winners(self, others: list[str], source: str) -> str:
        """FROM and a table of one row: the branches of machines, and other values."""
        values = list(others)
        for at in self._machines:
            values.append(f"{self._winner(*at)} AS {self._alias('m', *at)}")
        return self._table(values, source, "m")

    def _softmax(self, others: list[str], source: str) -> str:
        """FROM and a table of one row: probabilities of models from their sums.

        Around the largest sum, as the library does it, each step from the one before.
        """
        tops, powers, shares = list(others), list(others), list(others)
        tops += self._all_leaf_names("h")
        for leaf in self._speaking:
            sums, top = self._leaf_names(leaf, "h"), self._alias("s", leaf)
            tops.append(f"{largest(sums, sums)} AS {top}")
            names = self._leaf_names(leaf, "e")
            for name, own in zip(names, sums, strict=True):
                powers.append(f"{exp(f'{own} - {top}')} AS {name}")
            total = added(names)
            for name, power in zip(self._leaf_names(leaf), names, strict=True):
                shares.append(f"{power} / ({total}) AS {name}")
        source = self._table(tops, source, "s")
        return self._table(shares, self._table(powers, source, "e"), "q")

    def _table(self, values: list[str], source: str, what: str) -> str:
        """FROM and a table of one row with some values."""
        table = f"(SELECT DISTINCT {', '.join(values)}{source})"
        return f" FROM {table} AS {self._alias(what)}"

    def _winner(self, node: int, i: int) -> str:
        """The branch of a machine, from its discriminants."""
        n = self.model.tests(node)[i].n_branches
        names = [self._alias("g", node, i, k) for k in range(n)]
        return largest(names, [str(k) for k in range(n)])

    def _let(self, expression: str) -> str:
        """The expression, with the codes and the winners of machines named."""
        source = self._discriminants()
        if self._machines and not self.numbered:
            codes = [self._alias("c", j) for j in self._coded]
            source = self._winners(codes + self._all_leaf_names(), source)
        return f"(SELECT {expression}{source})" if source else expression

    def _parts(self) -> str:
        """FROM and a table of one row: the part of the row that reaches each leaf."""
        model = self.model
        branches = [f"{self._branch(i)} AS {self._alias('b', i)}" for i in model.inner]
        parts = [f"{self._part(i)} AS {self._alias('w', i)}" for i in model.leaves]
        named = self._all_leaf_names()
        source = self._table(branches + named, self._discriminants(), "b")
        return self._table(parts + named, source, "w")

    def _part(self, leaf: int) -> str:
        """The part of a row that reaches a leaf, from the branches of its path."""
        model = self.model
        sure, factors = [], []
        for node, b in model.path(leaf):
            name = self._alias("b", node)
            if node in model.dividing:
                share = number(model.shares[model.children(node)[b]])
                factors.append(
                    f"CASE {name} WHEN {b} THEN 1.0E0 WHEN -1 THEN {share} "
                    "ELSE 0.0E0 END"
                )
            else:
                sure.append(f"{name} = {b}")
        whole = " * ".join(factors) or "1.0E0"
        if not sure:
            return whole
        return f"CASE WHEN {' AND '.join(sure)} THEN {whole} ELSE 0.0E0 END"

    def _leaf_sum(self, k: int) -> str:
        """Probability of a class from the parts of the row in the leaves."""
        model = self.model
        terms = [
            f"{self._alias('w', leaf)} * {self._leaf_share(leaf, k)}"
            for leaf in model.leaves
            if leaf in model.modelled or model.outputs[leaf][k]
        ]
        return added(terms or ["0.0E0"])


def _needs_name(test: NodeTest) -> bool:
    """Whether a test is too long to write down once for each branch."""
    return test.is_machine and test.n_branches > 2
