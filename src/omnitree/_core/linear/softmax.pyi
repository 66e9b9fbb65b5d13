# Made from _core/linear/softmax.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def descend(
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    share: NDArray[np.float64],
    price: NDArray[np.float64],
    w: NDArray[np.float64],
    tolerance: float,
    most: int,
    *,
    factor: NDArray[np.float64] | None = ...,
    inverse: NDArray[np.float64] | None = ...,
    tick: Any = ...,
) -> None: ...
