"""ARFF files: what they say, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from omnitree.data.reading.arff import read_arff
from omnitree.data.reading.errors import InputError

HEAD = "@relation r\n@attribute a real\n@attribute b {x,y}\n@data\n"


def read(text: str) -> pd.DataFrame:
    return read_arff(Path("t.arff"), text)


def test_numbers_categories_and_missing_values():
    found = read(HEAD + "1.5,x\n?,?\n-1e3 , 'y'\n")
    assert found["a"].tolist()[::2] == [1.5, -1000.0] and pd.isna(found["a"][1])
    assert found["b"].tolist()[::2] == ["x", "y"] and pd.isna(found["b"][1])


def test_quotes_comments_cases_and_other_letters():
    found = read(
        "% by hand\n\n@RELATION 'a relation'\n"
        "@Attribute 'the \\'size\\'' NUMERIC\n"
        "@attribute\tGröße\t{ 'x, y' , \"50 %\" ,grün, '?' }\n"
        "@attribute note string\n@attribute day date 'yyyy-MM-dd'\n"
        "@DATA\n% none\n1, 'x, y', 'line\\nbreak', 2020-01-02\n\n2,grün,?,?\n3,'?',a,b\n"
    )
    assert list(found.columns) == ["the 'size'", "Größe", "note", "day"]
    assert found["Größe"].tolist() == ["x, y", "grün", "?"]
    assert found["note"].tolist() == ["line\nbreak", None, "a"]


@pytest.mark.parametrize(
    "text, match",
    [
        ("", "no @data"),
        ("@relation r\n@data\n1\n", "no @attribute"),
        ("a,b\n1,2\n", "line 1 is 'a,b'"),
        ("@attribute a\n@data\n", "attributes can be"),
        ("@attribute\n@data\n", "no attribute"),
        ("@attribute a {x\n@data\n", "no list of categories"),
        ("@attribute a {}\n@data\n", "no list of categories"),
        ("@attribute a relational\n@data\n", "attributes can be"),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", "two columns"),
        (HEAD + "1,x,2\n", "line 5: 3 cells where there are 2 attributes"),
        (HEAD + "1,z\n", "line 5: 'z' is no category"),
        (HEAD + "one,x\n", "'one' is no number"),
        (HEAD + "1_0,x\n", "'1_0' is no number"),
        (HEAD + "1,'x\n", "a quote has no end"),
        (HEAD + "{0 1}\n", "sparse rows"),
    ],
)
def test_refusals_say_what_is_wrong(text: str, match: str):
    with pytest.raises(InputError, match=match):
        read(text)
