# Made from _core/linear/oblique.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def best_step(
    v: NDArray[np.float64],
    d: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_classes: int,
    merit: int,
) -> Any: ...
def climb(
    columns: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_classes: int,
    merit: int,
    gammas: NDArray[np.float64],
    options: Any,
    w: NDArray[np.float64],
) -> Any: ...
