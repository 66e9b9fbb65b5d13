// Boosting of single cuts: sums of step functions of single columns (Friedman 2001, with trees
// of two leaves).
//
// Columns are given by their bins. With p the probabilities of the current sums F, the log
// likelihood of class c has in each row the slope g = w ((y = c) - p) and the bend
// h = w p (1 - p) K / (K - 1). Each step finds for every class the cut of one column whose
// sides, with the values sum g / (sum h + ridge), gain most. Slopes and bends of a row lie side
// by side, so that those of all classes are added to a bin together: the lanes of a vector are
// classes, and every sum is in the order of the rows. A step multiplies the odds exp(F) of a
// class by one factor a bin, so that few exponentials are taken. Of two classes, one has all
// steps, half of them in the sums of either (`regressed`).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/linear_sums.hpp"
#include "linear/logitboost.hpp"

namespace omnitree {

// The least bend of a row: what is certain has none, and is not to be divided by.
constexpr double LEAST_BEND = 1e-6;
// The most that the side of a cut asks for, in log odds.
constexpr double FARTHEST = 4.0;

struct Bins {
  const uint8_t* codes;  // a line of n for each of p columns
  const int64_t* first;  // (p + 1,): where the bins of each column begin among all
  // (p,): whether the last bin of a column has its missing values, and what these are: by how
  // much of the way from the low to the high side of a cut; NaN if they have a value of their own.
  const uint8_t* missing;
  const double* between;
  int64_t n, p;
};

struct Cut {
  double gain;
  int64_t column, bin;  // the last bin of the lower side
  double low, high, missing;
};

// Numbers kept for each row and each bin: slopes, then bends, in whole vectors; of two classes
// one of each.
inline int64_t padded(int64_t functions) {
  return functions == 1 ? 2 : (2 * functions + 3) / 4 * 4;
}

// exp(F) of all rows, (n, k), around the largest so that nothing overflows; of two classes that
// of the difference of the second to the first, (n,).
inline void odds_of(const double* f, int64_t n, int64_t k, double* odds) {
  for (int64_t i = 0; i < n; ++i) {
    const double* own = f + i * k;
    if (k == 2) {
      odds[i] = std::exp(own[1] - own[0]);
      continue;
    }
    const double top = *std::max_element(own, own + k);
    for (int64_t c = 0; c < k; ++c) odds[i * k + c] = std::exp(own[c] - top);
  }
}

// Slopes and bends of all rows with such odds.
OMNITREE_CLONES
inline void slopes_and_bends(const double* odds, const int32_t* y, const double* weight, int64_t n,
                             int64_t k, double* out) {
  const int64_t m = regressed(k), width = padded(m);
  if (m == 1) {
    for (int64_t i = 0; i < n; ++i) {
      const double p = odds[i] / (1 + odds[i]), rest = 1 / (1 + odds[i]);
      out[2 * i] = weight[i] * (y[i] == 1 ? rest : -p);
      out[2 * i + 1] = weight[i] * std::max(p * rest, LEAST_BEND);
    }
    return;
  }
  const double times = k / (k - 1.0);
  for (int64_t i = 0; i < n; ++i) {
    const double* from = odds + i * k;
    double* own = out + i * width;
    double total = 0;
    for (int64_t c = 0; c < k; ++c) total += from[c];
    const double part = 1 / total, w = weight[i];
    for (int64_t c = 0; c < k; ++c) {
      const double p = from[c] * part, bend = p * (1 - p) * times;
      own[c] = -w * p;
      own[k + c] = w * (bend > LEAST_BEND ? bend : LEAST_BEND);
    }
    own[y[i]] += w;
    for (int64_t c = 2 * k; c < width; ++c) own[c] = 0;
  }
}

template <int VECTORS>
OMNITREE_INLINE void add_rows(const uint8_t* codes, const double* rows, int64_t n, double* bins) {
  for (int64_t i = 0; i < n; ++i) {
    const double* own = rows + i * 4 * VECTORS;
    double* bin = bins + codes[i] * 4 * VECTORS;
    for (int v = 0; v < VECTORS; ++v)
      *reinterpret_cast<FourUnaligned*>(bin + 4 * v) +=
          *reinterpret_cast<const FourUnaligned*>(own + 4 * v);
  }
}

// Add the numbers of all rows, (n, width), to those of their bins of one column.
OMNITREE_CLONES
inline void add_to_bins(const uint8_t* codes, const double* rows, int64_t n, int64_t width,
                        double* bins) {
  switch (width) {
    case 2:
      for (int64_t i = 0; i < n; ++i) {
        bins[2 * codes[i]] += rows[2 * i];
        bins[2 * codes[i] + 1] += rows[2 * i + 1];
      }
      return;
    case 8:
      return add_rows<2>(codes, rows, n, bins);
    case 12:
      return add_rows<3>(codes, rows, n, bins);
    case 16:
      return add_rows<4>(codes, rows, n, bins);
    case 20:
      return add_rows<5>(codes, rows, n, bins);
    default:
      for (int64_t i = 0; i < n; ++i) {
        const double* own = rows + i * width;
        double* bin = bins + codes[i] * width;
        for (int64_t v = 0; v < width; v += 4)
          *reinterpret_cast<FourUnaligned*>(bin + v) +=
              *reinterpret_cast<const FourUnaligned*>(own + v);
      }
  }
}

// What a side with these sums asks for.
inline double asked(double slope, double bend, double ridge) {
  return std::min(std::max(slope / (bend + ridge), -FARTHEST), FARTHEST);
}

// What it gains.
inline double gained(double slope, double bend, double ridge) {
  return slope * slope / (bend + ridge);
}

// Improve the cuts of all m functions by those of one column, whose bins hold sums (bins,
// width) of so many rows. `room` has 5 m numbers. Missing values may be told from all others, if
// they have a value of their own. Of cuts that gain alike, up to rounding, the first is taken.
OMNITREE_CLONES
inline void best_cuts(const Bins& x, int64_t column, const double* bins, const int64_t* rows,
                      int64_t m, int64_t width, double ridge, double* room, Cut* best) {
  const int64_t n_bins = x.first[column + 1] - x.first[column];
  const int64_t present = n_bins - x.missing[column];
  const double between = x.between[column];
  const bool own_value = x.missing[column] && std::isnan(between);
  double *all_g = room, *all_h = room + m, *low_g = room + 2 * m, *low_h = room + 3 * m,
         *gain = room + 4 * m;
  std::fill(room, room + 4 * m, 0.0);
  int64_t above = 0;
  for (int64_t b = 0; b < present; ++b) {
    above += rows[b];
    for (int64_t c = 0; c < m; ++c) {
      all_g[c] += bins[b * width + c];
      all_h[c] += bins[b * width + m + c];
    }
  }
  const double* gone = bins + present * width;
  for (int64_t b = 0; b < present && above > 0; ++b) {
    above -= rows[b];
    if (rows[b] == 0) continue;
    const double *g = bins + b * width, *h = g + m;
    for (int64_t c = 0; c < m; ++c) {
      low_g[c] += g[c];
      low_h[c] += h[c];
    }
    const bool whole = above == 0;  // no cut: missing values alone differ
    if (whole && !(own_value && rows[present] > 0)) break;
    if (whole) {
      for (int64_t c = 0; c < m; ++c) gain[c] = gained(all_g[c], all_h[c], ridge);
    } else {
      for (int64_t c = 0; c < m; ++c)
        gain[c] = gained(low_g[c], low_h[c], ridge) +
                  gained(all_g[c] - low_g[c], all_h[c] - low_h[c], ridge);
    }
    for (int64_t c = 0; c < m; ++c) {
      const double total = own_value ? gain[c] + gained(gone[c], gone[m + c], ridge) : gain[c];
      if (!(total > best[c].gain * (1 + CLEARLY_BETTER))) continue;
      const double low = asked(whole ? all_g[c] : low_g[c], whole ? all_h[c] : low_h[c], ridge);
      const double high = whole ? low : asked(all_g[c] - low_g[c], all_h[c] - low_h[c], ridge);
      const double missing =
          own_value ? asked(gone[c], gone[m + c], ridge) : low + between * (high - low);
      best[c] = {total, column, b, low, high, missing};
    }
  }
}

// Write the value of each bin of a cut's column.
inline void values_of(const Bins& x, const Cut& cut, double rate, double* values) {
  const int64_t n_bins = x.first[cut.column + 1] - x.first[cut.column];
  const int64_t present = n_bins - x.missing[cut.column];
  for (int64_t b = 0; b < n_bins; ++b)
    values[b] = rate * (b >= present ? cut.missing : b <= cut.bin ? cut.low : cut.high);
}

// Add a function of one column to the sums (n, k) of its class, by the bins of the rows.
inline void add_to_class(const uint8_t* codes, int64_t n, const double* values, int64_t k,
                         int64_t c, double* f) {
  if (k == 2) {
    for (int64_t i = 0; i < n; ++i) {
      const double half = values[codes[i]] / 2;
      f[2 * i] -= half;
      f[2 * i + 1] += half;
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) f[i * k + c] += values[codes[i]];
}

// Multiply the odds of a class by a factor for each bin.
inline void multiply_odds(const uint8_t* codes, int64_t n, const double* factors, int64_t k,
                          int64_t c, double* odds) {
  const int64_t m = regressed(k);
  for (int64_t i = 0; i < n; ++i) odds[i * m + c] *= factors[codes[i]];
}

}  // namespace omnitree
