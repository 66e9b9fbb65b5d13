// Weights of linear units and machines, learned row by row.
//
// A row is d doubles, its constant 1 included; rows lie one after the other. A machine has
// D > 1 weight vectors of d doubles, one a class; a unit has D = 1 and stands for a machine of
// two classes whose weights are -w and +w (training from 0 keeps them opposite), at half the
// work. Ties go to the smaller class. Used by the coefficient learners.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/mix.hpp"
#include "common/tick.hpp"

namespace omnitree {

typedef double Two __attribute__((vector_size(16)));

inline Two load(const double* p) {
  Two two;
  std::memcpy(&two, p, sizeof two);
  return two;
}

// Several sums side by side, so that additions need not wait for each other.
inline double dot(const double* a, const double* b, int64_t d) {
  Two s0{}, s1{}, s2{}, s3{};
  int64_t j = 0;
  for (; j + 8 <= d; j += 8) {
    s0 += load(a + j) * load(b + j);
    s1 += load(a + j + 2) * load(b + j + 2);
    s2 += load(a + j + 4) * load(b + j + 4);
    s3 += load(a + j + 6) * load(b + j + 6);
  }
  for (; j + 2 <= d; j += 2) s0 += load(a + j) * load(b + j);
  s0 = (s0 + s1) + (s2 + s3);
  return s0[0] + s0[1] + (j < d ? a[j] * b[j] : 0.0);
}

// The products of x with B vectors that lie one after the other: x is read once for all.
template <int B>
inline void dots(const double* w, const double* x, int64_t d, double* out) {
  Two s[B] = {};
  int64_t j = 0;
  for (; j + 2 <= d; j += 2)
    for (int k = 0; k < B; ++k) s[k] += load(w + k * d + j) * load(x + j);
  for (int k = 0; k < B; ++k) out[k] = s[k][0] + s[k][1] + (j < d ? w[k * d + j] * x[j] : 0.0);
}

struct LabelledRows {
  const double* x;
  const int32_t* y;
  int64_t n, d;
  std::vector<double> length2;  // squared length of each row

  LabelledRows(const double* x, const int32_t* y, int64_t n, int64_t d)
      : x(x), y(y), n(n), d(d), length2(n) {
    for (int64_t i = 0; i < n; ++i) length2[i] = dot(row(i), row(i), d);
  }
  const double* row(int64_t i) const { return x + i * d; }
};

// Weights with what training asks of them: answers, corrections, magnitude.
struct Trainee {
  double* w;  // [D, d]
  int D;
  int64_t d;
  std::vector<double> g;  // discriminants of the row last seen
  double magnitude;       // sum of the lengths of the weight vectors

  Trainee(double* w, int D, int64_t d)
      : w(w), D(D), d(d), g(std::max(D, 2)), length2_(D), length_(D) {
    measure();
  }

  // The class of a row.
  int answer(const double* row) {
    if (D == 1) {
      g[1] = dot(w, row, d);
      g[0] = -g[1];
      return g[1] > 0;
    }
    int k = 0;
    for (; k + 5 <= D; k += 5) dots<5>(w + k * d, row, d, &g[k]);
    for (; k + 3 <= D; k += 3) dots<3>(w + k * d, row, d, &g[k]);
    for (; k < D; ++k) g[k] = dot(w + k * d, row, d);
    int best = 0;
    for (k = 1; k < D; ++k) best = g[k] > g[best] ? k : best;
    return best;
  }

  // Moves the weights of the class `right` by c towards the row last seen, those of `wrong`
  // away from it.
  void correct(const double* row, double row_length2, int right, int wrong, double c) {
    if (D == 1)
      move(0, row, row_length2, g[1], right ? c : -c);
    else {
      move(right, row, row_length2, g[right], c);
      move(wrong, row, row_length2, g[wrong], -c);
    }
  }

  // Lengths anew: those kept up to date gather rounding.
  void measure() {
    magnitude = 0;
    for (int k = 0; k < D; ++k) {
      length2_[k] = dot(w + k * d, w + k * d, d);
      length_[k] = std::sqrt(length2_[k]);
      magnitude += length_[k] * (D == 1 ? 2 : 1);
    }
  }

 private:
  std::vector<double> length2_, length_;  // |W_k|^2 and |W_k|

  void move(int k, const double* row, double row_length2, double gk, double c) {
    double* v = w + k * d;
    for (int64_t j = 0; j < d; ++j) v[j] += c * row[j];
    length2_[k] = std::max(length2_[k] + c * (2 * gk + c * row_length2), 0.0);
    const double length = std::sqrt(length2_[k]);
    magnitude += (length - length_[k]) * (D == 1 ? 2 : 1);
    length_[k] = length;
  }
};

// The absolute error correction: what makes a row of class `right` fall right, and epsilon.
inline double error_of(const Trainee& t, double row_length2, int right, int wrong, double epsilon) {
  return (t.g[wrong] - t.g[right]) / (2 * row_length2) + epsilon;
}

constexpr int64_t BETWEEN_TICKS = 256;  // rows that are shown between looks at the clock

struct Schedule {
  double beta, a, b, epsilon;
  double alpha;      // a correction below alpha * largest magnitude is small; passes only
  double least;      // training ends at beta below this
  double certainty;  // of having seen every row; random rows only
};

// Thermal training with annealed corrections (Utgoff & Brodley 1991; Brodley & Utgoff 1995).
class Thermal {
 public:
  Thermal(const LabelledRows& rows, double* w, int D, const Schedule& s)
      : rows_(rows), t_(w, D, rows.d), s_(s), beta_(s.beta), largest_(t_.magnitude) {}

  // In passes over the rows as they lie. Ends with a pass that changes nothing, or whose last
  // 2 (d - 1) rows needed no correction or a small one; or when the time is up. Returns the
  // number of rows presented.
  int64_t passes(Tick& tick) {
    int64_t seen = 0, calm = 0;
    for (bool changed = true; changed && beta_ >= s_.least && calm < 2 * (rows_.d - 1);) {
      changed = false;
      t_.measure();
      for (int64_t i = 0; i < rows_.n; ++i) {
        if (i % BETWEEN_TICKS == 0 && tick(0) != 0) return seen + i;
        const bool moved = present(i);
        changed |= moved;
        calm = s_.alpha > 0 && (!moved || small_) ? calm + 1 : 0;
      }
      seen += rows_.n;
    }
    return seen;
  }

  // On rows drawn at random. Ends when so many of them in a row changed nothing that a row
  // which would was missed with less than the chance 1 - certainty.
  int64_t draws(SplitMix random, Tick& tick) {
    const double miss = std::log1p(-1.0 / std::max<int64_t>(rows_.n, 2));
    const double enough = std::log(1 - s_.certainty) / miss;
    int64_t seen = 0, run = 0;
    while (beta_ >= s_.least && run < enough) {
      if (seen % BETWEEN_TICKS == 0 && tick(0) != 0) break;
      if (seen % rows_.n == 0) t_.measure();
      run = present(random.below(rows_.n)) ? 0 : run + 1;
      ++seen;
    }
    return seen;
  }

 private:
  const LabelledRows& rows_;
  Trainee t_;
  const Schedule s_;
  double beta_, largest_;
  bool rose_ = false, small_ = false;

  // Shows one row; says whether it changed the weights.
  bool present(int64_t i) {
    const double* row = rows_.row(i);
    const int right = rows_.y[i], wrong = t_.answer(row);
    if (wrong == right) return false;
    const double k = error_of(t_, rows_.length2[i], right, wrong, s_.epsilon);
    if (!(k < beta_)) return false;
    const double c = beta_ * beta_ / (beta_ + k);
    const double before = t_.magnitude;
    t_.correct(row, rows_.length2[i], right, wrong, c);
    // A row given with two classes can move weights from one to the other for ever without a
    // change in the sum. That cools too, or there would be no end.
    const double change = t_.magnitude - before, rounding = 1e-12 * before;
    if (change < -rounding ? rose_ : change <= rounding) beta_ = s_.a * beta_ - s_.b;
    rose_ = change > rounding;
    largest_ = std::max(largest_, t_.magnitude);
    small_ = 2 * c * std::sqrt(rows_.length2[i]) < s_.alpha * largest_;
    return true;
  }
};

// Gallant's pocket algorithm on rows drawn at random: absolute error correction, keeping the
// weights with the longest run of right answers; with `ratchet` only if they are also right
// on more of all rows. `w` comes in as the start and goes out as the pocket. Ends after
// `most` draws, or at weights that are right on all rows. Returns the number of draws.
inline int64_t pocket(const LabelledRows& rows, double* w, int D, double epsilon, bool ratchet,
                      int64_t most, SplitMix random) {
  std::vector<double> now(w, w + D * rows.d);
  Trainee t(now.data(), D, rows.d);
  auto count_right = [&] {
    int64_t sum = 0;
    for (int64_t i = 0; i < rows.n; ++i) sum += t.answer(rows.row(i)) == rows.y[i];
    return sum;
  };
  auto keep = [&] { std::copy(now.begin(), now.end(), w); };
  int64_t run = 0, longest = 0, right_most = count_right(), seen = 0;
  enum { UNJUDGED, KEPT, REFUSED } state = KEPT;  // of the present weights
  while (seen < most) {
    ++seen;
    const int64_t i = random.below(rows.n);
    const int right = rows.y[i], answer = t.answer(rows.row(i));
    if (answer != right) {
      const double k = error_of(t, rows.length2[i], right, answer, epsilon);
      t.correct(rows.row(i), rows.length2[i], right, answer, k);
      run = 0;
      state = UNJUDGED;
      continue;
    }
    ++run;
    if (run % rows.n == 0 && count_right() == rows.n) {
      keep();
      break;
    }
    if (run <= longest) continue;
    if (state == UNJUDGED) {
      const int64_t n_right = ratchet ? count_right() : 0;
      state = !ratchet || n_right > right_most ? KEPT : REFUSED;
      if (state == KEPT) {
        keep();
        right_most = n_right;
      }
    }
    if (state == KEPT) longest = run;
  }
  return seen;
}

// A sigmoid unit by gradient descent, a step a row, in the orders given, one an epoch. A step
// lowers the squared error of targets 0 and 1, or (not `squared`) the entropy of the two
// outputs of a softmax, and carries on `momentum` times the step before. The rate falls by
// the factor `cooling` after each epoch. `w` comes in as the start and goes out as the weights
// after the first epoch with fewest errors.
inline void descent(const LabelledRows& rows, double* w, const int64_t* orders, int64_t epochs,
                    double rate, double cooling, double momentum, bool squared) {
  const int64_t d = rows.d;
  std::vector<double> now(w, w + d), step(d);
  int64_t fewest = rows.n + 1;
  for (int64_t epoch = 0; epoch < epochs; ++epoch, rate *= cooling, orders += rows.n) {
    for (int64_t r = 0; r < rows.n; ++r) {
      const double* row = rows.row(orders[r]);
      const double p = 1 / (1 + std::exp(-dot(now.data(), row, d)));
      const double off = rows.y[orders[r]] - p;
      const double c = rate * off * (squared ? p * (1 - p) : 2.0);
      for (int64_t j = 0; j < d; ++j) {
        now[j] += c * row[j] + momentum * step[j];
        step[j] = c * row[j];
      }
    }
    int64_t wrong = 0;
    for (int64_t i = 0; i < rows.n; ++i)
      wrong += (dot(now.data(), rows.row(i), d) > 0) != (rows.y[i] == 1);
    if (wrong < fewest) {
      fewest = wrong;
      std::copy(now.begin(), now.end(), w);
    }
  }
}

// Recursive least squares (Brodley & Utgoff 1995, 3.1), O(d^2) a row. `w` comes in as W0 and
// `p`, d x d, as P0; both are updated. A row of weight v counts as v rows: its gain is what v
// rows in turn would have, P x / (1/v + x'Px).
inline void rls(const double* x, const double* target, const double* weight, int64_t n, int64_t d,
                int passes, double* w, double* p) {
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
