// What the linear or quadratic model of a node answers for a row.
//
// A model over m columns with K sums is a slice of ints, the columns, one of ints for its
// terms, and one of doubles: m fills, K biases, then K weights a term. A term is a pair of
// positions among the columns, as in quadratic tests (route.hpp); a linear model has an empty
// slice of terms, its terms are the columns. The sums are added up term by term, so that
// every sum has the order of the exporters and the K of them can run abreast.
#pragma once
#include "predict/route.hpp"

namespace omnitree {

struct ModelView {  // the model of one node
  const int32_t* columns;
  int64_t n_columns;
  const int32_t* terms;  // of a quadratic model
  int64_t n_terms;       // 0: a linear model
  const double* weight;
};

// The K sums of one row.
inline void model_sums(const ModelView& model, int64_t k, const Values& x, const Columns& c,
                       int64_t row, double* out) {
  const double* fill = model.weight;
  const double* w = fill + model.n_columns;
  for (int64_t i = 0; i < k; ++i) out[i] = w[i];
  const int64_t n = model.n_terms ? model.n_terms : model.n_columns;
  for (int64_t t = 0; t < n; ++t) {
    w += k;
    const double v = model.n_terms ? term_value(model.terms + 2 * t, model.columns, fill, x, c, row)
                                   : column_value(x, c, row, model.columns[t], fill[t]);
    for (int64_t i = 0; i < k; ++i) out[i] += w[i] * v;
  }
}

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
