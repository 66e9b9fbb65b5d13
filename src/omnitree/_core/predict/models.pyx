# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Answers of the models in nodes: a thin wrapper of models.hpp for leaf_models.py."""
from libc.stdint cimport int32_t, int64_t

from omnitree._core.common.views cimport Columns, Values, pointer_to, view_columns, view_values


cdef extern from "predict/models.hpp" namespace "omnitree" nogil:
    cdef struct SumsView:
        const int32_t* columns
        int64_t n_columns
        const int32_t* terms
        int64_t n_terms
        const int32_t* curves
        int64_t n_curves
        const double* weight

    void add_sums(const SumsView&, int64_t, const Values&, const Columns&, int64_t,
                  double*) except +
    void to_probabilities "omnitree::probabilities" (double*, int64_t)


def answers(const int64_t[::1] index_ptr, const int64_t[::1] weight_ptr,
            const int64_t[::1] term_ptr, const int64_t[::1] curve_ptr,
            const int32_t[::1] index, const double[::1] weight, const int32_t[::1] term,
            const int32_t[::1] curve, bint probabilities,
            const double[:, :] x, const int32_t[::1] column_feature,
            const int32_t[::1] column_category, const int64_t[::1] rows,
            const int32_t[::1] nodes, double[:, ::1] out):
    """Line i of `out`: the answer of the model of nodes[i] for row rows[i].

    Lines of nodes without a model stay as they are. A model without terms is one of its
    columns. O(terms and curves of the model times K) a row.
    """
    cdef Columns c = view_columns(column_feature, column_category)
    cdef const int32_t* columns = pointer_to(index)
    cdef const int32_t* terms = pointer_to(term)
    cdef const int32_t* curves = pointer_to(curve)
    cdef SumsView model
    cdef int64_t i, at, k = out.shape[1]
    cdef int32_t node
    cdef bint at_cases
    cdef Values v
    if rows.shape[0] == 0 or weight.shape[0] == 0:
        return
    v = view_values(x)
    with nogil:
        for i in range(rows.shape[0]):
            node = nodes[i]
            at = weight_ptr[node]
            if weight_ptr[node + 1] == at:
                continue
            model.columns = columns + index_ptr[node]
            model.n_columns = index_ptr[node + 1] - index_ptr[node]
            model.n_terms = (term_ptr[node + 1] - term_ptr[node]) // 2
            model.curves = curves + curve_ptr[node]
            model.n_curves = (curve_ptr[node + 1] - curve_ptr[node]) // 2
            # Cases come last; beside them columns have no weights of their own.
            at_cases = model.n_curves and model.curves[2 * model.n_curves - 2] < 0
            if model.n_terms:
                model.terms = terms + term_ptr[node]
            else:
                model.terms = model.columns if at_cases else NULL
            model.weight = &weight[at]
            add_sums(model, k, v, c, rows[i], &out[i, 0])
            if probabilities:
                to_probabilities(&out[i, 0], k)
