"""C99 source of one function, `omnitree_predict`.

Numbers are passed as an array of doubles (NaN if missing), categories as an array of strings
(NULL if missing); both have a place for every feature of the tree, and the comment above
the function says which is used.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from omnitree.export.model import Model
from omnitree.export.procedure import Dialect, blocks, n_variables, shared_code

# As the library does it, step by step, so that the answers are the same.
_EXP = """
static double exp_down(double x) /* the exponential function up to 0 */
{
    double k, r, series = 1.0;
    int n;
    if (!(x >= -708.0)) return x < 0.0 ? 0.0 : x;
    k = floor(x * 1.4426950408889634 + 0.5);
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
    for (n = 13; n >= 1; n--) series = 1.0 + series * r / n;
    return ldexp(series, (int)k);
}"""


class _C(Dialect):
    and_, or_, not_ = "&&", "||", "!"
    choice = "({condition} ? {yes} : {no})"
    stop = ";"
    functions: ClassVar = {"tanh": "tanh", "exp": "exp_down"}

    def if_(self, word: str, condition: str, remark: str) -> str:
        test = {
            "if": f"if ({condition})",
            "elif": f"}} else if ({condition})",
            "else": "} else",
        }
        return f"{test[word]} {{" + (f" /* {_remark(remark)} */" if remark else "")

    def end(self) -> list[str]:
        return ["}"]

    def call(self, block: int, share: str) -> str:
        return f"todo[n] = {block}; part[n++] = {share};"

    def answer(self, first: int, biases: list[str]) -> list[str]:
        sums = " ".join(f"s{k} = {bias};" for k, bias in enumerate(biases))
        return [f"{sums} m = {first};"]

    def maximum(self, names: list[str]) -> list[str]:
        return [
            f"s = {names[0]};",
            *(f"if ({name} > s) s = {name};" for name in names[1:]),
        ]

    def largest(self, names: list[str]) -> list[str]:
        lines = [f"b = 0; s = {names[0]};"]
        for k, name in enumerate(names[1:], 1):
            lines.append(f"if ({name} > s) {{ b = {k}; s = {name}; }}")
        return lines


def to_c(model: Model) -> str:
    """Source code that defines `omnitree_predict`."""
    parts, models = blocks(model, _C()), shared_code(model, _C())
    body = "".join(line + "\n" for part in parts + models for line in part.lines)
    lines = [*_head(model), *_read(model)]
    sums = [f"s{i}" for i in range(n_variables(model))]
    if re.search(r"\bs = s\d+;", body):
        sums.append("s")
    if sums:
        lines.append(f"double {', '.join(sums)};")
    if " b = " in f" {body}":
        lines.append("int b;")
    k = len(model.classes)
    if model.numeric:
        lines.append("double p[1] = {0.0};")
    else:
        lines.append("int i, best = 0;")
        lines.append(f"for (i = 0; i < {k}; i++) p[i] = 0.0;")
    # What leaves share: the first of them says which model it is.
    shared = []
    for part in models:
        shared += [f"if (m == {part.root}) {{", *("    " + t for t in part.lines), "}"]
    if models:
        lines.append("int m = -1;")
    if len(parts) == 1:
        lines += [*parts[0].lines, *shared]
    else:
        lines += [
            f"int todo[{len(parts)}] = {{0}}, n = 1;",
            f"double part[{len(parts)}] = {{1.0}};",
            "while (n > 0) {",
            "    const double w = part[--n];",
            "    switch (todo[n]) {",
        ]
        for part in parts:
            lines.append(f"    case {part.root}:")
            lines += ["        " + line for line in part.lines]
            lines.append("        break;")
        again = ["m = -1;"] if models else []
        lines += ["    }", *("    " + line for line in shared + again), "}"]
    lines += ["return p[0];"] if model.numeric else _decide(model)
    return "\n".join([*_open(model), *("    " + line for line in lines), "}", ""])


def _decide(model: Model) -> list[str]:
    """The class to return, from the probabilities."""
    k = len(model.classes)
    if model.costs is None:
        return [
            f"for (i = 1; i < {k}; i++) if (p[i] > p[best]) best = i;",
            "return best;",
        ]
    table = ", ".join(repr(float(c)) for line in model.costs for c in line)
    return [
        "/* The class of least expected cost. */",
        f"static const double cost[] = {{{table}}};",
        f"double expected[{k}];",
        "int j;",
        f"for (j = 0; j < {k}; j++) {{",
        "    expected[j] = 0.0;",
        f"    for (i = 0; i < {k}; i++) expected[j] += p[i] * cost[i * {k} + j];",
        "    if (expected[j] < expected[best]) best = j;",
        "}",
        "return best;",
    ]


def _open(model: Model) -> list[str]:
    text = ["/* A decision tree, written by omnitree (C99).", " *"]
    text += [
        " * number[j], text[j] belong to feature j: a number (NaN if missing) or a string",
        " * in UTF-8 (NULL if missing). Where no feature is text, text may be NULL.",
    ]
    if not model.numeric:
        text += [
            " * p gets the probability of each class; the class is returned by number.",
            " *",
            " * Classes:",
        ]
        text += [f" *   {k}: {_remark(c)}" for k, c in enumerate(model.classes)]
    text += [" * Features:"]
    for j, feature in enumerate(model.features):
        place = "text" if model.has_text(j) else "number"
        unused = "" if j in model.used else ", not used"
        boolean = ", 0 or 1" if feature["kind"] == "boolean" else ""
        meaning = model.meaning(j)
        how = "" if meaning is None else f", the {_remark(meaning)}"
        name = _remark(feature["name"])
        text.append(f" *   {place}[{j}]: {name}{boolean}{how}{unused}")
    text += [" */"]
    if model.functions:
        text.append("#include <math.h>")
    if any(model.has_text(j) for j in model.used):
        text.append("#include <string.h>")
    if "exp" in model.functions:
        text.append(_EXP)
    return [
        *text,
        "",
        f"{'double' if model.numeric else 'int'} omnitree_predict(const double number[], "
        f"const char *const text[]{'' if model.numeric else ', double p[]'})",
        "{",
    ]


def _head(model: Model) -> list[str]:
    lines = []
    if not any(model.has_text(j) for j in model.used):
        lines.append("(void)text;")
    if all(model.has_text(j) for j in model.used):
        lines.append("(void)number;")
    return lines


def _read(model: Model) -> list[str]:
    """Declarations of x0, x1, ..., and the codes of categories."""
    lines = []
    for j in model.used:
        if not model.has_codes(j):
            lines.append(f"const double x{j} = number[{j}];")
            continue
        categories = model.categories(j)
        lines.append(f"int x{j} = -1;")
        for code, category in enumerate(categories):
            test = (
                f"text[{j}] && strcmp(text[{j}], {_string(category)}) == 0"
                if model.has_text(j)
                else f"number[{j}] == {float(category)!r}"
            )
            lines.append(f"{'else ' if code else ''}if ({test}) x{j} = {code};")
    return lines


def _string(text: str) -> str:
    """A string literal; other than plain characters as octal bytes."""
    if "\0" in text:
        raise ValueError(
            f"the category {text!r} holds a zero byte: C cannot compare it"
        )
    plain = "".join(
        chr(c) if 32 <= c < 127 and chr(c) not in '"\\?' else f"\\{c:03o}"
        for c in text.encode("utf-8", "surrogatepass")
    )
    return f'"{plain}"'


def _remark(value: Any) -> str:
    """A value or a name inside a comment, which it can neither end nor continue."""
    text = json.dumps(value)
    plain = text[1:-1] if isinstance(value, str) and "\\" not in text else text
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", plain)
