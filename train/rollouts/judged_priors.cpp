// Fits priors to the windows of a dump, and to resamples of their prompts.
#include "train/rollouts/judged_priors.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr std::size_t fitted_groups = 256;  ///< of a window, to which its prior is fitted

/// Adds how often each score is found in groups of a window, and how often its prior expects it.
void add_frequencies(const ScoreModel& model, const JudgedScores& scores, std::span<const RolloutGroup> groups, const StatePrior& prior, std::span<double> expected,
                     std::span<double> found) {
  double count = 0;
  for (const RolloutGroup& g : groups)
    for (const int number : numbers_of(model, scores.levels_of(g))) count += 1, found[static_cast<std::size_t>(number)] += 1;
  for (std::size_t k = 0; k < found.size(); ++k)
    for (std::size_t c = 0; c < model.states(); ++c) expected[k] += count * prior.probability()[c] * model.likelihood[c * found.size() + k];
}

}  // namespace

std::vector<int> numbers_of(const ScoreModel& model, std::span<const int> levels) {
  std::vector<int> numbers;
  for (const int level : levels)
    if (level >= 0) numbers.push_back(model.number_of(level));
  return numbers;
}

std::vector<double> times_of_groups(const std::vector<std::uint32_t>& prompt, UniformStream& random) {
  std::map<std::uint32_t, std::size_t> number;  // of each prompt
  for (const std::uint32_t p : prompt) number.try_emplace(p, number.size());
  std::vector<double> times(number.size(), 0), out;
  for (std::size_t i = 0; i < times.size(); ++i) times[static_cast<std::size_t>(random.next() * static_cast<double>(times.size()))] += 1;
  for (const std::uint32_t p : prompt) out.push_back(times[number[p]]);
  return out;
}

JudgedPriors fit_judged_priors(QualityPosterior& posterior, const JudgedScores& scores, int draws, std::uint64_t seed) {
  JudgedPriors out;
  out.drawn.resize(static_cast<std::size_t>(draws));
  std::vector<double> expected(static_cast<std::size_t>(posterior.model().scores)), found(expected.size());
  for (std::size_t begin = 0, end; begin < scores.groups.size(); begin = end) {
    for (end = begin; end < scores.groups.size() && scores.window[end] == scores.window[begin];) ++end;
    const auto groups = std::span(scores.groups).subspan(begin, end - begin);
    std::vector<std::vector<int>> some(std::min(groups.size(), fitted_groups));
    std::vector<std::uint32_t> prompt(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const RolloutGroup& g = groups[i * groups.size() / some.size()];
      some[i] = numbers_of(posterior.model(), scores.levels_of(g));
      prompt[i] = g.prompt;
    }
    const PriorFit fit(posterior, some);
    const std::vector<double> fitted = fit.fit(fit.start(), {}, prior_rounds);
    out.fitted.emplace_back(fitted);
    for (std::size_t d = 0; d < out.drawn.size(); ++d) {
      UniformStream random(seed, Purpose::dump_prior, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(scores.window[begin]));
      out.drawn[d].emplace_back(fit.fit(fitted, times_of_groups(prompt, random), again_rounds));
    }
    add_frequencies(posterior.model(), scores, groups, out.fitted.back(), expected, found);
  }
  for (std::size_t k = 0; k < found.size(); ++k) out.misfit += math::abs(found[k] - expected[k]) / (2 * static_cast<double>(scores.count));
  return out;
}

}  // namespace odrpo
