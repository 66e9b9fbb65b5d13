# Made from _core/univariate/estimate.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def add_errors(n: float, errors: float, confidence: float) -> Any: ...
def prune_error_based(
    arrays: tuple[Any, ...],
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_classes: int,
    confidence: float,
    raising: bool,
) -> Any: ...
