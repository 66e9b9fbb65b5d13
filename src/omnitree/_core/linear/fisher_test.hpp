// Fisher's test of one node with a cut for equal variances: directions of the classes, two
// groups of these by exchange, the cut between the groups. Used by fisher_tree.hpp node by
// node and by fisher_trials.hpp for parts of a node.
#pragma once
#include "linear/exchange.hpp"
#include "linear/fisher.hpp"
#include "linear/nearest_start.hpp"

namespace omnitree {

class FisherTest {
 public:
  FisherTest(const FisherTask& task, int merit) : fisher(task), t(task), merit_(merit) {}

  // Directions of the classes with rows, by their moments and weights, and the groups that a
  // search begins with; less of it when the time is up. The rows are only looked at if they
  // are as few as the columns.
  void prepare(const int64_t* own, int64_t n, const Moments& moments, const double* count,
               Tick& tick) {
    present.clear();
    for (int c = 0; c < t.k; ++c)
      if (count[c] > 0) present.push_back(c);
    const int k = n_present();
    basis = &fisher.directions(own, n, moments, count, present);
    size.resize(k);
    for (int c = 0; c < k; ++c) size[c] = count[present[c]];
    centres.resize(static_cast<size_t>(k) * k);
    spread.resize(centres.size());
    fisher.centres(k, centres.data(), tick);
    for (size_t a = 0; a < size.size() && tick(0) == 0; ++a)
      for (size_t b = 0; b < size.size(); ++b)
        spread[a * k + b] = (centres[a * k + b] + centres[b * k + a]) / 2;
    left.resize(k);
    nearest_start(fisher.around.data(), size.data(), k, t.p, left.data(), tick);
  }

  // Exchanges classes, by the scores (k, n) of the rows in the order of their classes, the
  // place where those of each begin, and their weights (null: one). What is found knows the
  // scores along the direction of the groups, the cut and the merit.
  ExchangeSearch search(const double* scores, const int64_t* first, const double* weight, int64_t n,
                        Tick& tick) {
    ExchangeSearch found({scores, first, weight, n, n_present(), size.data(), centres.data(),
                          spread.data(), merit_});
    found.run(left.data(), tick);
    return found;
  }

  // The cut between the groups as they are, which asks for no rows.
  double cut() const {
    return ExchangeSearch({nullptr, nullptr, nullptr, 0, n_present(), size.data(), centres.data(),
                           spread.data(), merit_})
        .threshold(left.data());
  }

  // Weights of the columns, up to the factor that scores and cut have too.
  Doubles weights() const {
    Doubles w(t.p);
    for (size_t c = 0; c < size.size(); ++c)
      for (int j = 0; j < t.p && left[c]; ++j)
        w[j] += size[c] * (*basis)[c * static_cast<size_t>(t.p) + j];
    return w;
  }

  // Sizes of what weights are added up from, summed.
  double sum_of_weights() const {
    double sum = 0;
    for (size_t c = 0; c < size.size(); ++c)
      for (int j = 0; j < t.p; ++j)
        sum += std::fabs(size[c] * (*basis)[c * static_cast<size_t>(t.p) + j]);
    return sum;
  }

  int n_present() const { return static_cast<int>(present.size()); }

  Fisher fisher;
  std::vector<int> present;  // classes with rows

 private:
  const FisherTask t;
  const int merit_;
  std::vector<uint8_t> left;  // of the classes present
  const Doubles* basis = nullptr;
  Doubles size, centres, spread;
};

}  // namespace omnitree
