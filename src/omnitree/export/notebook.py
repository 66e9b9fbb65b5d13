"""A fitted estimator in a notebook: one line of summary and the explorer below it.

The explorer is in a sandboxed iframe, which keeps its style and its script apart from the
notebook's.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any

HEIGHT = 560


def summary(name: str, tree: dict[str, Any], page: str, most_bytes: int) -> str:
    """HTML for a notebook's output, from the estimator's name and the explorer's page.

    Of a page of more than `most_bytes` it says how to write it to a file.
    """
    kinds = Counter(node["kind"] for node in tree["nodes"])
    leaves = kinds.pop("leaf", 0)
    tests = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    counts = f"{len(tree['nodes'])} nodes, {leaves} leaves"
    facts = f"{counts} ({tests})" if tests else counts
    what = f"{len(tree['classes'])} classes" if "classes" in tree else "a number"
    head = f"<p><code>{escape(name)}</code><br>{escape(facts)}, {what}</p>"
    if len(page) > most_bytes:
        return (
            f"{head}<p>The explorer of this tree is large; write it to a file with "
            "<code>to_html</code>.</p>"
        )
    return (
        f'{head}<iframe sandbox="allow-scripts" title="Decision tree" '
        f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #ccd3da; '
        f'border-radius: 8px" srcdoc="{escape(page)}"></iframe>'
    )
