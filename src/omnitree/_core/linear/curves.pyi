# Made from _core/linear/curves.pyx by .ci/stubs.py.
import numpy as np
from numpy.typing import NDArray

def fill(
    z: NDArray[np.float64],
    knots: NDArray[np.float64],
    values: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
