"""Check the direction of imports (import-linter) in the sources.

import-linter looks for the files of the installed package, and an editable install by
meson-python has none: its finder answers with a made-up folder. So that finder is taken out
here, and `src` is searched instead. The contract is in `pyproject.toml`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from importlinter.cli import lint_imports_command

sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
lint_imports_command(["--no-logo"])
