"""Build sdist and wheel twice, compare their bytes, look inside, and install the sdist.

    python .ci/distributions.py [FOLDER]

The source distribution is that of the last commit. Both builds get the time of that commit
(`SOURCE_DATE_EPOCH`). The sdist must have only what a build needs and the wheel only what
runs: Python, stubs, compiled modules and package data. Then the sdist is installed into an
empty environment, and a tree is fitted, saved and exported from another folder. Copies of
both go to FOLDER. Needs `build`, and what pyproject.toml asks for to build; `make dist`
calls it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
# At the top of the source distribution.
SOURCES = {
    *(
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "SECURITY.md",
    ),
    *("meson.build", "meson.options", "pyproject.toml", "src", "tools"),
}
# What files of the wheel end with.
PARTS = {
    *(".py", ".pyi", ".so", ".pyd", ".typed", ".csv", ".md", ".css", ".js", ".html"),
    *(".json", ".jinja", ".txt", ".j2", ".svg"),
}
SMOKE = """
import sys, omnitree
from sklearn.datasets import load_iris
assert "site-packages" in omnitree.__file__, omnitree.__file__
X, y = load_iris(return_X_y=True)
clf = omnitree.OmniTreeClassifier(random_state=0).fit(X, y)
assert clf.score(X, y) > 0.9
omnitree.save(clf, sys.argv[1])
assert (omnitree.load(sys.argv[1]).predict(X) == clf.predict(X)).all()
assert clf.describe() and clf.export("python") and clf.export("rules")
print("works:", omnitree.__version__, "with Python", sys.version.split()[0])
"""


def run(*command: str | Path, **options) -> None:
    """A command that must succeed."""
    subprocess.run([str(part) for part in command], check=True, **options)


def built(kind: str, source: Path, folder: Path) -> Path:
    """One distribution of a source folder."""
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", source]
    run(*command, "--outdir", folder, stdout=subprocess.DEVNULL)
    (found,) = folder.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return found


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unpacked(sdist: Path, folder: Path) -> Path:
    """The folder inside of an unpacked sdist."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


def check_contents(sdist: Path, wheel: Path) -> None:
    """Only what is needed."""
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert tops == SOURCES, f"sdist: {sorted(tops ^ SOURCES)}"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    inside = [name for name in names if ".dist-info/" not in name]
    strange = [n for n in inside if Path(n).suffix not in PARTS or "__pycache__" in n]
    strange += [name for name in inside if not name.startswith("omnitree/")]
    assert not strange, f"wheel: {strange}"
    assert "omnitree/py.typed" in inside, "the wheel has no py.typed"
    modules = [name for name in inside if Path(name).suffix in (".so", ".pyd")]
    for module in modules:
        stub = f"{module.split('.')[0]}.pyi"
        assert stub in inside, f"the wheel has no {stub}"
    print(
        f"sdist: {len(tops)} entries at the top; wheel: {len(inside)} files, of which "
        f"{len(modules)} compiled modules, each with its stub"
    )


def main() -> int:
    """Build, compare, install and try."""
    stamp = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    os.environ["SOURCE_DATE_EPOCH"] = stamp
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdists = [built("sdist", ROOT, folder / f"sdist{k}") for k in range(2)]
        # Each wheel from an own copy of the sources, in another place.
        wheels = [
            built("wheel", unpacked(sdist, folder / f"source{k}"), folder / f"wheel{k}")
            for k, sdist in enumerate(sdists)
        ]
        for first, second in (sdists, wheels):
            assert digest(first) == digest(second), f"{first.name} differs"
            size = first.stat().st_size
            print(f"{first.name}: {size:,} bytes, twice the same, {digest(first)}")
        check_contents(sdists[0], wheels[0])
        bare = folder / "bare"
        venv.create(bare, with_pip=True)
        python = bare / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", sdists[0])
        run(python, "-c", SMOKE, folder / "model.json", cwd=folder)
        if len(sys.argv) > 1:
            Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
            for path in (sdists[0], wheels[0]):
                shutil.copy(path, sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
