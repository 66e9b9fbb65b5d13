"""Excel, Parquet and ARFF files as frames."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from omnitree.data.reading import frames
from omnitree.data.reading.errors import InputError
from omnitree.data.reading.layout import FileFormat

FRAME = pd.DataFrame({"a": [1.5, None, 3.0], "b": ["x", "y", "?"]})


@pytest.mark.parametrize("as_categories", [False, True])
def test_parquet_whose_text_is_none(as_categories, tmp_path):
    """Bytes that are no UTF-8: pyarrow reads them, and pandas stumbles over them later."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    _, offsets, letters = pa.array(["abc", "defg"]).buffers()
    damaged = letters.to_pybytes().replace(b"g", b"\xdd")
    text = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(damaged))
    column = text.dictionary_encode() if as_categories else text
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0], "t": column}), path)
    with pytest.raises(InputError, match="no readable Parquet"):
        frames.read_parquet(path)


def test_parquet_and_back(tmp_path):
    path = tmp_path / "t.parquet"
    FRAME.to_parquet(path)
    pd.testing.assert_frame_equal(frames.read_parquet(path), FRAME)
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match="no readable Parquet"):
        frames.read_parquet(path)


def test_excel_without_blank_rows_and_with_sheets():
    raw = io.BytesIO()
    with pd.ExcelWriter(raw) as book:
        FRAME.to_excel(book, sheet_name="first", index=False)
        FRAME[["b"]].to_excel(book, sheet_name="second", index=False)
    with pytest.warns(UserWarning, match="'first' is read, of first, second"):
        found = frames.read_excel(Path("t.xlsx"), raw.getvalue(), FileFormat())
    assert found["b"].tolist()[:2] == ["x", "y"] and pd.isna(found["b"][2])
    for sheet in ("second", "2"):
        found = frames.read_excel(Path("t"), raw.getvalue(), FileFormat(sheet=sheet))
        assert list(found.columns) == ["b"]
    with pytest.raises(InputError, match="no sheet 'third'"):
        frames.read_excel(Path("t"), raw.getvalue(), FileFormat(sheet="third"))


def test_arff():
    text = "@relation r\n@attribute a real\n@attribute b {x,y}\n@data\n1.5,x\n?,?\n"
    found = frames.read_arff(Path("t.arff"), text)
    assert found["a"][0] == 1.5 and pd.isna(found["a"][1])
    assert found["b"][0] == "x" and pd.isna(found["b"][1])
    with pytest.raises(InputError, match="no ARFF file"):
        frames.read_arff(Path("t.arff"), "@relation r\n@attribute a string\n@data\nx\n")
