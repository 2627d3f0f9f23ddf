// A row of numbers of calls above what they are worth.
#include "app/judge/worth_of_votes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "envs/judge/simulate_scores.hpp"
#include "kernels/system/page_text.hpp"

namespace odrpo::app {

std::vector<EffectiveVotes> worth_of(const RaterConfig& rater, int levels, std::uint64_t seed) {
  return effective_votes(rater, rated_world(levels, 4000, 8), seed);
}

std::string worth_text(const std::vector<EffectiveVotes>& worth) {
  if (worth.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"calls about a response"}, {"worth, independent calls"}};
  for (const EffectiveVotes& e : worth) {
    rows[0].push_back(fmt::format("{}", e.votes));
    rows[1].push_back(std::isnan(e.worth) ? "n/a" : fmt::format("{:.1f}", e.worth));
  }
  return '\n' + rows_text(rows, 0);
}

nlohmann::ordered_json worth_json(const std::vector<EffectiveVotes>& worth) {
  if (worth.empty()) return nullptr;
  auto out = nlohmann::ordered_json::array();
  for (const EffectiveVotes& e : worth)
    out.push_back({{"votes", e.votes}, {"worth", std::isnan(e.worth) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(e.worth)}});
  return out;
}

}  // namespace odrpo::app
