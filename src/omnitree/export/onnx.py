"""ONNX: all tests of all nodes at once, as operators of the standard set (ai.onnx).

Inputs are `numbers` (double, a column per feature that is a number or a boolean; NaN is a
missing value) and `strings` (string, a column per feature of text; an empty string is a
missing value), each only if there are such features; the model's metadata lists their names
in order. Outputs are `label` and `probabilities`, or `prediction` where the tree answers a
number.

From the columns come the branch of every test, the branch of every node, the part of the
row that each node hands to each child, the part that reaches each leaf (level by level),
and the sum over the leaves. All is double, and what is added up is added in the library's
order, so a row on a boundary falls on the same side. Needs the package `onnx`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property, partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from omnitree.export.model import Model, NodeTest
from omnitree.export.onnx_graph import Graph
from omnitree.tree import expression as ex

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
    try:
        return OnnxWriter(model, onnx).model_bytes()
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise ValueError(
            f"a name, category or class holds {bad!r}, which ONNX cannot write"
        ) from None


class OnnxWriter(Graph):
    def __init__(self, model: Model, onnx: Any):
        super().__init__(onnx)
        self.model = model
        every = range(len(model.features))
        self.numbers = [j for j in every if not model.has_text(j)]
        self.texts = [j for j in every if model.has_text(j)]
        self.position = {j: at for at, j in enumerate(model.used)}

    # -- the graph ------------------------------------------------------------------

    def model_bytes(self) -> bytes:
        """The whole model."""
        onnx, model = self.onnx, self.model
        helper, types = onnx.helper, onnx.TensorProto
        names = [f["name"] for f in model.features]
        about, inputs = {}, []
        for kind, features, type_ in (
            ("numbers", self.numbers, types.DOUBLE),
            ("strings", self.texts, types.STRING),
        ):
            about[kind] = json.dumps([names[j] for j in features])
            if features:
                inputs.append(self.info(kind, type_, ["rows", len(features)]))
        about["classes"] = json.dumps(model.classes)
        rows = self.op("Shape", inputs[0].name, start=0, end=1)
        one, shape = (
            self.const([[1.0]]),
            self.op("Concat", rows, self.ints([1]), axis=0),
        )
        self.ones = self.op("Expand", one, shape)
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
        helper.set_model_props(out, about)
        onnx.checker.check_model(out, full_check=True)
        return out.SerializeToString()

    def _number(self) -> list[Any]:
        """The number of a row."""
        self.op("Squeeze", "probabilities", self.ints([1]), output="prediction")
        return [self.info("prediction", self.onnx.TensorProto.DOUBLE, ["rows"])]

    def _label(self) -> list[Any]:
        """The class of a row, and its probabilities."""
        best = self.op("ArgMax", self._worth(), axis=1, keepdims=0)
        classes = np.array(self.model.classes)
        if classes.dtype.kind == "U":
            classes = classes.astype(object)
        labels = self.onnx.numpy_helper.from_array(classes, "classes")
        self.constants.append(labels)
        self.op("Gather", "classes", best, output="label", axis=0)
        double, shape = self.onnx.TensorProto.DOUBLE, ["rows", len(classes)]
        label = self.info("label", labels.data_type, ["rows"])
        return [label, self.info("probabilities", double, shape)]

    def _worth(self) -> str:
        """What is largest for the class to answer: probability, or minus expected cost."""
        if self.model.costs is None:
            return "probabilities"
        total = ""
        for k, line in enumerate(self.model.costs):
            term = self.op("Mul", self.take("probabilities", [k]), self.row(line))
            total = self.op("Add", total, term) if k else term
        return self.op("Neg", total)

    def _cells(self) -> str:
        """Used features as numbers and codes, missing values as NaN."""
        columns = []
        for j in self.model.used:
            if j in self.texts:
                cell = self.take("strings", [self.texts.index(j)])
            else:
                cell = self.take("numbers", [self.numbers.index(j)])
            if self.model.has_codes(j):
                categories = self.model.categories(j)
                dtype = object if j in self.texts else np.float64
                equal = self.op("Equal", cell, self.row(categories, dtype))
                # Code plus one, 0 if none is equal.
                code = self.row(np.arange(1.0, len(categories) + 1))
                hit = self.op("Mul", self.op("Cast", equal, to=11), code)
                code = self.op("ReduceSum", hit, self.ints([1]))
                known = self.op("Greater", code, self.const(0.0))
                less = self.op("Sub", code, self.const(1.0))
                cell = self.op("Where", known, less, self.const(np.nan))
            columns.append(cell)
        # Tests whose weights are all 0 look at no feature.
        return self.op("Concat", *(columns or [self.ones]), axis=1)

    def _columns(self, cells: str) -> str:
        """Encoded columns; missing values are NaN."""
        columns = [c for c in self.model.columns if c.feature in self.position]
        self.column_at = {
            i: columns.index(c)
            for i, c in enumerate(self.model.columns)
            if c.feature in self.position
        }
        values = self.take(cells, [self.position[c.feature] for c in columns])
        categories = [c.category for c in columns]
        own = self.op("Equal", values, self.row(categories))
        sign = self.op("Where", own, self.const(1.0), self.const(-1.0))
        is_category = self.row([s >= 0 for s in categories], bool)
        coded = self.op("Where", is_category, sign, values)
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
        every = [((n, i), t) for n in model.inner for i, t in enumerate(model.tests(n))]
        for here in every:
            if not here[1].can_fail:
                many.append(here)
            elif model.branch_of_codes(here[1]) is None:
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
        low = np.array([t.cut.low for t in tests])
        below = self.op(
            "LessOrEqual", values, self.row([t.cut.threshold for t in tests])
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
        cuts = self.row([t.cut.threshold for t in tests])
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

    def _values(self, values: list[ex.Value], columns: str) -> str:
        """Values as columns of a matrix; sums of weighted columns are added at once."""
        inside = dict.fromkeys(v for value in values for v in ex.walk(value))
        flat = {v: found for v in inside if (found := ex.monomials(v))}
        sums = self._sums(list(flat.values()), columns) if flat else ""
        if list(flat) == values:
            return sums
        done = {v: self.take(sums, [at]) for at, v in enumerate(flat)}
        made = [self._value(v, columns, done) for v in values]
        return self.op("Concat", *made, axis=1)

    def _begun(self, values: list[ex.Value], columns: str, start: str) -> str:
        """Sums as `_values`, those that begin with columns of `start` instead of biases."""
        sums = [found for value in values if (found := ex.monomials(value))]
        if len(sums) == len(values):
            return self._sums(sums, columns, start)
        if not start:
            return self._values(values, columns)
        made = []
        for k, value in enumerate(values):
            terms = list(ex.parts(value)[1:])
            every = self._values(terms, columns) if terms else ""
            added = (self.take(every, [i]) for i in range(len(terms)))
            made.append(reduce(partial(self.op, "Add"), added, self.take(start, [k])))
        return self.op("Concat", *made, axis=1)

    def _value(self, value: ex.Value, columns: str, done: dict[ex.Value, str]) -> str:
        """A value as a column; `done` has those that are there already."""
        if value in done:
            return done[value]
        if isinstance(value, ex.Constant):
            return self.op("Mul", self.ones, self.const(value.value))
        if isinstance(value, ex.Column):
            cells = self.take(columns, [self.column_at[value.number]])
            return self.filled(cells, self.const(value.fill))
        if isinstance(value, ex.Curve):
            return self._sums([ex.Monomials(0.0, (), (), (value,))], columns)
        inside = [self._value(part, columns, done) for part in ex.parts(value)]
        match value:
            case ex.Call():
                only = inside[0]
                name = self.exp(only) if value.function == "exp" else ""
                return name or self.op("Tanh", only)
            case ex.AtMost():
                return self.op("Cast", self.op("LessOrEqual", *inside), to=11)
        return reduce(
            partial(self.op, "Add" if type(value) is ex.Sum else "Mul"), inside
        )

    def _sums(self, sums: list[ex.Monomials], columns: str, start: str = "") -> str:
        """Sums of weighted columns: a loop over their terms, in order, then their curves.

        `start` is what they begin with, if that differs between rows.
        """
        if not start:
            start = self.op("Mul", self.ones, self.row([s.start for s in sums]))
        if any(s.terms for s in sums):
            start = self._add_columns(start, sums, columns)
        if any(s.curves for s in sums):
            start = self._add_curves(start, [s.curves for s in sums], columns)
        return start

    def _add_columns(self, start: str, sums: list[ex.Monomials], columns: str) -> str:
        """Adds the weighted columns, and products of two, of all sums."""
        n_terms = max(len(s.terms) for s in sums)
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
        """Adds weight times the product of the factors to all sums, term by term.

        A factor is, for each term and sum, a column and what fills its missing cells.
        """

        def term(op: Callable[..., str], at: str) -> str:
            amount = op("Gather", self.const(weight), at, axis=0)
            values = []
            for places, fill in factors:
                place = op("Gather", self.ints(places), at, axis=0)
                value = op("Gather", columns, place, axis=1)
                mean = op("Gather", self.const(fill), at, axis=0)
                values.append(op("Where", op("IsNaN", value), mean, value))
            return op("Mul", amount, reduce(partial(op, "Mul"), values))

        return self.loop(len(weight), start, weight.shape[1], term)

    def _add_curves(
        self, start: str, sums: list[tuple[ex.Curve, ...]], columns: str
    ) -> str:
        """Adds the curves of all sums, the first of each, then the second ones.

        Where a sum has fewer curves, or a curve fewer knots, knots are infinite and all
        else is 0.
        """
        n_curves = max(map(len, sums))
        n_knots = max(len(c.knots) for curves in sums for c in curves)
        at = np.zeros((n_curves, len(sums)), dtype=int)
        knots = np.full((n_curves, n_knots, len(sums)), np.inf)
        values, slopes = np.zeros_like(knots), np.zeros_like(knots)
        last, final, missing = (np.zeros((n_curves, len(sums))) for _ in range(3))
        for i, curves in enumerate(sums):
            for p, curve in enumerate(curves):
                n = len(curve.knots)
                at[p, i] = self.column_at[curve.column]
                knots[p, :n, i], values[p, :n, i] = curve.knots, curve.values
                slopes[p, : n - 1, i] = curve.slopes
                last[p, i], final[p, i] = curve.knots[-1], curve.values[-1]
                missing[p, i] = curve.missing

        def term(op: Callable[..., str], p: str) -> str:
            def of(table: np.ndarray, i: int | None = None) -> str:
                part = table if i is None else table[:, i]
                write = self.ints if part.dtype == int else self.const
                return op("Gather", write(part), p, axis=0)

            x = op("Gather", columns, of(at), axis=1)
            total = of(final)
            for i in range(n_knots - 2, -1, -1):
                past = op("Sub", x, of(knots, i))
                piece = op("Add", of(values, i), op("Mul", past, of(slopes, i)))
                below = op("LessOrEqual", x, of(knots, i + 1))
                total = op("Where", below, piece, total)
            total = op("Where", op("GreaterOrEqual", x, of(last)), of(final), total)
            below = op("LessOrEqual", x, of(knots, 0))
            total = op("Where", below, of(values, 0), total)
            return op("Where", op("IsNaN", x), of(missing), total)

        return self.loop(n_curves, start, len(sums), term)

    # -- nodes ----------------------------------------------------------------------

    def _branches(self) -> tuple[str, dict[int, int]]:
        """Branch of every decision node, -1: divided, and which column is whose."""
        model = self.model
        tests, order = self._tests()
        inner = model.inner
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

    def _leaf_outputs(self, parts: str) -> str:
        """Probabilities in each leaf: (leaves, classes) or (leaves, rows, classes)."""
        model = self.model
        fixed = np.array([model.outputs[leaf] for leaf in model.leaves])
        if not model.modelled:
            return self.const(fixed)
        speakers = {leaf: leaf for leaf in model.modelled}
        biases = self._shared_biases()
        if biases is not None:
            speakers = model.speakers
        written = sorted(set(speakers.values()))
        tests = [test for leaf in written if (test := model.model(leaf))]
        columns = self.columns if any(ex.columns_in(t.rule) for t in tests) else ""
        sums = [value for test in tests for value in test.values]
        # Each row is in one leaf then, so this takes the line of that leaf.
        start = "" if biases is None else self.op("MatMul", parts, self.const(biases))
        shape = self.ints([0, len(tests), model.n_outputs])
        shares = self.op("Reshape", self._begun(sums, columns, start), shape)
        if not model.numeric:
            shares = self.softmax(shares, model.n_outputs)
        place = {leaf: written.index(first) for leaf, first in speakers.items()}
        at = [place.get(leaf, 0) for leaf in model.leaves]
        shares = self.op("Gather", shares, self.ints(at), axis=1)
        by_model = self.const([[[leaf in place] for leaf in model.leaves]], bool)
        chosen = self.op("Where", by_model, shares, self.const(fixed[None]))
        return self.op("Transpose", chosen, perm=[1, 0, 2])

    def _shared_biases(self) -> np.ndarray | None:
        """What the sums of models that leaves share begin with, (leaves, models and sums).

        None if no row is in one leaf alone, or if the table would be larger than the
        weights that are written once with it.
        """
        model = self.model
        first = sorted(set(model.speakers.values()))
        if not model.shared_by or model.dividing:
            return None
        out = np.zeros((len(model.leaves), len(first), model.n_outputs))
        saved = 0
        for row, leaf in enumerate(model.leaves):
            test = model.model(leaf)
            if test is not None:
                out[row, first.index(model.speakers[leaf])] = model.biases(leaf)
                if model.speakers[leaf] != leaf:
                    saved += sum(1 for _ in ex.walk(test.rule))
        return out.reshape(len(out), -1) if out.size < saved else None

    def _sum_leaves(self, parts: str) -> None:
        """Probabilities: the outputs of the leaves, added up in order."""
        k = self.model.n_outputs
        by_leaf = self.op("Transpose", parts, perm=[1, 0])
        outputs, last = self._leaf_outputs(parts), self.ints([-1])

        def term(op: Callable[..., str], leaf: str) -> str:
            part = op("Unsqueeze", op("Gather", by_leaf, leaf, axis=0), last)
            return op("Mul", part, op("Gather", outputs, leaf, axis=0))

        zeros = self.op("Mul", self.ones, self.row([0.0] * k))
        self.loop(len(self.model.leaves), zeros, k, term, "probabilities")
