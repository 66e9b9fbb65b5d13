// Fisher's test of one node with a cut for equal variances: directions of the classes, two
// groups of these by exchange, the cut between the groups. Used by fisher_tree.hpp node by
// node and, through fisher_tree.pyx, by the learner that is tried on parts of a node.
#pragma once
#include <algorithm>
#include <memory>

#include "exchange.hpp"
#include "fisher.hpp"
#include "nearest_start.hpp"

namespace omnitree {

class FisherTrainer {
 public:
  FisherTrainer(const FisherTask& task, int merit) : fisher(task), t(task), merit_(merit) {}

  // Directions of the classes with rows, by their moments and weights, and the groups that a
  // search begins with. Rows are in the order of their classes.
  void prepare(const int64_t* own, int64_t n, const Moments& moments, const double* count) {
    std::vector<int> present;
    for (int c = 0; c < t.k; ++c)
      if (count[c] > 0) present.push_back(c);
    const int k = static_cast<int>(present.size());
    basis = &fisher.directions(own, n, moments, count, present);
    size.resize(k);
    first.assign(k + 1, 0);
    for (int c = 0; c < k; ++c) {
      size[c] = count[present[c]];
      const auto earlier = [&](int64_t id) { return t.y[id] <= present[c]; };
      first[c + 1] = std::partition_point(own, own + n, earlier) - own;
    }
    centres.resize(static_cast<size_t>(k) * k);
    spread.resize(centres.size());
    fisher.centres(k, centres.data());
    for (int a = 0; a < k; ++a)
      for (int b = 0; b < k; ++b)
        spread[a * k + b] = (centres[a * k + b] + centres[b * k + a]) / 2;
    left.resize(k);
    nearest_start(fisher.around.data(), size.data(), k, t.p, left.data());
  }

  // The groups that the search ends with; the search knows scores, cut and merit.
  ExchangeSearch search(const int64_t* own, int64_t n) {
    const int k = static_cast<int>(size.size());
    if (room < n * k) scores.reset(new double[room = n * k]);
    fisher.project(own, n, k, scores.get());
    const double* weight = nullptr;
    if (t.weight) {
      weights.resize(n);
      for (int64_t i = 0; i < n; ++i) weights[i] = t.weight[own[i]];
      weight = weights.data();
    }
    ExchangeSearch found(task_of(n, weight));
    found.run(left.data());
    return found;
  }

  // The cut of the groups as they are, which asks for no rows.
  double cut() const { return ExchangeSearch(task_of(0, nullptr)).threshold(left.data()); }

  // Weights of the columns, up to the factor that scores and cut have too.
  Doubles column_weights() const {
    Doubles w(t.p);
    for (size_t c = 0; c < size.size(); ++c)
      for (int j = 0; j < t.p && left[c]; ++j)
        w[j] += size[c] * (*basis)[c * static_cast<size_t>(t.p) + j];
    return w;
  }

  // Sum of the sizes of what the weights are added up from.
  double sum_of_weights() const {
    double sum = 0;
    for (size_t c = 0; c < size.size(); ++c)
      for (int j = 0; j < t.p; ++j)
        sum += std::fabs(size[c] * (*basis)[c * static_cast<size_t>(t.p) + j]);
    return sum;
  }

  int n_present() const { return static_cast<int>(size.size()); }

  Fisher fisher;

 private:
  ExchangeTask task_of(int64_t n, const double* weight) const {
    const int k = static_cast<int>(size.size());
    return {scores.get(),   first.data(),  weight, n, k, size.data(), centres.data(),
            spread.data(), merit_};
  }

  const FisherTask t;
  const int merit_;
  std::vector<uint8_t> left;  // of the classes present
  std::vector<int64_t> first;
  const Doubles* basis = nullptr;
  Doubles size, centres, spread, weights;
  std::unique_ptr<double[]> scores;  // not set to 0 first
  int64_t room = 0;
};

// The test trained on n rows in the order of their classes: a row is above where it is above
// the cut, which is returned, along the weights (p). All weights are 0 where there is no
// test. Moments may be null: they are then those of the rows.
inline double train_fisher(const FisherTask& t, int merit, const int64_t* own, int64_t n,
                           const double* sums, const double* second, double* weights) {
  std::fill_n(weights, t.p, 0.0);
  Doubles count(t.k);
  for (int64_t i = 0; i < n; ++i) count[t.y[own[i]]] += t.weight ? t.weight[own[i]] : 1.0;
  const auto has_rows = [](double c) { return c > 0; };
  const auto present = std::count_if(count.begin(), count.end(), has_rows);
  if (present < 2) return 0.0;
  FisherTrainer trainer(t, merit);
  const size_t p = static_cast<size_t>(t.p);
  const Moments moments = sums ? Moments{Doubles(sums, sums + t.k * p),
                                         Doubles(second, second + p * p)}
                               : trainer.fisher.moments(own, n, n > t.p);
  trainer.prepare(own, n, moments, count.data());
  // Of two classes nothing is left to search for.
  const double cut = present > 2 ? trainer.search(own, n).best_cut() : trainer.cut();
  const Doubles found = trainer.column_weights();
  std::copy(found.begin(), found.end(), weights);
  return cut + trainer.fisher.dot(trainer.fisher.mean.data(), weights);
}

}  // namespace omnitree
