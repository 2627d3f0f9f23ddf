// Declares how the commands of `rollouts` read dumps, and choose weights of rewards, a scale and estimators.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "results/scores/rollouts/rollouts.hpp"
#include "train/rollouts/logged.hpp"
#include "train/rollouts/rewards.hpp"

namespace odrpo::app {

/// A dump with one reward for each completion.
struct RolloutInput {
  Rollouts rollouts;
  std::optional<LoggedComparison> logged;  ///< of the dump's advantages; not computed unless it was wanted, or gave the weights
  RolloutRewards rewards;
  std::vector<std::string> notes;          ///< on weights and scale
};

/// Checks the flags, before any file is read. Failure usage.
RolloutReading rollout_reading(const RolloutOptions& o);
ScaleChoice scale_choice(const RolloutOptions& o);

/// The estimators of --estimator under --compat, with their texts. Failures: usage for an unknown word; limits for a system that has no such form, and for
/// estimators that need a judge.
struct ChosenEstimators {
  std::vector<EstimatorConfig> configs;
  std::vector<std::string> texts;
  std::vector<EstimatorConfig> judged;  ///< all of them in their order, also posterior ones, which are not among `configs`
  std::vector<std::string> notes;
};
/// Without --estimator the `usual` words, of which those that the system does not have keep the convention `paper`, with a note.
/// `judge`: --judge names one.
ChosenEstimators chosen_estimators(const RolloutOptions& o, std::span<const std::string_view> usual, bool judge = false);

/// Reads the dump. Weights that are not given are those that explain logged advantages, else 1. `explain`: logged advantages are compared in any case.
RolloutInput read_rollout_input(const RolloutOptions& o, bool explain);

/// "A", or "A + 0.5 B": the rewards and their weights.
std::string rewards_text(const RolloutInput& input);

}  // namespace odrpo::app
