# Made from _core/univariate/presort.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def grow_numeric(
    X: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: Any,
    n_classes: int,
    merit: int,
    min_rows: float,
    min_branch: float,
    max_depth: int,
    tick: Any,
    by_ratio: Any = ...,
    release8: Any = ...,
    value_thresholds: Any = ...,
    sorted_as: Any = ...,
) -> Any: ...
def sort_columns(X: NDArray[np.float64]) -> Any: ...
def grow_targets(
    X: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: Any,
    min_rows: float,
    min_branch: float,
    max_depth: int,
    tick: Any,
) -> Any: ...
