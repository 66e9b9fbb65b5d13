"""An ONNX graph in the making: constants, operators, loops and the library's exp.

Used by `onnx.py`, which knows what the graph computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Graph:
    """Operators and constants of a graph, in order; `onnx` is the package."""

    def __init__(self, onnx: Any):
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def const(self, values: Any, dtype: Any = np.float64) -> str:
        """Name of a new constant."""
        name = f"c{len(self.constants)}"
        array = np.asarray(values, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def info(self, name: str, type_: int, shape: Sequence[Any]) -> Any:
        """What an input or an output is called and holds."""
        return self.onnx.helper.make_tensor_value_info(name, type_, shape)

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
        """A matrix with its missing values filled."""
        return self.op("Where", self.op("IsNaN", matrix), fill, matrix)

    def loop(
        self,
        count: int,
        start: str,
        width: int,
        term: Callable[[Callable[..., str], str], str],
        output: str = "",
    ) -> str:
        """A matrix plus terms that are added one after another, in a loop.

        `term` writes the operators of a term, by the function that it is given, from
        the name of its number.
        """
        helper, types = self.onnx.helper, self.onnx.TensorProto
        mark = f"l{len(self.nodes)}_"
        steps: list[Any] = []

        def op(kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
            output = mark + (output or str(len(steps)))
            steps.append(helper.make_node(kind, list(inputs), [output], **attributes))
            return output

        at, go, before = (mark + name for name in ("at", "go", "before"))
        after = op("Add", before, term(op, at), output="after")
        go_on = op("Identity", go, output="go_on")
        info, shape = self.info, ["rows", width]
        carried = [(go, go_on, types.BOOL, []), (before, after, types.DOUBLE, shape)]
        inputs = [info(old, type_, size) for old, _, type_, size in carried]
        outputs = [info(new, type_, size) for _, new, type_, size in carried]
        inputs.insert(0, info(at, types.INT64, []))
        body = helper.make_graph(steps, "add_term", inputs, outputs)
        n, true = self.ints(count), self.const(True, bool)
        return self.op("Loop", n, true, start, output=output, body=body)

    def exp(self, x: str) -> str:
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

    def softmax(self, sums: str, n: int) -> str:
        """Probabilities from `n` sums along the last of three axes.

        Step by step as in the library (`_core/models.hpp`), to the last bit, since
        neither Softmax nor Exp round alike everywhere.
        """
        top = self.op("ReduceMax", sums, self.ints([2]))
        power = self.exp(self.op("Sub", sums, top))
        each = [self.op("Gather", power, self.ints([i]), axis=2) for i in range(n)]
        total = each[0]
        for other in each[1:]:
            total = self.op("Add", total, other)
        return self.op("Div", power, total)
