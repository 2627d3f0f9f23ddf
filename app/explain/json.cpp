// The explanation as JSON, with full precision.
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/explain/explain_group.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_levels = 1000;  // of one estimator; beyond, the list is left out

json system_word(Compat system) { return word_of<Compat>(compat_words, system); }

json whitening_json(const Whitening& w) {
  if (!w.on) return nullptr;
  const char* scale = w.scale == WhitenScale::added    ? "sqrt(var) + eps"
                      : w.scale == WhitenScale::inside ? "sqrt(var + eps)"
                                                       : "sqrt(max(var, eps))";
  return {{"unit", w.unit == WhitenUnit::token ? "token" : "response"}, {"scale", scale}, {"ddof", w.ddof}, {"eps", w.eps}};
}

/// A level or gap, or a bit.
json part_json(const LevelPart& p, bool bit) {
  json out = bit ? json{{"bit", static_cast<int>(p.high)}} : json{{"low", p.low}, {"high", p.high}, {"gap", p.gap}};
  out.update({{"count", p.count}, {"mu", p.share}, {"weight", p.weight}, {"norm", p.norm}, {"reached", p.reached}, {"missed", p.missed}});
  return out;
}

json row_json(const Convened& row) {
  json out = {{"compat", json::array()}, {"formula", row.formula}, {"advantages", row.parts.advantages}};
  for (const Compat s : row.systems) out["compat"].push_back(system_word(s));
  out["mean"] = row.parts.mean;
  out["deviation"] = row.parts.deviation;
  out["median"] = row.parts.median;
  if (row.parts.levels.size() > most_levels) {
    out["levels_left_out"] = row.parts.levels.size();
  } else {
    const bool bits = row_of(row.config.form).basis == Basis::bit;
    json& parts = out[bits ? "bits" : "levels"] = json::array();
    for (const LevelPart& p : row.parts.levels) parts.push_back(part_json(p, bits));
  }
  for (std::size_t i = 0; i < row.systems.size(); ++i)
    out["whitening_after"][std::string(word_of<Compat>(compat_words, row.systems[i]))] = whitening_json(row.after[i]);
  return out;
}

}  // namespace

std::string explanation_json(const Explanation& group) {
  json out = {{"rewards", group.rewards}, {"levels", group.levels}, {"origin", group.origin}};
  if (!group.level_values.empty()) out["values"] = group.level_values;
  out["group"] = {{"size", group.rewards.size()},    {"mean", group.mean},       {"sd_ddof0", group.population_sd},
                  {"sd_ddof1", group.sample_sd},     {"median", group.median},   {"median_rule", group.median_rule},
                  {"dead", group.values.size() < 2}, {"distinct", json::array()}};
  for (const auto& [reward, count] : group.values) out["group"]["distinct"].push_back({{"reward", reward}, {"count", count}});
  if (!group.posterior.empty()) out["posterior"] = {{"model", group.model}, {"scores", group.posterior}, {"floor", std::sqrt(group.variance)}};
  out["estimators"] = json::array();
  for (const auto& estimator : group.estimators) {
    json one = {{"estimator", estimator.word}, {"conventions", json::array()}, {"refused", json::array()}};
    for (const auto& row : estimator.rows) one["conventions"].push_back(row_json(row));
    for (const auto& [system, why] : estimator.refused) one["refused"].push_back({{"compat", system_word(system)}, {"why", why}});
    out["estimators"].push_back(std::move(one));
  }
  out["remarks"] = group.remarks;
  return out.dump(2) + "\n";
}

}  // namespace odrpo::app
