// What is believed about a judge and a world, as tables: which scores each state of a prompt makes likely, and what they then say of
// quality.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace odrpo {

/// Moments of a normal world, on the scale where the quality of a prompt's responses is normal.
struct WorldMoments {
  double mean = 0;      ///< of prompts' centres b
  double variance = 0;  ///< of these
  double square = 0;    ///< E[(x - b)^2] of responses x
};

/// States are kinds of prompts: where the quality of a prompt's responses lies and how far it spreads.
struct PromptStates {
  std::vector<double> prior;  ///< [states] probability, before any score is seen; sums to 1
  // only with prior = "moments"; else empty
  WorldMoments moments{};
  double log_spread_sd = 0;                ///< of the prompts' spread
  std::vector<double> centre, log_spread;  ///< [states] b and the logarithm of the spread round it

  std::size_t size() const { return prior.size(); }
  std::size_t bytes() const { return (prior.size() + centre.size() + log_spread.size()) * sizeof(double); }
};

/// Scores are numbered 0, 1, … from the lowest, in steps of 1 / per_level level; between two of them a real-valued score counts as the
/// nearer.
struct ScoreModel {
  int lowest = 1;     ///< the lowest score, levels
  int per_level = 1;  ///< 1 of whole scores
  int scores = 0;
  PromptStates prompts;
  std::vector<double> likelihood;  ///< [states][scores] P(score | state)
  std::vector<double> expected;    ///< [states][scores] E[quality | score, state], levels
  std::vector<double> variance;    ///< [states][scores] Var(quality | score, state), levels^2
  std::vector<double> square;      ///< [states][scores] E[(x - b)^2 | score, state]; only with prior = "moments"

  std::size_t bytes() const { return prompts.bytes() + (likelihood.size() + expected.size() + variance.size() + square.size()) * sizeof(double); }
  std::size_t states() const { return prompts.size(); }
  /// The number of a score given in levels.
  int number_of(double score) const { return std::clamp(static_cast<int>(std::floor((score - lowest) * per_level + 0.5)), 0, scores - 1); }
};

}  // namespace odrpo
