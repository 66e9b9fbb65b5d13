# Made from _core/linear/machine.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def thermal(
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    beta: float,
    a: float,
    b: float,
    epsilon: float,
    alpha: float,
    least: float,
    certainty: float,
    seed: Any = ...,
) -> Any: ...
def pocket(
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    epsilon: float,
    ratchet: bool,
    most: int,
    seed: int,
) -> Any: ...
def rls(
    x: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    passes: int,
    variance: float,
) -> NDArray[np.float64]: ...
