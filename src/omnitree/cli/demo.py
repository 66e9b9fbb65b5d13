"""`omnitree demo`: fit, show and compare trees on built-in data, in under a minute.

The default classifier and three classic presets are fitted on the same folds of
scikit-learn's data sets; the comparison is printed and written as a report. Heavy imports
happen inside, so that `--help` stays quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omnitree.cli.commands import check_output, print_tables, versions
from omnitree.data.reading import input_at_fault

PRESETS = ("omni", "c4.5", "cart", "ldt")
DATA = ("iris", "wine", "breast_cancer")
PROTOCOL = "10fold"


def demo(
    folder: Annotated[
        Path, typer.Option(help="Folder for the files that the demo writes.")
    ] = Path("demo"),
) -> None:
    """Fit, show and compare trees on built-in data (under a minute)."""
    from omnitree import save
    from omnitree.lab import data, methods, protocols
    from omnitree.lab import report as reports
    from omnitree.lab.comparison import MethodComparison
    from omnitree.lab.runner import Task, run
    from omnitree.lab.store import Store

    report, page, model = (
        folder / name for name in ("report.html", "tree.html", "model.json")
    )
    with input_at_fault():
        folder.mkdir(parents=True, exist_ok=True)
    for path in (report, page, model):
        check_output(path)
    tables = [data.load(name) for name in DATA]
    chosen = [methods.parse(name) for name in PRESETS]
    first = tables[0]
    clf = chosen[0].make(seed=1).fit(first.X, first.y)
    title = f"OmniTreeClassifier on {first.name}"
    typer.echo(f"{title}:\n")
    typer.echo(clf.describe() + "\n")
    kind = protocols.parse(PROTOCOL)
    tasks = [Task(table, method, kind) for table in tables for method in chosen]
    found = MethodComparison(run(tasks, Store(), verbose=True))
    print_tables([found.summary(("error", "leaves", "seconds"))])
    lines = [
        f"{', '.join(PRESETS)} on {', '.join(DATA)}: {PROTOCOL}. {versions()}",
        *(f"{t.name}: {len(t.y)} rows, {t.X.shape[1]} features." for t in tables),
    ]
    with input_at_fault():
        save(clf, model)
        clf.to_html(page, first.X, first.y, title=title)
        reports.write(
            report,
            "omnitree demo",
            lines,
            found.tables(),
            reports.figures_of(found) if reports.can_draw() else (),
            [reports.Text(title, clf.describe(), page.name)],
        )
    typer.echo(f"\nReport: {report}")
    typer.echo(f"Tree on {first.name}, to explore in a browser: {page}")
    typer.echo(f"Model for `omnitree show`, `predict` and `explain`: {model}")
