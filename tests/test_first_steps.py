"""The first ten minutes of a new user run as they are written: a notebook, and a script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_notebook_runs(tmp_path: Path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    notebook = nbformat.read(EXAMPLES / "first_ten_minutes.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells)  # as committed
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    assert not any(out["output_type"] == "error" for out in outputs)
    shown = "".join(str(out.get("text", "")) for out in outputs)
    for word in ("chosen for", "It would be", "CASE WHEN"):
        assert word in shown
    assert any("text/html" in out.get("data", {}) for out in outputs)
    assert (tmp_path / "penguins.html").exists()


@pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="needs bash"
)
def test_the_script_runs(tmp_path: Path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", str(EXAMPLES / "first_ten_minutes.sh")],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    for word in ("Error on new rows", "It would be", "p(Adelie)", "p against omni"):
        assert word in result.stdout
    assert len((tmp_path / "predicted.csv").read_text().splitlines()) == 345
    assert "CASE WHEN" in (tmp_path / "tree.sql").read_text()
