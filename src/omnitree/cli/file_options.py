"""Options of every command that reads a table: how the file is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from omnitree.data.reading import FileFormat

OPTIONS: dict[str, Any] = {
    "sep": Annotated[
        str | None,
        typer.Option(
            help="Separator: a character, or comma, semicolon, tab, pipe, space. "
            "Default: detected."
        ),
    ],
    "decimal": Annotated[
        str | None, typer.Option(help="Decimal sign, . or , . Default: detected.")
    ],
    "encoding": Annotated[
        str | None,
        typer.Option(
            help="Encoding, such as utf-8, latin-1, utf-16. Default: detected."
        ),
    ],
    "comment": Annotated[
        str | None,
        typer.Option(
            help="Skip lines that begin with this; '' skips none. Default: # if the "
            "first line begins with it."
        ),
    ],
    "sheet": Annotated[
        str | None,
        typer.Option(
            help="Sheet of an Excel file, by name or number. Default: the first."
        ),
    ],
    "missing": Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN",
            help="Text that marks a missing value, besides ? and those that pandas "
            "knows; may be repeated.",
        ),
    ],
}

SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="Write ' before CSV cells that a spreadsheet would run as formulas: text that "
        "begins with = + - @, a tab or a line break.",
    ),
]


def with_file_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with these options, which it gets as one argument, `format`."""

    @wraps(command)
    def run(**given: Any) -> None:
        of_file = {name: given.pop(name) for name in OPTIONS}
        missing = tuple(of_file.pop("missing") or ())
        command(**given, format=FileFormat(**of_file).with_missing(missing))

    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "format"]
    kind = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(name, kind, default=None, annotation=option)
        for name, option in OPTIONS.items()
    ]
    run.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return run
