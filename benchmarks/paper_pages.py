"""All pages of `benchmarks/papers`: every published table beside ours, and a summary.

Runs what the stores do not have yet, so that it can be stopped and started again at any
time, and writes the pages from the stores. What is written by hand in a page is in
`papers/notes`, reasons for what is worse in `papers/notes/reasons.csv`. A page says at which
commit its trees were fitted; commits that change nothing but how results are shown count as
the one before.

    make papers DATA=FOLDER
    python benchmarks/paper_pages.py --data FOLDER --stores FOLDER --only lw94 --only omni
    python benchmarks/paper_pages.py --data FOLDER --stores FOLDER --summary
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

from omnitree.cli.commands import jobs_of, versions
from omnitree.lab import papers
from omnitree.lab.papers import verdicts
from omnitree.lab.papers.base import Lab, Reproduction
from omnitree.lab.store import Store

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "benchmarks" / "papers"
# Those that take least time first.
ORDER = ("lw94", "lmdt91", "omni", "ldt05", "bu95")


# What decides which trees are fitted and how they are tested.
FITTING = ("src", ":!src/omnitree/lab/papers")


def git(*words: str) -> subprocess.CompletedProcess[str]:
    """What git says of this repository."""
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def is_alike(*commits: str) -> bool:
    """Whether two commits, or one and the files here, fit the same trees."""
    return git("diff", "--quiet", *commits, "--", *FITTING).returncode == 0


def commit() -> str:
    """The commit of the working tree, and whether what fits was changed since."""
    name = git("rev-parse", "--short", "HEAD").stdout.strip()
    return name if is_alike("HEAD") else f"{name} with changes"


def reproduced(paper: str, asked: argparse.Namespace) -> tuple[Reproduction, dict]:
    """What came of a paper, and when, at which commit and in which time."""
    path, about = (asked.stores / f"{paper}.{s}" for s in ("sqlite", "json"))
    known = (
        json.loads(about.read_text()) if about.exists() else {"commit": asked.commit}
    )
    last = known["commit"].split(", ")[-1]
    if last != asked.commit and not is_alike(last, asked.commit):
        known["commit"] += f", {asked.commit}"
    about.write_text(json.dumps(known))
    with closing(Store(path)) as store:
        n_jobs, without = jobs_of(asked.jobs), tuple(asked.without)
        lab = Lab(store, asked.data, n_jobs, verbose=asked.verbose, missing=without)
        found = papers.find(paper).reproduce(lab)
        fits, seconds = store.totals()
    known |= {"fits": fits, "minutes": seconds / 60, "without": list(without)}
    known.setdefault("date", datetime.now(timezone.utc).strftime("%Y-%m-%d"))
    about.write_text(json.dumps(known))
    return found, known


def header(paper: str, found: Reproduction, about: dict) -> list[str]:
    """Title, commands and how the figures came about."""
    command = f"omnitree reproduce {paper} --data DIR --store {paper}.sqlite"
    made = (
        f"{' '.join(found.notes)} {versions()} Fitted at commit {about['commit']}, "
        f"{about['date']}: {about['fits']:,} fits in {about['minutes']:.0f} minutes of CPU."
    )
    if about["without"]:
        made += f" Data sets left out: {', '.join(about['without'])}."
    commands = f"    make papers DATA=DIR\n    {command}"
    return [f"# {papers.find(paper).TITLE}", commands, made]


def write_page(paper: str, found: Reproduction, about: dict) -> None:
    """The page of one paper, with its figures as files beside it."""
    notes = PAGES / "notes" / f"{paper}.md"
    parts = header(paper, found, about)
    if notes.exists():
        parts.append(notes.read_text("utf-8").strip())
    parts += [found.summary().markdown().replace("### ", "## ", 1)]
    for i, figure in enumerate(found.figures, 1):
        name = f"{paper}_{i}.svg"
        (PAGES / name).write_text(figure.svg + "\n", "utf-8")
        parts.append(f"### {figure.title}\n\n![{figure.title}]({name})")
    parts += [t.markdown() for t in (*(t.table() for t in found.tables), *found.others)]
    (PAGES / f"{paper}.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def write_summary(found: dict[str, Reproduction], abouts: dict[str, dict]) -> None:
    """One page on all papers."""
    with (PAGES / "notes" / "reasons.csv").open(encoding="utf-8", newline="") as file:
        reasons = [verdicts.Reason(**row) for row in csv.DictReader(file)]
    lines = [
        f"- [{papers.find(p).TITLE}]({p}.md): commit {abouts[p]['commit']}, "
        f"{abouts[p]['date']}, {abouts[p]['fits']:,} fits, "
        f"{abouts[p]['minutes']:.0f} minutes of CPU"
        + (
            f"; without {', '.join(abouts[p]['without'])}"
            if abouts[p]["without"]
            else ""
        )
        for p in found
    ]
    head = (
        "# The papers' tables beside ours\n\n    make papers DATA=DIR\n\n" + versions()
    )
    parts = [head, "\n".join(lines)]
    notes = PAGES / "notes" / "summary.md"
    if notes.exists():
        parts.append(notes.read_text("utf-8").strip())
    tables = (
        verdicts.counts(found),
        verdicts.worse(found, reasons),
        verdicts.drifts(found, reasons),
    )
    parts += [t.markdown().replace("### ", "## ", 1) for t in tables]
    (PAGES / "README.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--stores", type=Path, required=True, help="folder of results")
    parser.add_argument("--jobs", type=int, default=1, help="processes; 0: all cores")
    parser.add_argument("--only", action="append", choices=ORDER, help="some papers")
    parser.add_argument(
        "--without", action="append", default=[], help="a data set to leave out"
    )
    parser.add_argument("--summary", action="store_true", help="the summary page, too")
    parser.add_argument("--verbose", action="store_true", help="show progress")
    asked = parser.parse_args()
    asked.stores.mkdir(parents=True, exist_ok=True)
    # All code is that of the start, whatever happens to the files.
    asked.commit = commit()
    for paper in ORDER:
        papers.find(paper)
    found, abouts = {}, {}
    for paper in asked.only or ORDER:
        found[paper], abouts[paper] = reproduced(paper, asked)
        write_page(paper, found[paper], abouts[paper])
        print(f"{paper}: {abouts[paper]}", flush=True)
    if asked.summary or not asked.only:
        write_summary(found, abouts)


if __name__ == "__main__":
    main()
