"""Sphinx configuration; also writes the pages that are made from the package itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import omnitree
from omnitree import presets
from omnitree.persistence import REGISTRIES

project = "omnitree"
author = "The omnitree developers"
copyright = "the omnitree developers"
version = release = omnitree.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = f"omnitree {version}"
html_theme_options = {"show_prev_next": False}
html_sidebars: dict[str, list[str]] = {"**": []}

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
myst_heading_anchors = 2

GENERATED = Path(__file__).parent / "generated"


def presets_page() -> str:
    """One section a preset, from its docstring."""
    text = [
        "# Presets",
        "Published systems, ready to fit: `presets.make(NAME)`. This page is made from "
        "their docstrings, which `presets.describe(NAME)` and `omnitree presets NAME` "
        "give too.",
    ]
    for name in presets.names():
        text += [f"## `{name}`", presets.describe(name)]
    return "\n\n".join(text) + "\n"


def parts_page() -> str:
    """One table a registry."""
    text = [
        "# Parts",
        "What a tree can be composed of. Each is given by its name, or as an object with "
        "options. This page is made from the registries; `omnitree parts` prints it.",
    ]
    for kind, registry in REGISTRIES.items():
        rows = ["| name | class | what it is |", "|---|---|---|"]
        for name, part in registry.items():
            rows.append(f"| `{name}` | `{part.__name__}` | {part.summary()} |")
        text += [f"## {kind.capitalize()}", "\n".join(rows)]
    return "\n\n".join(text) + "\n"


def skip_member(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn documents: get_params, set_fit_request and so on."""
    home = getattr(obj, "__module__", None) or ""
    request = name.startswith("set_") and name.endswith("_request")
    return True if home.startswith("sklearn") or request else None


def setup(app: Any) -> None:
    """Write the pages before Sphinx looks for its sources."""
    app.connect("autodoc-skip-member", skip_member)
    GENERATED.mkdir(exist_ok=True)
    for name, page in (("presets", presets_page()), ("parts", parts_page())):
        path = GENERATED / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")
