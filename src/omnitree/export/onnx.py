"""ONNX: all tests of all nodes at once, as operators of the standard set (ai.onnx).

Inputs are `numbers` (double, a column a feature that is a number or a boolean; NaN is a gap)
and `symbols` (string, a column a feature of text; an empty string is a gap), each only if
there are such features; the model's metadata lists their names in order. Outputs are
`label` and `probabilities`, or `prediction` where the tree answers a number.

From the columns come the branch of every test, the branch of every node, the part of the row
that each node hands to each child, the part that reaches each leaf (level by level), and the
sum over the leaves. All is double, and what is added up is added in the library's order,
so a row on a boundary falls on the same side. Needs the package `onnx`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property, partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from omnitree.export.model import Model, NodeTest
from omnitree.tree.expression import (
    AtMost,
    Call,
    Column,
    Constant,
    Monomials,
    Sum,
    Value,
    monomials,
    parts,
    walk,
)

OPSET = 19  # the first whose Equal compares strings
IR_VERSION = 9


def to_onnx(model: Model) -> bytes:
    """A serialised ONNX model."""
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "export to ONNX needs the package onnx: pip install 'omnitree[onnx]'"
        ) from None
    return _Writer(model, onnx).model_bytes()


class _Writer:
    def __init__(self, model: Model, onnx: Any):
        self.model, self.onnx = model, onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        every = range(len(model.features))
        self.numbers = [j for j in every if not model.has_text(j)]
        self.texts = [j for j in every if model.has_text(j)]
        self.position = {j: at for at, j in enumerate(model.used)}

    # -- building blocks ------------------------------------------------------------

    def const(self, values: Any, dtype: Any = np.float64) -> str:
        """Name of a new constant."""
        name = f"c{len(self.constants)}"
        array = np.asarray(values, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def ints(self, values: Any) -> str:
        """Name of a new constant of whole numbers."""
        return self.const(values, np.int64)

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add an operator and give the name of its output."""
        output = output or f"v{len(self.nodes)}"
        node = self.onnx.helper.make_node(kind, list(inputs), [output], **attributes)
        self.nodes.append(node)
        return output

    def take(self, matrix: str, columns: Sequence[int]) -> str:
        """Some columns of a matrix."""
        return self.op("Gather", matrix, self.ints(list(columns)), axis=1)

    def row(self, values: Any, dtype: Any = np.float64) -> str:
        """A constant of one row."""
        return self.const(np.asarray(values, dtype=dtype).reshape(1, -1), dtype)

    def filled(self, matrix: str, fill: str) -> str:
        """A matrix with its gaps filled."""
        return self.op("Where", self.op("IsNaN", matrix), fill, matrix)

    # -- the graph ------------------------------------------------------------------

    def model_bytes(self) -> bytes:
        """The whole model."""
        onnx, model = self.onnx, self.model
        helper, types = onnx.helper, onnx.TensorProto
        inputs = []
        if self.numbers:
            shape = ["rows", len(self.numbers)]
            inputs.append(helper.make_tensor_value_info("numbers", types.DOUBLE, shape))
        if self.texts:
            shape = ["rows", len(self.texts)]
            inputs.append(helper.make_tensor_value_info("symbols", types.STRING, shape))
        rows = self.op("Shape", inputs[0].name, start=0, end=1)
        self.ones = self.op(
            "Expand",
            self.const([[1.0]]),
            self.op("Concat", rows, self.ints([1]), axis=0),
        )
        self._sum_leaves(self._leaf_parts())
        outputs = self._number() if model.numeric else self._label()
        graph = helper.make_graph(
            self.nodes, "omnitree", inputs, outputs, self.constants
        )
        out = helper.make_model(
            graph,
            producer_name="omnitree",
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        names = [f["name"] for f in model.features]
        helper.set_model_props(
            out,
            {
                "numbers": json.dumps([names[j] for j in self.numbers]),
                "symbols": json.dumps([names[j] for j in self.texts]),
                "classes": json.dumps(model.classes),
            },
        )
        onnx.checker.check_model(out, full_check=True)
        return out.SerializeToString()

    def _number(self) -> list[Any]:
        """The number of a row."""
        self.op("Squeeze", "probabilities", self.ints([1]), output="prediction")
        double = self.onnx.TensorProto.DOUBLE
        make = self.onnx.helper.make_tensor_value_info
        return [make("prediction", double, ["rows"])]

    def _label(self) -> list[Any]:
        """The class of a row, and its probabilities."""
        make = self.onnx.helper.make_tensor_value_info
        double = self.onnx.TensorProto.DOUBLE
        best = self.op("ArgMax", self._worth(), axis=1, keepdims=0)
        classes = np.array(self.model.classes)
        if classes.dtype.kind == "U":
            classes = classes.astype(object)
        labels = self.onnx.numpy_helper.from_array(classes, "classes")
        self.constants.append(labels)
        self.op("Gather", "classes", best, output="label", axis=0)
        shape = ["rows", len(self.model.classes)]
        return [
            make("label", labels.data_type, ["rows"]),
            make("probabilities", double, shape),
        ]

    def _worth(self) -> str:
        """What is largest for the class to answer: probability, or minus expected cost."""
        if self.model.costs is None:
            return "probabilities"
        total = self.op(
            "Mul", self.take("probabilities", [0]), self.row(self.model.costs[0])
        )
        for k, line in enumerate(self.model.costs[1:], 1):
            term = self.op("Mul", self.take("probabilities", [k]), self.row(line))
            total = self.op("Add", total, term)
        return self.op("Neg", total)

    def _cells(self) -> str:
        """Used features as numbers and codes, gaps as NaN."""
        columns = []
        for j in self.model.used:
            if j in self.texts:
                cell = self.take("symbols", [self.texts.index(j)])
            else:
                cell = self.take("numbers", [self.numbers.index(j)])
            if self.model.has_codes(j):
                symbols = self.model.symbols(j)
                dtype = object if j in self.texts else np.float64
                equal = self.op("Equal", cell, self.row(symbols, dtype))
                # Code plus one, 0 if none is equal.
                code = self.row(np.arange(1.0, len(symbols) + 1))
                hit = self.op("Mul", self.op("Cast", equal, to=11), code)
                code = self.op("ReduceSum", hit, self.ints([1]))
                known = self.op("Greater", code, self.const(0.0))
                less = self.op("Sub", code, self.const(1.0))
                cell = self.op("Where", known, less, self.const(np.nan))
            columns.append(cell)
        return self.op("Concat", *columns, axis=1)

    def _columns(self, cells: str) -> str:
        """Encoded columns; gaps are NaN."""
        columns = [c for c in self.model.columns if c.feature in self.position]
        self.column_at = {
            i: columns.index(c)
            for i, c in enumerate(self.model.columns)
            if c.feature in self.position
        }
        values = self.take(cells, [self.position[c.feature] for c in columns])
        symbols = [c.symbol for c in columns]
        own = self.op("Equal", values, self.row(symbols))
        sign = self.op("Where", own, self.const(1.0), self.const(-1.0))
        is_symbol = self.row([s >= 0 for s in symbols], bool)
        coded = self.op("Where", is_symbol, sign, values)
        return self.op("Where", self.op("IsNaN", values), values, coded)

    @cached_property
    def cells(self) -> str:
        """Used features, made once."""
        return self._cells()

    @cached_property
    def columns(self) -> str:
        """Encoded columns, made once."""
        return self._columns(self.cells)

    # -- tests ----------------------------------------------------------------------

    def _tests(self) -> tuple[str, dict[tuple[int, int], int]]:
        """Branch of every test, -1 where it cannot tell, and which column is whose."""
        model = self.model
        cuts, maps, many = [], [], []
        for node in range(len(model.nodes)):
            if model.is_leaf(node):
                continue
            for i, test in enumerate(model.tests(node)):
                here = ((node, i), test)
                if not test.can_fail:
                    many.append(here)
                elif model.branch_of_codes(test) is None:
                    cuts.append(here)
                else:
                    maps.append(here)
        cells = self.cells
        columns = self.columns if many else ""
        groups = [
            (cuts, self._cuts, cells),
            (maps, self._maps, cells),
            ([h for h in many if not h[1].is_machine], self._sides, columns),
            ([h for h in many if h[1].is_machine], self._machines, columns),
        ]
        order: dict[tuple[int, int], int] = {}
        parts = []
        for group, write, source in groups:
            if group:
                parts.append(write([test for _, test in group], source))
                order |= {at: len(order) + i for i, (at, _) in enumerate(group)}
        return self.op("Concat", *parts, axis=1), order

    def _cuts(self, tests: list[NodeTest], cells: str) -> str:
        values = self.take(cells, [self.position[t.feature] for t in tests])
        low = np.array([t.data["low"] for t in tests])
        below = self.op(
            "LessOrEqual", values, self.row([t.data["threshold"] for t in tests])
        )
        branch = self.op(
            "Where", below, self.row(low, np.int64), self.row(1 - low, np.int64)
        )
        return self.op("Where", self.op("IsNaN", values), self.ints(-1), branch)

    def _maps(self, tests: list[NodeTest], cells: str) -> str:
        table: list[int] = []
        start = []
        for test in tests:
            start.append(len(table) + 1)
            table += [-1, *(self.model.branch_of_codes(test) or ())]
        values = self.take(cells, [self.position[t.feature] for t in tests])
        codes = self.op("Cast", self.filled(values, self.const(-1.0)), to=7)
        at = self.op("Add", codes, self.row(start, np.int64))
        return self.op("Gather", self.ints(table), at, axis=0)

    def _sides(self, tests: list[NodeTest], columns: str) -> str:
        total = self._values([t.values[0] for t in tests], columns)
        cuts = self.row([t.data["threshold"] for t in tests])
        below = self.op("LessOrEqual", total, cuts)
        return self.op("Where", below, self.ints(0), self.ints(1))

    def _machines(self, tests: list[NodeTest], columns: str) -> str:
        total = self._values([v for t in tests for v in t.values], columns)
        most = max(t.n_branches for t in tests)
        at = np.zeros((len(tests), most), dtype=int)
        absent = np.zeros((1, len(tests), most))
        first = 0
        for i, test in enumerate(tests):
            at[i, : test.n_branches] = first + np.arange(test.n_branches)
            absent[0, i, test.n_branches :] = -np.inf
            first += test.n_branches
        shape = self.ints([0, len(tests), most])
        cube = self.op("Reshape", self.take(total, at.ravel().tolist()), shape)
        cube = self.op("Add", cube, self.const(absent))
        return self.op("ArgMax", cube, axis=2, keepdims=0)

    def _values(self, values: list[Value], columns: str) -> str:
        """Values as columns of a matrix; sums of weighted columns are added at once."""
        inside = dict.fromkeys(v for value in values for v in walk(value))
        flat = {v: found for v in inside if (found := monomials(v))}
        sums = self._sums(list(flat.values()), columns) if flat else ""
        if list(flat) == values:
            return sums
        done = {v: self.take(sums, [at]) for at, v in enumerate(flat)}
        made = [self._value(v, columns, done) for v in values]
        return self.op("Concat", *made, axis=1)

    def _value(self, value: Value, columns: str, done: dict[Value, str]) -> str:
        """A value as a column; `done` has those that are there already."""
        if value in done:
            return done[value]
        if isinstance(value, Constant):
            return self.op("Mul", self.ones, self.const(value.value))
        if isinstance(value, Column):
            cells = self.take(columns, [self.column_at[value.number]])
            return self.filled(cells, self.const(value.fill))
        inside = [self._value(part, columns, done) for part in parts(value)]
        match value:
            case Call():
                only = inside[0]
                name = self._exp(only) if value.function == "exp" else ""
                return name or self.op("Tanh", only)
            case AtMost():
                return self.op("Cast", self.op("LessOrEqual", *inside), to=11)
        return reduce(partial(self.op, "Add" if type(value) is Sum else "Mul"), inside)

    def _sums(self, sums: list[Monomials], columns: str) -> str:
        """Sums of weighted columns: a loop over their terms, in order."""
        start = self.op("Mul", self.ones, self.row([s.start for s in sums]))
        n_terms = max(len(s.terms) for s in sums)
        if not n_terms:
            return start
        # A factor that a term lacks is a column of ones, the last.
        n_columns = len(self.column_at)
        wide = self.op("Concat", columns, self.ones, axis=1)
        weight = np.zeros((n_terms, len(sums)))
        at = np.full((2, n_terms, len(sums)), n_columns)
        fill = np.ones((2, n_terms, len(sums)))
        for i, s in enumerate(sums):
            weight[: len(s.terms), i] = s.weights
            for p, term in enumerate(s.terms):
                for factor, column in enumerate(term):
                    at[factor, p, i] = self.column_at[column.number]
                    fill[factor, p, i] = column.fill
        has_products = bool((at[1] < n_columns).any())
        return self._add_terms(
            start, wide, weight, list(zip(at, fill, strict=True))[: 1 + has_products]
        )

    def _add_terms(
        self,
        start: str,
        columns: str,
        weight: np.ndarray,
        factors: list[tuple[np.ndarray, np.ndarray]],
    ) -> str:
        """A loop that adds weight times the product of the factors to all sums.

        A factor is, for each term and sum, a column and what fills its gaps.
        """
        helper, types = self.onnx.helper, self.onnx.TensorProto
        mark = f"s{len(self.nodes)}_"
        steps: list[Any] = []

        def op(kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
            output = mark + (output or str(len(steps)))
            steps.append(helper.make_node(kind, list(inputs), [output], **attributes))
            return output

        term, go, before = (mark + name for name in ("term", "go", "before"))
        amount = op("Gather", self.const(weight), term, axis=0)
        values = []
        for at, fill in factors:
            place = op("Gather", self.ints(at), term, axis=0)
            value = op("Gather", columns, place, axis=1)
            mean = op("Gather", self.const(fill), term, axis=0)
            values.append(op("Where", op("IsNaN", value), mean, value))
        product = values[0] if len(values) == 1 else op("Mul", *values)
        after = op("Add", before, op("Mul", amount, product), output="after")
        go_on = op("Identity", go, output="go_on")
        shape = ["rows", weight.shape[1]]
        body = helper.make_graph(
            steps,
            "add_term",
            [
                helper.make_tensor_value_info(term, types.INT64, []),
                helper.make_tensor_value_info(go, types.BOOL, []),
                helper.make_tensor_value_info(before, types.DOUBLE, shape),
            ],
            [
                helper.make_tensor_value_info(go_on, types.BOOL, []),
                helper.make_tensor_value_info(after, types.DOUBLE, shape),
            ],
        )
        count, true = self.ints(len(weight)), self.const(True, bool)
        return self.op("Loop", count, true, start, body=body)

    # -- nodes ----------------------------------------------------------------------

    def _branches(self) -> tuple[str, dict[int, int]]:
        """Branch of every decision node, -1: divided, and which column is whose."""
        model = self.model
        tests, order = self._tests()
        inner = [i for i in range(len(model.nodes)) if not model.is_leaf(i)]
        branch = self.take(tests, [order[i, 0] for i in inner])
        for s in range(1, max(len(model.tests(i)) for i in inner)):
            other = self.take(tests, [order.get((i, s), order[i, 0]) for i in inner])
            unknown = self.op("Less", branch, self.ints(0))
            branch = self.op("Where", unknown, other, branch)
        missing = [model.missing(i) or 0 for i in inner]
        unknown = self.op("Less", branch, self.ints(0))
        branch = self.op("Where", unknown, self.row(missing, np.int64), branch)
        return branch, {node: at for at, node in enumerate(inner)}

    def _leaf_parts(self) -> str:
        """The part of a row in each leaf, leaves in the library's order."""
        model = self.model
        if len(model.nodes) == 1:
            return self.ones
        branches, place = self._branches()
        below = range(1, len(model.nodes))
        parent = [model.nodes[i]["parent"] for i in below]
        own = [i - model.children(p)[0] for i, p in zip(below, parent, strict=True)]
        branch = self.take(branches, [place[p] for p in parent])
        taken = self.op("Equal", branch, self.row(own, np.int64))
        divided = self.op("Less", branch, self.ints(0))
        share = self.op("Where", divided, self.row(model.shares[1:]), self.const(0.0))
        handed = self.op("Where", taken, self.const(1.0), share)
        levels: list[list[int]] = []
        for node, depth in model.walk():
            if depth == len(levels):
                levels.append([])
            levels[depth].append(node)
        part, parts, at = self.ones, [self.ones], {0: 0}
        for above, level in pairwise(levels):
            from_ = {node: i for i, node in enumerate(above)}
            whole = self.take(part, [from_[model.nodes[i]["parent"]] for i in level])
            part = self.op("Mul", whole, self.take(handed, [i - 1 for i in level]))
            at |= {node: len(at) + i for i, node in enumerate(level)}
            parts.append(part)
        every = self.op("Concat", *parts, axis=1)
        return self.take(every, [at[leaf] for leaf in model.leaves])

    def _leaf_outputs(self) -> str:
        """Probabilities in each leaf: (leaves, classes) or (leaves, rows, classes)."""
        model = self.model
        fixed = np.array([model.outputs[leaf] for leaf in model.leaves])
        if not model.modelled:
            return self.const(fixed)
        tests = [test for leaf in model.modelled if (test := model.model(leaf))]
        columns = self.columns if any(t.columns for t in tests) else ""
        sums = [found for t in tests for v in t.values if (found := monomials(v))]
        shape = self.ints([0, len(tests), model.n_outputs])
        shares = self.op("Reshape", self._sums(sums, columns), shape)
        if not model.numeric:
            shares = self._softmax(shares)
        at = [
            model.modelled.index(i) if i in model.modelled else 0 for i in model.leaves
        ]
        shares = self.op("Gather", shares, self.ints(at), axis=1)
        by_model = np.array([[[i in model.modelled]] for i in model.leaves])
        chosen = self.op(
            "Where",
            self.const(by_model.reshape(1, -1, 1), bool),
            shares,
            self.const(fixed[None]),
        )
        return self.op("Transpose", chosen, perm=[1, 0, 2])

    def _softmax(self, sums: str) -> str:
        """Probabilities from sums along the last of three axes.

        Step by step as in the library (`_core/models.hpp`), to the last bit, since
        neither Softmax nor Exp round alike everywhere.
        """
        top = self.op("ReduceMax", sums, self.ints([2]))
        power = self._exp(self.op("Sub", sums, top))
        each = [
            self.op("Gather", power, self.ints([i]), axis=2)
            for i in range(self.model.n_outputs)
        ]
        total = each[0]
        for other in each[1:]:
            total = self.op("Add", total, other)
        return self.op("Div", power, total)

    def _exp(self, x: str) -> str:
        """The exponential function of numbers up to 0, with the library's steps."""
        scalar = self.const
        x = self.op("Max", x, scalar(-710.0))  # what is below -708 becomes 0
        twos = self.op("Mul", x, scalar(1.4426950408889634))
        k = self.op("Floor", self.op("Add", twos, scalar(0.5)))
        r = self.op("Sub", x, self.op("Mul", k, scalar(0.6931471803691238)))
        r = self.op("Sub", r, self.op("Mul", k, scalar(1.9082149292705877e-10)))
        one = series = scalar(1.0)
        for n in range(13, 0, -1):
            part = self.op("Div", self.op("Mul", series, r), scalar(float(n)))
            series = self.op("Add", one, part)
        power = self.op("Mul", series, self.op("Pow", scalar(2.0), k))
        small = self.op("Less", x, scalar(-708.0))
        return self.op("Where", small, scalar(0.0), power)

    def _sum_leaves(self, parts: str) -> None:
        """Probabilities: the outputs of the leaves, added up in a loop in order."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        model = self.model
        k = model.n_outputs
        by_leaf = self.op("Transpose", parts, perm=[1, 0])
        outputs = self._leaf_outputs()
        zeros = self.op("Mul", self.ones, self.row([0.0] * k))
        last = self.ints([-1])
        shape = ["rows", k]
        body = helper.make_graph(
            [
                helper.make_node("Gather", [by_leaf, "leaf"], ["part"], axis=0),
                helper.make_node("Unsqueeze", ["part", last], ["part_column"]),
                helper.make_node("Gather", [outputs, "leaf"], ["output"], axis=0),
                helper.make_node("Mul", ["part_column", "output"], ["term"]),
                helper.make_node("Add", ["before", "term"], ["after"]),
                helper.make_node("Identity", ["go"], ["go_on"]),
            ],
            "add_leaf",
            [
                helper.make_tensor_value_info("leaf", types.INT64, []),
                helper.make_tensor_value_info("go", types.BOOL, []),
                helper.make_tensor_value_info("before", types.DOUBLE, shape),
            ],
            [
                helper.make_tensor_value_info("go_on", types.BOOL, []),
                helper.make_tensor_value_info("after", types.DOUBLE, shape),
            ],
        )
        count = self.ints(len(model.leaves))
        go = self.const(True, bool)
        self.op("Loop", count, go, zeros, output="probabilities", body=body)
