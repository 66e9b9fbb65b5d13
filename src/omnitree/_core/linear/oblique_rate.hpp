// Merits of a test with two branches from the class counts of one of them, and how much
// better a cut inside a group of rows can be than those at its edges.
//
// Gini, twoing and the information gain have short forms here; all others are asked of
// merit.hpp. A row of weight w that changes its branch changes N Gini by at most 2 w and
// N twoing, half the Gini of the best two superclasses, by at most w. The gain is a sum of
// convex functions of single counts less a concave one of the branch's size; each is bounded
// by itself. Used by oblique.hpp.
#pragma once
#include <limits>
#include <type_traits>

#include "common/merit.hpp"

namespace omnitree {

// Merit of no test at all; finite, so that it can be compared within a tolerance.
constexpr double NO_MERIT = std::numeric_limits<double>::lowest();

enum Form : int { FORM_GINI, FORM_TWOING, FORM_GAIN, FORM_OTHER };

// Calls f with a form as a type, so that it is known when f is compiled.
template <class F>
inline auto with_form(Form form, F f) {
  switch (form) {
    case FORM_GINI:
      return f(std::integral_constant<int, FORM_GINI>());
    case FORM_TWOING:
      return f(std::integral_constant<int, FORM_TWOING>());
    case FORM_GAIN:
      return f(std::integral_constant<int, FORM_GAIN>());
    default:
      return f(std::integral_constant<int, FORM_OTHER>());
  }
}

class Rate {
 public:
  Rate(int merit, const int32_t* y, const double* weight, int64_t n, int K)
      : K(K), cls(K, 0.0), form(form_of(merit)), merit_(merit), table_(2 * K),
        // Logarithms made beforehand pay only where they are asked for at every cut.
        merits_{XLog2(form == FORM_GAIN ? std::min<int64_t>(n, 1 << 16) : 0), {}, {}} {
    for (int64_t i = 0; i < n; ++i) cls[y[i]] += weight[i];
    for (double c : cls) N += c, squares_ += c * c;
    base_ = merits_.xl(N);
    for (double c : cls) base_ -= merits_.xl(c);
    scale_ = merit == GAIN ? 1 / N : merit == ENTROPY ? M_LN2 / N : 2 * M_LN2;
  }

  const int K;
  std::vector<double> cls;  // weight of each class
  double N = 0;             // weight of all rows
  const Form form;

  // Merit of the test whose branch 0 has these counts; NO_MERIT if a branch is empty.
  template <int FORM>
  double of(const double* low) {
    double L = 0;
    for (int k = 0; k < K; ++k) L += low[k];
    const double R = N - L;
    if (!(std::min(L, R) > 1e-12 * N)) return NO_MERIT;
    if (FORM == FORM_TWOING) {
      double apart = 0;
      for (int k = 0; k < K; ++k) apart += std::fabs(low[k] * N - L * cls[k]);
      return apart * apart / (4 * N * N * L * R);
    }
    if (FORM == FORM_GINI) {
      double l = 0, r = 0;
      for (int k = 0; k < K; ++k) {
        l += low[k] * low[k];
        r += (cls[k] - low[k]) * (cls[k] - low[k]);
      }
      return (l / L + r / R - squares_ / N) / N;
    }
    const XLog2& xl = merits_.xl;
    if (FORM == FORM_GAIN) {
      double s = base_ - xl(L) - xl(R);
      for (int k = 0; k < K; ++k) s += xl(low[k]) + xl(cls[k] - low[k]);
      return s * scale_;
    }
    for (int k = 0; k < K; ++k) {
      table_[k] = std::max(low[k], 0.0);
      table_[K + k] = std::max(cls[k] - low[k], 0.0);
    }
    return merits_.of(merit_, table_.data(), 2, K);
  }

  double of(const double* low) {
    return with_form(form, [&](auto known) { return of<known>(low); });
  }

  // No cut within a group of rows, nor at its edges, has a merit above this. `low` are the
  // counts before the group, of which `out` leaves branch 0 and `in` enters it; `before`
  // and `after` are the merits at its edges.
  double bound(const double* low, const double* out, const double* in, double before,
               double after) const {
    double moved = 0;
    for (int k = 0; k < K; ++k) moved += out[k] + in[k];
    if (form == FORM_GINI || form == FORM_TWOING) {
      const double most = form == FORM_GINI ? 2 : 1;
      // An empty branch has the merit 0, if only it were a test.
      return (std::max(before, 0.0) + std::max(after, 0.0) + most * moved / N) / 2;
    }
    const XLog2& xl = merits_.xl;
    double sum = base_, least = 0, greatest = 0;
    for (int k = 0; k < K; ++k) {
      const double a = std::max(low[k] - out[k], 0.0), b = std::min(low[k] + in[k], cls[k]);
      sum += std::max(xl(a) + xl(cls[k] - a), xl(b) + xl(cls[k] - b));
      least += a;
      greatest += b;
    }
    const double L = std::min(std::max(N / 2, least), greatest);
    return (sum - xl(L) - xl(N - L)) * scale_;
  }

 private:
  static Form form_of(int merit) {
    if (merit == GAIN || merit == ENTROPY || merit == G_STATISTIC) return FORM_GAIN;
    return merit == GINI ? FORM_GINI : merit == TWOING ? FORM_TWOING : FORM_OTHER;
  }

  int merit_;
  double squares_ = 0, base_, scale_;
  std::vector<double> table_;
  Merits merits_;
};

}  // namespace omnitree
