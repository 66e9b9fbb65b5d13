"""Tables that need not fit into memory, as parts that can be read again and again.

`open_blocks` takes what people have: Parquet files, a `pyarrow.dataset`, a lazy frame of
polars, a memory-mapped array, batches, dask collections. Each becomes a `BlockSource`: a
sequence of parts, and a part gives blocks of rows. `coding` turns blocks into encoded rows.
Used by the estimators' `fit` and `predict` and by `omnitree.growing.blocks`.
"""

from omnitree.data.sources.base import Block, BlockSource, SourcePart
from omnitree.data.sources.opening import open_blocks

__all__ = ["Block", "BlockSource", "SourcePart", "open_blocks"]
