// Fit on one half, look at the other, and the reverse.
#include "envs/judge/latent/check.hpp"

#include <algorithm>
#include <utility>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

constexpr int simulated_tables = 20;
constexpr std::uint64_t most_ratings = 600'000;  // of both folds

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
    simulated[f] = moments_of(draw_scores(out.judge[f], held_out, simulated_tables, options.seed + 1, out.outliers[f]).table, MomentSet::with_rows);
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
