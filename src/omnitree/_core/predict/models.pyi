# Made from _core/predict/models.pyx by .ci/stubs.py.
import numpy as np
from numpy.typing import NDArray

def answers(
    index_ptr: NDArray[np.int64],
    weight_ptr: NDArray[np.int64],
    term_ptr: NDArray[np.int64],
    curve_ptr: NDArray[np.int64],
    index: NDArray[np.int32],
    weight: NDArray[np.float64],
    term: NDArray[np.int32],
    curve: NDArray[np.int32],
    probabilities: bool,
    x: NDArray[np.float64],
    column_feature: NDArray[np.int32],
    column_category: NDArray[np.int32],
    rows: NDArray[np.int64],
    nodes: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None: ...
