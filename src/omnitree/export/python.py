"""Python source of one function, `predict(row)`, that imports nothing.

Where a tree tests dates, it imports `datetime` and `re` from the standard library. A row is
a dict from column names to cells: numbers, categories and dates, with None or NaN for a
missing value. A column that the row lacks is missing, and so is a category that was never
seen in training.
"""

from __future__ import annotations

from typing import ClassVar

from omnitree.data.plain import one_line
from omnitree.export.model import Model
from omnitree.export.procedure import Dialect, blocks, shared_code
from omnitree.export.python_dates import dates_source

_HEAD = '''\
"""A decision tree, written by omnitree.

predict(row) takes a dict from column names to cells and gives the class and the
probabilities of all classes. A cell is a number or a category; None, NaN, an empty
string or no cell at all is a missing value.{dates}
"""

CLASSES = {classes}
'''

_NUMBER_HEAD = '''\
"""A regression tree, written by omnitree.

predict(row) takes a dict from column names to cells and gives a number. A cell is a number
or a category; None, NaN, an empty string or no cell at all is a missing value.{dates}
"""
'''

_NUMBER = '''

def _number(cell):
    """The cell as a float, NaN in a missing value."""
    if type(cell).__name__ in ("NoneType", "NAType", "NaTType"):
        return float("nan")
    if isinstance(cell, str) and not cell.strip():
        return float("nan")
    return float(cell)
'''

_CODE = '''

def _code(cell, codes):
    """The code of a category, -1 in a missing value or if training never showed it."""
    if type(cell).__name__ in ("NoneType", "NAType", "NaTType") or cell != cell:
        return -1
    if cell not in codes and not isinstance(cell, str):
        whole = isinstance(cell, float) and cell.is_integer()
        cell = str(int(cell) if whole else cell)
    return codes.get(cell, -1)
'''

_PART = '''

def _part(row, name, column, **how):
    """A part of a date; of the date itself where the row has that."""
    return date_part(row[column], **how) if column in row else row.get(name)
'''

_TANH = '''

def _tanh(value):
    """Hyperbolic tangent by the series of exp(2 value) - 1."""
    double = 2.0 * abs(value)
    if double > 40.0:
        return 1.0 if value > 0 else -1.0
    halvings = 0
    while double > 0.25:
        double, halvings = double / 2.0, halvings + 1
    term = total = double
    for n in range(2, 20):
        term *= double / n
        total += term
    for _ in range(halvings):
        total = total * (total + 2.0)
    total /= total + 2.0
    return total if value > 0 else -total
'''


_EXP = '''

def _exp(value):
    """The exponential function up to 0: with k ln 2 + r, a series times two to the k."""
    if not value >= -708.0:
        return 0.0 if value < 0.0 else value
    k = (value * 1.4426950408889634 + 0.5) // 1.0
    r = (value - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    series = 1.0
    for n in range(13, 0, -1):
        series = 1.0 + series * r / n
    return series * 2.0**k
'''


class _Python(Dialect):
    and_, or_, not_ = "and", "or", "not "
    choice = "({yes} if {condition} else {no})"
    stop = ""
    functions: ClassVar = {"tanh": "_tanh", "exp": "_exp"}

    def if_(self, word: str, condition: str, remark: str) -> str:
        test = "else" if word == "else" else f"{word} {condition}"
        return f"{test}:  # {remark}" if remark else f"{test}:"

    def end(self) -> list[str]:
        return []

    def call(self, block: int, share: str) -> str:
        return f"todo.append((_block_{block}, {share}))"

    def answer(self, first: int, biases: list[str]) -> list[str]:
        return [f"_model_{first}(x, w, p, {', '.join(biases)})"]

    def maximum(self, names: list[str]) -> list[str]:
        return [f"s = max(({', '.join(names)},))"]

    def largest(self, names: list[str]) -> list[str]:
        listed = ", ".join(names)
        return [f"b = ({listed}).index(max({listed}))"]


def to_python(model: Model) -> str:
    """Source code that defines `predict`."""
    used, parts = model.used, blocks(model, _Python())
    head = _NUMBER_HEAD if model.numeric else _HEAD
    text = [head.format(dates=_dates(model), classes=repr(list(model.classes)))]
    if model.meanings:
        text += ["\n", dates_source(), _PART]
    text += [_NUMBER] * any(not model.has_codes(j) for j in used)
    text += [_CODE] * any(model.has_codes(j) for j in used)
    text += [_TANH] * ("tanh" in model.functions)
    text += [_EXP] * ("exp" in model.functions)
    read = []
    for j in used:
        name, part = model.features[j]["name"], model.features[j].get("part")
        cell = f"row.get({name!r})"
        if part is not None:
            cell = f"_part(row, {name!r}, **{part!r})"
        if model.has_codes(j):
            categories = model.features[j]["categories"]
            codes = {category: code for code, category in enumerate(categories)}
            read.append(f"x{j} = _code({cell}, {codes!r})")
        else:
            read.append(f"x{j} = _number({cell})")
    start = f"p = [0.0] * {model.n_outputs}"
    end = ["return p[0]" if model.numeric else "return CLASSES[p.index(max(p))], p"]
    if model.costs is not None:
        text.append(
            "\n# Of an answer (column) for a row of a class (line).\n"
            f"COSTS = {model.costs!r}\n"
        )
        end = [
            "expected = [0.0] * len(p)",
            "for share, line in zip(p, COSTS):",
            "    expected = [e + share * c for e, c in zip(expected, line)]",
            "return CLASSES[expected.index(min(expected))], p",
        ]
    names = ", ".join(f"x{j}" for j in used)
    values = f"({names}{',' * (len(used) == 1)})"
    for part in shared_code(model, _Python()):
        sums = ", ".join(f"s{k}" for k in range(model.n_outputs))
        body = [f"{values} = x", *part.lines] if used else part.lines
        text += _define(f"_model_{part.root}", f"x, w, p, {sums}", "", body)
    if len(parts) == 1:
        body = [*read, start, *parts[0].lines, *end]
        if model.shared_by:
            body = [*read, f"x, w = {values}, 1.0", start, *parts[0].lines, *end]
        return "".join([*text, *_define("predict", "row", _doc(model), body)])
    for part in parts:
        body = [f"{values} = x", *part.lines] if used else part.lines
        text += _define(f"_block_{part.root}", "x, w, todo, p", "", body)
    loop = [
        f"x = {values}",
        start,
        "todo = [(_block_0, 1.0)]",
        "while todo:",
        "    block, w = todo.pop()",
        "    block(x, w, todo, p)",
    ]
    body = [*read, *loop, *end]
    return "".join([*text, *_define("predict", "row", _doc(model), body)])


def _dates(model: Model) -> str:
    """What the head says about columns of dates."""
    if not model.meanings:
        return ""
    lines = [f"- {_quoted(line)}" for line in model.meanings]
    told = "\n\nA date is text, a date or a datetime; a row without it may give its parts:\n"
    return "\n".join([told, *lines])


def _doc(model: Model) -> str:
    if model.numeric:
        return "What the tree answers for a row."
    classes = _quoted(one_line(", ".join(map(str, model.classes))))
    return f"Class of a row, and the probabilities of {classes}."


def _quoted(text: str) -> str:
    """Text as it may stand in a docstring."""
    return text.replace("\\", "\\\\").replace('"', "'")


def _define(name: str, arguments: str, doc: str, body: list[str]) -> list[str]:
    lines = [f"\n\ndef {name}({arguments}):"]
    if doc:
        lines.append(f'    """{doc}"""')
    lines += ["    " + line for line in body]
    return ["\n".join(lines) + "\n"]
