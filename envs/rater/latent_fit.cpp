// Simulated moments with common random numbers, by Levenberg-Marquardt steps over (log sigma, logit rho, tau^2, omega^2).
#include "envs/rater/latent_fit.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "envs/rater/latent_draw.hpp"
#include "kernels/failure.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

constexpr std::size_t max_judges = 64;
constexpr std::uint64_t most_scores = 300'000;
constexpr double simulated_scores = 500'000;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

using Vector = std::vector<double>;

/// The parameters that are fitted, as numbers, and their bounds.
struct Free {
  bool prompt_share = true, spread = true, judge_sigma = true;

  LatentScale at(const Vector& v) const {
    LatentScale judge;
    std::size_t i = 0;
    judge.sigma = math::exp(v[i++]);
    judge.prompt_share = prompt_share ? 1 / (1 + math::exp(-v[i++])) : 0;
    judge.spread = spread ? math::sqrt(v[i++]) : 0;
    judge.judge_sigma = judge_sigma ? math::sqrt(v[i++]) : 0;
    return judge;
  }
  Vector choose(double of_sigma, double of_share, double of_spread, double of_judge) const {
    Vector v{of_sigma};
    if (prompt_share) v.push_back(of_share);
    if (spread) v.push_back(of_spread);
    if (judge_sigma) v.push_back(of_judge);
    return v;
  }
  Vector start() const { return choose(-0.8, -1, 0.1, 0.1); }
  Vector low() const { return choose(-4.5, -7, 0, 0); }
  Vector high() const { return choose(3, 5, 4, 400); }
  Vector step() const { return choose(0.05, 0.1, 0.03, 0.03); }
};

/// Differences of simulated moments from observed ones, each over its tolerance; without undefined ones.
struct Residuals {
  Vector weight, target;
  Vector operator()(const Moments& simulated) const {
    Vector r(weight.size());
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] = weight[i] > 0 && simulated[i] == simulated[i] ? (simulated[i] - target[i]) * weight[i] : 0;
    return r;
  }
};

Residuals residuals_to(const Moments& observed, int levels) {
  Residuals r;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const auto moment = static_cast<Moment>(i);
    double weight = 1 / moment_tolerance(moment, levels);
    if (moment == Moment::median_w || moment == Moment::mean_w) weight *= 0.5;
    if (moment == Moment::prompt_share) weight *= 0.2;
    const bool defined = observed[i] == observed[i];
    r.weight.push_back(defined ? weight : 0);
    r.target.push_back(defined ? observed[i] : 0);
  }
  return r;
}

double squared(const Vector& r) {
  double sum = 0;
  for (const double x : r) sum += x * x;
  return sum;
}

/// Solves a x = b, a symmetric and positive definite, [n][n]. False where it is not.
bool solve(Vector a, Vector b, Vector& x) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (!(a[i * n + i] > 1e-12)) return false;
    for (std::size_t k = i + 1; k < n; ++k) {
      const double f = a[k * n + i] / a[i * n + i];
      for (std::size_t c = i; c < n; ++c) a[k * n + c] -= f * a[i * n + c];
      b[k] -= f * b[i];
    }
  }
  x = b;
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = i + 1; c < n; ++c) x[i] -= a[i * n + c] * x[c];
    x[i] /= a[i * n + i];
  }
  return true;
}

/// d residual / d parameter, [parameters][residuals], by differences inside the bounds.
template <class F>
std::vector<Vector> slopes(F& residual, const Free& free, const Vector& at) {
  const Vector low = free.low(), high = free.high(), step = free.step();
  std::vector<Vector> out;
  for (std::size_t i = 0; i < at.size(); ++i) {
    Vector probe = at;
    const double up = std::min(at[i] + step[i], high[i]), down = std::max(at[i] - step[i], low[i]);
    probe[i] = up;
    Vector d = residual(probe);
    probe[i] = down;
    const Vector other = residual(probe);
    for (std::size_t m = 0; m < d.size(); ++m) d[m] = (d[m] - other[m]) / (up - down);
    out.push_back(std::move(d));
  }
  return out;
}

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

struct Least {
  Vector at, residual;
};

/// A least sum of squared residuals inside the bounds.
template <class F>
Least least_squares(F residual, const Free& free) {
  const Vector low = free.low(), high = free.high();
  Vector at = free.start(), r = residual(at);
  double value = squared(r), damping = 0.01;
  for (int iteration = 0; iteration < 25; ++iteration) {
    const std::vector<Vector> slope = slopes(residual, free, at);
    std::vector<std::size_t> moving;  // not held by a bound
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double downhill = -dot(slope[i], r);
      if (!(at[i] <= low[i] && downhill < 0) && !(at[i] >= high[i] && downhill > 0)) moving.push_back(i);
    }
    const double before = value;
    bool better = false;
    for (int attempt = 0; attempt < 6 && !better; ++attempt) {
      const std::size_t n = moving.size();
      Vector a(n * n), b(n), move;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) a[i * n + k] = dot(slope[moving[i]], slope[moving[k]]);
        b[i] = -dot(slope[moving[i]], r);
      }
      for (std::size_t i = 0; i < n; ++i) a[i * n + i] += damping * (a[i * n + i] + 1e-3);
      if (!solve(a, b, move)) break;
      Vector next = at;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = moving[i];
        next[k] = std::clamp(at[k] + std::clamp(move[i], -1.0, 1.0), low[k], high[k]);
      }
      const Vector there = residual(next);
      better = squared(there) < value;
      if (better) at = next, r = there, value = squared(r);
      damping = better ? damping * 0.2 : std::max(damping * 8, 0.01);
    }
    if (!better || before - value < 1e-3 * before) break;
  }
  return {at, r};
}

std::vector<std::uint32_t> numbers_to(std::size_t n) {
  std::vector<std::uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0u);
  return out;
}

/// Of each judge's scores in these prompts, the share of each level: [J][K]. Of a judge without scores there: equal shares.
Vector level_shares(const ScoreTable& table, std::span<const std::uint32_t> prompts) {
  const std::size_t levels = table.values.size(), judges = table.judges.size();
  std::vector<std::int64_t> count(judges * levels, 0);
  for (const std::uint32_t p : prompts)
    for (const auto& response : table.responses_of(table.prompts[p]))
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        ++count[table.columns[column].judge * levels + static_cast<std::size_t>(level) - 1];
      });
  Vector share(judges * levels, 1 / static_cast<double>(levels));
  for (std::size_t j = 0; j < judges; ++j) {
    const auto row = count.begin() + static_cast<std::ptrdiff_t>(j * levels);
    const std::int64_t all = std::accumulate(row, row + static_cast<std::ptrdiff_t>(levels), std::int64_t{0});
    for (std::size_t k = 0; k < levels && all > 0; ++k)
      share[j * levels + k] = static_cast<double>(count[j * levels + k]) / static_cast<double>(all);
  }
  return share;
}

/// What the table can tell about the four parameters.
struct Evidence {
  bool pairs = false;    ///< a response with two scores
  bool triples = false;  ///< a response with three
  bool differ = false;   ///< a prompt with two different scores
  bool groups = false;   ///< a prompt with two responses that have scores
  bool repeats = false;  ///< two judges, one of which scored a response twice
  std::uint32_t responses = 0, scores = 0;
};

Evidence evidence_of(const ScoreTable& table) {
  Evidence e;
  std::uint32_t seen = 0;  // judges with scores, up to 2
  std::vector<std::uint8_t> has(table.judges.size(), 0);
  for (const auto& prompt : table.prompts) {
    int first = 0, responses = 0;
    for (const auto& response : table.responses_of(prompt)) {
      std::uint32_t n = 0, last = 0;
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        const std::uint32_t judge = table.columns[column].judge;
        if (n > 0 && judge == last) e.repeats = true;
        last = judge;
        ++n;
        if (first == 0) first = level;
        e.differ |= level != first;
        if (!has[judge]) has[judge] = 1, ++seen;
      });
      e.pairs |= n > 1;
      e.triples |= n > 2;
      e.scores += n;
      responses += n > 0;
    }
    e.groups |= responses > 1;
    e.responses += static_cast<std::uint32_t>(responses);
  }
  e.repeats &= seen > 1;
  return e;
}

void refuse_what_says_nothing(const ScoreTable& table, const Evidence& e) {
  const auto refuse = [](const std::string& why) { throw Failure(Exit::bad_input, why); };
  if (table.judges.size() > max_judges)
    refuse("a judge on a latent scale has at most 64 judges in its panel, not " + std::to_string(table.judges.size()));
  if (table.levels() < 2) refuse("the scale has one level: nothing tells responses apart");
  if (!e.pairs) refuse("no response has two scores: nothing tells how the scores of a response differ");
  if (!e.differ) refuse("all scores of each prompt are equal: nothing tells its responses apart");
}

/// Covariance of the residuals over samples of prompts: [residuals][residuals]. Thresholds follow the frequencies of each resample.
std::vector<Vector> covariance(const ScoreTable& table, const Residuals& residual, const LatentScale& judge, int repeats,
                               std::uint64_t seed) {
  constexpr std::uint32_t resamples = 100;
  const auto prompts = prompt_moments(table);
  ScoreDraws draws(table, 1, seed);
  const auto size = static_cast<std::uint32_t>(prompts.size());
  const std::size_t n = residual.weight.size();
  Vector mean(n, 0), mean_own(n, 0);
  std::vector<Vector> sum(n, Vector(n, 0.0)), own(n, Vector(n, 0.0));
  std::vector<std::uint32_t> which(size);
  for (std::uint32_t b = 0; b < resamples; ++b) {
    for (std::uint32_t i = 0; i < size; ++i) which[i] = uniform_below(draw(seed, Purpose::resample, b, 0, i / 4).x[i % 4], size);
    LatentScale settled = judge;
    settle_thresholds(settled, table.levels(), level_shares(table, which));
    const Vector of_table = residual(moments_of(prompts, which)), of_draws = residual(moments_of(draws.scores(settled)));
    for (std::size_t i = 0; i < n; ++i) {
      mean[i] += of_table[i] - of_draws[i];
      mean_own[i] += of_table[i];
      for (std::size_t k = 0; k < n; ++k) {
        sum[i][k] += (of_table[i] - of_draws[i]) * (of_table[k] - of_draws[k]);
        own[i][k] += of_table[i] * of_table[k];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)  // the simulated moments vary like those of `repeats` tables
      sum[i][k] = (sum[i][k] - mean[i] * mean[k] / resamples) / (resamples - 1) +
                  (own[i][k] - mean_own[i] * mean_own[k] / resamples) / (resamples - 1) / repeats;
  return sum;
}

/// Standard errors of the parameters: (J' J)^-1 J' covariance J (J' J)^-1. NaN where the moments do not tell a parameter.
Vector standard_errors(const std::vector<Vector>& slope, const std::vector<Vector>& covariance) {
  const std::size_t n = slope.size();
  Vector square(n * n), error(n, unknown);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) square[i * n + k] = dot(slope[i], slope[k]);
  for (std::size_t i = 0; i < n; ++i) {
    Vector unit(n, 0), row;
    unit[i] = 1;
    if (!solve(square, unit, row)) continue;
    Vector weight(covariance.size(), 0);  // of each residual in parameter i
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t m = 0; m < weight.size(); ++m) weight[m] += row[k] * slope[k][m];
    double variance = 0;
    for (std::size_t m = 0; m < weight.size(); ++m) variance += weight[m] * dot(weight, covariance[m]);
    error[i] = math::sqrt(variance);
  }
  return error;
}

}  // namespace

double moment_tolerance(Moment moment, int levels) {
  return moment == Moment::row_sd || moment == Moment::own_sd ? 0.02 * (levels - 1) / 4 : 0.02;
}

ScoreTable take_prompts(const ScoreTable& table, std::span<const std::uint32_t> prompts) {
  ScoreTable out;
  out.values = table.values;
  out.columns = table.columns;
  for (const auto& j : table.judges) out.judges.push_back({j.name, 0, 0, 0});
  for (const std::uint32_t p : prompts) {
    out.prompts.push_back({table.prompts[p].id, static_cast<std::uint32_t>(out.responses.size()), table.prompts[p].count});
    for (const auto& response : table.responses_of(table.prompts[p])) {
      out.responses.push_back({static_cast<std::uint32_t>(out.level.size()), response.count, response.gold});
      for (std::uint32_t i = response.first; i < response.first + response.count; ++i) {
        auto& judge = out.judges[table.columns[table.column[i]].judge];
        out.level.push_back(table.level[i]);
        out.column.push_back(table.column[i]);
        ++judge.ratings;
        judge.unreadable += table.level[i] == ScoreTable::unreadable;
      }
    }
  }
  return out;
}

LatentFit fit_latent_scale(const ScoreTable& whole, const LatentFitOptions& options) {
  std::vector<std::uint32_t> all = options.prompts.empty() ? numbers_to(whole.prompts.size()) : options.prompts, some;
  std::uint64_t ratings = 0;
  for (const std::uint32_t p : all)
    for (const auto& response : whole.responses_of(whole.prompts[p])) ratings += response.count;
  for (std::size_t i = 0; i < all.size(); i += ratings / (most_scores + 1) + 1) some.push_back(all[i]);
  const ScoreTable table = take_prompts(whole, some);
  const Evidence evidence = evidence_of(table);
  refuse_what_says_nothing(table, evidence);

  LatentFit fit;
  fit.prompts = static_cast<std::uint32_t>(table.prompts.size());
  fit.responses = evidence.responses;
  fit.scores = evidence.scores;
  if (!evidence.groups) fit.prompt_share.reason = "no prompt has two responses";
  if (!evidence.triples) fit.spread.reason = "no response has three scores";
  if (table.judges.size() < 2) fit.judge_sigma.reason = "the file has one judge, whose lasting errors look like quality";
  else if (!evidence.repeats)
    fit.judge_sigma.reason = "no judge scored a response twice: only omega^2 + sigma^2 is known, and sigma has all of it";
  const Free free{fit.prompt_share.reason.empty(), fit.spread.reason.empty(), fit.judge_sigma.reason.empty()};

  const Vector share = level_shares(whole, all);
  const int repeats = static_cast<int>(std::clamp(simulated_scores / evidence.scores, 2.0, 50.0));
  ScoreDraws draws(table, repeats, options.seed);
  fit.observed = moments_of(table);
  const Residuals residual = residuals_to(fit.observed, table.levels());
  const auto judge_at = [&](const Vector& at) {
    LatentScale judge = free.at(at);
    settle_thresholds(judge, table.levels(), share);
    return judge;
  };
  const auto residual_at = [&](const Vector& at) {
    ++fit.evaluations;
    return residual(moments_of(draws.scores(judge_at(at))));
  };
  const Least least = least_squares(residual_at, free);
  fit.judge = judge_at(least.at);
  fit.simulated = moments_of(draws.scores(fit.judge));
  fit.distance = squared(least.residual);

  Vector error(least.at.size(), unknown);
  if (options.intervals)
    error = standard_errors(slopes(residual_at, free, least.at), covariance(table, residual, fit.judge, repeats, options.seed));
  // a free number and its error to the parameter's, by `value`, which increases, and its slope
  std::size_t next = 0;
  const Vector low = free.low(), high = free.high();
  const auto set = [&](LatentParameter& p, bool fitted, double held, auto value, auto slope) {
    p.fitted = fitted;
    p.value = held;
    p.error = p.low = p.high = unknown;
    if (!fitted) return;
    const std::size_t i = next++;
    const double half = 1.96 * error[i];
    p.value = value(least.at[i]);
    if (!(half == half)) return;
    p.error = slope(p.value) * error[i];
    p.low = value(std::max(least.at[i] - half, low[i]));
    p.high = value(std::min(least.at[i] + half, high[i]));
  };
  const auto root = [](double x) { return math::sqrt(x); };
  const auto root_slope = [](double x) { return x > 0 ? 0.5 / x : unknown; };
  set(
      fit.sigma, true, fit.judge.sigma, [](double x) { return math::exp(x); }, [](double x) { return x; });
  set(
      fit.prompt_share, free.prompt_share, 0, [](double x) { return 1 / (1 + math::exp(-x)); }, [](double x) { return x * (1 - x); });
  set(fit.spread, free.spread, 0, root, root_slope);
  set(fit.judge_sigma, free.judge_sigma, 0, root, root_slope);
  return fit;
}

}  // namespace odrpo
