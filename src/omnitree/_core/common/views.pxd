# Views of NumPy arrays for the C++ headers, shared by the kernels.
from libc.stdint cimport int32_t, int64_t, uint8_t


cdef extern from "predict/route.hpp" namespace "omnitree" nogil:
    cdef struct Values:
        const double* base
        int64_t row_stride
        int64_t col_stride

    cdef struct Columns:
        const int32_t* feature
        const int32_t* category
        int64_t n

    cdef struct TreeView:
        const uint8_t* kind
        const int32_t* first_child
        const int32_t* n_children
        const int32_t* missing
        const double* share
        const int64_t* test_start
        const uint8_t* test_kind
        const int64_t* index_ptr
        const int64_t* weight_ptr
        const int32_t* index
        const double* weight
        Columns columns


cdef inline Values view_values(const double[:, :] x) noexcept nogil:
    cdef Values v
    v.base = &x[0, 0]
    v.row_stride = x.strides[0] // <int64_t> sizeof(double)
    v.col_stride = x.strides[1] // <int64_t> sizeof(double)
    return v


ctypedef fused number:
    double
    int32_t
    int64_t
    uint8_t


cdef inline const number* pointer_to(const number[::1] array) noexcept nogil:
    """Where an array begins; the caller keeps it alive. NULL if it is empty."""
    return &array[0] if array.shape[0] else NULL


cdef inline Columns view_columns(
    const int32_t[::1] feature, const int32_t[::1] category
) noexcept nogil:
    cdef Columns c
    c.feature, c.category, c.n = pointer_to(feature), pointer_to(category), feature.shape[0]
    return c


cdef inline TreeView view_tree(tuple arrays):
    """The view of Tree.routing_arrays; the caller keeps `arrays` alive while it is used."""
    cdef TreeView t
    t.kind = pointer_to[uint8_t](arrays[0])
    t.first_child = pointer_to[int32_t](arrays[1])
    t.n_children = pointer_to[int32_t](arrays[2])
    t.missing = pointer_to[int32_t](arrays[3])
    t.share = pointer_to[double](arrays[4])
    t.test_start = pointer_to[int64_t](arrays[5])
    t.test_kind = pointer_to[uint8_t](arrays[6])
    t.index_ptr = pointer_to[int64_t](arrays[7])
    t.weight_ptr = pointer_to[int64_t](arrays[8])
    t.index = pointer_to[int32_t](arrays[9])
    t.weight = pointer_to[double](arrays[10])
    t.columns = view_columns(arrays[11], arrays[12])
    return t
