# Made from _core/linear/grid.pyx by .ci/stubs.py.
import numpy as np
from numpy.typing import NDArray

def on_grid(
    cells: NDArray[np.float64],
    feature: NDArray[np.int32],
    category: NDArray[np.int32],
    centre: NDArray[np.float64],
    step: NDArray[np.float64],
    half: float,
    rows: NDArray[np.int64],
    y: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    whole: NDArray[np.float64],
    seen: NDArray[np.float64] | None,
    sums: NDArray[np.int64],
    present: NDArray[np.int64],
) -> None: ...
