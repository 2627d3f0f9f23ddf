// Fits a judge by simulated moments with common random numbers: least squares over (log sigma, logit prompt_share, spread^2,
// judge_sigma^2). Checks a fit by two-fold cross-validation.
#include "envs/judge/latent/fit.hpp"

#include <algorithm>
#include <utility>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "envs/judge/latent/least_squares.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

constexpr std::uint64_t most_scores_fitted = 300'000;
constexpr double simulated_scores = 500'000;
constexpr std::uint32_t fewest_prompts_for_errors = 10;  // with fewer prompts, resamples say too little about errors

/// Converts the fitted parameters to the vector that least squares varies, and back. Holds starting values and bounds.
struct Free : FreeParameters {
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
  Vector start(const LatentScale& from) const {
    const double share = std::clamp(from.prompt_share, 0.001, 0.99);
    return choose(math::log(from.sigma), math::log(share / (1 - share)), std::max(from.spread * from.spread, 0.01),
                  std::max(from.judge_sigma * from.judge_sigma, 0.01));
  }
  Bounds bounds() const { return {choose(-4.5, -7, 0, 0), choose(3, 5, 4, 400), choose(0.05, 0.1, 0.03, 0.03)}; }
};

/// Computes the residuals of the fit: weighted differences of simulated and observed moments. Undefined moments give 0.
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
    // these weights make the worst prediction of any statistic of real files as good as possible (docs/lab/measured-by-hand.md)
    if (moment == Moment::median_w || moment == Moment::mean_w) weight *= 0.7;
    if (moment == Moment::constant_rows) weight *= 1.3;
    if (moment == Moment::prompt_share) weight *= 0.15;
    const bool defined = observed[i] == observed[i] && i < first_row_moment;
    r.weight.push_back(defined ? weight : 0);
    r.target.push_back(defined ? observed[i] : 0);
  }
  return r;
}

/// Computes the covariance of the residuals over resamples of prompts, [residuals][residuals]. Each resample sets thresholds by its own frequencies.
std::vector<Vector> covariance(const ScoreTable& table, const Residuals& residual, const LatentScale& judge, const Outliers& outliers,
                               int repeats, std::uint64_t seed) {
  constexpr std::uint32_t resamples = 100;
  const auto prompts = prompt_moments(table);
  ScoreDraws draws(table, 1, seed);
  draws.set_outliers(outliers);
  const auto size = static_cast<std::uint32_t>(prompts.size());
  const std::size_t n = residual.weight.size();
  Vector mean(n, 0), mean_own(n, 0);
  std::vector<Vector> sum(n, Vector(n, 0.0)), own(n, Vector(n, 0.0));
  std::vector<std::uint32_t> which(size);
  for (std::uint32_t b = 0; b < resamples; ++b) {
    for (std::uint32_t i = 0; i < size; ++i) which[i] = uniform_below(draw(seed, Purpose::resample, b, 0, i / 4).x[i % 4], size);
    LatentScale settled = judge;
    settle_thresholds(settled, table.levels(), shares_without(outliers, table.values.size(), level_shares(table, which)));
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
    for (std::size_t k = 0; k < n; ++k)  // the second part is the error of the simulated moments, which come from `repeats` tables
      sum[i][k] = (sum[i][k] - mean[i] * mean[k] / resamples) / (resamples - 1) +
                  (own[i][k] - mean_own[i] * mean_own[k] / resamples) / (resamples - 1) / repeats;
  return sum;
}

/// Returns the standard errors of the parameters, from (J' J)^-1 J' covariance J (J' J)^-1, J' = `slope`. NaN if the moments do not determine one.
Vector standard_errors(const std::vector<Vector>& slope, const std::vector<Vector>& covariance) {
  const std::size_t n = slope.size();
  Vector square(n * n), error(n, undefined);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) square[i * n + k] = dot(slope[i], slope[k]);
  for (std::size_t i = 0; i < n; ++i) {
    Vector unit(n, 0), row;
    unit[i] = 1;
    if (!solve(square, unit, row)) continue;
    Vector weight(covariance.size(), 0);  // d parameter i / d residual, up to sign
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t m = 0; m < weight.size(); ++m) weight[m] += row[k] * slope[k][m];
    double variance = 0;
    for (std::size_t m = 0; m < weight.size(); ++m) variance += weight[m] * dot(weight, covariance[m]);
    error[i] = math::sqrt(variance);
  }
  return error;
}

/// True if every moment of rows differs from the observed one by at most its tolerance + 2 standard errors.
bool rows_fit(const Moments& simulated, const Moments& observed, const Moments& error, int levels) {
  for (std::size_t i = first_row_moment; i < moment_count; ++i) {
    const double limit = moment_tolerance(static_cast<Moment>(i), levels, observed[i]) + 2 * error[i];
    if (observed[i] == observed[i] && !(math::abs(simulated[i] - observed[i]) <= limit)) return false;
  }
  return true;
}

}  // namespace

LatentFit fit_latent_scale(const ScoreTable& whole, const LatentFitOptions& options) {
  const std::vector<std::uint32_t> all = options.prompts.empty() ? numbers_to(whole.prompts.size()) : options.prompts;
  const ScoreTable table = take_prompts(whole, thinned(whole, all, PromptSize::ratings, most_scores_fitted));
  const Evidence evidence = evidence_of(table);
  refuse_what_says_nothing(table, evidence);

  LatentFit fit;
  fit.prompts = static_cast<std::uint32_t>(table.prompts.size());
  fit.responses = evidence.responses;
  fit.scores = evidence.scores;
  if (!evidence.groups) fit.prompt_share.reason = "no two prompts have two responses each";
  if (!evidence.triples && table.levels() < 3) fit.spread.reason = "the scale has two levels, and no response has three scores";
  if (evidence.judges < 2) fit.judge_sigma.reason = "there are scores of one judge, whose lasting errors look like quality";
  else if (!evidence.shared) fit.judge_sigma.reason = "no response has scores of two judges: their lasting errors look like quality";
  else if (!evidence.repeats)
    fit.judge_sigma.reason =
        "no response has scores of two judges, and two of one of them: only judge_sigma^2 + sigma^2 is known, and sigma has all of it";
  const std::vector<PromptMoments> prompts = prompt_moments(table, MomentSet::with_rows);
  fit.observed = moments_of(prompts, numbers_to(prompts.size()));
  if (const double share = fit.observed[static_cast<std::size_t>(Moment::prompt_share)]; share != share && fit.prompt_share.reason.empty())
    fit.prompt_share.reason = "the mean scores of all responses are equal";
  const Free free{{fit.prompt_share.reason.empty(), fit.spread.reason.empty(), fit.judge_sigma.reason.empty()}};

  const Vector share = level_shares(whole, all);
  const int repeats = static_cast<int>(std::clamp(simulated_scores / evidence.scores, 2.0, 50.0));
  ScoreDraws draws(table, repeats, options.seed);
  const Residuals residual = residuals_to(fit.observed, table.levels());
  const auto judge_at = [&](const Vector& at) {
    LatentScale judge = free.at(at);
    settle_thresholds(judge, table.levels(), shares_without(fit.outliers, table.values.size(), share));
    return judge;
  };
  const auto residual_at = [&](const Vector& at) {
    ++fit.evaluations;
    return residual(moments_of(draws.scores(judge_at(at))));
  };
  const Bounds bounds = free.bounds();
  const auto set_judge = [&](const Vector& at) {
    fit.judge = judge_at(at);
    fit.simulated = moments_of(draws.scores(fit.judge), MomentSet::with_rows);
  };
  LeastSquares least{free.start(), {}};
  if (options.whole == nullptr || !options.whole->outliers.any()) {
    least = least_squares(residual_at, bounds, free.start());
    set_judge(least.at);
  } else {
    fit.judge = options.whole->judge;
  }
  OutlierFit found;
  const bool intervals = options.intervals && fit.prompts >= fewest_prompts_for_errors;
  const OutlierSearch search{free, options.whole != nullptr ? &options.whole->outliers : nullptr, intervals, options.seed};
  if (search.known != nullptr ? search.known->any() : options.outliers) found = fit_outliers(table, fit.judge, search);
  if (options.whole == nullptr && found.outliers.any()) {  // stores the alternative, with or without outliers, if it fits too
    settle_thresholds(found.judge, table.levels(), shares_without(found.outliers, table.values.size(), share));
    const Moments without = fit.simulated, with = moments_of(draw_scores(found.judge, table, 2, options.seed, found.outliers).table, MomentSet::with_rows);
    if (rows_fit(found.chosen ? without : with, fit.observed, sampling_errors(prompts, options.seed), table.levels()))
      fit.other = found.chosen ? LatentModel{fit.judge, {}} : LatentModel{found.judge, found.outliers};
  }
  if (found.chosen) {
    fit.outliers = found.outliers;
    draws.set_outliers(fit.outliers);
    least = least_squares(residual_at, bounds, free.start(found.judge));
    set_judge(least.at);
  }
  if (least.residual.empty()) {  // options.whole has outliers, but this part shows none of them
    least = least_squares(residual_at, bounds, free.start());
    set_judge(least.at);
  }
  fit.distance = dot(least.residual, least.residual);

  Vector error(least.at.size(), undefined);
  if (intervals)
    error = standard_errors(slopes(residual_at, bounds, least.at), covariance(table, residual, fit.judge, fit.outliers, repeats, options.seed));
  // converts a number v of the fit and its error: value(v), increasing, is the parameter; slope(parameter) is the derivative of value at v
  std::size_t next = 0;
  const auto set = [&](LatentParameter& p, bool fitted, double held, auto value, auto slope) {
    p.fitted = fitted;
    p.value = held;
    p.error = p.low = p.high = undefined;
    if (!fitted) return;
    const std::size_t i = next++;
    const double half = 1.96 * error[i];
    p.value = value(least.at[i]);
    p.at_end = least.at[i] >= bounds.high[i] || (least.at[i] <= bounds.low[i] && value(bounds.low[i]) > 0);
    if (!(half == half)) return;
    p.error = slope(p.value) * error[i];
    p.low = value(std::max(least.at[i] - half, bounds.low[i]));
    p.high = value(std::min(least.at[i] + half, bounds.high[i]));
  };
  const auto root = [](double x) { return math::sqrt(x); };
  const auto root_slope = [](double x) { return x > 0 ? 0.5 / x : undefined; };
  set(
      fit.sigma, true, fit.judge.sigma, [](double x) { return math::exp(x); }, [](double x) { return x; });
  set(
      fit.prompt_share, free.prompt_share, 0, [](double x) { return 1 / (1 + math::exp(-x)); }, [](double x) { return x * (1 - x); });
  set(fit.spread, free.spread, 0, root, root_slope);
  set(fit.judge_sigma, free.judge_sigma, 0, root, root_slope);
  for (const Outlier kind : all_outliers) {
    const auto k = static_cast<std::size_t>(kind);
    LatentParameter& p = fit.outlier[k];
    p.value = fit.outliers[kind];
    p.fitted = p.value > 0;
    p.error = p.fitted && intervals ? math::sqrt(found.covariance[k][k]) : undefined;
    p.low = p.fitted && intervals ? found.low[k] : undefined, p.high = p.fitted && intervals ? found.high[k] : undefined;
    if (!p.fitted) p.reason = options.outliers ? "the scores show none" : "not looked for";
  }
  return fit;
}

// Two-fold cross-validation: fits to each half of the prompts and checks on the other half.

namespace {

constexpr int tables_of_fold = 20;
constexpr std::uint64_t most_ratings = 600'000;  // most ratings of both halves together

constexpr std::array<std::pair<Moment, std::string_view>, 16> checked = {{{Moment::median_w, "median W"},
                                                                         {Moment::mean_w, "mean W"},
                                                                         {Moment::flip, "flips"},
                                                                         {Moment::tie, "ties"},
                                                                         {Moment::constant_rows, "rows without spread"},
                                                                         {Moment::row_sd, "row deviation"},
                                                                         {Moment::far_pairs, "far pairs"},
                                                                         {Moment::far_lowest, "far, one lowest"},
                                                                         {Moment::far_highest, "far, one highest"},
                                                                         {Moment::far_rows, "rows with far pairs"},
                                                                         {Moment::far_prompts, "of prompts, deviation"},
                                                                         {Moment::row_skewness, "skewness of rows"},
                                                                         {Moment::difference_kurtosis, "kurtosis, differences"},
                                                                         {Moment::halves_sd, "half less half"},
                                                                         {Moment::halves_correlation, "correlation of halves"},
                                                                         {Moment::halves_worth, "worth of a half"}}};

FitVerdict verdict_of(const CheckedMoment& mean, double tolerance) {
  const double beyond = math::abs(mean.difference()) - tolerance;
  if (beyond != beyond) return FitVerdict::undefined;
  if (beyond <= 0) return FitVerdict::holds;
  return beyond < 2 * mean.error ? FitVerdict::may_hold : FitVerdict::misses;
}

}  // namespace

GoodnessOfFit goodness_of_fit(const ScoreTable& table, const LatentFitOptions& options) {
  GoodnessOfFit out;
  std::vector<std::uint32_t> order =
      thinned(table, options.prompts.empty() ? numbers_to(table.prompts.size()) : options.prompts, PromptSize::ratings, most_ratings);
  if (order.size() < 4) {
    out.reason = "two halves need four prompts or more";
    return out;
  }
  for (auto i = static_cast<std::uint32_t>(order.size()); i > 1; --i)
    std::swap(order[i - 1], order[uniform_below(draw(options.seed, Purpose::resample, 0, 2, i).x[0], i)]);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::array<std::vector<std::uint32_t>, 2> half = {std::vector(order.begin(), middle), std::vector(middle, order.end())};
  for (auto& h : half) std::sort(h.begin(), h.end());

  std::array<Moments, 2> observed, simulated, error;
  for (std::size_t f = 0; f < 2; ++f) {
    LatentFitOptions other = options;
    other.prompts = half[1 - f];
    other.intervals = false;
    try {
      const LatentFit fit = fit_latent_scale(table, other);
      out.judge[f] = fit.judge, out.outliers[f] = fit.outliers;
    } catch (const Failure& e) {
      if (e.code != Exit::bad_input) throw;
      out.reason = std::string("of a half of the prompts: ") + e.what();
      return out;
    }
    const ScoreTable held_out = take_prompts(table, half[f]);
    const auto prompts = prompt_moments(held_out, MomentSet::with_rows);
    out.prompts[f] = static_cast<std::uint32_t>(prompts.size());
    observed[f] = moments_of(prompts, numbers_to(prompts.size()));
    error[f] = sampling_errors(prompts, options.seed);
    simulated[f] = moments_of(draw_scores(out.judge[f], held_out, tables_of_fold, options.seed + 1, out.outliers[f]).table, MomentSet::with_rows);
  }
  for (const auto& [moment, name] : checked) {
    const auto k = static_cast<std::size_t>(moment);
    CheckedStatistic line{moment, name, moment_tolerance(moment, table.levels(), (observed[0][k] + observed[1][k]) / 2), {}, {}, {}};
    for (std::size_t f = 0; f < 2; ++f) line.fold[f] = {observed[f][k], simulated[f][k], error[f][k]};
    const auto& [a, b] = line.fold;
    line.mean = {(a.observed + b.observed) / 2, (a.simulated + b.simulated) / 2, math::sqrt(a.error * a.error + b.error * b.error) / 2};
    line.verdict = verdict_of(line.mean, line.tolerance);
    out.lines.push_back(line);
  }
  return out;
}

}  // namespace odrpo
