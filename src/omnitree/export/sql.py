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

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from omnitree.export.model import Model, NodeTest
from omnitree.tree import expression as ex

# Sums of more terms are added up in groups: SQLite and DuckDB nest 1000 deep.
LONGEST_SUM = 400
# Some databases refuse to make smaller numbers than exp(-700) nearly is.
LEAST_POWER = "-7.0E2"


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
    items = [f"{_remark(model)}{label} AS {_name('predicted')}"]
    for k, c in enumerate(model.classes):
        items.append(f"{writer.probability(k)} AS {_name(f'p({c})')}")
    return ",\n".join(items)


def _remark(model: Model) -> str:
    """A comment on columns that have to be computed from dates, if there are any."""
    if not model.meanings:
        return ""
    lines = [f"   {line}".replace("*/", "* /") for line in model.meanings]
    return "\n".join(["/* Columns computed from dates:", *lines, "*/ "])


class SqlWriter:
    def __init__(self, model: Model):
        self.model = model
        self.names = [_name(f["name"]) for f in model.features]
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
            return _largest(shares, labels)
        saved = []
        for k in range(len(labels)):
            pairs = zip(shares, costs, strict=True)
            saved.append(f"-({_add([f'{p} * {number(c[k])}' for p, c in pairs])})")
        return _largest(saved, labels)

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

    def _value(self, value: ex.Value) -> str:
        """A value where no brackets are needed around a sum."""
        if not isinstance(value, ex.Sum):
            return self._factor(value)
        terms = value.terms
        if len(terms) > 1 and terms[0] == ex.Constant(0.0):
            terms = terms[1:]
        return _add([self._factor(term) for term in terms])

    def _factor(self, value: ex.Value) -> str:
        """A value as it stands in a product."""
        match value:
            case ex.Constant():
                return number(value.value)
            case ex.Column():
                return self._column(value)
            case ex.Curve():
                return self._curve(value)
            case ex.Product():
                inner = [
                    f"({self._factor(f)})"
                    if isinstance(f, ex.Product)
                    else self._factor(f)
                    for f in value.factors
                ]
                return " * ".join(inner)
            case ex.Call(function="exp"):
                return _exp(self._value(value.argument))
            case ex.Call():
                return f"TANH({self._value(value.argument)})"
            case ex.AtMost():
                both = f"{self._value(value.left)} <= {self._value(value.right)}"
                return f"CASE WHEN {both} THEN 1.0E0 ELSE 0.0E0 END"
        return f"({self._value(value)})"

    def _column(self, value: ex.Column) -> str:
        """Value of an encoded column, or what fills its missing cell."""
        column = self.model.columns[value.number]
        name, fill = self.names[column.feature], number(value.fill)
        if not self.model.has_codes(column.feature):
            return f"COALESCE({name}, {fill})"
        if column.feature in self._coded:
            code = self._alias("c", column.feature)
            cases = (
                f"WHEN {code} = {column.category} THEN 1.0E0 WHEN {code} >= 0 THEN -1.0E0"
                if column.category >= 0
                else f"WHEN {code} >= 0 THEN {code}"
            )
            return f"CASE {cases} ELSE {fill} END"
        values = (-1.0, 1.0) if column.category >= 0 else (0.0, 1.0)
        return self._translated(column.feature, map(number, values), fill)

    def _curve(self, value: ex.Curve) -> str:
        """A curve of an encoded column."""
        feature = self.model.columns[value.column].feature
        x = self.names[feature]
        missing = f"{x} IS NULL"
        if self.model.has_codes(feature):
            x = self._translated(feature, ("0", "1"), "-1")
            if feature in self._coded:
                x = self._alias("c", feature)
            missing = f"{x} < 0"
        inside = value.written(
            lambda at, low, high: (
                f"CASE WHEN {x} <= {number(at)} THEN {low} ELSE {high} END"
            ),
            lambda v, knot, slope: (
                f"{number(v)} + ({x} - {number(knot)}) * {number(slope)}"
            ),
        )
        return (
            f"CASE WHEN {missing} THEN {number(value.missing)} "
            f"WHEN {x} <= {number(value.knots[0])} THEN {number(value.values[0])} "
            f"WHEN {x} >= {number(value.knots[-1])} THEN {number(value.values[-1])} "
            f"ELSE {inside} END"
        )

    def _translated(self, feature: int, values: Iterable[str], other: str) -> str:
        """A value for each category of a feature."""
        pairs = zip(self.model.categories(feature), values, strict=False)
        cases = " ".join(f"WHEN {literal(s)} THEN {value}" for s, value in pairs)
        return f"CASE {self.names[feature]} {cases} ELSE {other} END"

    # -- values with names ----------------------------------------------------------

    def _alias(self, what: str, *numbers: int) -> str:
        return _name(f"{self.prefix}{what}{'_'.join(map(str, numbers))}")

    @cached_property
    def _machines(self) -> list[tuple[int, int]]:
        """Nodes and tests that are machines with more than two branches."""
        model = self.model
        tests = [(n, i, t) for n in model.inner for i, t in enumerate(model.tests(n))]
        return [(node, i) for node, i, test in tests if _needs_name(test)]

    @cached_property
    def _coded(self) -> list[int]:
        """Features of three categories or more in tests on several features."""
        model = self.model
        many = [test for test in model.all_tests if not test.can_fail]
        used = {feature for test in many for feature in model.features_of(test)}
        coded = [feature for feature in sorted(used) if model.has_codes(feature)]
        return [feature for feature in coded if len(model.categories(feature)) > 2]

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
        return _add([start, *(self._factor(term) for term in value.terms[1:])])

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
            tops.append(f"{_largest(sums, sums)} AS {top}")
            names = self._leaf_names(leaf, "e")
            for name, own in zip(names, sums, strict=True):
                powers.append(f"{_exp(f'{own} - {top}')} AS {name}")
            total = _add(names)
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
        return _largest(names, [str(k) for k in range(n)])

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
        return _add(terms or ["0.0E0"])


def _needs_name(test: NodeTest) -> bool:
    """Whether a test is too long to write down once for each branch."""
    return test.is_machine and test.n_branches > 2


def _exp(value: str) -> str:
    """The exponential function of a number up to 0."""
    return f"CASE WHEN {value} < {LEAST_POWER} THEN 0.0E0 ELSE EXP({value}) END"


def _largest(names: list[str], values: list[str]) -> str:
    """The value that belongs to the largest name, the first of several.

    That is the first which nothing after it exceeds.
    """
    if len(names) == 1:
        return values[0]
    cases = []
    for k, name in enumerate(names[:-1]):
        beats = " AND ".join(f"{name} >= {other}" for other in names[k + 1 :])
        cases.append(f"WHEN {beats} THEN {values[k]}")
    return f"CASE {' '.join(cases)} ELSE {values[-1]} END"


def _add(terms: list[str]) -> str:
    """A sum, in this order; very long ones in groups."""
    while len(terms) > LONGEST_SUM:
        groups = [terms[i : i + LONGEST_SUM] for i in range(0, len(terms), LONGEST_SUM)]
        terms = [f"({' + '.join(group)})" for group in groups]
    return " + ".join(terms)


def _name(text: str) -> str:
    """A quoted identifier."""
    if "\0" in text:
        raise ValueError(f"the name {text!r} holds a zero byte: SQL cannot write it")
    return '"' + text.replace('"', '""') + '"'


def number(value: float) -> str:
    """A literal of double precision that reads back as the same number."""
    text = repr(float(value))
    return text if "e" in text else f"{text}E0"


def literal(value: Any) -> str:
    """A string, a number or a truth value."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(
                f"the text {value!r} holds a zero byte: SQL cannot write it"
            )
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return repr(value) if isinstance(value, int) else number(value)
