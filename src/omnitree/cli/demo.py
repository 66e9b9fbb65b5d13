"""`omnitree demo`: two real tables, their trees and how they compare, in a minute.

Prints each tree in words, why its tests are of the kinds they are, the row it is least sure
of, and held-out errors beside four classic systems. Writes a report, explorers and models.
`demo_story` puts the words and the report together. Heavy imports happen inside, so that
`--help` stays quick.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from omnitree.cli.commands import check_output, jobs_of, print_tables, versions
from omnitree.data.reading import input_at_fault

PRESETS = ("omni", "c4.5", "cart", "ldt", "lmt")
DATA = ("penguins", "thyroid")
PROTOCOL = "10fold"
SEED = 0
WIDTH = 88


def demo(
    folder: Annotated[
        Path, typer.Option(help="Folder for the files that the demo writes.")
    ] = Path("demo"),
) -> None:
    """Fit, explain and compare trees on two real tables."""
    from omnitree import save
    from omnitree.cli import demo_story
    from omnitree.data.files import replace_file
    from omnitree.lab import data, methods, protocols
    from omnitree.lab.comparison import MethodComparison
    from omnitree.lab.runner import Task, run
    from omnitree.lab.store import Store

    report = folder / "report.html"
    pages = [folder / f"{name}.html" for name in DATA]
    models = [folder / f"{name}.json" for name in DATA]
    with input_at_fault():
        folder.mkdir(parents=True, exist_ok=True)
    for path in (report, *pages, *models):
        check_output(path)
    chosen = [methods.parse(name) for name in PRESETS]
    stories = []
    for name in DATA:
        table = data.load(name)
        clf = chosen[0].make(seed=SEED).fit(table.X, table.y)
        story = demo_story.Story(table, clf)
        stories.append(story)
        typer.secho(f"\n{story.title}", bold=True)
        typer.echo(fill(story.facts, WIDTH) + "\n")
        typer.echo(f"{clf.describe()}\n\n{story.kinds}\n")
        for line in story.reasons():
            typer.echo(fill(f"- {line}", WIDTH, subsequent_indent="  "))
        typer.echo(f"\n{story.hardest_row}\n\n{story.explanation}")
    typer.secho("\nOn rows that the trees have not seen", bold=True)
    kind = protocols.parse(PROTOCOL)
    tasks = [Task(s.table, method, kind) for s in stories for method in chosen]
    found = MethodComparison(run(tasks, Store(), jobs_of(0), verbose=True))
    print_tables([found.summary(("error", "leaves", "seconds"))])
    for story in stories:
        text = f"{story.title}: {demo_story.verdict(story.table.name, found)}"
        typer.echo(fill(text, WIDTH))
    with input_at_fault():
        for story, page, model in zip(stories, pages, models, strict=True):
            save(story.clf, model)
            story.clf.to_html(page, story.table.X, story.table.y, title=story.title)
        replace_file(report, demo_story.page(stories, found, versions()))
    typer.secho("\nFiles to open", bold=True)
    typer.echo(f"{report}: all of this on one page")
    typer.echo(f"{', '.join(map(str, pages))}: the trees, to explore in a browser")
    typer.echo(f"{', '.join(map(str, models))}: models, for example for")
    typer.echo(f"  omnitree show {models[0]} --format sql")
