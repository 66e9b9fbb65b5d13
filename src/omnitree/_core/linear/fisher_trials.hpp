// Fisher's tests trained on several parts of a node at once, for choices by cross-validation.
//
// Rows that the same parts train on form a cell. They are sorted by cell and class, so that
// the moments of a part are the sum of those of its cells, and a run of rows is projected on
// the directions of all its parts while it lies in the cache. Then each part groups its
// classes. Without weights every row counts one. Used by `omnitree.learners.fisher_trial`.
#pragma once
#include <memory>

#include "common/tick.hpp"
#include "linear/fisher_test.hpp"

namespace omnitree {

constexpr int64_t NEAR_ROWS = 64;  // that stay in the cache for all directions

struct TrialTask {
  FisherTask rows;
  const int64_t* line;    // (n,) where each row of the node lies in z
  const int32_t* cell;    // (n,)
  const uint8_t* member;  // (cells, parts) whether a part trains on a cell
  const double* weight;   // (n,) null: one
  const double* sums;     // (parts, classes, p) and (parts, p, p): moments of the parts;
  const double* second;   // null: not known
  int64_t n;
  int cells, parts, merit;
  double* room;  // for the number of rows in all parts times classes
};

class FisherTrials {
 public:
  explicit FisherTrials(const TrialTask& task)
      : t(task), k(task.rows.k), run(static_cast<size_t>(task.cells) * k + 1), order(task.n),
        ids(task.n) {
    for (int64_t i = 0; i < t.n; ++i) ++run[run_of(i) + 1];
    for (size_t r = 1; r < run.size(); ++r) run[r] += run[r - 1];
    std::vector<int64_t> next = run;
    for (int64_t i = 0; i < t.n; ++i) order[next[run_of(i)]++] = i;
    for (int64_t i = 0; i < t.n; ++i) ids[i] = t.line[order[i]];
    if (!t.weight) return;
    by_line.resize(t.rows.n);
    for (int64_t i = 0; i < t.n; ++i) by_line[t.line[i]] = t.weight[i];
  }

  // Weights (parts, p) and cuts: a row is above where its sum is above the cut. All weights
  // are 0 where there is no test, and where the tick ended the work before.
  void train(double* weights, double* cuts, Tick& tick) {
    std::fill_n(weights, static_cast<size_t>(t.parts) * t.rows.p, 0.0);
    std::fill_n(cuts, t.parts, 0.0);
    FisherTask rows = t.rows;
    rows.weight = t.weight ? by_line.data() : nullptr;
    for (int d = 0; d < t.parts; ++d) parts.emplace_back(new Part(rows, t.merit));
    for (int d = 0; d < t.parts; ++d) count(d);
    if (!t.sums) add_cells();
    for (int d = 0; d < t.parts; ++d)
      if (parts[d]->tested) {
        if (tick(0)) return;
        prepare(d, tick);
      }
    project(tick);
    for (int d = 0; d < t.parts; ++d) {
      if (tick(0)) return;
      Part& part = *parts[d];
      if (!part.tested) continue;
      const Doubles weight = searched(part) && t.weight ? weights_of(d) : Doubles();
      const double cut = searched(part)
                             ? part.test
                                   .search(part.scores, part.first.data(),
                                           t.weight ? weight.data() : nullptr, part.n, tick)
                                   .best_cut()
                             : part.test.cut();
      const Doubles w = part.test.weights();
      std::copy(w.begin(), w.end(), weights + static_cast<size_t>(d) * t.rows.p);
      cuts[d] = cut + part.test.fisher.dot(part.test.fisher.mean.data(), w.data());
    }
  }

 private:
  struct Part {
    Part(const FisherTask& rows, int merit) : test(rows, merit), count(rows.k) {}
    FisherTest test;
    Doubles count;               // weight of each class
    std::vector<int64_t> first;  // where the rows of each class present begin
    Moments moments;
    int64_t n = 0;
    bool tested = false;  // whether there is something to separate
    double* scores = nullptr;
  };

  size_t run_of(int64_t i) const {
    return static_cast<size_t>(t.cell[i]) * k + t.rows.y[t.line[i]];
  }
  bool trains(int d, int c) const { return t.member[static_cast<size_t>(c) * t.parts + d]; }
  int64_t begin(int c, int y) const { return run[static_cast<size_t>(c) * k + y]; }
  int64_t end(int c, int y) const { return run[static_cast<size_t>(c) * k + y + 1]; }
  // Of two classes nothing is left to search for.
  bool searched(const Part& part) const { return part.tested && part.test.n_present() > 2; }

  // Calls f(begin, end) for the runs of a part in the order of their classes.
  template <typename F>
  void each_run(int d, F f) const {
    for (int y = 0; y < k; ++y)
      for (int c = 0; c < t.cells; ++c)
        if (trains(d, c)) f(y, begin(c, y), end(c, y));
  }

  void count(int d) {
    Part& part = *parts[d];
    std::vector<int64_t> rows(k);
    each_run(d, [&](int y, int64_t from, int64_t to) {
      rows[y] += to - from;
      for (int64_t i = from; i < to && t.weight; ++i) part.count[y] += t.weight[order[i]];
    });
    part.first.push_back(0);
    for (int y = 0; y < k; ++y) {
      if (!t.weight) part.count[y] = static_cast<double>(rows[y]);
      if (part.count[y] > 0) part.first.push_back(part.first.back() + rows[y]);
    }
    part.n = part.first.back();
    part.tested = part.first.size() > 2;
  }

  // Moments of the parts from those of the cells.
  void add_cells() {
    const size_t p = static_cast<size_t>(t.rows.p);
    for (auto& part : parts) part->moments = {Doubles(k * p), Doubles(p * p), {}};
    for (int c = 0; c < t.cells; ++c) {
      const int64_t from = begin(c, 0), to = end(c, k - 1);
      const Moments own = parts[0]->test.fisher.moments(&ids[from], to - from, true);
      for (int d = 0; d < t.parts; ++d) {
        if (!trains(d, c)) continue;
        Moments& sum = parts[d]->moments;
        for (size_t i = 0; i < own.sums.size(); ++i) sum.sums[i] += own.sums[i];
        for (size_t i = 0; i < own.second.size(); ++i) sum.second[i] += own.second[i];
      }
    }
  }

  void prepare(int d, Tick& tick) {
    Part& part = *parts[d];
    const size_t p = static_cast<size_t>(t.rows.p);
    std::vector<int64_t> own;
    if (part.n <= t.rows.p)
      each_run(d, [&](int, int64_t from, int64_t to) {
        own.insert(own.end(), ids.begin() + from, ids.begin() + to);
      });
    if (t.sums)
      part.moments = {Doubles(t.sums + d * k * p, t.sums + (d + 1) * k * p),
                      Doubles(t.second + d * p * p, t.second + (d + 1) * p * p),
                      {}};
    part.test.prepare(own.data(), part.n, part.moments, part.count.data(), tick);
    part.moments = {};
  }

  // Rows along the directions of the parts that train on them.
  void project(Tick& tick) {
    double* room = t.room;
    for (auto& part : parts)
      if (searched(*part)) part->scores = room, room += part->n * part->test.n_present();
    std::vector<std::vector<int64_t>> next;  // place of the next row, by part and class
    for (auto& part : parts) {
      next.emplace_back(k);
      for (size_t c = 0; c < part->test.present.size(); ++c)
        next.back()[part->test.present[c]] = part->first[c];
    }
    for (int c = 0; c < t.cells; ++c)
      for (int y = 0; y < k; ++y)
        for (int64_t at = begin(c, y); at < end(c, y) && tick(0) == 0; at += NEAR_ROWS) {
          const int64_t size = std::min(NEAR_ROWS, end(c, y) - at);
          for (int d = 0; d < t.parts; ++d) {
            Part& part = *parts[d];
            if (!trains(d, c) || !searched(part) || !(part.count[y] > 0)) continue;
            part.test.fisher.project(&ids[at], size, part.test.n_present(),
                                     part.scores + next[d][y], part.n);
            next[d][y] += size;
          }
        }
  }

  // Weights of the rows of a part in the order of their classes.
  Doubles weights_of(int d) const {
    Doubles out;
    each_run(d, [&](int, int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) out.push_back(t.weight[order[i]]);
    });
    return out;
  }

  const TrialTask t;
  const int k;
  std::vector<int64_t> run, order, ids;  // rows by cell and class: positions, lines of z
  Doubles by_line;                       // weights of the rows
  std::vector<std::unique_ptr<Part>> parts;
};

inline void train_parts(const TrialTask& task, double* weights, double* cuts, Tick& tick) {
  FisherTrials(task).train(weights, cuts, tick);
}

}  // namespace omnitree
