"""One word an idea: words that the glossary has replaced do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXTS = {".py", ".pyx", ".pxd", ".hpp", ".js", ".json", ".md", ".rst", ".j2"}
BUILT = {"_build", "generated", "gallery"}

# What must not occur, and what to write instead (docs/glossary.md).
BANNED = {
    r"\bgaps?\b|_gaps?\b|\bgaps?_": "missing value",
    r"symbol": "category, categorical",
    r"\bfront[ _-]door": "default estimator",
    r"\bbelongs? into\b": "belongs in, or only works in",
    r"\bas ever\b": "as before, or nothing",
    r"\bfares?\b": "performs",
    r"\btold in (its|that|the)\b": "written in",
    r"\bspeaks? for\b": "supports",
}
# Uses with another meaning: the file, and what its line contains.
ALLOWED = [
    ("examples/plot_06_exports.py", "fare"),  # what a passenger pays
    ("CHANGELOG.md", "(it was `"),  # what a name was before
]


def texts() -> list[Path]:
    """Source, documentation and examples."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for folder in ("src", "docs", "examples"):
        found += [
            path
            for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in TEXTS and not BUILT & set(path.parts)
        ]
    return found


@pytest.mark.parametrize("pattern", BANNED)
def test_banned_words(pattern: str):
    found = []
    for path in texts():
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if re.search(pattern, line, re.I) and not any(
                name == file and words in line for file, words in ALLOWED
            ):
                found.append(f"{name}:{number}: {line.strip()[:80]}")
    assert not found, f"write {BANNED[pattern]!r} in\n" + "\n".join(found)


def test_every_term_of_the_glossary_is_sorted_and_explained():
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    entries = text.split("```{glossary}\n")[1].split("```")[0].strip().split("\n\n")
    terms = [entry.split("\n")[0] for entry in entries]
    assert terms == sorted(terms)
    assert all(len(entry.split("\n")) > 1 for entry in entries)
