// Fisher's directions of a node, as `omnitree.parts.direction.Fisher` finds them.
//
// Class sums and second moments are summed a few rows at a time; T^-1 (m_k - m) for
// every class from a Cholesky factorisation of the total scatter or, where it is singular,
// through its principal components; with fewer rows than columns from the inner products of
// the rows. Used by fisher_tree.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/tick.hpp"
#include "linear/products.hpp"
#include "linear/projection.hpp"

namespace omnitree {

using Doubles = std::vector<double>;

struct Blas {  // Fortran's, as SciPy hands them out
  void (*gemm)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*,
               double*, int*);
  void (*potrf)(char*, int*, double*, int*, int*);
  void (*potrs)(char*, int*, int*, double*, int*, double*, int*, int*);
  void (*syevd)(char*, char*, int*, double*, int*, double*, double*, int*, int*, int*, int*);
};

enum Pca : int { SINGULAR, ALWAYS, NEVER };

// Share of a column's second moment below which its scatter is rounding.
constexpr double CONSTANT_SHARE = 1e-10;
// The same for a difference: the share of the moments that it was taken from.
constexpr double ROUNDED_SHARE = 1e-12;

struct FisherTask {
  const double* z;  // (n, p), C-ordered: standardised columns without missing values
  const int32_t* y;
  const double* weight;  // null: every row counts one
  int64_t n;
  int p, k;
  int pca;
  double epsilon;
  Blas blas;
};

// Class sums (k, p) and second moments (p, p; lower part, column by column).
struct Moments {
  Doubles sums, second;
  Doubles summed;  // second moments (p) that these are a difference of; empty: they are none
};

// Adds rows, each a line of `width` numbers, to the sums of their classes.
OMNITREE_CLONES
static void add_class_sums(const FisherTask& t, const double* rows, int64_t width,
                           const int64_t* ids, int n, double* sums) {
  const int64_t p = t.p;
  for (int i = 0; i < n; ++i) {
    const double w = t.weight ? t.weight[ids[i]] : 1.0;
    const double* row = rows + i * width;
    double* to = sums + t.y[ids[i]] * p;
    for (int64_t j = 0; j < p; ++j) to[j] += w * row[j];
  }
}

class Fisher {
 public:
  explicit Fisher(const FisherTask& task) : t(task) {}

  // Dimensions of the columns that the last directions were found in.
  int dimensions() const { return kept_dimensions; }

  // Moments of rows; only the sums unless `second` is asked for.
  Moments moments(const int64_t* ids, int64_t n, bool second) {
    const int64_t p = t.p, width = product_width(p);
    Moments m{Doubles(static_cast<size_t>(t.k) * p), Doubles(second ? p * p : 0), {}};
    Doubles rows(PRODUCT_ROWS * width), products(second ? width * width : 0);
    for (int64_t at = 0; at < n; at += PRODUCT_ROWS) {
      const int size = static_cast<int>(std::min<int64_t>(PRODUCT_ROWS, n - at));
      take(ids + at, size, n - at, width, rows.data());
      add_class_sums(t, rows.data(), width, ids + at, size, m.sums.data());
      if (!second) continue;
      for (int i = 0; i < size && t.weight; ++i) {
        const double root = std::sqrt(t.weight[ids[at + i]]);
        for (int64_t j = 0; j < p; ++j) rows[i * width + j] *= root;
      }
      add_products(rows.data(), size, p, products.data());
    }
    for (int64_t a = 0; a < p && second; ++a)
      for (int64_t b = a; b < p; ++b) m.second[a * p + b] = products[b * width + a];
    return m;
  }

  // Directions of the classes with rows, (p, present) column by column.
  const Doubles& directions(const int64_t* ids, int64_t n, const Moments& m, const double* count,
                            const std::vector<int>& present) {
    const int k = static_cast<int>(present.size());
    double total = 0;
    for (int c : present) total += count[c];
    mean.assign(t.p, 0.0);
    for (int c = 0; c < t.k; ++c)
      for (int j = 0; j < t.p; ++j) mean[j] += m.sums[static_cast<size_t>(c) * t.p + j];
    for (double& v : mean) v /= total;
    around.resize(static_cast<size_t>(k) * t.p);
    for (int c = 0; c < k; ++c)
      for (int j = 0; j < t.p; ++j)
        around[static_cast<size_t>(c) * t.p + j] =
            m.sums[static_cast<size_t>(present[c]) * t.p + j] / count[present[c]] - mean[j];
    basis = around;
    packed = {};
    if (n > t.p)
      solve_by_scatter(m, total, k);
    else
      solve_by_rows(ids, n, k);
    return basis;
  }

  // Rows around the mean along the k directions, as lines of `out` that lie `stride` numbers
  // apart; to be called after `directions`.
  void project(const int64_t* ids, int64_t n, int k, double* out, int64_t stride) {
    if (packed.empty()) packed = PackedBasis(basis.data(), mean.data(), t.p, k);
    project_rows(t.z, packed, ids, n, out, stride);
  }

  // Mean of the scores of each class along the directions, (k, k).
  void centres(int k, double* out, Tick& tick) const {
    for (int c = 0; c < k && tick(0) == 0; ++c)
      for (int d = 0; d < k; ++d)
        out[static_cast<size_t>(c) * k + d] =
            dot(&around[static_cast<size_t>(c) * t.p], &basis[static_cast<size_t>(d) * t.p]);
  }

  double dot(const double* a, const double* b) const {
    double sum = 0;
    for (int j = 0; j < t.p; ++j) sum += a[j] * b[j];
    return sum;
  }

  Doubles mean;    // of the rows that `directions` was called for
  Doubles around;  // class means around it, (k, p)

 private:
  double weight_of(int64_t row) const { return t.weight ? t.weight[row] : 1.0; }

  // Copies n rows, each to a line of `width` numbers, and asks for those that come next (of
  // all `left`): they lie apart.
  void take(const int64_t* ids, int n, int64_t left, int64_t width, double* to) const {
    constexpr int64_t AHEAD = 8, LINE = 8;
    for (int64_t i = 0; i < n; ++i) {
      if (i + AHEAD < left)
        for (int64_t j = 0; j < t.p; j += LINE) __builtin_prefetch(t.z + ids[i + AHEAD] * t.p + j);
      std::memcpy(to + i * width, t.z + ids[i] * t.p, sizeof(double) * t.p);
    }
  }

  void multiply(char ta, char tb, int m, int n, int inner, const double* a, int lda,
                const double* b, int ldb, double* c, int ldc) {
    double one = 1, zero = 0;
    t.blas.gemm(&ta, &tb, &m, &n, &inner, &one, const_cast<double*>(a), &lda,
                const_cast<double*>(b), &ldb, &zero, c, &ldc);
  }

  // One over the deviation of each column, 0 where it is constant.
  void invert_scale(Doubles& scatter) const {
    double top = 1e-300;
    for (double& v : scatter) v = std::sqrt(std::max(v, 0.0)), top = std::max(top, v);
    for (double& v : scatter) v = v > 1e-12 * top ? 1 / v : 0.0;
  }

  void solve_by_scatter(const Moments& m, double total, int k) {
    const int p = t.p;
    const Doubles& second = m.second;
    Doubles inverse(p);
    for (int j = 0; j < p; ++j) {
      const double raw = second[static_cast<size_t>(j) * p + j];
      const double scatter = raw - total * (mean[j] * mean[j]);
      // What is left of a constant column is rounding, and not to be divided by.
      const double summed = m.summed.empty() ? 0.0 : m.summed[j];
      const bool constant = scatter <= std::max(CONSTANT_SHARE * raw, ROUNDED_SHARE * summed);
      inverse[j] = constant ? 0.0 : scatter;
    }
    invert_scale(inverse);
    Doubles correlation(static_cast<size_t>(p) * p);
    for (int a = 0; a < p; ++a)
      for (int b = a; b < p; ++b)
        correlation[static_cast<size_t>(a) * p + b] =
            (second[static_cast<size_t>(a) * p + b] - total * (mean[a] * mean[b])) *
            (inverse[a] * inverse[b]);
    scale_basis(inverse, k);
    if (t.pca == ALWAYS || !solve_by_cholesky(correlation, k)) {
      Doubles values = eigen(correlation, p);
      const std::vector<int> keep = kept(values);
      const int m = static_cast<int>(keep.size());
      kept_dimensions = m;
      Doubles part(static_cast<size_t>(p) * m), share(static_cast<size_t>(m) * k);
      for (int i = 0; i < m; ++i)
        std::copy_n(&correlation[static_cast<size_t>(keep[i]) * p], p,
                    &part[static_cast<size_t>(i) * p]);
      multiply('T', 'N', m, k, p, part.data(), p, basis.data(), p, share.data(), m);
      for (int c = 0; c < k; ++c)
        for (int i = 0; i < m; ++i) share[c * m + i] /= values[keep[i]];
      multiply('N', 'N', p, k, m, part.data(), p, share.data(), m, basis.data(), p);
    }
    scale_basis(inverse, k);
  }

  // False where the scatter is singular, or nearly so.
  bool solve_by_cholesky(const Doubles& correlation, int k) {
    factor = correlation;
    char lower = 'L';
    int p = t.p, info = 0;
    t.blas.potrf(&lower, &p, factor.data(), &p, &info);
    if (info != 0) return false;
    for (int j = 0; j < p; ++j)
      if (!(factor[static_cast<size_t>(j) * p + j] > 1e-5)) return false;
    t.blas.potrs(&lower, &p, &k, factor.data(), &p, basis.data(), &p, &info);
    kept_dimensions = p;
    return true;
  }

  // Few rows: their inner products have the eigenvalues of the scatter.
  void solve_by_rows(const int64_t* ids, int64_t n_rows, int k) {
    const int p = t.p, n = static_cast<int>(n_rows);
    Doubles rows(static_cast<size_t>(n) * p), inverse(p);
    for (int i = 0; i < n; ++i) {
      const double root = std::sqrt(weight_of(ids[i]));
      for (int j = 0; j < p; ++j) {
        const double v = (t.z[ids[i] * p + j] - mean[j]) * root;
        rows[static_cast<size_t>(i) * p + j] = v;
        inverse[j] += v * v;
      }
    }
    invert_scale(inverse);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < p; ++j) rows[static_cast<size_t>(i) * p + j] *= inverse[j];
    Doubles inner(static_cast<size_t>(n) * n);
    multiply('T', 'N', n, n, p, rows.data(), p, rows.data(), p, inner.data(), n);
    const Doubles values = eigen(inner, n);
    const std::vector<int> keep = kept(values);
    const int m = static_cast<int>(keep.size());
    kept_dimensions = m;
    scale_basis(inverse, k);
    // Components times the roots of their values: the rows by the vectors.
    Doubles vectors(static_cast<size_t>(n) * m), part(static_cast<size_t>(p) * m);
    Doubles share(static_cast<size_t>(m) * k);
    for (int i = 0; i < m; ++i)
      std::copy_n(&inner[static_cast<size_t>(keep[i]) * n], n,
                  &vectors[static_cast<size_t>(i) * n]);
    multiply('N', 'N', p, m, n, rows.data(), p, vectors.data(), n, part.data(), p);
    multiply('T', 'N', m, k, p, part.data(), p, basis.data(), p, share.data(), m);
    for (int c = 0; c < k; ++c)
      for (int i = 0; i < m; ++i) share[c * m + i] /= values[keep[i]] * values[keep[i]];
    multiply('N', 'N', p, k, m, part.data(), p, share.data(), m, basis.data(), p);
    scale_basis(inverse, k);
  }

  void scale_basis(const Doubles& inverse, int k) {
    for (int c = 0; c < k; ++c)
      for (int j = 0; j < t.p; ++j) basis[static_cast<size_t>(c) * t.p + j] *= inverse[j];
  }

  // Eigenvalues in ascending order; the matrix becomes their vectors.
  Doubles eigen(Doubles& matrix, int n) {
    Doubles values(n), room(1);
    std::vector<int> whole(1);
    char job = 'V', lower = 'L';
    int ask = -1, info = 0;
    t.blas.syevd(&job, &lower, &n, matrix.data(), &n, values.data(), room.data(), &ask,
                 whole.data(), &ask, &info);
    int n_room = static_cast<int>(room[0]), n_whole = whole[0];
    room.resize(n_room);
    whole.resize(n_whole);
    t.blas.syevd(&job, &lower, &n, matrix.data(), &n, values.data(), room.data(), &n_room,
                 whole.data(), &n_whole, &info);
    return values;
  }

  // Components to keep: those with variance, and of them enough to explain epsilon of it.
  std::vector<int> kept(const Doubles& values) const {
    const double largest = std::max(values.back(), 1e-300);
    double all = 0, so_far = 0;
    for (size_t i = values.size(); i-- > 0;)
      if (values[i] > 1e-9 * largest) all += values[i];
    std::vector<int> keep;
    for (size_t i = values.size(); i-- > 0;) {
      if (!(values[i] > 1e-9 * largest)) break;
      keep.push_back(static_cast<int>(i));
      so_far += values[i];
      if (t.pca != NEVER && so_far > t.epsilon * all) break;
    }
    return keep;
  }

  const FisherTask t;
  int kept_dimensions = 0;
  Doubles basis, factor;
  PackedBasis packed;  // made of the basis when rows are projected
};

}  // namespace omnitree
