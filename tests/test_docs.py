"""The examples of the written documents run, and their lists are complete."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from tests.trees import kinds_restored

from omnitree import presets
from omnitree.estimators.registries import REGISTRIES
from omnitree.tree.splits import SPLITS

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.fixture(autouse=True)
def _kinds():
    """Kinds of tests that an example registers are forgotten."""
    with kinds_restored():
        yield


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/choosing.md",
        "docs/exporting.md",
        "docs/getting_started.md",
        "docs/large_data.md",
        "docs/reading.md",
    ],
)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All Python blocks of a file, in order and in one namespace."""
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
    assert blocks
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags)
    names: dict[str, object] = {"__name__": name}
    for block in blocks:
        if ">>>" not in block:
            exec(compile(block, name, "exec", dont_inherit=True), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, name, name, 0)
        report: list[str] = []
        runner.run(test, out=report.append, clear_globs=False)
        assert not report, "".join(report)
        names.update(test.globs)


def test_contributing_shows_a_learner_in_25_lines():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = (b for b in BLOCK.findall(text) if "(SplitLearner)" in b)
    assert sum(line.strip() != "" for line in block.splitlines()) <= 25


def test_extra_all_has_every_extra_for_users():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = text.split("[project.optional-dependencies]")[1].split("\n[")[0]
    users = set(re.findall(r"^(\w+) = ", text, re.M))
    users -= {"all", "bench", "docs", "lint", "test"}
    found = re.search(r'^all = \["omnitree\[(.*?)\]"', text, re.M)
    assert found is not None and set(found[1].split(",")) == users
    assert {"lab", "onnx", "plot"} <= users


def test_readme_names_every_kind_of_test():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in text for kind in SPLITS)


def test_readme_names_every_preset_and_part():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    own = (n for r in REGISTRIES.values() for n in r.registered if r.is_own(n))
    for name in [*presets.names(), *own]:
        assert f"`{name}`" in text, f"README.md does not name {name}"


def test_contributing_maps_every_module():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    words = set(text[text.index("src/omnitree/\n") :].split("```")[0].split())
    for path in (ROOT / "src/omnitree").iterdir():
        folder = path.is_dir() and path.name != "__pycache__"
        if folder or (path.suffix == ".py" and path.name != "__init__.py"):
            name = f"{path.name}/" if folder else path.name
            assert name in words, f"CONTRIBUTING.md's map lacks {name}"


def test_files_that_the_design_names_are_there():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+(?:\w+\.(?:py|hpp|js))?)`", text)
    assert len(named) > 40
    for name in named:
        assert any((ROOT / at / name).exists() for at in (".", "src/omnitree")), name
