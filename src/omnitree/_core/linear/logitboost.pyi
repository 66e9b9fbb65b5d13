# Made from _core/linear/logitboost.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def boost(
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    f: NDArray[np.float64],
    steps: int,
    bias: NDArray[np.float64] | None = ...,
    weights: NDArray[np.float64] | None = ...,
    *,
    test_x: NDArray[np.float64] | None = ...,
    test_y: NDArray[np.int32] | None = ...,
    test_weight: NDArray[np.float64] | None = ...,
    test_f: NDArray[np.float64] | None = ...,
    patience: int = ...,
    errors: NDArray[np.float64] | None = ...,
    tick: Any = ...,
) -> Any: ...
