# Made from _core/linear/gram.pyx by .ci/stubs.py.
import numpy as np
from numpy.typing import NDArray

def count_above(
    matrix: NDArray[np.float64],
    score: NDArray[np.float64],
    step: NDArray[np.float64],
    shift: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_classes: int,
) -> NDArray[np.float64]: ...
def move_to(
    matrix: NDArray[np.float64],
    score: NDArray[np.float64],
    share: NDArray[np.float64],
    step: float,
    at: int,
) -> None: ...
