"""Tables of text, for the terminal (rich), notebooks, Markdown, LaTeX and CSV.

A table is a title, names of columns, rows of strings and a note. The HTML report has its
own template (`report`).
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from html import escape
from typing import Any

LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "<": r"$<$",
        ">": r"$>$",
        "−": "$-$",
    }
)


@dataclass(frozen=True)
class Table:
    """Rows of text under named columns.

    Attributes
    ----------
    title : str
    columns : tuple of str
    rows : tuple of tuples of str
    note : str
        What the reader must know, under the table.
    text_columns : int
        How many columns, from the left, hold text; the others hold numbers.

    Examples
    --------
    >>> table = Table("Errors", ("set", "error"), (("iris", "4.0"), ("a|b", "5.1")))
    >>> print(table.markdown())
    ### Errors
    <BLANKLINE>
    | set | error |
    |---|---:|
    | iris | 4.0 |
    | a\\|b | 5.1 |
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    text_columns: int = 1

    def rich(self) -> Any:
        """For a terminal."""
        from rich.table import Table as Rich
        from rich.text import Text

        out = Rich(
            title=Text(self.title),
            caption=Text(self.note) if self.note else None,
            caption_justify="left",
        )
        for i, name in enumerate(self.columns):
            out.add_column(
                Text(name),
                justify="left" if i < self.text_columns else "right",
                no_wrap=i == 0,
            )
        last = None
        for row in self.rows:
            if last is not None and self.text_columns > 1 and row[0] != last:
                out.add_section()
            shown = [
                "" if row[0] == last and self.text_columns > 1 else row[0],
                *row[1:],
            ]
            out.add_row(*(Text(cell) for cell in shown))
            last = row[0]
        return out

    def markdown(self) -> str:
        """A GitHub table under a heading."""
        rule = "|".join(
            "---" if i < self.text_columns else "---:" for i in range(len(self.columns))
        )
        lines = [f"### {self.title}", "", _line(self.columns), f"|{rule}|"]
        lines += [_line(row) for row in self.rows]
        if self.note:
            lines += ["", self.note]
        return "\n".join(lines)

    def latex(self) -> str:
        """A booktabs table."""
        form = "".join(
            "l" if i < self.text_columns else "r" for i in range(len(self.columns))
        )
        cells = [
            " & ".join(cell.translate(LATEX) for cell in row) + r" \\"
            for row in (self.columns, *self.rows)
        ]
        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{self.title.translate(LATEX)}}}",
                rf"\begin{{tabular}}{{{form}}}",
                r"\toprule",
                cells[0],
                r"\midrule",
                *cells[1:],
                r"\bottomrule",
                r"\end{tabular}",
                *([rf"\par {self.note.translate(LATEX)}"] if self.note else []),
                r"\end{table}",
            ]
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""

        def line(cells: tuple[str, ...], tag: str) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(c)}</{tag}>' for c in cells)}</tr>"

        rows = "".join(line(row, "td") for row in self.rows)
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return (
            f"<table><caption>{escape(self.title)}</caption>"
            f"<thead>{line(self.columns, 'th')}</thead><tbody>{rows}</tbody></table>{note}"
        )

    def csv(self) -> str:
        """Comma separated, with a header."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
