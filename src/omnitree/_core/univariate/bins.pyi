# Made from _core/univariate/bins.pyx by .ci/stubs.py.
import numpy as np
from numpy.typing import NDArray

def add_hash(
    column: NDArray[np.float64],
    key: int,
    out: NDArray[np.uint64],
) -> None: ...
def count_bins(
    cells: NDArray[np.float64],
    slot: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    y: NDArray[np.int32] | None,
    number: NDArray[np.int64] | None,
    n_statistics: int,
    edges: NDArray[np.float64],
    edge_start: NDArray[np.int64],
    width: NDArray[np.int32],
    is_category: NDArray[np.uint8],
    start: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None: ...
