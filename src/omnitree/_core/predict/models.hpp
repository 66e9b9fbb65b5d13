// What the sums of a node's model (sums.hpp) answer for a row.
#pragma once
#include "predict/program.hpp"
#include "predict/sums.hpp"

namespace omnitree {

// Sums to probabilities, around the largest so that nothing overflows.
template <class Exp>
inline void softmax(double* p, int64_t k, Exp exp) {
  double top = p[0], total = 0;
  for (int64_t i = 1; i < k; ++i)
    if (p[i] > top) top = p[i];
  for (int64_t i = 0; i < k; ++i) total += p[i] = exp(p[i] - top);
  for (int64_t i = 0; i < k; ++i) p[i] /= total;
}

inline void probabilities(double* p, int64_t k) { softmax(p, k, exp_down); }

}  // namespace omnitree
