"""Write the stubs (.pyi) of the compiled modules from the signatures in their sources.

    python tools/stubs.py                  all of them, beside their sources, for mypy
    python tools/stubs.py SOURCE OUTPUT    one of them, as the build asks for it

A memory view becomes an array of its type; None is allowed where the function asks whether
an argument is None, or its docstring says so. What a function returns is told where it is
nothing, or the array of one declared view, else it is Any. `tests/core/test_stubs.py`
compares the stubs with the compiled modules.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CORE = Path(__file__).parent.parent / "src" / "omnitree" / "_core"
SOURCES = sorted(CORE.glob("*/*.pyx"))
NUMBERS = {
    "double": "float",
    "float": "float",
    "bint": "bool",
    **dict.fromkeys(("int", "int32_t", "int64_t", "uint64_t", "uint8_t"), "int"),
}
ARRAYS = {
    "double": "np.float64",
    "float": "np.float32",
    "uint8_t": "np.uint8",
    "uint16_t": "np.uint16",
    "int32_t": "np.int32",
    "int64_t": "np.int64",
    "uint64_t": "np.uint64",
}
OBJECTS = {"tuple": "tuple[Any, ...]", "list": "list[Any]", "dict": "dict[str, Any]"}
FUNCTION = re.compile(r"^(?:cp)?def (\w+)\((.*?)\):\n(.*?)(?=^\S|\Z)", re.M | re.S)
CONSTANT = re.compile(r"^([A-Z][A-Z_0-9]*) = ", re.M)


def array_of(declared: str) -> str:
    """The array that a memory view is one of."""
    return f"NDArray[{ARRAYS[declared.split('[')[0]]}]"


def parameter_of(text: str, body: str) -> str:
    """One parameter of a stub."""
    text, equals, default = (part.strip() for part in text.partition("="))
    if text in ("*", "/"):
        return text
    *words, name = text.removeprefix("const ").rsplit(" ", 1)
    declared = words[0].replace(" ", "") if words else ""
    if not declared:
        kind = "Any"
    elif "[" in declared:
        asked = rf"\b{name} is (not )?None|^ +([\w, ]+, )?{name}(, [\w, ]+)? : None"
        kind = array_of(declared)
        if default == "None" or re.search(asked, body, re.M):
            kind += " | None"
    else:
        kind = NUMBERS.get(declared) or OBJECTS[declared]
    return f"{name}: {kind}" + " = ..." * bool(equals)


def split_parameters(text: str) -> list[str]:
    """Parameters between the commas that are in no bracket."""
    depth, parts = 0, [""]
    for character in re.sub(r"\s+", " ", text):
        depth += (character in "[(") - (character in "])")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def returned(body: str) -> str:
    """The type of what a function returns."""
    values = {v.strip() for v in re.findall(r"^ +return\b(.*)", body, re.M)}
    values.discard("")
    if not values:
        return "None"
    views = set()
    for value in values:
        found = re.fullmatch(r"np\.asarray\((\w+)\)", value)
        name = found[1] if found else ""
        view = re.search(rf"cdef (?:const )?(\w+\[[^]]*\]) {name} =", body)
        if not name or not view:
            return "Any"
        views.add(array_of(view[1]))
    return views.pop() if len(views) == 1 else "Any"


def stub_of(path: Path) -> str:
    """The text of the stub of a source."""
    source = path.read_text(encoding="utf-8")
    lines = [f"# Made from {path.parent.name}/{path.name} by tools/stubs.py."]
    constants = [f"{name}: int" for name in CONSTANT.findall(source)]
    functions = []
    for name, parameters, body in FUNCTION.findall(source):
        if name.startswith("_"):
            continue
        own = [parameter_of(p, body) for p in split_parameters(parameters)]
        functions.append("")
        line = f"def {name}({', '.join(own)}) -> {returned(body)}: ..."
        if len(line) <= 88:
            functions[-1] = line
        else:
            inside = "".join(f"    {p},\n" for p in own)
            functions[-1] = f"def {name}(\n{inside}) -> {returned(body)}: ..."
    text = "\n".join([*constants, *functions])
    imports = ["from typing import Any\n"] if re.search(r"\bAny\b", text) else []
    if "np." in text:
        imports.append("import numpy as np\nfrom numpy.typing import NDArray\n")
    return "\n".join([*lines, *imports]) + "\n" + text + "\n"


def main() -> None:
    """Write one stub, or all."""
    pairs = {Path(sys.argv[1]): Path(sys.argv[2])} if len(sys.argv) == 3 else {}
    for source, stub in (pairs or {p: p.with_suffix(".pyi") for p in SOURCES}).items():
        stub.write_text(stub_of(source), encoding="utf-8")


if __name__ == "__main__":
    main()
