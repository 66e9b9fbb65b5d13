"""Names with options on the command line: `ldt:epsilon=0.9:threshold=exhaustive`.

Data sets, presets and protocols are all given this way. A value is a number, true, false
or null as JSON writes them, else a string.
"""

from __future__ import annotations

import json
from typing import Any


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a specification.

    >>> parse("ldt:epsilon=0.9:grouping=selection")
    ('ldt', {'epsilon': 0.9, 'grouping': 'selection'})
    >>> parse("c4.5")
    ('c4.5', {})
    """
    name, *pairs = text.strip().split(":")
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ValueError(
                f"{text!r}: options are written name:option=value:option=value"
            )
        try:
            options[key] = json.loads(value)
        except json.JSONDecodeError:
            options[key] = value
    return name, options


def show(name: str, options: dict[str, Any]) -> str:
    """The specification that `parse` reads.

    >>> show("ldt", {"epsilon": 0.9, "pruning": None})
    'ldt:epsilon=0.9:pruning=null'
    """
    pairs = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in options.items()
    ]
    return ":".join([name, *pairs])
