// Computes the exact distribution of the vote of N iid scores, without visiting all vectors of counts; of many votes: vote_roots.cpp.
//
// Level j gets n_j of the N votes with P(n) = N! prod_j p_j^n_j / n_j!. Level k wins with count c if every other level has at most c votes.
// With y_j = p_j, and [x^m] = the coefficient of x^m:
//   P(k wins with c) = N! y_k^c / c! [x^(N-c)] prod_{j != k} sum_{n <= c} (y_j x)^n / n!
// Each last term n = c gets a factor z, which decides ties:
//   lowest   z = 0 for levels j below k, z = 1 above     highest  z = 1 below k, 0 above
//   first    k wins a tie with t others with probability 1 / (1 + t) = integral of z^t over 0..1: Gauss-Legendre, exact for t < 2 nodes
//   median_low  the product is kept for each number of tied levels below and above k
//   nearest_mean  without a tie: z = 0. For each set of tied levels, the product over the untied levels is kept for each number of
//                 their votes and each sum of their scores. The set and the sum decide the winner.
// All terms are positive. With y = lambda p, lambda = min(N, 600), and the factor N!/lambda^N nothing overflows up to N = 1024.
#include <algorithm>
#include <array>
#include <vector>

#include "envs/rater/distribution_table.hpp"
#include "envs/rater/tie_nodes.hpp"
#include "envs/rater/vote.hpp"

namespace odrpo {
namespace {

using series::multiply, series::Rows;

/// Returns coefficient `degree` of a product of two polynomials.
double coefficient(const double* a, int a_length, const double* b, int b_length, int degree) {
  double sum[4] = {};
  int n = std::max(0, degree - b_length + 1);
  const int end = std::min(a_length, degree + 1);
  for (; n + 3 < end; n += 4)
    for (int v = 0; v < 4; ++v) sum[v] += a[n + v] * b[degree - n - v];
  for (; n < end; ++n) sum[0] += a[n] * b[degree - n];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// Terms y^n / n!, n = 0..N, of the levels with positive probability, and the factor N! / lambda^N.
struct Terms {
  int votes = 0, levels = 0;
  double scale = 1;
  std::vector<int> level;                   // index in the pmf
  std::vector<double> of_level, of_others;  // [levels][N+1]: terms of y_k, and of the sum of all other y
  const double* term(int k) const { return of_level.data() + static_cast<std::size_t>(k) * (votes + 1); }
  const double* others(int k) const { return of_others.data() + static_cast<std::size_t>(k) * (votes + 1); }
};

Terms make_terms(std::span<const double> pmf, int votes) {
  Terms t;
  t.votes = votes;
  const double lambda = series::lambda(votes);
  t.scale = series::scale(votes);
  for (std::size_t k = 0; k < pmf.size(); ++k) {
    if (!(pmf[k] > 0)) continue;
    double rest = 0;
    for (std::size_t j = 0; j < pmf.size(); ++j) rest += j == k ? 0.0 : pmf[j];
    t.level.push_back(static_cast<int>(k));
    series::append_exponential(lambda * pmf[k], votes, t.of_level);
    series::append_exponential(lambda * rest, votes, t.of_others);
  }
  t.levels = static_cast<int>(t.level.size());
  return t;
}

/// Adds P(k wins with c) for all c > N/2. A level with such a count always wins, so that these probabilities are binomial.
void add_majorities(const Terms& t, int most, std::span<double> win) {
  for (int k = 0; k < t.levels; ++k)
    for (int c = std::min(most, t.votes); 2 * c > t.votes; --c) win[k] += t.term(k)[c] * t.others(k)[t.votes - c];
}

/// win[k] += weight P(k wins with c), for all k. The factor z of the last term is z_before for levels below k, z_behind for levels above k.
void add_count(const Terms& t, int c, double z_before, double z_behind, double weight, Rows& before, Rows& behind, std::span<double> win) {
  const int degree = t.votes - c, levels = t.levels;
  std::array<double, max_distribution_votes / 2 + 1> taps;
  taps[0] = 1;  // g++ 12 warns that it may be read before it is written
  const auto grow = [&](Rows& rows, int from, int to, int level, double z) {
    const int n = z > 0 ? c + 1 : c;
    std::copy_n(t.term(level), n, taps.begin());
    if (z > 0) taps[c] = t.term(level)[c] * z;
    rows.length[to] = std::min(degree + 1, rows.length[from] + n - 1);
    multiply<false>(rows[from], rows.length[from], taps.data(), n, rows[to], rows.length[to]);
  };
  before[0][0] = behind[levels][0] = 1;
  before.length[0] = behind.length[levels] = 1;
  for (int k = 0; k + 1 < levels; ++k) grow(before, k, k + 1, k, z_before);
  for (int k = levels - 1; k > 0; --k) grow(behind, k + 1, k, k, z_behind);
  for (int k = 0; k < levels; ++k)
    win[k] += weight * t.term(k)[c] * coefficient(before[k], before.length[k], behind[k + 1], behind.length[k + 1], degree);
}

/// win[k] += P(k wins with c) by rule median_low. With b tied levels below k, level k wins if b or b + 1 levels above it are tied. Keeps a
/// product for each number of tied levels.
void add_count_median(const Terms& t, int c, std::span<double> win) {
  const int degree = t.votes - c, levels = t.levels, ties = std::min(levels, t.votes / c);
  const auto row = [&](int level, int tied) { return level * ties + tied; };
  Rows before((levels + 1) * ties, degree + 1), behind((levels + 1) * ties, degree + 1);
  const auto grow = [&](Rows& rows, int from, int to, int level) {
    for (int b = 0; b < ties; ++b) {
      const int a = row(from, b), r = row(to, b);
      rows.length[r] = degree + 1;
      multiply<false>(rows[a], degree + 1, t.term(level), c, rows[r], degree + 1);
      const double tied = t.term(level)[c];
      for (int n = c; b > 0 && n <= degree; ++n) rows[r][n] += tied * rows[row(from, b - 1)][n - c];
    }
  };
  before[row(0, 0)][0] = behind[row(levels, 0)][0] = 1;
  for (int k = 0; k + 1 < levels; ++k) grow(before, k, k + 1, k);
  for (int k = levels - 1; k > 0; --k) grow(behind, k + 1, k, k);
  for (int k = 0; k < levels; ++k)
    for (int b = 0; b < ties; ++b)
      for (int a = b; a <= b + 1 && a < ties; ++a)
        win[k] += t.term(k)[c] * coefficient(before[row(k, b)], degree + 1, behind[row(k + 1, a)], degree + 1, degree);
}

/// Adds ties to `win` by rule nearest_mean, for one count c of the winner. Visits all sets of two or more levels that have c votes each;
/// the other levels have fewer.
struct TiedSets {
  const Terms& t;
  int c;
  std::span<double> win;
  int span = t.level.back() - t.level.front();  // difference of the highest and lowest score of positive probability
  std::vector<int> tied = {};
  std::vector<std::vector<double>> open = {};  // [level][n][s] P(n votes with sum s) for the untied levels before it

  int offset(int level) const { return t.level[level] - t.level.front(); }
  int rest(std::size_t ties) const { return t.votes - c * static_cast<int>(std::max<std::size_t>(ties, 2)); }
  std::size_t row(int n) const { return static_cast<std::size_t>(n) * (static_cast<std::size_t>(rest(2)) * span + 1); }

  void run() {
    open.assign(t.levels + 1, std::vector<double>(row(rest(2) + 1)));
    open[0][0] = 1;
    visit(0, 1, open[0].data());
  }
  void visit(int level, double weight, const double* before) {
    if (level == t.levels) return finish(weight, before + row(rest(tied.size())));
    const int most = rest(tied.size()), step = offset(level);
    if (static_cast<int>(tied.size()) + t.levels - level > 2 || tied.size() >= 2) {
      double* after = open[level + 1].data();
      for (int n = 0; n <= most; ++n) {
        double* to = after + row(n);
        std::fill_n(to, n * span + 1, 0.0);
        for (int m = 0; m < c && m <= n; ++m) {
          const double* from = before + row(n - m);
          const double term = t.term(level)[m];
          for (int s = 0; s <= (n - m) * span; ++s) to[m * step + s] += term * from[s];
        }
      }
      visit(level + 1, weight, after);
    }
    if (c * static_cast<int>(tied.size() + 1) > t.votes) return;
    tied.push_back(level);
    visit(level + 1, weight * t.term(level)[c], before);
    tied.pop_back();
  }
  void finish(double weight, const double* by_sum) {
    int of_tied = 0;
    for (const int k : tied) of_tied += c * offset(k);
    std::size_t at = 0;  // a larger sum moves the mean, and so the winner, upwards; at equal distance the lower level wins
    for (int s = 0; s <= rest(tied.size()) * span; ++s) {
      while (at + 1 < tied.size() && t.votes * (offset(tied[at]) + offset(tied[at + 1])) < 2 * (of_tied + s)) ++at;
      win[tied[at]] += weight * by_sum[s];
    }
  }
};

/// Estimates the seconds of the two ways to compute nearest_mean: over count vectors, and over sets of tied levels.
struct Price {
  double counts, sets;
};
Price nearest_mean_price(int levels, double span, int votes) {
  Price price{4e-8 * count_vectors(levels, votes), 0};
  for (int c = 1; 2 * c <= votes; ++c) {
    // nodes of the recursion: over all levels, the sets of up to N / c tied levels among the earlier ones
    const int ties = std::min(levels, votes / c);
    double nodes = 0, choose = 1;
    for (int size = 0; size <= ties; ++size) nodes += choose = choose * (levels + 1 - size) / (size + 1);
    const double rest = votes - 2 * c;
    price.sets += nodes * (2e-8 + 1.5e-10 * (rest + 1) * (rest * span / 2 + 8) * std::min<double>(c, rest / 2 + 1));
  }
  return price;
}

bool ties_by_sets(std::span<const double> pmf, int votes) {
  std::size_t first = pmf.size(), last = 0;
  int levels = 0;
  for (std::size_t k = 0; k < pmf.size(); ++k) {
    if (!(pmf[k] > 0)) continue;
    first = std::min(first, k), last = k;
    ++levels;
  }
  if (levels < 2 || count_vectors(levels, votes) > max_distribution_cases) return false;
  const Price price = nearest_mean_price(levels, static_cast<double>(last - first), votes);
  return price.sets < price.counts;
}
}  // namespace

double nearest_mean_seconds(int levels, int votes) {
  const Price price = nearest_mean_price(levels, levels - 1, votes);
  return count_vectors(levels, votes) > max_distribution_cases ? std::max(price.counts, 3600.0) : std::min(price.counts, price.sets);
}

void vote_distribution(std::span<const double> pmf, int votes, TieRule tie, std::span<double> out, int most) {
  check_distribution_size(std::count_if(pmf.begin(), pmf.end(), [](double p) { return p > 0; }), votes);
  if (by_roots(tie, votes)) return vote_distribution_by_roots(pmf, 0, votes, tie, out, most);
  if (tie == TieRule::nearest_mean && !ties_by_sets(pmf, votes)) return vote_distribution_by_counts(pmf, votes, tie, out, most);
  const Terms t = make_terms(pmf, votes);
  std::vector<double> win(t.levels, 0.0);
  add_majorities(t, most, win);
  Rows before(t.levels + 1, votes), behind(t.levels + 1, votes);
  const int last = std::min(votes / 2, most);
  for (int c = t.levels > 0 ? (votes + t.levels - 1) / t.levels : votes; c <= last; ++c) {
    if (tie == TieRule::median_low) {
      add_count_median(t, c, win);
      continue;
    }
    if (tie == TieRule::nearest_mean) {
      add_count(t, c, 0, 0, 1, before, behind, win);
      TiedSets{t, c, win}.run();
    }
    if (tie == TieRule::lowest) add_count(t, c, 0, 1, 1, before, behind, win);
    if (tie == TieRule::highest) add_count(t, c, 1, 0, 1, before, behind, win);
    if (tie != TieRule::first) continue;
    const TieNodes& nodes = tie_nodes(std::min(t.levels, votes / c) - 1);
    for (int i = 0; i < nodes.count; ++i) add_count(t, c, nodes.z[i], nodes.z[i], nodes.weight[i], before, behind, win);
  }
  std::fill(out.begin(), out.end(), 0.0);
  const bool certain = t.levels == 1 && votes <= most;  // a score that is certain gets exactly 1
  for (int k = 0; k < t.levels; ++k) out[t.level[k]] = certain ? 1.0 : win[k] * t.scale;
}

}  // namespace odrpo
