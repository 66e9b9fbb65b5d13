// Merits of a partition: functions of the table branches x classes of weighted counts.
//
// The compiled twins of omnitree/merit; `tests/merit` holds them equal. Greater is better
// for all. Used by general.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace omnitree {

enum Merit : int {
  GINI,
  GAIN,
  GAIN_RATIO,
  ENTROPY,
  TWOING,
  ORDERED_TWOING,
  SYMMETRIC_GINI,
  CHI_SQUARE,
  G_STATISTIC,
  KOLMOGOROV_SMIRNOV,
  MISCLASSIFICATION,
  CUSTOM
};

// A merit written in Python: scores `count` tables of B x K at once; false if it failed.
struct CustomMerit {
  bool (*call)(void* state, const double* tables, int64_t count, int B, int K, double* out);
  void* state;
};

// v * log2(v), from a table where v is a small whole number (nearly always).
class XLog2 {
 public:
  explicit XLog2(int64_t size) : table_(static_cast<size_t>(size) + 1, 0.0) {
    for (int64_t i = 2; i <= size; ++i) table_[i] = i * std::log2(static_cast<double>(i));
  }
  double operator()(double v) const {
    if (v <= 1e-300) return 0;
    if (v < static_cast<double>(table_.size())) {
      const int64_t i = static_cast<int64_t>(v);
      if (static_cast<double>(i) == v) return table_[i];
    }
    return v * std::log2(v);
  }

 private:
  std::vector<double> table_;
};

struct Margins {  // sums of a contingency table, kept to spare allocations
  std::vector<double> branch, cls;
  double total;
  void of(const double* n, int B, int K) {
    branch.assign(B, 0);
    cls.assign(K, 0);
    total = 0;
    for (int b = 0; b < B; ++b)
      for (int k = 0; k < K; ++k) {
        const double v = n[b * K + k];
        branch[b] += v;
        cls[k] += v;
        total += v;
      }
  }
};

inline double info_gain(const double* n, int B, int K, const Margins& m, const XLog2& xl) {
  double s = xl(m.total);
  for (int k = 0; k < K; ++k) s -= xl(m.cls[k]);
  for (int b = 0; b < B; ++b) {
    s -= xl(m.branch[b]);
    for (int k = 0; k < K; ++k) s += xl(n[b * K + k]);
  }
  return s / m.total;
}

inline double split_info(const Margins& m, int B, const XLog2& xl) {
  double s = xl(m.total);
  for (int b = 0; b < B; ++b) s -= xl(m.branch[b]);
  return s / m.total;
}

// All merits by code, with what they keep between calls.
struct Merits {
  XLog2 xl;
  Margins m;
  CustomMerit custom;
  bool failed = false;  // a custom merit raised; the caller gives up

  double of(int merit, const double* n, int B, int K) {
    m.of(n, B, K);
    const double N = m.total;
    if (N <= 0) return 0;
    switch (merit) {
      case CUSTOM: {
        double score = 0;
        failed |= !custom.call(custom.state, n, 1, B, K, &score);
        return score;
      }
      case GAIN:
        return info_gain(n, B, K, m, xl);
      case ENTROPY:
        return info_gain(n, B, K, m, xl) * M_LN2;
      case G_STATISTIC:
        return info_gain(n, B, K, m, xl) * 2 * N * M_LN2;
      case GAIN_RATIO: {
        const double s = split_info(m, B, xl);
        return s > 0 ? info_gain(n, B, K, m, xl) / s : 0;
      }
      case GINI: {
        double inside = 0, all = 0;
        for (int b = 0; b < B; ++b) {
          double sq = 0;
          for (int k = 0; k < K; ++k) sq += n[b * K + k] * n[b * K + k];
          if (m.branch[b] > 0) inside += sq / m.branch[b];
        }
        for (int k = 0; k < K; ++k) all += m.cls[k] * m.cls[k];
        return (inside - all / N) / N;
      }
      case TWOING:
      case ORDERED_TWOING: {  // summed over pairs of branches where there are more than two
        double sum = 0;
        for (int a = 0; a < B; ++a)
          for (int b = a + 1; b < B; ++b) {
            if (m.branch[a] <= 0 || m.branch[b] <= 0) continue;
            double d = 0, apart = 0, best = 0;
            for (int k = 0; k < K; ++k) {
              const double own = n[a * K + k] / m.branch[a] - n[b * K + k] / m.branch[b];
              apart += std::fabs(own);
              d += own;
              best = std::max(best, d * d);
            }
            const double both = m.branch[a] / N * (m.branch[b] / N);
            sum += merit == TWOING ? both / 4 * apart * apart : both * best;
          }
        return sum;
      }
      case SYMMETRIC_GINI: {
        double by_branch = 0, by_class = 0, sb = 0, sc = 0;
        for (int b = 0; b < B; ++b) {
          sb += m.branch[b] / N * (m.branch[b] / N);
          for (int k = 0; k < K; ++k) {
            const double p = n[b * K + k] / N;
            if (p <= 0) continue;
            by_branch += p * p / (m.branch[b] / N);
            by_class += p * p / (m.cls[k] / N);
          }
        }
        for (int k = 0; k < K; ++k) sc += m.cls[k] / N * (m.cls[k] / N);
        const double room = 2 - sb - sc;
        return room > 1e-12 ? (by_branch + by_class - sb - sc) / room : 0;
      }
      case CHI_SQUARE: {
        double sum = 0;
        for (int b = 0; b < B; ++b)
          for (int k = 0; k < K; ++k) {
            const double e = m.branch[b] * m.cls[k] / N;
            if (e > 0) sum += (n[b * K + k] - e) * (n[b * K + k] - e) / e;
          }
        return sum;
      }
      case KOLMOGOROV_SMIRNOV: {
        double best = 0;
        for (int k = 0; k < K; ++k) {
          const double rest = N - m.cls[k];
          if (m.cls[k] <= 0 || rest <= 0) continue;
          for (int b = 0; b < B; ++b) {
            const double in = n[b * K + k];
            best = std::max(best, std::fabs(in / m.cls[k] - (m.branch[b] - in) / rest));
          }
        }
        return best;
      }
      case MISCLASSIFICATION: {
        double right = 0;
        for (int b = 0; b < B; ++b) right += *std::max_element(n + b * K, n + (b + 1) * K);
        return (right - *std::max_element(m.cls.begin(), m.cls.end())) / N;
      }
    }
    return 0;
  }
};

// Tables of B branches and K classes by code; of an empty one 0.
inline void score_tables(int merit, const double* n, int64_t tables, int B, int K, double* out) {
  Merits merits{XLog2(0), {}, {}};
  for (int64_t t = 0; t < tables; ++t) out[t] = merits.of(merit, n + t * B * K, B, K);
}

// A later candidate must be better by more than rounding noise, so that exact ties go to
// the lowest feature index and then to the lowest cut.
inline bool better(double merit, double best) {
  return merit > best + 1e-11 * (1 + std::fabs(best));
}

}  // namespace omnitree
