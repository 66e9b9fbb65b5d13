"""Tables of text, for the terminal (rich), notebooks, Markdown, LaTeX and CSV.

A table is a title, names of columns, rows of strings and a note. The HTML report has its
own template (`report`).
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from html import escape
from typing import Any

from omnitree.data.plain import one_line, safe_cell

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
class TextTable:
    """Rows of text under named columns.

    >>> table = TextTable("Errors", ("set", "error"), (("iris", "4.0"), ("a|b", "5.1")))
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
    note: str = ""  # what the reader must know, under the table
    text_columns: int = 1  # from the left; the others hold numbers

    def rich(self) -> Any:
        """For a terminal."""
        from rich.table import Table as Rich
        from rich.text import Text

        def plain(text: str) -> Text:
            return Text("\n".join(map(one_line, text.split("\n"))))

        note = plain(self.note) if self.note else None
        out = Rich(title=plain(self.title), caption=note, caption_justify="left")
        for i, name in enumerate(self.columns):
            side: Any = self._by_kind("left", "right")[i]
            out.add_column(Text(one_line(name)), justify=side, no_wrap=i == 0)
        last = None
        for first, *rest in self.rows:
            again = self.text_columns > 1 and first == last
            if self.text_columns > 1 and last is not None and not again:
                out.add_section()
            shown = ["" if again else first, *rest]
            out.add_row(*(Text(one_line(cell)) for cell in shown))
            last = first
        return out

    def _by_kind(self, text: str, number: str) -> list[str]:
        """One of two for each column."""
        n = len(self.columns)
        return [text if i < self.text_columns else number for i in range(n)]

    def markdown(self) -> str:
        """A GitHub table under a heading."""
        rule = "|".join(self._by_kind("---", "---:"))
        title = markdown_text(self.title)
        lines = [f"### {title}", "", _line(self.columns), f"|{rule}|"]
        lines += [_line(row) for row in self.rows]
        if self.note:
            lines += ["", markdown_text(self.note)]
        return "\n".join(lines)

    def latex(self) -> str:
        """A booktabs table."""
        form = "".join(self._by_kind("l", "r"))
        cells = [
            " & ".join(_latex(cell) for cell in row) + r" \\"
            for row in (self.columns, *self.rows)
        ]
        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{_latex(self.title)}}}",
                rf"\begin{{tabular}}{{{form}}}",
                r"\toprule",
                cells[0],
                r"\midrule",
                *cells[1:],
                r"\bottomrule",
                r"\end{tabular}",
                *([rf"\par {_latex(self.note)}"] if self.note else []),
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

    def csv(self, safe: bool = False) -> str:
        """Comma separated, with a header; `safe`: no cell is a formula (`safe_cell`)."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for row in (self.columns, *self.rows):
            writer.writerow(map(safe_cell, row) if safe else row)
        return out.getvalue()


def _latex(text: str) -> str:
    return one_line(text).translate(LATEX)


def markdown_text(text: str) -> str:
    """Text in which Markdown finds no HTML.

    Examples
    --------
    >>> markdown_text("<script>, p < 0.05")
    '&lt;script>, p < 0.05'
    """
    lines = map(one_line, text.split("\n"))
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", "\n".join(lines))


def _line(cells: tuple[str, ...]) -> str:
    plain = (markdown_text(one_line(cell)).replace("|", r"\|") for cell in cells)
    return "| " + " | ".join(plain) + " |"
