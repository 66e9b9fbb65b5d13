"""Nested ifs for languages with statements: what `python` and `c` share.

The tree is cut into blocks of nested ifs. A block begins at the root, below every node that
may divide a row, and every `BLOCK_DEPTH` levels, since compilers limit nesting. A block
adds its leaf's probabilities, times the part `w` of the row it was entered with, and puts
the blocks that go on from it on the list `todo`; blocks are taken from there in the order
in which the library reaches its leaves, and sums are added up in the library's order, so
the answers are the same to the last bit, or as near as the language's exp and tanh are.
A model whose functions several leaves answer by is written once: a leaf says what its sums
begin with.

In the code, `xJ` is the value of feature J: a number, NaN in a missing value, or the code
of a category, -1 in a missing value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import count
from typing import Any, ClassVar, NamedTuple

from omnitree.data.plain import one_line
from omnitree.export.model import Model, NodeTest
from omnitree.export.words import branch_text, largest
from omnitree.tree import expression as ex

BLOCK_DEPTH = 30
LONGEST_REMARK = 100


class Dialect(ABC):
    """How a language writes what all of them can do."""

    and_: str
    or_: str
    not_: str
    choice: str  # one of two expressions, with places for `condition`, `yes` and `no`
    stop: str  # ends a statement
    functions: ClassVar[dict[str, str]]  # what the functions of expressions are called

    def choose(self, condition: str, yes: str, no: str) -> str:
        """One of two expressions."""
        return self.choice.format(condition=condition, yes=yes, no=no)

    def set(self, variable: str, value: str) -> str:
        """Give a variable a value."""
        return f"{variable} = {value}{self.stop}"

    def add(self, variable: str, value: str) -> str:
        """Add to a variable."""
        return f"{variable} += {value}{self.stop}"

    def output(self, k: int) -> str:
        """The place of an output."""
        return f"p[{k}]"

    def apply(self, function: str, value: str) -> str:
        """A function of a number."""
        return f"{self.functions[function]}({value})"

    @abstractmethod
    def if_(self, word: str, condition: str, remark: str) -> str:
        """Begin of a branch; word is if, elif or else."""

    @abstractmethod
    def end(self) -> list[str]:
        """What closes the last branch."""

    @abstractmethod
    def call(self, block: int, share: str) -> str:
        """Put a block on the list of what is to do."""

    @abstractmethod
    def answer(self, first: int, biases: list[str]) -> list[str]:
        """Answer by the shared model of a first leaf, whose sums begin with these."""

    @abstractmethod
    def maximum(self, names: list[str]) -> list[str]:
        """Set s to the value of the largest variable."""

    @abstractmethod
    def largest(self, names: list[str]) -> list[str]:
        """Set b to the position of the largest variable, the first of several."""


class CodeBlock(NamedTuple):
    """Lines of code, without indentation of their own, for one block."""

    root: int
    lines: list[str]


def blocks(model: Model, dialect: Dialect) -> list[CodeBlock]:
    """The code of the tree, block by block, the root's first."""
    writer = CodeWriter(model, dialect)
    return [CodeBlock(root, writer.block(root)) for root in block_roots(model)]


def shared_code(model: Model, dialect: Dialect) -> list[CodeBlock]:
    """The code of each model that several leaves share, after their biases are set."""
    writer = CodeWriter(model, dialect)
    return [CodeBlock(first, writer.shared(first)) for first in model.shared_by]


def block_roots(model: Model) -> list[int]:
    """Nodes at which blocks begin."""
    level: dict[int, int] = {0: 0}
    roots = [0]
    for node, _ in model.walk():
        for child in model.children(node):
            level[child] = level[node] + 1
            deep = level[child] == BLOCK_DEPTH and not model.is_leaf(child)
            if deep or node in model.dividing:
                level[child] = 0
                roots.append(child)
    return roots


class CodeWriter:
    def __init__(self, model: Model, dialect: Dialect):
        self.model, self.dialect = model, dialect
        self.roots = set(block_roots(model))
        self.one_block = len(self.roots) == 1

    def block(self, root: int) -> list[str]:
        """Lines of one block; a stack of lines and of nodes still to write."""
        lines: list[str] = []
        stack: list[Any] = [(root, 0)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                lines.append(item)
                continue
            node, depth = item
            steps = self._node(node, depth, node == root)
            stack.extend(reversed(steps))
        return lines

    def _node(self, node: int, depth: int, is_root: bool) -> list[Any]:
        """Lines of a node, and pairs (child, depth) where its subtrees go."""
        pad = "    " * depth
        model, say = self.model, self.dialect
        if not is_root and node in self.roots:
            return [pad + say.call(node, "w")]
        if model.is_leaf(node):
            return [pad + line for line in self._leaf(node)]
        before, conditions = self._branches(node)
        steps: list[Any] = [pad + line for line in before]
        words = iter(("if", *["elif"] * len(conditions)))
        if node in model.dividing:
            steps.append(pad + say.if_(next(words), "b < 0", "cannot tell: divide"))
            for child in reversed(model.children(node)):
                if model.shares[child] > 0:
                    share = f"w * {model.shares[child]!r}"
                    steps.append(pad + "    " + say.call(child, share))
        for b, child in enumerate(model.children(node)):
            text = self._remark(node, b)
            last = b == len(conditions) - 1
            word = "else" if last else next(words)
            steps.append(pad + say.if_(word, conditions[b], one_line(text)))
            steps.append((child, depth + 1))
        steps.extend(pad + line for line in say.end())
        return steps

    def _remark(self, node: int, b: int) -> str:
        test = self.model.tests(node)[0]
        if test.is_machine and test.n_branches > 2:
            return largest(b, test.names)
        text = branch_text(test, b, self.model.tree["schema"])
        if len(text) > LONGEST_REMARK:
            text = text[: LONGEST_REMARK - 4] + " ..."
        return text

    def _leaf(self, node: int) -> list[str]:
        model = self.model.model(node)
        if model is not None:
            first = self.model.speakers[node]
            if first in self.model.shared_by:
                biases = map(repr, self.model.biases(node))
                return self.dialect.answer(first, list(biases))
            lines, names = self._variables(model)
            return lines + self._by_sums(names)
        answers = enumerate(self.model.outputs[node])
        return self._outputs(
            [(k, repr(p)) for k, p in answers if p or self.model.numeric]
        )

    def shared(self, first: int) -> list[str]:
        """Lines that add what leaves share to variables with their biases, and answer."""
        lines: list[str] = []
        names = []
        model = self.model.model(first)
        assert model is not None
        free = (f"s{i}" for i in count(len(model.values)))
        for k, value in enumerate(model.values):
            assert isinstance(value, ex.Sum)
            names.append(f"s{k}")
            for term in value.terms[1:]:
                text = self._product(term, lines, free)
                lines.append(self.dialect.add(names[-1], text))
        return lines + self._by_sums(names)

    def _by_sums(self, names: list[str]) -> list[str]:
        """Lines that answer by the sums of a model."""
        say = self.dialect
        if self.model.numeric:
            return self._outputs([(0, names[0])])
        lines = say.maximum(names)
        lines += [say.set(n, say.apply("exp", f"{n} - s")) for n in names]
        lines.append(say.set("s", " + ".join(names)))
        found = [(k, f"({name} / s)") for k, name in enumerate(names)]
        return lines + self._outputs(found)

    def _outputs(self, found: list[tuple[int, str]]) -> list[str]:
        """Lines that give outputs their values."""
        say = self.dialect
        if self.one_block:
            return [say.set(say.output(k), p) for k, p in found]
        return [say.add(say.output(k), f"w * {p}") for k, p in found]

    def _branches(self, node: int) -> tuple[list[str], list[str]]:
        """Lines to run first, and the condition of each branch."""
        model = self.model
        tests, missing = model.tests(node), model.missing(node)
        by_number = [f"b == {b}" for b in range(len(model.children(node)))]
        if len(tests) == 1 and missing != -1:
            lines, conditions = self._alone(tests[0], missing)
            return lines, conditions or by_number
        lines = [self.dialect.set("b", "-1")]
        for i, test in enumerate(tests):
            lines += self._ask(test, first=i == 0)
        if missing is not None and missing >= 0:
            lines += self._set_if("b < 0", str(missing), "cannot tell")
        return lines, by_number

    def _alone(
        self, test: NodeTest, missing: int | None
    ) -> tuple[list[str], list[str]]:
        """A test whose missing values go to one branch; no conditions: it sets b."""
        say = self.dialect
        if not test.can_fail:
            return self._many(test)
        name = f"x{test.feature}"
        codes = self.model.branch_of_codes(test)
        if codes is not None:
            sets: list[list[str]] = [[] for _ in range(test.n_branches)]
            for code, b in [*enumerate(codes), (-1, -1)]:
                sets[missing if b < 0 else b].append(f"{name} == {code}")  # type: ignore[index]
            # No row takes a branch without codes: they begin at -1.
            never = [f"{name} == -2"]
            return [], [f" {say.or_} ".join(parts or never) for parts in sets]
        low, cut = test.cut.low, repr(test.cut.threshold)
        # A comparison with NaN is false, so missing values go with the negated condition.
        above = f"{name} > {cut}" if missing == low else f"{say.not_}({name} <= {cut})"
        below = f"{name} <= {cut}" if missing != low else f"{say.not_}({name} > {cut})"
        return [], [below, above] if low == 0 else [above, below]

    def _ask(self, test: NodeTest, first: bool) -> list[str]:
        """Set b, which is -1, if this test can tell."""
        say = self.dialect
        unknown = "" if first else f"b < 0 {say.and_} "
        if not test.can_fail:
            lines, conditions = self._many(test)
            if conditions:
                lines.append(say.set("b", say.choose(conditions[0], "0", "1")))
            if first:
                return lines
            inside = ["    " + line for line in lines]
            return [say.if_("if", "b < 0", ""), *inside, *say.end()]
        name = f"x{test.feature}"
        codes = self.model.branch_of_codes(test)
        if codes is None:
            low, cut = test.cut.low, repr(test.cut.threshold)
            value = say.choose(f"{name} <= {cut}", str(low), str(1 - low))
            return self._set_if(f"{unknown}{name} == {name}", value)
        lines = []
        for b in range(test.n_branches):
            here = [f"{name} == {code}" for code, to in enumerate(codes) if to == b]
            sets = f" {say.or_} ".join(here)
            if sets:
                lines += self._set_if(f"{unknown}({sets})" if unknown else sets, str(b))
        return lines

    def _set_if(self, condition: str, branch: str, remark: str = "") -> list[str]:
        say = self.dialect
        return [
            say.if_("if", condition, remark),
            "    " + say.set("b", branch),
            *say.end(),
        ]

    def _many(self, test: NodeTest) -> tuple[list[str], list[str]]:
        """A test on several features: lines, and conditions unless they set b."""
        lines, names = self._variables(test)
        if test.is_machine:
            return lines + self.dialect.largest(names), []
        cut = repr(test.cut.threshold)
        return lines, [f"{names[0]} <= {cut}", f"{names[0]} > {cut}"]

    def _variables(self, test: NodeTest) -> tuple[list[str], list[str]]:
        """Lines that give the values of a test, and the variables they are in."""
        lines: list[str] = []
        free = (f"s{i}" for i in count())
        names = []
        for value in test.values:
            text = self._text(value, lines, free)
            if not isinstance(value, ex.Sum):
                name = next(free)
                lines.append(self.dialect.set(name, text))
                text = name
            names.append(text)
        return lines, names

    def _text(self, value: ex.Value, lines: list[str], free: Iterator[str]) -> str:
        """A value; sums are added up in variables, by lines that come before it."""
        say = self.dialect
        match value:
            case ex.Constant():
                return repr(float(value.value))
            case ex.Column():
                return self._column(value)
            case ex.Curve():
                return self._curve(value)
            case ex.Product():
                return f"({self._product(value, lines, free)})"
            case ex.Call():
                argument = self._text(value.argument, lines, free)
                return say.apply(value.function, argument)
            case ex.AtMost():
                left = self._text(value.left, lines, free)
                right = self._text(value.right, lines, free)
                return say.choose(f"{left} <= {right}", "1.0", "0.0")
            case ex.Sum():
                name = next(free)
                first, *others = value.terms
                lines.append(say.set(name, self._text(first, lines, free)))
                for term in others:
                    lines.append(say.add(name, self._product(term, lines, free)))
                return name
        raise AssertionError(value)

    def _product(self, value: ex.Value, lines: list[str], free: Iterator[str]) -> str:
        """A value where no brackets are needed around a product."""
        if not isinstance(value, ex.Product):
            return self._text(value, lines, free)
        return " * ".join(self._text(f, lines, free) for f in value.factors)

    def _column(self, value: ex.Column) -> str:
        """Value of an encoded column, or what fills its missing cell."""
        say = self.dialect
        column = self.model.columns[value.number]
        name, fill = f"x{column.feature}", repr(float(value.fill))
        own = name
        if column.category >= 0:
            own = say.choose(f"{name} == {column.category}", "1.0", "-1.0")
        return say.choose(self._is_missing(column.feature), fill, own)

    def _is_missing(self, feature: int) -> str:
        name = f"x{feature}"
        has_codes = self.model.has_codes(feature)
        return f"{name} < 0" if has_codes else f"{name} != {name}"

    def _curve(self, value: ex.Curve) -> str:
        """A curve of an encoded column."""
        say, feature = self.dialect, self.model.columns[value.column].feature
        x = f"x{feature}"
        first, last, missing = (
            repr(float(v)) for v in (value.values[0], value.values[-1], value.missing)
        )
        inside = value.written(
            lambda at, low, high: say.choose(f"{x} <= {at!r}", low, high),
            lambda v, knot, slope: f"{v!r} + ({x} - {knot!r}) * {slope!r}",
        )
        inside = say.choose(f"{x} >= {value.knots[-1]!r}", last, inside)
        inside = say.choose(f"{x} <= {value.knots[0]!r}", first, inside)
        return say.choose(self._is_missing(feature), missing, inside)


def n_variables(model: Model) -> int:
    """How many variables s0, s1, ... the code uses."""
    return max(
        (
            sum(isinstance(v, ex.Sum) for v in ex.walk(test.rule))
            + sum(not isinstance(v, ex.Sum) for v in test.values)
            for test in model.all_tests
            if not test.can_fail
        ),
        default=0,
    )
