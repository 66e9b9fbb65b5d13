# Made from _core/linear/discriminant.pyx by .ci/stubs.py.
import numpy as np
from numpy.typing import NDArray

def standardise(
    x: NDArray[np.float64],
    rows: NDArray[np.int64],
    weight: NDArray[np.float64],
    missing: bool,
    mean: NDArray[np.float64],
    std: NDArray[np.float64],
    z: NDArray[np.float64],
) -> None: ...
def add_class_sums(
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None: ...
def present_means(
    x: NDArray[np.float64],
    rows: NDArray[np.int64],
    weight: NDArray[np.float64],
    columns: NDArray[np.int64],
    means: NDArray[np.float64],
) -> None: ...
def fill_missing(
    x: NDArray[np.float64],
    columns: NDArray[np.int64],
    means: NDArray[np.float64],
) -> None: ...
def multiply_pairs(
    x: NDArray[np.float64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def project(
    x: NDArray[np.float64],
    rows: NDArray[np.int64],
    basis: NDArray[np.float64],
    origin: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def count_parts(
    tested: NDArray[np.uint8],
    above: NDArray[np.uint8],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None: ...
def exchange(
    scores: NDArray[np.float64],
    first: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    size: NDArray[np.float64],
    centres: NDArray[np.float64],
    spread: NDArray[np.float64],
    merit: int,
    left: NDArray[np.uint8],
) -> None: ...
def nearest_starts(
    means: NDArray[np.float64],
    size: NDArray[np.float64],
    left: NDArray[np.uint8],
) -> None: ...
