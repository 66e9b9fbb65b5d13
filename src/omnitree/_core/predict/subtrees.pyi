# Made from _core/predict/subtrees.pyx by .ci/stubs.py.
from typing import Any

import numpy as np
from numpy.typing import NDArray

def subtree_sums(
    shape: tuple[Any, ...],
    leaf_value: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def add_up(shape: tuple[Any, ...], value: NDArray[np.float64]) -> None: ...
def weakest_links(
    shape: tuple[Any, ...],
    cost: NDArray[np.float64],
    size: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def sums_at(
    shape: tuple[Any, ...],
    links: NDArray[np.float64],
    as_leaf: NDArray[np.float64],
    alphas: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def shrunken_shares(
    shape: tuple[Any, ...],
    value: NDArray[np.float64],
    total: NDArray[np.float64],
    m: float,
    out: NDArray[np.float64],
) -> None: ...
def depths(shape: tuple[Any, ...]) -> NDArray[np.int32]: ...
def kept(shape: tuple[Any, ...], to: NDArray[np.int64]) -> Any: ...
def passing(shape: tuple[Any, ...], leaf: NDArray[np.int32]) -> Any: ...
