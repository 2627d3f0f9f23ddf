// Writes the explanation as sentences and as JSON. Sentences: dead groups, and advantages that are out of proportion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/compute/arguments.hpp"
#include "app/explain/explain_group.hpp"
#include "estimators/definition.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

constexpr double out_of_proportion = 100;  // an advantage; usual ones are below G, or a sum over many levels or of large weights
constexpr double most_amplified = 1000;    // by a deviation or a mean that is not almost zero: MaxRL's largest is the largest group, 255

/// Factor by which division enlarges a reward's difference from the others: the largest over the levels, or that of the whole advantage.
double amplification(const Explanation& group, const Breakdown& parts, double reward) {
  double most = 0;
  for (const LevelPart& p : parts.levels)
    if (p.weight != 0) {
      const double whole = std::abs(group.level_values.empty() ? p.weight : p.weight * p.gap);
      most = std::max({most, std::abs(p.reached) / whole, std::abs(p.missed) / whole});
    }
  const double differs = group.rewards.size() == 1 ? group.worth(reward) : std::abs(group.worth(reward) - group.mean);
  if (parts.levels.empty() && differs > 0) most = std::abs(group.advantage(parts, reward)) / differs;
  return most;
}

/// Remarks on forms around the median: a divisor that is almost zero, and groups of even size.
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
  if (group.missing > 0)
    remarks.push_back(fmt::format("{} missing: the others are a group of {}, and a missing one gets the advantage 0.",
                                  group.missing == 1 ? "A reward is" : fmt::format("{} rewards are", group.missing), group.rewards.size()));
  const auto taught = [&](const ExplainedEstimator& e) {
    return !e.rows.empty() && e.rows[0].config.form == Form::corpo && !group.values.empty() && e.rows[0].parts.advantages[0] != 0;
  };
  if (group.values.size() == 1 && std::any_of(group.estimators.begin(), group.estimators.end(), taught))
    remarks.push_back("All rewards are equal: the group is dead, but not under corpo, whose r_min is above them.");
  else if (group.values.size() == 1)
    remarks.push_back(group.rewards.size() > 1 ? "All rewards are equal: the group is dead, nobody learns anything from it."
                                               : "A group of one has nobody to be compared with: training counts it among the dead.");
  else if (const double least = group.values.front().first, most = group.values.back().first; most - least < rounding_of_ranks * most)
    remarks.push_back(fmt::format("The rewards are equal but for rounding ({} and {}): ranks take them for equal, other forms do not.",
                                  number_text(least), number_text(most)));
  for (const auto& estimator : group.estimators)
    if (!estimator.rows.empty() && leaves_pivot(estimator.rows.front().config.form))
      add_median_remarks(group, estimator.word, floor_squared(estimator.rows.front().config, group.variance) > 0, remarks);
  for (const auto& estimator : group.estimators)
    for (const auto& row : estimator.rows)
      for (const auto& [reward, count] : group.values) {
        if (leaves_pivot(row.config.form)) break;  // add_median_remarks() has said it
        const double a = group.advantage(row.parts, reward);
        const bool usual = std::abs(a) <= out_of_proportion || amplification(group, row.parts, reward) <= most_amplified;
        if (usual && std::isfinite(a)) continue;
        remarks.push_back(
            fmt::format("{} under {} gives the reward {} an advantage of {:.4g}: {}.", estimator.word, systems_text(row.systems),
                        number_text(reward), a,
                        group.rewards.size() == 1 ? "a group of one has nothing to be compared with, and this code does not notice"
                                                  : "what it divides by is almost zero for this group"));
        break;  // one remark on a row
      }
  return remarks;
}

// The explanation as JSON, with full precision.

namespace {

constexpr std::size_t most_levels = 1000;  // of one estimator; beyond, the list is left out

Json system_word(Compat system) { return word_of<Compat>(compat_words, system); }

Json whitening_json(const Whitening& w) {
  if (!w.on) return nullptr;
  const char* scale = w.scale == WhitenScale::added    ? "sqrt(var) + eps"
                      : w.scale == WhitenScale::inside ? "sqrt(var + eps)"
                                                       : "sqrt(max(var, eps))";
  return {{"unit", w.unit == WhitenUnit::token ? "token" : "response"}, {"scale", scale}, {"ddof", w.ddof}, {"eps", w.eps}};
}

/// A level or gap, or a bit.
Json part_json(const LevelPart& p, bool bit) {
  Json out = bit ? Json{{"bit", static_cast<int>(p.high)}} : Json{{"low", p.low}, {"high", p.high}, {"gap", p.gap}};
  out.update({{"count", p.count}, {"mu", p.share}, {"weight", p.weight}, {"norm", p.norm}, {"reached", p.reached}, {"missed", p.missed}});
  return out;
}

Json row_json(const Convened& row) {
  Json out = {{"compat", Json::array()}, {"formula", row.formula}, {"advantages", row.parts.advantages}};
  for (const Compat s : row.systems) out["compat"].push_back(system_word(s));
  out["mean"] = row.parts.mean;
  out["deviation"] = row.parts.deviation;
  out["median"] = row.parts.median;
  if (row.parts.levels.size() > most_levels) {
    out["levels_left_out"] = row.parts.levels.size();
  } else {
    const bool bits = row_of(row.config.form).basis == Basis::bit;
    Json& parts = out[bits ? "bits" : "levels"] = Json::array();
    for (const LevelPart& p : row.parts.levels) parts.push_back(part_json(p, bits));
  }
  for (std::size_t i = 0; i < row.systems.size(); ++i)
    out["whitening_after"][std::string(word_of<Compat>(compat_words, row.systems[i]))] = whitening_json(row.after[i]);
  return out;
}

}  // namespace

std::string explanation_json(const Explanation& group) {
  Json out = {{"rewards", group.rewards}, {"levels", group.levels}, {"origin", group.origin}};
  if (!group.level_values.empty()) out["values"] = group.level_values;
  out["group"] = {{"size", group.rewards.size()},    {"mean", group.mean},       {"sd_ddof0", group.population_sd},
                  {"sd_ddof1", group.sample_sd},     {"median", group.median},   {"median_rule", group.median_rule},
                  {"dead", group.values.size() < 2}, {"distinct", Json::array()}};
  for (const auto& [reward, count] : group.values) out["group"]["distinct"].push_back({{"reward", reward}, {"count", count}});
  if (!group.posterior.empty()) out["posterior"] = {{"model", group.model}, {"scores", group.posterior}, {"floor", std::sqrt(group.variance)}};
  if (!group.corrected.score.empty()) out["corrected"] = {{"model", group.model}, {"scores", group.corrected.score}, {"condition", group.corrected.condition}};
  out["estimators"] = Json::array();
  for (const auto& estimator : group.estimators) {
    Json one = {{"estimator", estimator.word}, {"conventions", Json::array()}, {"refused", Json::array()}};
    for (const auto& row : estimator.rows) one["conventions"].push_back(row_json(row));
    for (const auto& [system, why] : estimator.refused) one["refused"].push_back({{"compat", system_word(system)}, {"why", why}});
    out["estimators"].push_back(std::move(one));
  }
  if (!group.command.empty()) out["program"] = {{"command", group.command}, {"advantages", group.answered}};
  out["remarks"] = group.remarks;
  return out.dump(2) + "\n";
}

}  // namespace odrpo::app
