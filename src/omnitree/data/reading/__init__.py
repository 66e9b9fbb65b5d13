"""Tables from files, checked before anything is learned.

CSV and its relatives, Excel, ARFF and Parquet. `read_table` is the one door, for the
command line, the lab and Python alike; what it had to decide about cells it says in a
`UserWarning`. `FileFormat` holds what the reader would otherwise find out by itself.

- `contents`: bytes of a file, unpacked; bytes to text.
- `layout`: comment lines, separator, decimal sign of a text.
- `cells`: which cells mean missing, and columns that are numbers but for a few cells.
- `readers`, `frames`: text, and other files, to tables.
- `tables`, `targets`: what the readers return, and its column to predict.
- `errors`: the error that is the user's one line.
"""

from __future__ import annotations

from omnitree.data.reading.cells import MISSING, MISSING_AMONG_NUMBERS
from omnitree.data.reading.errors import InputError, check_input, input_at_fault
from omnitree.data.reading.layout import FileFormat
from omnitree.data.reading.readers import read_table
from omnitree.data.reading.tables import TableFile
from omnitree.data.reading.targets import as_numbers, is_numeric

__all__ = [
    "MISSING",
    "MISSING_AMONG_NUMBERS",
    "FileFormat",
    "InputError",
    "TableFile",
    "as_numbers",
    "check_input",
    "input_at_fault",
    "is_numeric",
    "read_table",
]
