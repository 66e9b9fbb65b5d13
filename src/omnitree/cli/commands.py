"""The commands of the lab: `compare`, `datasets` and `reproduce`.

`register` adds them to the command line. Heavy imports happen inside, so that `--help`
stays quick.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from omnitree.cli.file_options import SafeCsv, with_file_options
from omnitree.data.reading import FileFormat, InputError, input_at_fault

PATIENCE = "10s"  # with a scheduler that does not answer

Folder = Annotated[
    Path | None,
    typer.Option("--data", help="Folder with NAME.csv files; default: $OMNITREE_DATA."),
]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        help="SQLite file for finished folds; an interrupted run resumes from it."
    ),
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", help="Number of processes; 0: one per core.", min=0),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work on the Dask cluster of this scheduler, such as tcp://HOST:8786.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**20, help="Random seed.")]
Report = Annotated[
    Path | None,
    typer.Option(help="Write a report to this file: .html, .md, .tex or .csv."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of the lab."""
    app.command()(compare)
    app.command()(datasets)
    app.command()(reproduce)


@with_file_options
def compare(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...", help="Files as for `fit`, or names of data sets."
        ),
    ],
    presets: Annotated[
        str,
        typer.Option(
            help="Presets, separated by commas; with options: ldt:epsilon=0.9."
        ),
    ] = "omni,c4.5,cart,ldt",
    protocol: Annotated[
        str,
        typer.Option(
            help="5x2cv, 10fold, 3x10fold, bu95 (50/25/25), fixed, mc, loo, loo-path."
        ),
    ] = "5x2cv",
    target: Annotated[
        str | None,
        typer.Option(
            help="Target column in files; default: `class`, else the last one."
        ),
    ] = None,
    folder: Folder = None,
    store: StoreFile = None,
    report: Report = None,
    jobs: Jobs = 0,
    scheduler: Scheduler = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Time limit for one fit, in seconds.", min=0.001),
    ] = None,
    retry: Annotated[bool, typer.Option(help="Run failed folds again.")] = False,
    seed: Seed = 0,
    safe_csv: SafeCsv = False,
    *,
    format: FileFormat,
) -> None:
    """Compare presets on data sets.

    Prints errors, sizes, times and a significance test of every difference; a report also
    has log loss, Brier score, memory and charts.

    \b
    Examples:
      omnitree compare iris wine --presets omni,c4.5,ldt
      omnitree compare DATA.csv --target class --report r.html
      omnitree compare iris --store results.sqlite --protocol 10fold
      omnitree compare DATA.csv --scheduler tcp://HOST:8786
    """
    from omnitree.lab import data as sets
    from omnitree.lab import methods, protocols
    from omnitree.lab import report as reports
    from omnitree.lab.comparison import MAIN, MethodComparison
    from omnitree.lab.runner import Task, run
    from omnitree.lab.store import Store

    check_output(report)
    reports.check(report)
    check_output(store)
    with input_at_fault():
        kind = protocols.parse(protocol)
    chosen = [methods.parse(name) for name in presets.split(",") if name.strip()]
    if not chosen:
        raise InputError("no preset given; see `omnitree presets`")
    if format != FileFormat() and not any(sets.is_path(name) for name in data):
        raise InputError("file options are given, but no file")
    with input_at_fault():
        tables = [sets.load(name, folder, target, format) for name in data]
    _refuse_twins("data set", [table.name for table in tables])
    _refuse_twins("preset", [method.name for method in chosen])
    tasks = [Task(table, method, kind, seed) for table in tables for method in chosen]
    if scheduler is not None and time_limit is not None:
        raise InputError("--time-limit works only without --scheduler")
    with closing(Store(store)) as file, cluster(scheduler, jobs):
        results = run(tasks, file, jobs_of(jobs), time_limit, verbose=True, retry=retry)
    found = MethodComparison(results)
    print_tables(found.tables(MAIN))
    if report is not None:
        lines = [f"{kind.name}, seed {seed}. {versions()}"]
        lines += [
            f"{t.name}: {len(t.y)} rows, {t.X.shape[1]} features." for t in tables
        ]
        drawn = reports.figures_of(found) if report.suffix.lower() == ".html" else []
        reports.write(
            *(report, "Comparison of trees", lines, found.tables(), drawn),
            safe_csv=safe_csv,
        )
        typer.echo(f"Report: {report}")


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Data set to write as a CSV file."),
    ] = None,
    folder: Folder = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write here; default: NAME.csv in this folder."
        ),
    ] = None,
) -> None:
    """List the data sets that can be loaded by name, or write one.

    \b
    Examples:
      omnitree datasets
      omnitree datasets penguins -o penguins.csv
    """
    from omnitree.lab import built_in
    from omnitree.lab import data as sets
    from omnitree.lab.generators import GENERATORS

    if name is not None:
        _write_data_set(name, folder, output)
        return
    if output is not None:
        raise InputError("--output needs the NAME of a data set")
    where = sets.data_folder(folder)
    about = {name: f"{where}/{name}.csv" for name in sets.names(where)}
    about |= built_in.ABOUT
    about |= dict.fromkeys(sets.SCIKIT_LEARN, "scikit-learn")
    for name, make in GENERATORS.items():
        about[name] = (make.__doc__ or "").split("\n")[0]
    print_pairs(list(about.items()))
    typer.echo(
        "Generators take options: led:irrelevant=17:rows=500:seed=1. Any other name is "
        f"looked up {'' if where else 'in --data or $OMNITREE_DATA and '}on OpenML."
    )


def _write_data_set(name: str, folder: Path | None, output: Path | None) -> None:
    """A data set as a CSV file, the target in its last column."""
    from omnitree.data.files import replace_file
    from omnitree.lab import built_in
    from omnitree.lab import data as sets

    with input_at_fault():
        if name in built_in.ABOUT:
            frame = built_in.table(name)
        else:
            found = sets.load(name, folder)
            frame = found.X.assign(**{"class": found.y})
    path = output or Path(f"{name.replace(':', '_')}.csv")
    check_output(path)
    with input_at_fault():
        replace_file(path, frame.to_csv(index=False, lineterminator="\n"))
    typer.echo(
        f"{path}: {len(frame)} rows, {frame.shape[1] - 1} features, "
        f"target {frame.columns[-1]!r}"
    )


def reproduce(
    paper: Annotated[str, typer.Argument(help="bu95, ldt05, lmdt91, lw94 or omni.")],
    table: Annotated[
        list[str] | None,
        typer.Option("--table", "-t", help="Number of a table; may be repeated."),
    ] = None,
    folder: Folder = None,
    quick: Annotated[bool, typer.Option(help="Use fewer data sets.")] = False,
    store: StoreFile = None,
    report: Report = None,
    jobs: Jobs = 0,
    scheduler: Scheduler = None,
    seed: Seed = 0,
    safe_csv: SafeCsv = False,
) -> None:
    """Repeat the experiments of a paper.

    Prints our results beside the published ones, and whether each cell agrees. Data sets
    that are neither in --data nor in scikit-learn are fetched from OpenML if it has them;
    those that are found nowhere are listed and left out.

    \b
    Examples:
      omnitree reproduce lw94 --table 6 --quick
      omnitree reproduce omni --quick
      omnitree reproduce ldt05 --data FOLDER --store ldt05.sqlite --report r.html
    """
    from omnitree.lab import papers
    from omnitree.lab import report as reports
    from omnitree.lab.papers import sources
    from omnitree.lab.papers.base import Lab
    from omnitree.lab.store import Store

    module = papers.find(paper)
    check_output(report)
    reports.check(report)
    check_output(store)
    names = sources.needed(paper, module, table or [], quick)
    found_data = sources.survey(names, folder)
    for line in found_data.lines():
        typer.echo(fill(line, 88, break_long_words=False, break_on_hyphens=False))
    if found_data.is_empty:
        raise InputError(
            f"none of the data sets that {paper} needs is available; see above"
        )
    missing = found_data.missing
    with closing(Store(store)) as file, cluster(scheduler, jobs):
        lab = Lab(file, folder, jobs_of(jobs), seed, quick, True, missing)
        try:
            found = module.reproduce(lab, table or [])
        except ImportError as error:
            raise InputError(str(error)) from None
    tables = [found.summary(), *(t.table() for t in found.tables), *found.others]
    print_tables([*tables[1:], tables[0]])
    for note in found.notes:
        typer.echo(note)
    if report is not None:
        lines = [*found.notes, versions()]
        reports.write(
            *(report, module.TITLE, lines, tables, found.figures), safe_csv=safe_csv
        )
        typer.echo(f"Report: {report}")


def print_pairs(pairs: list[tuple[str, str]], indent: str = "") -> None:
    """Names and what is said of them, one below the other."""
    width = max(len(name) for name, _ in pairs)
    for name, text in pairs:
        typer.echo(f"{indent}{name:<{width}}  {text}")


def print_tables(tables: list[Any]) -> None:
    """Tables on standard output, as wide as needed if it is not a terminal."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    for table in tables:
        console.print(table.rich())


def check_output(path: Path | None, *inputs: Path) -> None:
    """Refuse, before any work, an output that cannot or should not be replaced."""
    if path is None:
        return
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file: choose another output")
    if not path.absolute().parent.is_dir():
        raise InputError(f"folder {path.parent} does not exist")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise InputError(f"{path} is an input: choose another output")


@contextmanager
def cluster(scheduler: str | None, jobs: int = 0) -> Iterator[None]:
    """Within it, what can be divided is done by the workers of a scheduler, if given."""
    if scheduler is None:
        yield
        return
    if jobs:
        raise InputError("--jobs works only without --scheduler")
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "--scheduler needs dask: pip install 'omnitree[dask]'"
        ) from None
    try:
        client = Client(scheduler, set_as_default=False, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"no scheduler answers at {scheduler}: {error}") from None
    with client:
        yield


def jobs_of(jobs: int) -> int:
    """How many processes, 0 meaning all cores."""
    return jobs or os.cpu_count() or 1


def versions() -> str:
    """Versions of the software that made the numbers."""
    from importlib.metadata import version

    parts = [
        f"{name} {version(name)}" for name in ("omnitree", "scikit-learn", "numpy")
    ]
    return f"{', '.join(parts)}, Python {platform.python_version()}."


def _refuse_twins(kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the {kind} {name!r} was given twice")
