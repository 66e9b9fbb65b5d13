# Made from _core/univariate/targets.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def squared(
    order: NDArray[np.int64],
    z: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    min_branch: float,
) -> Any: ...
def absolute(
    order: NDArray[np.int64],
    z: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    min_branch: float,
    rank: NDArray[np.int64],
    target_of_rank: NDArray[np.float64],
) -> Any: ...
def ridge(
    x: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    penalty: float,
    min_branch: float,
    most: int,
    order: NDArray[np.int64],
    z: NDArray[np.float64],
    gain: NDArray[np.float64],
    after: NDArray[np.int64],
) -> Any: ...
