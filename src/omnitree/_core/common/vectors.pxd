# NumPy arrays of the vectors that kernels fill.
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from libcpp.vector cimport vector


cdef inline copied(const void* data, size_t size, str dtype):
    """An array of `size` numbers."""
    import numpy  # a .pxd has no globals

    out = numpy.empty(size, dtype=dtype)
    cdef unsigned char[::1] view = out.view("u1")
    if size:
        memcpy(&view[0], data, view.shape[0])
    return out


cdef inline bytes_of(const vector[uint8_t]& v):
    return copied(v.data(), v.size(), "u1")


cdef inline integers(const vector[int32_t]& v):
    return copied(v.data(), v.size(), "i4")


cdef inline long_integers(const vector[int64_t]& v):
    return copied(v.data(), v.size(), "i8")


cdef inline doubles(const vector[double]& v):
    return copied(v.data(), v.size(), "f8")
