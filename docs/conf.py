"""Sphinx configuration; also writes the pages that are made from the package itself.

The gallery (`examples/`) is run by sphinx-gallery: a script that fails, fails the build.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

import omnitree
from omnitree.cli.app import app as command_line
from omnitree.estimators.registries import REGISTRIES

sys.path.insert(0, str(Path(__file__).parent))
import system_pages

project = "omnitree"
author = "The omnitree developers"
copyright = "the omnitree developers"
version = release = omnitree.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = f"omnitree {version}"
html_static_path = ["_static"]
html_css_files = ["omnitree.css"]
html_favicon = "_static/tree.svg"
html_logo = "_static/tree.svg"
html_theme_options = {
    "logo": {"text": "omnitree"},
    "show_prev_next": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_nav_level": 1,
    "navigation_with_keys": False,
}
html_sidebars: dict[str, list[str]] = {"index": [], "getting_started": []}
html_show_sourcelink = False

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
myst_heading_anchors = 2
myst_enable_extensions = ["colon_fence"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    # The last expression of a block: a table, a picture as text; of plots only the picture.
    "capture_repr": ("_repr_html_",),
    "ignore_repr_types": r"Tree(Classifier|Regressor)",
}

GENERATED = Path(__file__).parent / "generated"


def commands_page() -> str:
    """The help of the command line, all of it."""
    main = typer.main.get_command(command_line)
    text = [
        "# All command line options",
        "What `omnitree --help` and `omnitree COMMAND --help` say. Exit code 0: done; 1: "
        "the input is at fault, said in one line; 2: wrong usage.",
        _help(main, "omnitree", None),
    ]
    for name, command in main.commands.items():
        parent = main.context_class(main, info_name="omnitree")
        text += [f"## `omnitree {name}`", _help(command, name, parent)]
    return "\n\n".join(text) + "\n"


def _help(command: Any, name: str, parent: Any) -> str:
    # The context's class is click's, or that of typer's own copy of click.
    with command.context_class(
        command, info_name=name, parent=parent, terminal_width=88, max_content_width=88
    ) as context:
        return f"```text\n{command.get_help(context)}\n```"


def parts_page() -> str:
    """One table a registry."""
    text = [
        "# Parts of a tree",
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
    pages = {"parts": parts_page, "commands": commands_page}
    system_pages.write(GENERATED / "systems")
    for name, make in pages.items():
        system_pages.put(GENERATED / f"{name}.md", make())
