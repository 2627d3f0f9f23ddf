// Draws the true quality of a world from the scores of a real training's completions.
#include "train/worlds/rollout_world.hpp"

#include "kernels/math.hpp"
#include "train/rollouts/quality_posterior.hpp"

namespace odrpo {
namespace {

constexpr std::size_t fitted_prompts = 1024;  ///< to which the prior is fitted: evenly chosen ones of more

}  // namespace

std::shared_ptr<const std::vector<std::uint16_t>> draw_rollout_world(const BanditConfig& config, const RaterConfig& judge, std::uint64_t key) {
  const NumberRows& groups = *config.groups.rows;
  const auto actions = static_cast<std::size_t>(config.actions);
  QualityPosterior posterior(judge, config.levels, 1, config.actions);
  const auto numbers = [&](const std::vector<double>& levels) {
    std::vector<int> seen;
    for (const double level : levels) seen.push_back(posterior.model().number_of(level));
    return seen;
  };
  std::vector<std::vector<int>> fitted(std::min(groups.size(), fitted_prompts));
  for (std::size_t i = 0; i < fitted.size(); ++i) fitted[i] = numbers(groups[i * groups.size() / fitted.size()]);
  const PriorFit fit(posterior, fitted);
  const StatePrior prior(fit.fit(fit.start(), {}, prior_rounds));
  auto out = std::make_shared<std::vector<std::uint16_t>>(groups.size() * actions);
  std::vector<std::uint32_t> drawn;
  for (std::size_t p = 0; p < groups.size(); ++p) {
    drawn.resize(groups[p].size());
    posterior.see(prior, numbers(groups[p]));
    UniformStream random(key, Purpose::dump_quality, 0, static_cast<std::uint32_t>(p));
    posterior.draw(random, drawn);
    for (std::size_t a = 0; a < actions; ++a)
      (*out)[p * actions + a] = static_cast<std::uint16_t>(math::floor(posterior.believed().quality[drawn[a % drawn.size()]] * 16 + 0.5));
  }
  return out;
}

}  // namespace odrpo
