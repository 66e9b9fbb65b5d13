"""The explorer: a fitted tree as one HTML file that needs nothing else.

`page.html` is the template; the style and the scripts beside it are put into it as they are,
and `payload.py` gives the data, embedded as JSON. The page makes all of its text with
`textContent`, and its content security policy lets it run these scripts only and ask
nothing of any network: names from the user's data are shown, never run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

# In this order they are one script.
SCRIPTS = (
    "dom.js",
    "model.js",
    "route.js",
    "words.js",
    "charts.js",
    "curves.js",
    "state.js",
    "weights.js",
    "cards.js",
    "tree_view.js",
    "tree_input.js",
    "steps.js",
    "node_panel.js",
    "rows_panel.js",
    "whatif_panel.js",
    "rules_panel.js",
    "compare_panel.js",
    "search.js",
    "print.js",
    "main.js",
)


def render(data: dict[str, Any]) -> str:
    """The page that shows `data`, made by `payload.payload`."""
    return _page().render(title=data["title"], data=embedded_json(data))


@cache
def _page() -> Template:
    """The template, which is the same for every tree, with style and scripts in it."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    style = _source("explorer.css")
    script = "\n".join(_source(name) for name in SCRIPTS)
    parts = {"style": style, "script": script}
    hashes = {f"{name}_hash": _hash(text) for name, text in parts.items()}
    return environment.from_string(_source("page.html"), globals=parts | hashes)


def embedded_json(data: Any) -> str:
    """JSON that can stand inside a script element.

    Examples
    --------
    >>> print(embedded_json({"name": "</script>"}))
    {"name":"\\u003c/script\\u003e"}
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))  # ASCII only
    for sign in "<>&":  # in JSON these stand only inside strings
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a content security policy names an inline script or style."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
