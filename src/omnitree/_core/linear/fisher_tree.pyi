# Made from _core/linear/fisher_tree.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def train_parts(
    z: NDArray[np.float64],
    y: NDArray[np.int32],
    line: NDArray[np.int64],
    cell: NDArray[np.int32],
    member: NDArray[np.uint8],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    pca: int,
    epsilon: float,
    merit: int,
    sums: NDArray[np.float64] | None,
    second: NDArray[np.float64] | None,
    room: NDArray[np.float64],
    weights: NDArray[np.float64],
    cuts: NDArray[np.float64],
    tick: Any = ...,
) -> None: ...
def grow(
    z: NDArray[np.float64],
    mean: NDArray[np.float64],
    std: NDArray[np.float64],
    values: NDArray[np.float64],
    feature: NDArray[np.int32],
    category: NDArray[np.int32],
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    pca: int,
    epsilon: float,
    merit: int,
    min_rows: float,
    max_depth: int,
    tick: Any,
) -> Any: ...
