"""Parquet files and `pyarrow.dataset`: one part a row group; files are never read whole."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from omnitree.data.sources.base import BLOCK_CELLS, Block, Roles, block_rows

READ_BYTES = 1 << 13  # of a column at once: a whole column of a row group may be large


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Some row groups of a file."""

    fragment: Any
    columns: list[str]
    start: int
    roles: Roles
    cells: int = BLOCK_CELLS  # of a block

    def blocks(self) -> Iterator[Block]:
        """Read only the columns needed, a few thousand rows at a time."""
        import pyarrow as pa

        place = str(getattr(self.fragment, "path", "the data set"))
        start = self.start
        lacking = set(self.columns) - set(self.fragment.physical_schema.names)
        if lacking:
            raise ValueError(f"{place} lacks column(s) {', '.join(sorted(lacking))}.")
        try:
            for batch in self._batches():
                rows = pa.Table.from_batches([batch]).select(self.columns)
                if rows.num_rows:
                    yield self.roles.block(rows, start, place)
                start += rows.num_rows
        except (OSError, pa.ArrowInvalid) as error:
            raise OSError(f"{place} cannot be read: {error}") from error

    def _batches(self) -> Iterator[Any]:
        import pyarrow.dataset as ds
        import pyarrow.parquet as pq

        if not isinstance(self.fragment, ds.ParquetFileFragment):
            yield from self.fragment.to_batches(
                columns=self.columns,
                batch_size=block_rows(len(self.columns), self.cells),
                batch_readahead=0,
                use_threads=False,
            )
            return
        groups, options = self.fragment.row_groups, self.fragment.format.read_options
        n_rows = sum(group.num_rows for group in groups)
        # Not by `to_batches` of the fragment: it decodes whole row groups, however large, in
        # threads of Arrow, which gave two threads of ours 2.5 times as many page faults.
        with self.fragment.open() as opened:
            file = pq.ParquetFile(
                opened,
                metadata=self.fragment.metadata,
                read_dictionary=options.dictionary_columns,
                coerce_int96_timestamp_unit=options.coerce_int96_timestamp_unit,
                buffer_size=READ_BYTES,
                pre_buffer=False,
            )
            yield from file.iter_batches(
                block_rows(len(self.columns), self.cells, n_rows),
                row_groups=[group.id for group in groups],
                columns=self.columns,
                use_threads=False,
            )


@dataclass(frozen=True, eq=False)
class DatasetSource:
    """A `pyarrow.dataset` of files.

    `columns` are those to read besides target and weights; None: all.
    """

    dataset: Any
    roles: Roles
    columns: Sequence[str] | None = None

    @property
    def travels(self) -> bool:
        """Whether parts are small: only if they do not carry arrays."""
        given = [role for role in (self.roles.y, self.roles.weight) if role is not None]
        return len(given) == len(self.roles.names)

    @cached_property
    def names(self) -> list[str]:
        """The columns that are read."""
        schema = self.dataset.schema
        every = list(schema.names)
        self.roles.check(every)
        if self.columns is None:
            # pandas writes its index as a column, and takes it out again.
            index = (schema.pandas_metadata or {}).get("index_columns", ())
            hidden = [n for n in index if n not in self.roles.names]
            return [name for name in every if name not in hidden]
        lacking = [repr(name) for name in self.columns if name not in every]
        if lacking:
            raise ValueError(f"The table lacks column(s) {', '.join(lacking)}.")
        return [*self.columns, *self.roles.names]

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, as the files say."""
        return int(self.dataset.count_rows())

    @property
    def n_bytes(self) -> int:
        """Size in memory, as float64."""
        return 8 * self.n_rows * len(self.names)

    def parts(self, cells: int = BLOCK_CELLS) -> Iterator[RowGroups]:
        """The row groups of all files."""
        self.roles.check_length(self.n_rows)
        start = 0
        for fragment in self.dataset.get_fragments():
            groups = whole = [fragment]
            if hasattr(fragment, "split_by_row_group"):
                groups = fragment.split_by_row_group()
            for group in groups:
                yield RowGroups(group, self.names, start, self.roles, cells)
                if groups is not whole:
                    start += sum(g.num_rows for g in group.row_groups)
                else:
                    start += group.count_rows()


def open_files(given: Any, roles: Roles, columns: Sequence[str] | None) -> Any:
    """A path, a glob, a folder or several of them as a source."""
    try:
        import pyarrow.dataset as ds
    except ImportError as error:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'omnitree[all]'"
        ) from error

    several = given if isinstance(given, list | tuple) else [given]
    paths: list[str] = []
    for path in map(str, several):
        found = sorted(glob.glob(path)) if glob.has_magic(path) else [path]
        if not found or not Path(found[0]).exists():
            raise FileNotFoundError(f"There is no file {path}")
        paths += found
    folder = len(paths) == 1 and Path(paths[0]).is_dir()
    other = [p for p in paths if not folder and not p.endswith((".parquet", ".pq"))]
    if other:
        raise ValueError(
            f"{other[0]} is not a Parquet file. Read it first, for example by "
            "pandas.read_csv, or beyond memory by polars.scan_csv."
        )
    dataset = ds.dataset(paths[0] if folder else paths, format="parquet")
    return DatasetSource(dataset, roles, columns)
