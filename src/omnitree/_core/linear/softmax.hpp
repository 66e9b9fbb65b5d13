// Multinomial logistic regression by L-BFGS: the loss of sums, and one fit's way downhill.
//
// Fits to several weightings of the same rows go side by side: each asks for the loss at one
// point (`Descent::at`), two matrix products serve all, and each takes its answer
// (`Descent::take`). Steps are measured in a metric near the curvature of the loss, whose
// inverse the caller applies to every gradient; so few are needed, and columns need neither be
// uncorrelated nor of one scale. Called by softmax.pyx.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace omnitree {

// Mean loss of the sums of one fit, rows `stride` apart; each sum becomes its derivative.
// `lines` is the number of classes, but 1 of two: then the sum is that of the second class
// less that of the first. `share` (rows `folds` apart) is each row's part in the mean.
inline double softmax_loss(double* sums, int64_t n, int64_t stride, int64_t lines, const int32_t* y,
                           const double* share, int64_t folds) {
  double loss = 0;
  for (int64_t i = 0; i < n; ++i) {
    double* s = sums + i * stride;
    const double part = share[i * folds];
    if (part == 0) {
      std::fill(s, s + lines, 0.0);
    } else if (lines == 1) {
      const double e = std::exp(-std::fabs(s[0]));
      loss += part * (std::log1p(e) + std::max(s[0], 0.0) - y[i] * s[0]);
      s[0] = part * ((s[0] >= 0 ? 1.0 : e) / (1 + e) - y[i]);
    } else {
      const double top = *std::max_element(s, s + lines), own = s[y[i]];
      double total = 0;
      for (int64_t c = 0; c < lines; ++c) total += s[c] = std::exp(s[c] - top);
      loss += part * (std::log(total) + top - own);
      for (int64_t c = 0; c < lines; ++c) s[c] *= part / total;
      s[y[i]] -= part;
    }
  }
  return loss;
}

// What the ridge costs, which is added to the gradient: half the sum of price * w^2.
inline double ridge(const double* w, const double* price, int64_t lines, int64_t r,
                    double* gradient) {
  double paid = 0;
  for (int64_t c = 0; c < lines; ++c) {
    for (int64_t j = 0; j < r; ++j) {
      const double slope = price[j] * w[c * r + j];
      paid += 0.5 * slope * w[c * r + j];
      gradient[c * r + j] += slope;
    }
  }
  return paid;
}

// One fit on its way: limited-memory BFGS with steps that are halved until the loss falls.
class Descent {
 public:
  Descent(const double* start, int64_t size)
      : best_(start, start + size), trial_(best_), gradient_(size), solved_(size) {}

  // The point whose loss is asked for, and the best one so far.
  const double* at() const { return trial_.data(); }
  const double* best() const { return best_.data(); }

  // Take the loss, gradient and solved gradient (the inverse of the metric times it) at the
  // point; false if this was the last step. It is as soon as the gradient's length in the
  // metric is at most `tolerance`.
  bool take(double loss, const double* gradient, const double* solved, double tolerance,
            int64_t most) {
    if (begun_ && !(loss <= loss_ + kArmijo * step_ * slope_ + kRounding * std::fabs(loss_)))
      return shorten(loss);
    const double saved = loss_ - loss;
    if (begun_) remember(gradient, solved);
    best_ = trial_;
    std::copy(gradient, gradient + size(), gradient_.begin());
    std::copy(solved, solved + size(), solved_.begin());
    loss_ = loss;
    const bool ends = begun_ && (++steps_ >= most || saved <= kFlat * std::fabs(loss));
    begun_ = true;
    if (ends || dot(gradient_, solved_) <= tolerance * tolerance || most < 1) return false;
    turn();
    move(1.0);
    return true;
  }

 private:
  using Vector = std::vector<double>;
  struct Pair {
    Vector moved, turned, solved;  // differences of points, gradients, solved gradients
    double curvature;              // moved * turned
  };
  static constexpr size_t kPairs = 10;
  static constexpr double kArmijo = 1e-4, kRounding = 1e-14, kFlat = 1e-12, kShortest = 1e-6;

  int64_t size() const { return static_cast<int64_t>(best_.size()); }

  static double dot(const Vector& a, const Vector& b) {
    double sums[4] = {};  // four at a time, so that none waits for the last
    size_t i = 0;
    for (; i + 4 <= a.size(); i += 4)
      for (size_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
    for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  static void add(Vector& to, double times, const Vector& what) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += times * what[i];
  }

  void move(double step) {
    step_ = step;
    trial_ = best_;
    add(trial_, step, direction_);
  }

  // To the lowest point of the parabola through what is known, within limits.
  bool shorten(double loss) {
    const double bend = loss - loss_ - step_ * slope_;
    double next = bend > 0 ? -slope_ * step_ * step_ / (2 * bend) : 0.5 * step_;
    next = std::min(std::max(next, 0.1 * step_), 0.5 * step_);
    if (!(next >= kShortest)) return false;
    move(next);
    return true;
  }

  void remember(const double* gradient, const double* solved) {
    Pair pair;
    if (pairs_.size() == kPairs) {  // reuse the memory of the oldest
      pair = std::move(pairs_.front());
      pairs_.erase(pairs_.begin());
    }
    pair.moved.resize(best_.size());
    pair.turned.resize(best_.size());
    pair.solved.resize(best_.size());
    for (size_t i = 0; i < best_.size(); ++i) {
      pair.moved[i] = trial_[i] - best_[i];
      pair.turned[i] = gradient[i] - gradient_[i];
      pair.solved[i] = solved[i] - solved_[i];
    }
    pair.curvature = dot(pair.moved, pair.turned);
    if (pair.curvature > 0) pairs_.push_back(std::move(pair));
  }

  // The next direction, by the two loops of L-BFGS. The inverse metric is linear: what it
  // makes of the first loop's vector is known from the pairs.
  void turn() {
    Vector left = gradient_;
    std::vector<double> parts(pairs_.size());
    direction_ = solved_;
    for (size_t i = pairs_.size(); i-- > 0;) {
      const Pair& pair = pairs_[i];
      parts[i] = dot(pair.moved, left) / pair.curvature;
      add(left, -parts[i], pair.turned);
      add(direction_, -parts[i], pair.solved);
    }
    double scale = 1;
    if (!pairs_.empty()) {
      const Pair& last = pairs_.back();
      const double bend = dot(last.turned, last.solved);
      if (bend > 0) scale = last.curvature / bend;
    }
    for (double& d : direction_) d *= scale;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      add(direction_, parts[i] - dot(pair.turned, direction_) / pair.curvature, pair.moved);
    }
    for (double& d : direction_) d = -d;
    slope_ = dot(gradient_, direction_);
    if (!(slope_ < 0)) {  // rounding has spoilt it: begin anew
      pairs_.clear();
      direction_ = solved_;
      for (double& d : direction_) d = -d;
      slope_ = dot(gradient_, direction_);
    }
  }

  Vector best_, trial_, gradient_, solved_, direction_;
  std::vector<Pair> pairs_;
  double loss_ = 0, slope_ = 0, step_ = 0;
  int64_t steps_ = 0;
  bool begun_ = false;
};

}  // namespace omnitree
