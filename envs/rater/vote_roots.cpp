// Computes the exact distribution of the vote of many iid scores from generating functions at roots of unity.
//
// Give every level a Poisson number of votes, of mean y_j = N p_j, and calls that give no score one too: given that all have N together, they are the
// multinomial counts of N calls.
// Level k wins with count c if every other level has at most c votes. With T_j(x) = sum_{n < c} P(n_j = n) x^n + z P(n_j = c) x^c,
//   P(k wins with c) = P(n_k = c) [x^(N-c)] prod_{j != k} T_j(x) / P(sum of all n = N)
// and the factors z decide ties as in vote_distribution.cpp. The coefficient is the mean of prod T_j(w) w^-(N-c) over the M-th roots of unity w,
// but for terms whose counts sum to N - M, N + M, N + 2 M, …: less than 1e-14 with M = 10 sqrt(N) + 8, ten standard deviations.
//   first       nodes z of Gauss-Legendre; lowest, highest: z is 0 or 1, another below k than above
//   median_low  z = v below k and 1 / v above: the mean over the roots of unity v of prod T_j (1 + v) keeps the terms where as many levels are tied
//               below k as above it, or one less
// A level that cannot reach c, and calls that give no score, have T_j(x) = exp(y_j (x - 1)): together one exponential.
#include <algorithm>
#include <vector>

#include "envs/rater/tie_nodes.hpp"
#include "envs/rater/vote.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr double never = 1e-19;       // a level less likely to reach a count does not reach it
constexpr double too_rare = 1e-16;    // counts of a winner that are less likely are left out; 512 of them change a result by 1e-13

/// P(n) of a Poisson variable of mean y >= 0, n = 0..most. From its mode, so that no exp(-y) leaves the range of doubles.
std::vector<double> poisson(double y, int most) {
  const int mode = std::min(static_cast<int>(y), most);
  std::vector<double> p(static_cast<std::size_t>(most) + 1);
  double total = p[mode] = 1;
  for (int n = mode; n > 0; --n) total += p[n - 1] = p[n] * n / y;
  double term = 1;
  for (int n = mode + 1; n <= most || term > 1e-30; ++n) {
    term *= y / n;
    total += term;
    if (n <= most) p[n] = term;
  }
  for (double& x : p) x /= total;
  return p;
}

/// Complex numbers, one for each root of unity that is looked at.
struct Values {
  std::vector<double> re, im;
  explicit Values(std::size_t n) : re(n, 0.0), im(n, 0.0) {}
};
struct Complex {
  double re, im;
};

/// a += t w.
void add(Values& a, double t, const Values& w) {
  for (std::size_t m = 0; m < a.re.size(); ++m) {
    a.re[m] += t * w.re[m];
    a.im[m] += t * w.im[m];
  }
}
/// to = a (s + t w).
void multiply(const Values& a, const Values& s, double t, const Values& w, Values& to) {
  const double *ar = a.re.data(), *ai = a.im.data(), *sr = s.re.data(), *si = s.im.data(), *wr = w.re.data(), *wi = w.im.data();
  double *re = to.re.data(), *im = to.im.data();
  for (std::size_t m = 0; m < a.re.size(); ++m) {
    const double x = sr[m] + t * wr[m], y = si[m] + t * wi[m], r = ar[m] * x - ai[m] * y;
    im[m] = ar[m] * y + ai[m] * x;
    re[m] = r;
  }
}
/// a *= b.
void multiply(Values& a, const Values& b) {
  for (std::size_t m = 0; m < a.re.size(); ++m) {
    const double r = a.re[m] * b.re[m] - a.im[m] * b.im[m];
    a.im[m] = a.re[m] * b.im[m] + a.im[m] * b.re[m];
    a.re[m] = r;
  }
}
/// to = z w.
void scale(const Values& w, Complex z, Values& to) {
  for (std::size_t m = 0; m < w.re.size(); ++m) {
    to.re[m] = z.re * w.re[m] - z.im * w.im[m];
    to.im[m] = z.re * w.im[m] + z.im * w.re[m];
  }
}
/// The real part of the sum of all a b.
double real_sum(const Values& a, const Values& b) {
  double sum[4] = {};
  const std::size_t n = a.re.size();
  for (std::size_t m = 0; m < n; ++m) sum[m % 4] += a.re[m] * b.re[m] - a.im[m] * b.im[m];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// A level of positive probability.
struct Level {
  int at;                             // index in the pmf
  double mean;                        // N p
  std::vector<double> term;           // P(n votes)
  std::vector<double> tail;           // P(n or more votes)
  Values below;                       // sum of term[n] w^n, n < c
};

struct Roots {
  int votes, points;
  std::vector<Complex> root;  // w^i, i = 0..points - 1
  std::size_t half() const { return static_cast<std::size_t>(points) / 2 + 1; }

  explicit Roots(int n) : votes(n), points(2 * (static_cast<int>(5 * math::sqrt(static_cast<double>(n))) + 4)) {
    for (int i = 0; i < points; ++i) {
      const auto w = math::sincos_turn(static_cast<double>(i) / points);
      root.push_back({w.cos, w.sin});
    }
  }
  /// w^n of each root w of the upper half; the others give the conjugates.
  void power(int n, Values& to) const {
    const int step = (n % points + points) % points;
    for (int m = 0, i = 0; m < static_cast<int>(half()); ++m) {
      to.re[m] = root[i].re, to.im[m] = root[i].im;
      i += step;
      if (i >= points) i -= points;
    }
  }
  /// exp(mean (w - 1)) for each root, times how often it counts in a mean over all of them.
  void others(double mean, Values& to) const {
    for (std::size_t m = 0; m < half(); ++m) {
      const double size = math::exp(-mean * (1 - root[m].re)) * (m == 0 || 2 * m == root.size() ? 1.0 : 2.0) / points;
      double turns = mean * root[m].im / (2 * math::pi);
      turns -= math::floor(turns);
      const auto phase = math::sincos_turn(turns < 1 ? turns : 0.0);
      to.re[m] = size * phase.cos, to.im[m] = size * phase.sin;
    }
  }
};

/// One way to weigh ties: the factors z of levels below and above the winner, and the weight of what they give.
struct TieWay {
  Complex below, above, weight;
};
std::vector<TieWay> tie_ways(TieRule tie, int tied) {  // tied: at most so many other levels
  if (tie == TieRule::lowest) return {{{0, 0}, {1, 0}, {1, 0}}};
  if (tie == TieRule::highest) return {{{1, 0}, {0, 0}, {1, 0}}};
  std::vector<TieWay> ways;
  if (tie == TieRule::median_low) {
    const int n = tied + 2;
    for (int i = 0; i < n; ++i) {
      const auto v = math::sincos_turn(static_cast<double>(i) / n);
      ways.push_back({{v.cos, v.sin}, {v.cos, -v.sin}, {(1 + v.cos) / n, v.sin / n}});
    }
    return ways;
  }
  const TieNodes& nodes = tie_nodes(tied);
  for (int i = 0; i < nodes.count; ++i) ways.push_back({{nodes.z[i], 0}, {nodes.z[i], 0}, {nodes.weight[i], 0}});
  return ways;
}

/// win[k] += P(k wins with c), not yet divided by P(sum of all n = N), of `levels`, all of which may reach c. `others`: of those that do not.
void add_count(const Roots& roots, TieRule tie, int c, std::span<const Level* const> levels, const Values& others, std::vector<Values>& above,
               std::span<double> win) {
  Values power(roots.half()), back(roots.half()), below = back, z_below = back, z_above = back;
  roots.power(c, power);
  roots.power(c - roots.votes, back);
  for (const TieWay& way : tie_ways(tie, std::min(static_cast<int>(levels.size()), roots.votes / c) - 1)) {
    scale(power, way.below, z_below);
    scale(power, way.above, z_above);
    std::fill(above[levels.size()].re.begin(), above[levels.size()].re.end(), 1.0);
    std::fill(above[levels.size()].im.begin(), above[levels.size()].im.end(), 0.0);
    for (std::size_t k = levels.size() - 1; k > 0; --k) multiply(above[k + 1], levels[k]->below, levels[k]->term[c], z_above, above[k]);
    scale(back, way.weight, below);
    multiply(below, others);
    for (std::size_t k = 0; k < levels.size(); ++k) {
      win[k] += levels[k]->term[c] * real_sum(below, above[k + 1]);
      if (k + 1 < levels.size()) multiply(below, levels[k]->below, levels[k]->term[c], z_below, below);
    }
  }
}

}  // namespace

void vote_distribution_by_roots(std::span<const double> pmf, double dropped, int votes, TieRule tie, std::span<double> out, int most) {
  const double n = votes, read = 1 - dropped;
  std::fill(out.begin(), out.end(), 0.0);
  check_distribution_size(static_cast<std::size_t>(std::count_if(pmf.begin(), pmf.end(), [](double p) { return p > 0; })), votes);
  const double together = poisson(n, votes)[votes];
  const Roots roots(votes);
  std::vector<Level> level;
  for (std::size_t k = 0; k < pmf.size(); ++k) {
    const double mean = n * read * pmf[k];
    if (!(mean > 0)) continue;
    level.push_back({static_cast<int>(k), mean, poisson(mean, votes), std::vector<double>(static_cast<std::size_t>(votes) + 2), Values(roots.half())});
    for (int i = votes; i >= 0; --i) level.back().tail[i] = level.back().tail[i + 1] + level.back().term[i];
  }
  // counts above N / 2 win alone: binomial terms
  for (const Level& x : level) {
    double rest = n * dropped;
    for (const Level& other : level) rest += other.at == x.at ? 0.0 : other.mean;
    if (x.tail[votes / 2 + 1] < never) continue;
    const std::vector<double> others = poisson(rest, votes);
    for (int c = std::min(most, votes); 2 * c > votes; --c) out[x.at] += x.term[c] * others[votes - c];
  }
  std::vector<Values> above(level.size() + 1, Values(roots.half()));
  Values others(roots.half()), power(roots.half());
  std::vector<const Level*> reach;
  std::vector<double> win;
  std::size_t reached = level.size() + 1;
  for (int c = 0; c <= std::min(votes / 2, most); ++c) {
    reach.clear();
    double rest = n * dropped, likely = 0, all = 1;  // all: P(no level has more than c votes)
    for (const Level& x : level) {
      if (x.tail[c] < never) {
        rest += x.mean;
        continue;
      }
      reach.push_back(&x);
      const double within = 1 - std::min(1.0, x.tail[c + 1]);
      all *= within;
      if (within > 0) likely += x.term[c] / within;
    }
    if (reach.empty()) break;
    if (reach.size() != reached) roots.others(rest, others);
    reached = reach.size();
    if (c > 0 && likely * all > too_rare * together) {
      win.assign(reach.size(), 0.0);
      add_count(roots, tie, c, reach, others, above, win);
      for (std::size_t k = 0; k < reach.size(); ++k) out[reach[k]->at] += win[k];
    }
    const auto adds = [&](const Level& x) { return x.term[c] > never * together / 1024; };
    if (std::any_of(level.begin(), level.end(), adds)) roots.power(c, power);
    for (Level& x : level)
      if (adds(x)) add(x.below, x.term[c], power);
  }
  for (double& p : out) p = std::max(p / together, 0.0);
}

}  // namespace odrpo
