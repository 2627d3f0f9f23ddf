// Draws the true quality of a world from the scores of a real training's completions.
#include "train/worlds/rollout_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/write/canonical.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr std::size_t fitted_prompts = 1024;  ///< to which the prior is fitted: evenly chosen ones of more

std::vector<int> numbers_in(const ScoreModel& model, const std::vector<double>& levels) {
  std::vector<int> numbers;
  for (const double level : levels) numbers.push_back(model.number_of(level));
  return numbers;
}

}  // namespace

std::string rollout_prior_key(const RunSpec& spec) { return fmt::format("{} {}", canonical_fields(spec.env), source_text(spec)); }

std::shared_ptr<const RolloutPrior> fit_rollout_prior(const BanditConfig& config, const RaterConfig& judge) {
  const NumberRows& groups = *config.groups.rows;
  QualityPosterior posterior(judge, config.levels, 1, config.actions);
  std::vector<std::vector<int>> fitted(std::min(groups.size(), fitted_prompts));
  for (std::size_t i = 0; i < fitted.size(); ++i) fitted[i] = numbers_in(posterior.model(), groups[i * groups.size() / fitted.size()]);
  const PriorFit fit(posterior, fitted);
  StatePrior prior(fit.fit(fit.start(), {}, prior_rounds));
  return std::make_shared<const RolloutPrior>(RolloutPrior{std::move(posterior), std::move(prior)});
}

std::shared_ptr<const std::vector<std::uint16_t>> draw_rollout_world(const BanditConfig& config, const RolloutPrior& fitted, std::uint64_t key) {
  const NumberRows& groups = *config.groups.rows;
  const auto actions = static_cast<std::size_t>(config.actions);
  QualityPosterior posterior = fitted.posterior;  // a copy, since it holds what it has observed
  auto out = std::make_shared<std::vector<std::uint16_t>>(groups.size() * actions);
  std::vector<std::uint32_t> drawn;
  for (std::size_t p = 0; p < groups.size(); ++p) {
    drawn.resize(groups[p].size());
    posterior.observe(fitted.prior, numbers_in(posterior.model(), groups[p]));
    UniformStream random(key, Purpose::dump_quality, 0, static_cast<std::uint32_t>(p));
    posterior.draw(random, drawn);
    for (std::size_t a = 0; a < actions; ++a)
      (*out)[p * actions + a] = static_cast<std::uint16_t>(math::floor(posterior.believed().quality[drawn[a % drawn.size()]] * 16 + 0.5));
  }
  return out;
}

}  // namespace odrpo
