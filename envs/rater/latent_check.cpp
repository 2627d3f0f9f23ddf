// Fit on one half, look at the other, and the reverse.
#include "envs/rater/latent_check.hpp"

#include <algorithm>
#include <utility>

#include "envs/rater/latent_draw.hpp"
#include "envs/rater/latent_evidence.hpp"
#include "kernels/failure.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

constexpr int simulated_tables = 20;
constexpr std::uint32_t resamples = 200;
constexpr std::uint64_t most_ratings = 600'000;  // of both folds

constexpr std::array<std::pair<Moment, std::string_view>, 6> checked = {{{Moment::median_w, "median W"},
                                                                         {Moment::mean_w, "mean W"},
                                                                         {Moment::flip, "flips"},
                                                                         {Moment::tie, "ties"},
                                                                         {Moment::constant_rows, "rows without spread"},
                                                                         {Moment::row_sd, "row deviation"}}};

/// Standard errors of the moments by a bootstrap over prompts. NaN where a resample leaves one undefined.
Moments sampling_errors(std::span<const PromptMoments> prompts, std::uint64_t seed) {
  const auto size = static_cast<std::uint32_t>(prompts.size());
  std::vector<std::uint32_t> which(size);
  Moments sum{}, squares{};
  for (std::uint32_t b = 0; b < resamples; ++b) {
    for (std::uint32_t i = 0; i < size; ++i) which[i] = uniform_below(draw(seed, Purpose::resample, b, 1, i / 4).x[i % 4], size);
    const Moments m = moments_of(prompts, which);
    for (std::size_t k = 0; k < m.size(); ++k) {
      sum[k] += m[k];
      squares[k] += m[k] * m[k];
    }
  }
  Moments error;
  for (std::size_t k = 0; k < error.size(); ++k) {
    const double variance = (squares[k] - sum[k] * sum[k] / resamples) / (resamples - 1);
    error[k] = variance > 0 ? math::sqrt(variance) : 0 * variance;
  }
  return error;
}

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
      out.judge[f] = fit_latent_scale(table, other).judge;
    } catch (const Failure& e) {
      if (e.code != Exit::bad_input) throw;
      out.reason = std::string("of a half of the prompts: ") + e.what();
      return out;
    }
    const ScoreTable held_out = take_prompts(table, half[f]);
    const auto prompts = prompt_moments(held_out);
    out.prompts[f] = static_cast<std::uint32_t>(prompts.size());
    observed[f] = moments_of(prompts, numbers_to(prompts.size()));
    error[f] = sampling_errors(prompts, options.seed);
    simulated[f] = moments_of(draw_scores(out.judge[f], held_out, simulated_tables, options.seed + 1).table);
  }
  for (const auto& [moment, name] : checked) {
    const auto k = static_cast<std::size_t>(moment);
    CheckedStatistic line{moment, name, moment_tolerance(moment, table.levels()), {}, {}, {}};
    for (std::size_t f = 0; f < 2; ++f) line.fold[f] = {observed[f][k], simulated[f][k], error[f][k]};
    const auto& [a, b] = line.fold;
    line.mean = {(a.observed + b.observed) / 2, (a.simulated + b.simulated) / 2, math::sqrt(a.error * a.error + b.error * b.error) / 2};
    line.verdict = verdict_of(line.mean, line.tolerance);
    out.lines.push_back(line);
  }
  return out;
}

}  // namespace odrpo
