# Made from _core/predict/route.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def route_test(
    kind: int,
    index: NDArray[np.int32],
    weight: NDArray[np.float64],
    x: NDArray[np.float64],
    rows: NDArray[np.int64],
    column_feature: NDArray[np.int32],
    column_category: NDArray[np.int32],
    out: NDArray[np.int32],
) -> None: ...
def apply_tree(
    arrays: tuple[Any, ...],
    x: NDArray[np.float64],
    begin: int,
    end: int,
    leaf: NDArray[np.int32],
) -> None: ...
def apply_axis(
    nodes: NDArray[np.uint8],
    x: NDArray[np.float64],
    begin: int,
    end: int,
    leaf: NDArray[np.int32],
) -> None: ...
def axis_sums(
    nodes: NDArray[np.uint8],
    x: NDArray[np.float64],
    weight: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def divide_rows(
    arrays: tuple[Any, ...],
    x: NDArray[np.float64],
    rows: NDArray[np.int64],
) -> Any: ...
