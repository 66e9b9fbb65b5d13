// Hill climbing over the coefficients of a linear test, as CART and OC1 do it.
//
// One coefficient after the other (last the threshold) goes to its best value while the
// others stand still. CART tries the directions x_j + gamma for several gammas and stops
// when a cycle gains less than epsilon. OC1 also makes steps that gain nothing, but only a
// number of them in a row; when a cycle moves nothing it jumps along random directions, and
// goes on if one of them helps. A step counts by how the rows stand after it, so rounding
// cannot make a climb go down or on for ever. At the end the threshold is put halfway
// between the nearest rows of the two branches.
// O(rows x coefficients) a cycle. Used by learners/cart_lc.py and learners/oc1.py.
#pragma once
#include "common/mix.hpp"
#include "linear/oblique.hpp"

namespace omnitree {

enum Order : int { SEQUENTIAL, BEST_FIRST, RANDOM_ORDER };

struct ClimbOptions {
  int order;         // of the coefficients
  int picks;         // number of coefficients drawn, for RANDOM_ORDER
  int jumps;         // random directions tried in a row before giving up
  int stagnation;    // steps in a row that may leave the merit (nearly) as it is
  double tolerance;  // the share of the merit that a step must gain to be progress
  double epsilon;    // a cycle that gains less than this is the last
  uint64_t seed;
};

class Climb {
 public:
  // Columns of z follow each other, n values each; `w` has p weights and the bias.
  Climb(const double* z, const int32_t* y, const double* weight, int64_t n, int p, int K, int merit,
        const double* gamma, int gammas, const ClimbOptions& o, double* w)
      : search_(y, weight, n, K, merit), z_(z), n_(n), p_(p), gamma_(gamma), gammas_(gammas), o_(o),
        w_(w), seed_(o.seed), v_(n), next_(n), direction_(n), ones_(n, 1.0), jump_(p + 1),
        reach_(p + 1) {
    for (int j = 0; j <= p; ++j) reach_[j] = search_.reach(along(j, 0));
  }

  // Climb from w to a local optimum; returns its merit, NO_MERIT if no test was found.
  double run() {
    combine(w_, v_);
    reach_v_ = search_.reach(v_.data());
    low_ = search_.below(v_.data());
    merit_ = search_.rate.of(low_.data());
    if (o_.order == RANDOM_ORDER) {
      for (int i = 0; i < o_.picks && !pure(); ++i)
        if (!improve(pick())) jump();
    } else {
      bool moved = true;
      double before = merit_;
      while (moved && !pure() && merit_ >= before + o_.epsilon * (cycles_ > 0)) {
        before = merit_;
        moved = (o_.order == SEQUENTIAL ? cycle() : improve_best()) || jump();
        ++cycles_;
      }
    }
    centre();
    return merit_;
  }

  // Whether both branches hold one class each.
  bool pure() const {
    const double least = 1e-12 * search_.rate.N;
    int below = 0, above = 0;
    for (int k = 0; k < search_.rate.K; ++k) {
      below += low_[k] > least;
      above += search_.rate.cls[k] - low_[k] > least;
    }
    return below <= 1 && above <= 1;
  }

 private:
  StepSearch search_;
  const double* z_;
  const int64_t n_;
  const int p_;
  const double* gamma_;
  const int gammas_;
  const ClimbOptions o_;
  double* w_;
  uint64_t seed_;
  std::vector<double> v_, next_, direction_, ones_, jump_, low_, reach_;
  double merit_ = 0, reach_v_ = 0;
  int stagnant_ = 0, cycles_ = 0;

  struct Move {
    Step step;
    double gamma = 0;
  };

  void combine(const double* w, std::vector<double>& out) const {
    std::fill(out.begin(), out.end(), w[p_]);
    for (int j = 0; j < p_; ++j) {
      const double* column = z_ + j * n_;
      for (int64_t i = 0; i < n_; ++i) out[i] += w[j] * column[i];
    }
  }

  // Values of the direction of coefficient j (the threshold: p), shifted by gamma.
  const double* along(int j, double gamma) {
    if (j == p_) return ones_.data();
    const double* column = z_ + j * n_;
    if (gamma == 0) return column;
    for (int64_t i = 0; i < n_; ++i) direction_[i] = column[i] + gamma;
    return direction_.data();
  }

  Move look(int j) {
    Move best;
    for (int g = 0; g < (j == p_ ? 1 : gammas_); ++g) {
      const double* d = along(j, gamma_[g]);
      const double reach = d == direction_.data() ? search_.reach(d) : reach_[j];
      const Step step = search_.best(v_.data(), reach_v_, d, reach);
      if (better(step.merit, best.step.merit)) best = {step, gamma_[g]};
    }
    return best;
  }

  bool progress(double merit) const {
    return better(merit, merit_ > 0 ? merit_ * (1 + o_.tolerance) : merit_);
  }

  // Make a step along d if it helps, or at least does no harm and that is still allowed.
  bool take(double t, const double* d) {
    for (int64_t i = 0; i < n_; ++i) next_[i] = v_[i] + t * d[i];
    const std::vector<double>& low = search_.below(next_.data());
    const double merit = search_.rate.of(low.data());
    if (better(merit_, merit)) return false;
    if (progress(merit))
      stagnant_ = 0;
    else if (++stagnant_ > o_.stagnation)
      return false;
    v_.swap(next_);
    reach_v_ = search_.reach(v_.data());
    low_ = low;
    merit_ = merit;
    return true;
  }

  bool apply(int j, const Move& move) {
    const Step& s = move.step;
    if (s.merit == NO_MERIT || better(merit_, s.merit)) return false;
    if (!progress(s.merit) && stagnant_ >= o_.stagnation) return false;
    if (!take(s.t, along(j, move.gamma))) return false;
    w_[j] += s.t;
    if (j < p_) w_[p_] += s.t * move.gamma;
    return true;
  }

  bool improve(int j) { return apply(j, look(j)); }

  bool cycle() {
    bool moved = false;
    for (int j = 0; j <= p_ && !pure(); ++j) moved |= improve(j);
    return moved;
  }

  bool improve_best() {
    Move best;
    int at = 0;
    for (int j = 0; j <= p_; ++j) {
      const Move move = look(j);
      if (better(move.step.merit, best.step.merit)) best = move, at = j;
    }
    return apply(at, best);
  }

  // From -1 to 1.
  double uniform() {
    seed_ = mix(seed_);
    return static_cast<double>(seed_ >> 11) * 0x1p-52 - 1;
  }

  int pick() { return static_cast<int>((uniform() + 1) / 2 * (p_ + 1)); }

  bool jump() {
    for (int i = 0; i < o_.jumps; ++i) {
      for (double& c : jump_) c = uniform();
      combine(jump_.data(), direction_);
      const double* d = direction_.data();
      const Step step = search_.best(v_.data(), reach_v_, d, search_.reach(d));
      if (!progress(step.merit) || !take(step.t, d)) continue;
      for (int j = 0; j <= p_; ++j) w_[j] += step.t * jump_[j];
      return true;
    }
    return false;
  }

  void centre() {
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    for (double v : v_) (v > 0 ? high : low) = v > 0 ? std::min(high, v) : std::max(low, v);
    if (std::isfinite(low) && std::isfinite(high)) w_[p_] -= low / 2 + high / 2;
  }
};

}  // namespace omnitree
