// Neighbours of a least-squares test, counted and moved to, for `features/gram.py`.
//
// Row i has the score s_i; moving to neighbour j adds m_ij * step_j + shift_j to it. The matrix
// lies row by row, so both loops run along memory.
#pragma once
#include <cstdint>

#include "common/linear_sums.hpp"

namespace omnitree {

// Weight of each class above 0 for every neighbour: out[k * d + j] += w_i.
OMNITREE_CLONES
static void count_above(const double* matrix, const double* score, const double* step,
                        const double* shift, const int32_t* y, const double* weight, int64_t n,
                        int64_t d, double* out) {
  for (int64_t i = 0; i < n; ++i) {
    const double* row = matrix + i * d;
    double* __restrict count = out + y[i] * d;
    const double s = score[i], w = weight[i];
    for (int64_t j = 0; j < d; ++j) count[j] += s + row[j] * step[j] + shift[j] > 0 ? w : 0.0;
  }
}

// Move to neighbour `at`: scores take its step, the matrix loses its share in each column.
OMNITREE_CLONES
static void move_to(double* matrix, double* score, const double* share, double step, int64_t at,
                    int64_t n, int64_t d) {
  for (int64_t i = 0; i < n; ++i) {
    double* __restrict row = matrix + i * d;
    const double m = row[at];
    score[i] += m * step;
    for (int64_t j = 0; j < d; ++j) row[j] -= m * share[j];
  }
}

}  // namespace omnitree
