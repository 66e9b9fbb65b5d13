"""Options of every command that reads a table: how the file is written."""

from __future__ import annotations

from typing import Annotated

import typer

from omnitree.data.reading import FileFormat

Sep = Annotated[
    str | None,
    typer.Option(
        help="Sign between cells, or comma, semicolon, tab, pipe, space; else found out."
    ),
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign, . or , ; else found out.")
]
Encoding = Annotated[
    str | None,
    typer.Option(help="As utf-8, latin-1, utf-16; else found out."),
]
Comment = Annotated[
    str | None,
    typer.Option(
        help="Lines that begin with it are left out; '' for none. Else those with # if "
        "the file begins with one."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of an Excel file, by name or number; else the first."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOKEN",
        help="A text that means missing, besides those of pandas and ?; may be given "
        "again.",
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
    """What the options say."""
    given = FileFormat(sep, decimal, encoding, comment, sheet)
    return given.with_missing(tuple(missing or ()))
