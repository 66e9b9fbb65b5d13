# Made from _core/univariate/cuts.pyx by .ci/stubs.py.
import numpy as np
from numpy.typing import NDArray

def count_sides(
    x: NDArray[np.float64],
    column: NDArray[np.int64],
    start: NDArray[np.int64],
    cuts: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None: ...
