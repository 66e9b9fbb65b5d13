# Made from _core/univariate/paths.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def grow_paths(
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    n_classes: int,
    seed: int,
    random: bool,
) -> Any: ...
