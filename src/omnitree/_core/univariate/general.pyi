# Made from _core/univariate/general.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def grow_general(
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_cat: NDArray[np.int32],
    n_classes: int,
    options: Any,
    merit: Any = ...,
    tick: Any = ...,
) -> Any: ...
def surrogates(
    x: NDArray[np.float64],
    weight: NDArray[np.float64],
    n_cat: NDArray[np.int32],
    branch: NDArray[np.int32],
    feature: int,
    max_surrogates: int,
) -> Any: ...
def merits_of(merit: int, counts: NDArray[np.float64]) -> NDArray[np.float64]: ...
