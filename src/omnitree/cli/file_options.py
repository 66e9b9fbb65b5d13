"""Options of every command that reads a table: how the file is written."""

from __future__ import annotations

from typing import Annotated

import typer

from omnitree.data.reading import FileFormat

Sep = Annotated[
    str | None,
    typer.Option(
        help="Separator: a character, or comma, semicolon, tab, pipe, space. "
        "Default: detected."
    ),
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign, . or , . Default: detected.")
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding, such as utf-8, latin-1, utf-16. Default: detected."),
]
Comment = Annotated[
    str | None,
    typer.Option(
        help="Skip lines that begin with this; '' skips none. Default: # if the first "
        "line begins with it."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of an Excel file, by name or number. Default: the first."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOKEN",
        help="Text that marks a missing value, besides ? and those that pandas knows; may "
        "be repeated.",
    ),
]


def file_format(
    sep: str | None,
    decimal: str | None,
    encoding: str | None,
    comment: str | None,
    sheet: str | None,
    missing: list[str] | None,
) -> FileFormat:
    """The options as a `FileFormat`."""
    given = FileFormat(sep, decimal, encoding, comment, sheet)
    return given.with_missing(tuple(missing or ()))
