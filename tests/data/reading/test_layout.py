"""Separators, decimal signs and comments that a text shows, against how it was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from omnitree.data.reading.errors import InputError
from omnitree.data.reading.layout import FileFormat, lay_out


def written(rng, sep, decimal, n=30):
    """Lines with numbers, words and quoted cells that hold the separator."""
    rows = [["size", "name", "note"]]
    for _ in range(n):
        number = f"{rng.normal():.2f}".replace(".", decimal)
        quoted = f'"{number}"' if sep == decimal else number
        rows.append([quoted, str(rng.choice(["a", "b"])), f'"x{sep} y"'])
    return "\n".join(sep.join(row) for row in rows) + "\n"


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("seed", range(5))
def test_found_as_written(seed, sep, decimal):
    text = written(np.random.default_rng(seed), sep, decimal)
    layout = lay_out(Path("f.csv"), text, ".csv", FileFormat())
    assert (layout.separator, layout.decimal) == (sep, decimal)
    rows = list(layout.rows())
    assert [len(row) for _, row in rows] == [3] * 31
    assert [line for line, _ in rows] == list(range(1, 32))
    assert rows[1][1][2] == f"x{sep} y"


def test_comments_are_left_out_and_lines_keep_their_numbers():
    text = '# made by hand\na,b\n1,"#no\n# comment"\n# gone\n2,3\n'
    layout = lay_out(Path("f.csv"), text, ".csv", FileFormat())
    rows = [(2, ["a", "b"]), (4, ["1", "#no\n# comment"]), (6, ["2", "3"])]
    assert list(layout.rows()) == rows


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a,b;c\nx,y;z\n", "may be separated by"),
        ("#a,b\nx,y\n", "--comment"),
        ("a;b\n1,234;x\n2,345;y\n", "--decimal"),
        ("a;b\n1,5;2.5\n2,5;3.5\n", "--decimal"),
    ],
)
def test_where_nobody_can_tell_an_error_asks(text, word):
    with pytest.raises(InputError, match=word):
        lay_out(Path("f.csv"), text, ".csv", FileFormat())


def test_formats():
    assert FileFormat(sep="semicolon").sep == ";"
    assert FileFormat().with_missing(("-9",)).missing[-1] == "-9"
    for options in ({"sep": "ab"}, {"sep": '"'}, {"decimal": ";"}):
        with pytest.raises(InputError):
            FileFormat(**options)
    with pytest.raises(InputError, match="--sheet is not for"):
        FileFormat(sheet="1").refuse(Path("f"), "CSV", "sep", "sheet")
