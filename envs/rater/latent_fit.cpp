// Quasi-Newton steps over (logit rho, log sigma, tau, omega); thresholds follow from the frequencies of levels at every step.
#include "envs/rater/latent_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "envs/rater/latent_likelihood.hpp"
#include "kernels/failure.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr int max_judges = 64;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// What the table can tell.
struct Evidence {
  bool pairs = false;          ///< a response with two scores
  bool triples = false;        ///< a response with three
  bool repeats = false;        ///< a judge that scored a response twice
  bool spread_inside = false;  ///< a prompt with two different scores
  bool groups = false;         ///< a prompt with two responses that have scores
  bool varies = false;         ///< a judge that gives two different levels
};

Evidence evidence_of(const ScorePatterns& patterns) {
  Evidence e;
  std::vector<int> level(max_judges, 0);
  for (const auto& answer : patterns.answers) {
    e.repeats |= answer.calls > 1;
    for (const auto& given : answer.given) {
      int& seen = level[answer.judge];
      e.varies |= seen != 0 && seen != given.first;
      seen = given.first;
    }
  }
  for (std::uint32_t p = 0; p < patterns.prompts(); ++p) {
    int first = 0;
    e.groups |= patterns.first[p + 1] - patterns.first[p] > 1;
    for (std::uint32_t r = patterns.first[p]; r < patterns.first[p + 1]; ++r) {
      std::uint32_t calls = 0;
      for (const std::uint32_t a : patterns.patterns[patterns.responses[r]]) {
        calls += patterns.answers[a].calls;
        for (const auto& given : patterns.answers[a].given) {
          if (first == 0) first = given.first;
          e.spread_inside |= given.first != first;
        }
      }
      e.pairs |= calls > 1;
      e.triples |= calls > 2;
    }
  }
  return e;
}

void refuse_what_says_nothing(const ScoreTable& table, const Evidence& e) {
  const auto refuse = [](const std::string& why) { throw Failure(Exit::bad_input, why); };
  if (table.levels() < 2) refuse("the scale has one level: nothing can be learned about a judge");
  if (!e.pairs) refuse("no response has two scores: nothing tells how scores of a response differ");
  if (!e.varies) refuse("every judge gives all responses the same score: nothing tells how scores differ");
  if (!e.spread_inside) refuse("no prompt has two different scores: nothing tells how scores of a prompt differ");
}

using Vector = std::vector<double>;

/// The parameters that are fitted, as numbers without bounds.
struct Free {
  bool prompt_share = true, spread = true, judge_sigma = true;

  LatentScale at(const Vector& v) const {
    LatentScale judge;
    std::size_t i = 0;
    judge.sigma = math::exp(std::clamp(v[i++], -4.6, 3.4));
    judge.prompt_share = prompt_share ? 1 / (1 + math::exp(-std::clamp(v[i++], -7.0, 5.0))) : 0;
    judge.spread = spread ? std::min(math::abs(v[i++]), 2.5) : 0;
    judge.judge_sigma = judge_sigma ? std::min(math::abs(v[i++]), 30.0) : 0;
    return judge;
  }
  Vector start() const {
    Vector v{-0.7};
    if (prompt_share) v.push_back(-0.4);
    if (spread) v.push_back(0.4);
    if (judge_sigma) v.push_back(0.4);
    return v;
  }
};

struct Least {
  Vector at;
  double value = 0;
};

/// A local minimum of a smooth function by BFGS with central differences.
template <class F>
Least minimize(F f, Vector x, double tolerance) {
  const std::size_t n = x.size();
  const double h = 1e-4;
  const auto gradient = [&](const Vector& at) {
    Vector g(n), probe = at;
    for (std::size_t i = 0; i < n; ++i) {
      probe[i] = at[i] + h;
      const double up = f(probe);
      probe[i] = at[i] - h;
      g[i] = (up - f(probe)) / (2 * h);
      probe[i] = at[i];
    }
    return g;
  };
  double value = f(x);
  Vector g = gradient(x), inverse(n * n, 0.0), step(n), next(n);
  double size = 0;
  for (const double d : g) size += d * d;
  const auto reset = [&] {
    std::fill(inverse.begin(), inverse.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 0.3 / std::max(math::sqrt(size), 1e-9);
  };
  reset();
  for (int iteration = 0; iteration < 60; ++iteration) {
    double slope = 0, length = 0;
    for (std::size_t i = 0; i < n; ++i) {
      step[i] = 0;
      for (std::size_t k = 0; k < n; ++k) step[i] -= inverse[i * n + k] * g[k];
      slope += step[i] * g[i];
      length += step[i] * step[i];
    }
    if (-slope < tolerance) break;
    double scale = std::min(1.0, 1.5 / math::sqrt(length)), found = value;
    bool better = false;
    for (int half = 0; half < 20 && !better; ++half, scale *= 0.4) {
      for (std::size_t i = 0; i < n; ++i) next[i] = x[i] + scale * step[i];
      found = f(next);
      better = found < value + 1e-4 * scale * slope;
    }
    if (!better) break;
    const Vector after = gradient(next);
    Vector dx(n), dg(n), mapped(n, 0.0);
    double product = 0, quadratic = 0;
    for (std::size_t i = 0; i < n; ++i) {
      dx[i] = next[i] - x[i];
      dg[i] = after[i] - g[i];
      product += dx[i] * dg[i];
    }
    if (product > 0) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k) mapped[i] += inverse[i * n + k] * dg[k];
      for (std::size_t i = 0; i < n; ++i) quadratic += dg[i] * mapped[i];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k)
          inverse[i * n + k] += (1 + quadratic / product) * dx[i] * dx[k] / product - (mapped[i] * dx[k] + dx[i] * mapped[k]) / product;
    }
    x = next;
    g = after;
    value = found;
  }
  return {x, value};
}

}  // namespace

LatentFit fit_latent_scale(const ScoreTable& table, const LatentFitOptions& options) {
  if (table.judges.size() > max_judges)
    throw Failure(Exit::bad_input,
                  "a judge on a latent scale is fitted to at most 64 judges, not to " + std::to_string(table.judges.size()));
  std::vector<std::uint32_t> all = options.prompts;
  if (all.empty())
    for (std::uint32_t p = 0; p < table.prompts.size(); ++p) all.push_back(p);
  std::uint64_t responses = 0;
  for (const std::uint32_t p : all) responses += table.prompts[p].count;
  std::vector<std::uint32_t> some;
  const std::uint64_t every = responses / std::max(options.responses, 1u) + 1;
  for (std::size_t i = 0; i < all.size(); i += every) some.push_back(all[i]);

  const ScorePatterns patterns = patterns_of(table, some);
  const Evidence evidence = evidence_of(patterns);
  refuse_what_says_nothing(table, evidence);
  const Vector share = level_shares(table, all);

  LatentFit fit;
  fit.prompts = patterns.prompts();
  fit.responses = static_cast<std::uint32_t>(patterns.responses.size());
  Free free;
  if (!(free.prompt_share = evidence.groups)) fit.prompt_share.reason = "no prompt has two responses";
  if (!(free.spread = evidence.triples)) fit.spread.reason = "no response has three scores";
  if (table.judges.size() < 2) fit.judge_sigma.reason = "the file has one judge: its lasting errors are part of the quality";
  else if (!evidence.repeats)
    fit.judge_sigma.reason = "no judge scored a response twice: only omega^2 + sigma^2 is known, and all of it is in sigma";
  free.judge_sigma = fit.judge_sigma.reason.empty();

  LatentLikelihood likelihood(patterns, LatentGrid{});
  const auto lack = [&](const Vector& v) {
    ++fit.evaluations;
    LatentScale judge = free.at(v);
    settle_thresholds(judge, table.levels(), share);
    return -likelihood(judge);
  };
  const Least least = minimize(lack, free.start(), 1e-4);
  fit.log_likelihood = -least.value;
  fit.judge = free.at(least.at);
  settle_thresholds(fit.judge, table.levels(), share);
  const auto set = [&](LatentParameter& p, double value, bool fitted) {
    p.value = value;
    p.fitted = fitted;
    p.error = p.low = p.high = unknown;
  };
  set(fit.prompt_share, fit.judge.prompt_share, free.prompt_share);
  set(fit.sigma, fit.judge.sigma, true);
  set(fit.spread, fit.judge.spread, free.spread);
  set(fit.judge_sigma, fit.judge.judge_sigma, free.judge_sigma);
  return fit;
}

}  // namespace odrpo
