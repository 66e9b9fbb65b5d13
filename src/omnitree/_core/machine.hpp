// Weights of linear units, learned row by row.
//
// A row is d doubles, its constant 1 included; rows lie one after the other. A row of weight
// w counts as w rows. Used by the coefficient learners.
#pragma once
#include <cstdint>
#include <vector>

namespace omnitree {

// Recursive least squares (Brodley & Utgoff 1995, 3.1), O(d^2) a row. `w` comes in as W0 and
// `p`, d x d, as P0; both are updated. The gain of a row of weight v is what v rows in turn
// would have, P x / (1/v + x'Px).
inline void rls(const double* x, const double* target, const double* weight, int64_t n,
                int64_t d, int passes, double* w, double* p) {
  std::vector<double> px(d);
  for (int pass = 0; pass < passes; ++pass)
    for (int64_t i = 0; i < n; ++i) {
      if (weight[i] <= 0) continue;
      const double* row = x + i * d;
      double xpx = 0, error = -target[i];
      for (int64_t a = 0; a < d; ++a) {
        double sum = 0;
        for (int64_t b = 0; b < d; ++b) sum += p[a * d + b] * row[b];
        px[a] = sum;
        xpx += row[a] * sum;
        error += row[a] * w[a];
      }
      const double scale = 1 / (1 / weight[i] + xpx);
      for (int64_t a = 0; a < d; ++a) {
        const double gain = scale * px[a];
        w[a] -= gain * error;
        for (int64_t b = 0; b < d; ++b) p[a * d + b] -= gain * px[b];
      }
    }
}

}  // namespace omnitree
