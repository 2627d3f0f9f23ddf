// What `explain` says in sentences: dead groups, and advantages that are out of proportion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/explain/explain_group.hpp"
#include "estimators/definition.hpp"
#include "kernels/system/text.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {
namespace {

constexpr double out_of_proportion = 100;  // an advantage; usual ones are below G, or a sum over many levels or of large weights
constexpr double most_amplified = 1000;    // by a deviation or a mean that is not almost zero: MaxRL's largest is the largest group, 255

/// How many times more than it differs from the others a reward counts, by what it is divided by: at every level, or as a whole.
double amplification(const Explanation& group, const Breakdown& parts, double reward) {
  double most = 0;
  for (const LevelPart& p : parts.levels)
    if (p.weight > 0) {
      const double whole = group.level_values.empty() ? p.weight : p.weight * p.gap;
      most = std::max({most, std::abs(p.reached) / whole, std::abs(p.missed) / whole});
    }
  const double differs = group.rewards.size() == 1 ? group.worth(reward) : std::abs(group.worth(reward) - group.mean);
  if (parts.levels.empty() && differs > 0) most = std::abs(group.advantage(parts, reward)) / differs;
  return most;
}

/// What to know about forms around the median: a divisor that is almost zero, and groups of even size.
void add_median_remarks(const Explanation& group, const std::string& word, bool floored, std::vector<std::string>& remarks) {
  const double median = group_median(group.rewards, MedianRule::lower);
  std::vector<double> distance;
  for (const double r : group.rewards) distance.push_back(std::abs(r - median));
  if (!floored && group.values.size() > 1 && group_median(distance, MedianRule::lower) == 0)
    remarks.push_back(fmt::format("{}: MAD = 0, because most scores equal the median {}. The divisor is {} alone.", word,
                                  number_text(median), number_text(mad_eps)));
  if (group.rewards.size() % 2 == 0)
    remarks.push_back(fmt::format("{} is for an odd number of rollouts; of {} it takes the lower median. Training refuses them.", word,
                                  group.rewards.size()));
}

}  // namespace

std::vector<std::string> remarks_on(const Explanation& group) {
  std::vector<std::string> remarks;
  if (group.values.size() == 1)
    remarks.push_back(group.rewards.size() > 1 ? "All rewards are equal: the group is dead, nobody learns anything from it."
                                               : "A group of one has nobody to be compared with: training counts it among the dead.");
  for (const auto& estimator : group.estimators)
    if (!estimator.rows.empty() && leaves_pivot(estimator.rows.front().config.form))
      add_median_remarks(group, estimator.word, floor_squared(estimator.rows.front().config, group.variance) > 0, remarks);
  for (const auto& estimator : group.estimators)
    for (const auto& row : estimator.rows)
      for (const auto& [reward, count] : group.values) {
        if (leaves_pivot(row.config.form)) break;  // said above
        const double a = group.advantage(row.parts, reward);
        const bool usual = std::abs(a) <= out_of_proportion || amplification(group, row.parts, reward) <= most_amplified;
        if (usual && std::isfinite(a)) continue;
        std::string systems;
        for (const Compat s : row.systems) systems.append(systems.empty() ? "" : ", ").append(word_of<Compat>(compat_words, s));
        remarks.push_back(
            fmt::format("{} under {} gives the reward {} an advantage of {:.4g}: {}.", estimator.word, systems, number_text(reward), a,
                        group.rewards.size() == 1 ? "a group of one has nothing to be compared with, and this code does not notice"
                                                  : "what it divides by is almost zero for this group"));
        break;  // one remark on a row
      }
  return remarks;
}

}  // namespace odrpo::app
