"""What is in a file: its bytes, unpacked, and the text that they spell.

Packed files and Excel's are known by their first bytes, not by their names. A text is
UTF-8, or UTF-16 or UTF-32 if it begins with a byte order mark or every other byte is
zero; other bytes are read as Windows-1252, which holds latin-1, and a warning says so.
Where that is not plausible, an error asks for the encoding.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from omnitree.data.reading.errors import InputError, input_at_fault

UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}
ZIP = b"PK\x03\x04"
# What zipfile raises over damaged archives: wrong offsets, names, methods, lengths.
DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    ValueError,
    EOFError,
    OSError,
)
ZSTANDARD = b"\x28\xb5\x2f\xfd"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zip")

# The longer marks first: that of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"
# More bytes beyond ASCII than this are not a Western European language's.
MOST_WESTERN = 0.3


def inner_suffix(path: Path) -> str:
    """What the name says of the format, behind that of the packing: `.csv` of `a.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked; those of an Excel file as they are."""
    with input_at_fault():
        raw = path.read_bytes()
    for magic, unpack in UNPACK.items():
        if raw.startswith(magic):
            try:
                return unpack(raw)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise InputError(f"{path} is damaged or cut off: {error}") from None
    if raw.startswith(ZSTANDARD):
        raise InputError(f"{path} is packed by Zstandard: unpack it first")
    if raw.startswith(ZIP) and not is_excel(raw):
        return _only_member(path, raw)
    return raw


def is_excel(raw: bytes) -> bool:
    """Whether these are the bytes of an Excel workbook, .xlsx or the old .xls."""
    if raw.startswith(OLD_EXCEL):
        return True
    if not raw.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except DAMAGED_ZIP:
        return False


def _only_member(path: Path, raw: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if len(names) != 1:
                raise InputError(f"{path} holds {len(names)} files: unpack it first")
            return archive.read(names[0])
    except DAMAGED_ZIP as error:
        raise InputError(f"{path} is damaged or cut off: {error}") from None
    except RuntimeError:  # zipfile's word for a password
        raise InputError(f"{path} is encrypted: unpack it first") from None


def decoded(path: Path, raw: bytes, encoding: str | None = None) -> str:
    """The text of some bytes; an `InputError` if they are none."""
    if encoding is not None:
        return _decoded_as(path, raw, encoding)
    for mark, name in MARKS:
        if raw.startswith(mark):
            return _decoded_as(path, raw, name)
    if b"\0" in raw[:65536]:
        return _decoded_as(path, raw, _zero_bytes(path, raw[:65536]))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return _western(path, raw, error)


def _decoded_as(path: Path, raw: bytes, encoding: str) -> str:
    try:
        # A byte order mark is no part of the first name, whoever named the encoding.
        return raw.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise InputError(f"there is no encoding {encoding!r} (--encoding)") from None
    except ValueError as error:
        raise InputError(f"{path} is no text in {encoding}: {error}") from None


def _zero_bytes(path: Path, start: bytes) -> str:
    """The UTF-16 of a text without a mark: nearly every other byte is zero."""
    even, odd = start[0::2].count(0), start[1::2].count(0)
    for name, zero, other in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zero > 0.2 * len(start) and not other:
            return name
    raise InputError(f"{path} is a binary file, not CSV or TSV")


def _western(path: Path, raw: bytes, error: UnicodeDecodeError) -> str:
    beyond = sum(raw.count(bytes([byte])) for byte in range(128, 256))
    controls = sum(raw.count(bytes([byte])) for byte in (*range(9), *range(14, 32)))
    unsure = (
        f"{path} is no text in UTF-8 ({error.reason} at byte {error.start}): give its "
        "--encoding, such as latin-1, cp1250, cp1251 or shift_jis"
    )
    if controls or beyond > MOST_WESTERN * len(raw):
        raise InputError(unsure)
    try:
        text = raw.decode(WESTERN)
    except UnicodeDecodeError:
        raise InputError(unsure) from None
    warnings.warn(
        f"{path} is no text in UTF-8; it is read as Windows-1252 (latin-1), --encoding "
        "says otherwise",
        UserWarning,
        stacklevel=2,
    )
    return text
