// Defines what programs and libraries of others are told of a run and of a batch, and checks that answers depend on their requests alone.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "estimators/estimator.hpp"

namespace odrpo {

/// The run that a program's `begin` message names.
struct OutsideRun {
  std::string id;         ///< of the run, "bandit/mixed/linear/mine/n1/s0"
  std::string estimator;  ///< the estimator's name in the suite
  int seed = 0, levels = 10, batch = 0, rollouts = 0, votes = 1, steps = 0;
};

/// Groups of scores [groups][members], one group a prompt.
struct OutsideBatch {
  int step = 0;
  std::span<const std::uint32_t> prompts{};  ///< [groups] numbers of the prompts
  int members = 0;
  std::span<const double> scores{};  ///< [groups][members] NaN = missing
  std::span<const int> lengths{};    ///< [groups][members] tokens of each response; empty = the world has none
};

/// Is the batch of this step asked twice where answers depend on their requests alone? The first two of a run, and each hundredth.
inline bool is_sampled(int step) { return step < 2 || step % 100 == 0; }

/// Asks for a batch again, its groups in reverse, and compares with `first`, the advantages that it got. Returns what is wrong where they differ by more than 1e-5 of the
/// largest (sums in float differ by their order); empty where they agree.
std::string disagreement(const OutsideBatch& batch, std::span<const double> first, const std::function<void(const OutsideBatch&, std::span<double>)>& ask);

}  // namespace odrpo
