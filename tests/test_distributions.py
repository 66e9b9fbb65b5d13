"""Source distribution and wheel: the same twice, nothing too much, and they work."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location(
    "distributions", ROOT / ".ci" / "distributions.py"
)
distributions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(distributions)

SOURCES = [f"omnitree-1/{name}" for name in sorted(distributions.SOURCES)]
WHEEL = ["omnitree/__init__.py", "omnitree/py.typed", "omnitree-1.dist-info/METADATA"]
WHEEL += ["omnitree/_core/a.cpython-311.so", "omnitree/_core/a.pyi"]


def archives(folder: Path, sources: list[str], wheel: list[str]) -> tuple[Path, Path]:
    """A sdist and a wheel of empty files."""
    with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
        for name in sources:
            archive.addfile(tarfile.TarInfo(name), BytesIO())
    with zipfile.ZipFile(folder / "a.whl", "w") as archive:
        for name in wheel:
            archive.writestr(name, "")
    return folder / "a.tar.gz", folder / "a.whl"


def test_contents_as_they_should_be(tmp_path):
    distributions.check_contents(*archives(tmp_path, SOURCES, WHEEL))


@pytest.mark.parametrize(
    "sources, wheel",
    [
        ([*SOURCES, "omnitree-1/tests/x.py"], WHEEL),
        (SOURCES[1:], WHEEL),
        (SOURCES, [*WHEEL, "omnitree/_core/a.pyx"]),
        (SOURCES, [*WHEEL, "tests/x.py"]),
        (SOURCES, [*WHEEL, "omnitree/__pycache__/x.py"]),
        (SOURCES, [name for name in WHEEL if not name.endswith("py.typed")]),
        (SOURCES, [name for name in WHEEL if not name.endswith(".pyi")]),
    ],
)
def test_contents_that_are_too_many_or_too_few(tmp_path, sources, wheel):
    with pytest.raises(AssertionError, match=r"sdist|wheel"):
        distributions.check_contents(*archives(tmp_path, sources, wheel))


@pytest.mark.slow
def test_two_builds():
    """Needs a repository without changes, `build` and some minutes."""
    pytest.importorskip("build")
    subprocess.run([sys.executable, ROOT / ".ci" / "distributions.py"], check=True)
