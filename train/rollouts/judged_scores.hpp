// Declares the rewards of a dump as levels of a judge and known parts, and the windows of steps whose groups share a prior.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "results/scores/rollouts/rollouts.hpp"
#include "train/rollouts/judged_numbers.hpp"

namespace odrpo {

/// A dump as a judge's scores and known parts.
struct JudgedScores {
  std::vector<RolloutGroup> groups;  ///< with two scores or more
  std::vector<std::size_t> window;   ///< [groups] neighbouring steps, the groups of which share a prior
  std::vector<int> level;            ///< [rows] -1 = no score
  std::vector<double> known;         ///< [rows] sum of the other columns, with their weights; missing ones add 0
  std::size_t largest = 2;           ///< rows of the largest group
  std::size_t count = 0;             ///< scores of the groups
  std::size_t every_step = 1, every_group = 1;  ///< of a large dump a part is enough: every so many-th step, or group
  std::span<const int> levels_of(const RolloutGroup& g) const { return std::span(level).subspan(g.first, g.count); }
};
/// `lowest`: the judge's lowest level, 1 or 0. Failures of judge_rollouts().
JudgedScores judged_scores(const Rollouts& rollouts, const JudgedOptions& options, int lowest);

}  // namespace odrpo
