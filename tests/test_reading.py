"""Tables from ARFF and Parquet files; CSV and TSV are tested through the command line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from omnitree.reading import InputError, read_table

ARFF = """% a comment
@relation play
@attribute outlook {sunny, overcast, rain}
@attribute 'degrees C' real
@attribute code {1, 2}
@attribute play {yes, no}
@data
sunny, 30.5, 1, no
rain, ?, 2, yes
?, 20, 1, yes
"""


def test_arff(tmp_path: Path):
    path = tmp_path / "play.arff"
    path.write_text(ARFF)
    table = read_table(path)
    assert table.header == ["outlook", "degrees C", "code", "play"]
    X, y, left_out = table.features_and_target("play")
    assert y.tolist() == ["no", "yes", "yes"] and left_out == 0
    assert X["degrees C"].isna().tolist() == [False, True, False]
    assert X["outlook"].isna().tolist() == [False, False, True]
    assert X["code"].tolist() == [
        "1",
        "2",
        "1",
    ]  # symbols, though they look like numbers
    assert next(table.rows()) == ["sunny", "30.5", "1", "no"]


@pytest.mark.parametrize(
    "text",
    ["", "no arff", "@relation x\n@attribute a string\n@data\nb\n", ARFF + "x,1\n"],
)
def test_damaged_arff(tmp_path: Path, text: str):
    path = tmp_path / "bad.arff"
    path.write_text(text)
    with pytest.raises(InputError, match=r"bad\.arff"):
        read_table(path)


def test_parquet(tmp_path: Path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = tmp_path / "play.parquet"
    frame = pd.DataFrame(
        {"a": [1.5, None, 3.0], "b": ["x", None, "y"], "class": ["1", "2", None]}
    )
    frame.to_parquet(path)
    X, y, left_out = read_table(path).features_and_target("class")
    assert y.tolist() == ["1", "2"] and left_out == 1
    assert X["a"].isna().tolist() == [False, True]
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match="Parquet"):
        read_table(path)
