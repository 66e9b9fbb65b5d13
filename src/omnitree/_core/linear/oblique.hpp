// The best step of a linear test along a direction: the one search of CART's linear
// combinations and of OC1.
//
// A row with value v = w.x + b and direction value d has v + t d after a step t; it is in
// branch 1 where that is above 0. A coefficient's direction is its column, the threshold's is
// 1, a random jump's any combination. Rows with d > 0 enter branch 1 as t passes -v / d, rows
// with d < 0 leave it. So the ratios are sorted and one scan over class counts tries every t
// halfway between neighbours; of equal merits the one in the widest interval wins.
//
// How: u = -v sign(d) / (s |d| + |v|) grows with the ratio, lies in (-1, 1), and with s the
// power of two nearest to mean |v| / mean |d| spreads ratios, whose tails are long, about
// evenly. u is cut to `key_bits` bits; equal keys are ties. Words key | row are counted by
// bin of keys and class, and only rows of bins that may hold a better cut than the best bin
// edge (Rate::bound) are sorted, by as many buckets as there are words. Exact all the same.
// Few rows, and merits without a bound, are sorted as a whole.
// Cost: 10-15 ns a row from 1e4 rows on, 15-40 ns below. Used by oblique_climb.hpp.
#pragma once
#include "linear/oblique_rate.hpp"

namespace omnitree {

struct Step {
  double t = std::numeric_limits<double>::quiet_NaN();
  double merit = NO_MERIT;
};

class StepSearch {
 public:
  StepSearch(const int32_t* y, const double* weight, int64_t n, int K, int merit)
      : rate(merit, y, weight, n, K), y_(y), weight_(weight), n_(n), K_(K), low_(K), word_(n),
        spare_(n) {
    while (n >> row_bits_) ++row_bits_;
    key_bits_ = std::min(42, 64 - row_bits_);
    // About eight rows a bin, in a table that stays in the cache.
    while (bins_ * 16 <= n && bins_ < 4096 && bins_ * 4 * K <= 1 << 15) bins_ *= 2;
  }

  Rate rate;

  // The best step from values v along d; no merit if no step divides the rows. `reach_v`
  // and `reach_d` are their reaches.
  Step best(const double* v, double reach_v, const double* d, double reach_d) {
    v_ = v;
    d_ = d;
    spread_ = spread(reach_v / reach_d);
    found_ = Step();
    width_ = 0;
    with_form(rate.form, [this](auto form) { search<form>(); });
    return found_;
  }

  // Weighted sum of absolute values.
  double reach(const double* v) const {
    double sum = 0;
    for (int64_t i = 0; i < n_; ++i) sum += weight_[i] * std::fabs(v[i]);
    return sum;
  }

  // Class counts of branch 0, where v is not above 0.
  const std::vector<double>& below(const double* v) {
    // Four counts side by side, else each sum waits for the one before.
    run_.assign(4 * K_, 0.0);
    double* c = run_.data();
    int64_t i = 0;
    for (; i + 4 <= n_; i += 4)
      for (int j = 0; j < 4; ++j) c[j * K_ + y_[i + j]] += weight_[i + j] * !(v[i + j] > 0);
    for (; i < n_; ++i) c[y_[i]] += weight_[i] * !(v[i] > 0);
    for (int k = 0; k < K_; ++k) low_[k] = c[k] + c[K_ + k] + c[2 * K_ + k] + c[3 * K_ + k];
    return low_;
  }

 private:
  static constexpr int64_t FEW = 256;
  const int32_t* y_;
  const double* weight_;
  const int64_t n_;
  const int K_;
  const double *v_ = nullptr, *d_ = nullptr;
  std::vector<double> low_, count_, run_;
  std::vector<uint64_t> word_, spare_;
  std::vector<uint32_t> place_;
  std::vector<double> edge_;
  std::vector<uint8_t> open_;
  int row_bits_ = 1, key_bits_;
  int64_t bins_ = 16;
  double spread_ = 1;
  Step found_;
  uint64_t width_ = 0;

  int64_t row(uint64_t word) const { return word & ((uint64_t{1} << row_bits_) - 1); }
  double ratio(uint64_t word) const { return -v_[row(word)] / d_[row(word)]; }

  template <int FORM>
  void search() {
    if (n_ >= FEW && FORM != FORM_OTHER) {
      count_.assign(bins_ * 2 * K_, 0.0);
      search_bins<FORM>(make_words<true>());
    } else {
      const int64_t m = make_words<false>();
      sort(m);
      scan<FORM>(word_.data(), m, low_.data());
    }
  }

  // The nearest power of two.
  static double spread(double s) {
    return s > 1e-200 && s < 1e200 ? std::exp2(std::round(std::log2(s))) : 1.0;
  }

  // Words of all rows that any step can move; low_ becomes the counts of branch 0 at the
  // least t. With BINS, counts by bin and class: first rows with d > 0, then the others.
  template <bool BINS>
  int64_t make_words() {
    const double top = std::ldexp(1.0, key_bits_ - 1), most = 2 * top - 1;
    const int shift = key_bits_ - bits(bins_ - 1);
    int64_t m = 0;
    std::fill(low_.begin(), low_.end(), 0.0);
    for (int64_t i = 0; i < n_; ++i) {
      const double v = v_[i], d = d_[i];
      if (d == 0) {
        if (!(v > 0)) low_[y_[i]] += weight_[i];
        continue;
      }
      const double u = -v * std::copysign(1.0, d) / (spread_ * std::fabs(d) + std::fabs(v));
      const uint64_t key = static_cast<int64_t>(std::min((u + 1) * top, most));
      word_[m++] = key << row_bits_ | static_cast<uint64_t>(i);
      if (BINS)
        count_[(key >> shift) * 2 * K_ + (d < 0) * K_ + y_[i]] += weight_[i];
      else
        low_[y_[i]] += weight_[i] * (d > 0);
    }
    return m;
  }

  static int bits(uint64_t v) {
    int b = 0;
    while (v >> b) ++b;
    return b;
  }

  // Sort the first m words.
  void sort(int64_t m) {
    if (m < 64) {
      std::sort(word_.begin(), word_.begin() + m);
      return;
    }
    uint64_t least = word_[0], most = least;
    for (int64_t i = 1; i < m; ++i) {
      least = std::min(least, word_[i]);
      most = std::max(most, word_[i]);
    }
    const int shift = std::max(0, bits(most - least) - std::min(14, bits(m)));
    const size_t buckets = ((most - least) >> shift) + 1;
    place_.assign(buckets + 1, 0);
    for (int64_t i = 0; i < m; ++i) ++place_[((word_[i] - least) >> shift) + 1];
    for (size_t b = 0; b < buckets; ++b) place_[b + 1] += place_[b];
    for (int64_t i = 0; i < m; ++i) spare_[place_[(word_[i] - least) >> shift]++] = word_[i];
    uint32_t begin = 0;
    for (size_t b = 0; b < buckets; ++b) {  // place_[b] is now where bucket b ends
      if (place_[b] - begin > 16) std::sort(&spare_[begin], &spare_[begin] + (place_[b] - begin));
      begin = place_[b];
    }
    for (int64_t i = 1; i < m; ++i) {
      const uint64_t now = spare_[i];
      int64_t j = i;
      for (; j > 0 && spare_[j - 1] > now; --j) spare_[j] = spare_[j - 1];
      spare_[j] = now;
    }
    word_.swap(spare_);
  }

  // Try the cuts between m sorted words; `low` are the counts of branch 0 before the first.
  template <int FORM>
  void scan(const uint64_t* word, int64_t m, double* low) {
    for (int64_t i = 0; i < m;) {
      const uint64_t key = word[i] >> row_bits_;
      do {
        const int64_t r = row(word[i]), soon = row(word[std::min(i + 16, m - 1)]);
        __builtin_prefetch(y_ + soon);
        __builtin_prefetch(d_ + soon);
        __builtin_prefetch(weight_ + soon);
        low[y_[r]] -= std::copysign(weight_[r], d_[r]);
      } while (++i < m && word[i] >> row_bits_ == key);
      if (i == m) return;
      const double merit = rate.of<FORM>(low);
      if (merit == NO_MERIT) continue;
      const uint64_t width = (word[i] >> row_bits_) - key;
      if (better(merit, found_.merit) || (width > width_ && !better(found_.merit, merit))) {
        const double t = ratio(word[i - 1]) / 2 + ratio(word[i]) / 2;
        if (!std::isfinite(t)) continue;
        found_ = {t, merit};
        width_ = width;
      }
    }
  }

  // Sort and scan only the bins that may hold the best cut.
  template <int FORM>
  void search_bins(int64_t m) {
    const int64_t width = 2 * K_;
    for (int64_t b = 0; b < bins_; ++b)
      for (int k = 0; k < K_; ++k) low_[k] += count_[b * width + k];
    run_ = low_;
    edge_.assign(bins_ + 1, rate.of<FORM>(low_.data()));
    double best = NO_MERIT, last = NO_MERIT;
    bool begun = false;
    for (int64_t b = 0; b < bins_; ++b) {
      const double* c = &count_[b * width];
      const bool empty = std::all_of(c, c + width, [](double n) { return n == 0; });
      // Only an edge with rows on either side is a cut.
      if (!empty && begun) best = std::max(best, last);
      begun |= !empty;
      pass(b, run_.data());
      last = edge_[b + 1] = empty ? edge_[b] : rate.of<FORM>(run_.data());
    }
    open_.assign(bins_, 0);
    run_ = low_;
    for (int64_t b = 0; b < bins_; ++b) {
      const double* c = &count_[b * width];
      open_[b] = !better(best, rate.bound(run_.data(), c, c + K_, edge_[b], edge_[b + 1]));
      pass(b, run_.data());
    }
    const int shift = key_bits_ + row_bits_ - bits(bins_ - 1);
    int64_t kept = 0;
    for (int64_t i = 0; i < m; ++i) {
      word_[kept] = word_[i];
      kept += open_[word_[i] >> shift];
    }
    sort(kept);
    // A cut at the edge of two bins opens both: runs of open bins hold every cut that counts.
    for (int64_t b = 0, i = 0; b < bins_;) {
      const int64_t first = i;
      run_ = low_;
      for (; b < bins_ && open_[b]; ++b) {
        while (i < kept && static_cast<int64_t>(word_[i] >> shift) == b) ++i;
        pass(b, low_.data());
      }
      if (i > first) scan<FORM>(&word_[first], i - first, run_.data());
      for (; b < bins_ && !open_[b]; ++b) pass(b, low_.data());
    }
  }

  // Counts of branch 0 after bin b from those before.
  void pass(int64_t b, double* low) const {
    const double* c = &count_[b * 2 * K_];
    for (int k = 0; k < K_; ++k) low[k] += c[K_ + k] - c[k];
  }
};

}  // namespace omnitree
