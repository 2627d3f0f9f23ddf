// Asks another program for the advantages of the group that `explain` shows.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "app/explain/explain_group.hpp"
#include "estimators/outside/program.hpp"

namespace odrpo::app {

void ask_program(const std::string& command, Explanation& group) {
  EstimatorConfig config;
  config.outside = Outside::command, config.command = command;
  OutsideProgram program(config);
  const int members = static_cast<int>(group.rewards.size()) + group.missing;
  program.begin({.id = "explain", .estimator = "command", .levels = group.levels, .batch = 1, .rollouts = members, .steps = 1});
  std::vector<double> scores = group.rewards, answered(static_cast<std::size_t>(members));
  scores.resize(answered.size(), std::numeric_limits<double>::quiet_NaN());
  const std::uint32_t prompt = 0;
  program.advantages({.prompts = {&prompt, 1}, .members = members, .scores = scores}, answered);
  add_answers(command, std::move(answered), group);
  if (!group.level_values.empty()) group.remarks.push_back("The program gets the scores, not the values of their levels.");
}

void add_answers(const std::string& command, std::vector<double> answered, Explanation& group) {
  group.command = command, group.answered = std::move(answered);
  for (const auto& [reward, count] : group.values)
    if (std::isnan(group.answer(reward)))
      group.remarks.push_back(fmt::format("The program gives members with the reward {:.8g} different advantages: it looks at more than the rewards, such as their order.", reward));
}

double Explanation::answer(double reward) const {
  double found = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    if (rewards[i] != reward) continue;
    if (!std::isnan(found) && found != answered[i]) return std::numeric_limits<double>::quiet_NaN();
    found = answered[i];
  }
  return found;
}

}  // namespace odrpo::app
