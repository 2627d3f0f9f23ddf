// Expectation, bias, noise and flips of the update under a judge's scores.
#include "app/theory/judge_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/flags/named_rater.hpp"
#include "app/theory/request.hpp"
#include "config/read/text.hpp"
#include "envs/bandit/believed_scores.hpp"
#include "envs/bandit/drawn_traits.hpp"
#include "envs/rater/rater.hpp"
#include "envs/rater/vote.hpp"
#include "estimators/theory/channel_field.hpp"
#include "estimators/theory/field.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo::app {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double most_table_work = 20 * most_theory_work;  // about a minute

}  // namespace

TheoryTable channel_field_table(const TheoryFieldOptions& o) {
  TheoryTable table;
  const TheoryPoint at = read_point(o, table);
  const int levels = static_cast<int>(at.p.size());
  const RaterConfig rater = rater_named(o.rater);
  const auto refuse = [&](const std::string& why) { throw Failure(Exit::usage, fmt::format("--rater {}: {}", shown(o.rater), why)); };
  if (const int own = rater_levels(rater); own > 0 && own != levels) refuse(fmt::format("it has {} levels, and --p has {}", own, levels));
  if (scored_responses(rater.noise) != nullptr) refuse("the responses of a file have no score that follows from a true level");
  const std::vector<int> votes = read_wholes("--votes", o.votes, 1, max_law_votes, {1});
  for (const int n : votes)
    if (const auto why = whole_score_refusal(rater, n)) refuse(*why);
  const std::vector<EstimatorConfig> estimators = read_estimators(o, paper_estimators(), table.notes);
  double work = 0;
  for (const EstimatorConfig& config : estimators)
    for (const int m : at.sizes)
      work += static_cast<double>(votes.size()) * channel_field_work({config, at.values, m}, prompt_traits(rater).size());
  if (work > most_table_work)
    throw Failure(Exit::limits, fmt::format("the whole table would take {:.1e} steps; the limit is {:.0e}: fewer --group-size, --votes or "
                                            "--estimator",
                                            work, most_table_work));
  table.title = fmt::format("exact update under the scores of rater {}; true levels have p = {}", shown(o.rater), list_text(at.p));
  table.columns = {"estimator", "M", "N", "level", "F_exact", "F", "bias", "gradient", "sd", "snr", "flips", "cosine"};
  for (const int n : votes) {
    const std::vector<LevelChannel> kinds = level_channels(rater, levels, n);
    std::vector<double> mean(at.p.size() * at.p.size(), 0.0);
    for (const LevelChannel& kind : kinds)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += kind.weight * kind.probability[i];
    table.facts.push_back({fmt::format("channel_{}", n), mean});
    for (const EstimatorConfig& config : estimators)
      for (const int m : at.sizes) {
        const TheorySetting setting{config, at.values, m};
        const std::vector<double> exact = update_field(setting, at.p);
        const ChannelField seen = channel_field(setting, at.p, kinds);
        double trace = 0;
        for (std::size_t k = 0; k < at.p.size(); ++k) {
          const double variance = seen.covariance[k * at.p.size() + k];
          trace += variance;
          table.rows.push_back({name_of(config), static_cast<long long>(m), static_cast<long long>(n), std::to_string(k + 1), exact[k],
                                seen.field[k], seen.bias[k], seen.gradient[k], std::sqrt(std::max(variance, 0.0)), seen.snr[k],
                                seen.flips[k], none});
        }
        table.rows.push_back({name_of(config), static_cast<long long>(m), static_cast<long long>(n), std::string("all"), none, none, none,
                              none, std::sqrt(trace), seen.all_snr, seen.all_flips, seen.cosine});
      }
  }
  for (const EstimatorConfig& config : estimators) table.formulas.push_back(formula_line(config, o));
  table.notes.push_back("F: expected advantage of a member whose true level it is; F_exact: under exact scores. bias: F less F_exact, either "
                        "without its mean under p, which moves nothing.");
  table.notes.push_back("gradient: of one group by the logits of a softmax over true levels, (1/M) sum of A_i (1[level of i = j] - p_j): its "
                        "mean, sd, and snr = mean^2 / variance; all: sums over levels. Rows of covariances are in `compute`, function channel_field.");
  table.notes.push_back("flips: probability that a lower true level, drawn from p, expects the higher advantage, given the companions' scores; "
                        "all: of two levels drawn from p that differ. cosine: of the mean gradient with that of the expected value.");
  table.notes.push_back(
      "A true level is a whole quality. The calls about a response share its ambiguity and its other traits, and the responses of a group "
      "share their prompt's: its noise, the judge's severity, which judge of a panel it is.");
  if (rater.world.hack_share > 0) table.notes.push_back("Responses that hack are left out: their scores follow from no level.");
  return table;
}

}  // namespace odrpo::app
