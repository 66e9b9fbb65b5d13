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


cdef inline Columns view_columns(
    const int32_t[::1] feature, const int32_t[::1] category
) noexcept nogil:
    cdef Columns c
    c.feature = &feature[0] if feature.shape[0] else NULL
    c.category = &category[0] if category.shape[0] else NULL
    c.n = feature.shape[0]
    return c


cdef inline TreeView view_tree(tuple arrays):
    """The view of Tree.routing_arrays; the caller keeps `arrays` alive while it is used."""
    cdef const uint8_t[::1] kind = arrays[0]
    cdef const int32_t[::1] first_child = arrays[1]
    cdef const int32_t[::1] n_children = arrays[2]
    cdef const int32_t[::1] missing = arrays[3]
    cdef const double[::1] share = arrays[4]
    cdef const int64_t[::1] test_start = arrays[5]
    cdef const uint8_t[::1] test_kind = arrays[6]
    cdef const int64_t[::1] index_ptr = arrays[7]
    cdef const int64_t[::1] weight_ptr = arrays[8]
    cdef const int32_t[::1] index = arrays[9]
    cdef const double[::1] weight = arrays[10]
    cdef const int32_t[::1] column_feature = arrays[11]
    cdef const int32_t[::1] column_category = arrays[12]
    cdef TreeView t
    t.kind = &kind[0]
    t.first_child = &first_child[0]
    t.n_children = &n_children[0]
    t.missing = &missing[0]
    t.share = &share[0]
    t.test_start = &test_start[0]
    t.test_kind = &test_kind[0] if test_kind.shape[0] else NULL
    t.index_ptr = &index_ptr[0]
    t.weight_ptr = &weight_ptr[0]
    t.index = &index[0] if index.shape[0] else NULL
    t.weight = &weight[0] if weight.shape[0] else NULL
    t.columns = view_columns(column_feature, column_category)
    return t
