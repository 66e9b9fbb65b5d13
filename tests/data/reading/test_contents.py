"""Bytes of files, unpacked, and the text that they spell."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from omnitree.data.reading.contents import decoded, inner_suffix, is_excel, read_bytes
from omnitree.data.reading.errors import InputError

TEXT = "näme,größe\nä,1\n" * 20


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.csv", ".csv"),
        ("a.CSV.gz", ".csv"),
        ("a.gz", ""),
        ("a", ""),
        ("a.b.tsv", ".tsv"),
    ],
)
def test_inner_suffix(name, suffix):
    assert inner_suffix(Path(name)) == suffix


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_unpacked_whatever_the_name_says(tmp_path, pack):
    path = tmp_path / "data.csv"
    path.write_bytes(pack(TEXT.encode()))
    assert read_bytes(path) == TEXT.encode()


def test_files_that_cannot_be_unpacked(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(gzip.compress(TEXT.encode())[:-9])
    with pytest.raises(InputError, match="cut off"):
        read_bytes(path)
    path.write_bytes(b"\x28\xb5\x2f\xfd rest")
    with pytest.raises(InputError, match="Zstandard"):
        read_bytes(path)
    assert not is_excel(b"PK\x03\x04 no archive")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"]
)
def test_encodings_that_show(encoding):
    text = TEXT if encoding != "utf-16-le" else "name,size\na,1\n" * 20
    assert decoded(Path("f"), text.encode(encoding)) == text


def test_encodings_that_do_not():
    with pytest.warns(UserWarning, match="Windows-1252"):
        assert decoded(Path("f"), TEXT.encode("latin-1")) == TEXT
    assert decoded(Path("f"), TEXT.encode("cp437"), "cp437") == TEXT
    for raw, encoding, word in (
        ("привет " * 9, "cp1251", "--encoding"),
        (TEXT, "no-such", "no encoding"),
    ):
        given = encoding if encoding == "no-such" else None
        with pytest.raises(InputError, match=word):
            decoded(
                Path("f"), raw.encode("cp1251" if given is None else "utf-8"), given
            )
    with pytest.raises(InputError, match="binary"):
        decoded(Path("f"), b"a\0b\1\2\3" * 9)
