# cython: boundscheck=False, wraparound=False
"""Bugs that a sanitizer must find; built by `make sanitize` alone, never installed."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector


def read_behind(Py_ssize_t n):
    """Read the cell behind an array (AddressSanitizer)."""
    cdef vector[double] values = vector[double](n)
    return values.data()[n]


def overflow(int32_t value):
    """Add one to a signed integer (UndefinedBehaviorSanitizer, if it is the largest)."""
    cdef int32_t one = 1
    return value + one


def element(Py_ssize_t n):
    """Ask a vector of n elements for its element n (_GLIBCXX_ASSERTIONS)."""
    cdef vector[int32_t] values = vector[int32_t](n)
    return values[n]
