// Tabulates a model of a judge and a world for posterior scores: P(score | kind of prompt) and E[quality | score, kind of prompt].
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace odrpo {

/// Moments of a world, in units in which the quality x of a prompt's responses is normally distributed, with a centre b of the prompt.
struct WorldMoments {
  double mean = 0;      ///< mean of b over prompts
  double variance = 0;  ///< variance of b over prompts
  double square = 0;    ///< E[(x - b)^2]
};

/// The states of a prompt: kinds of prompts, which differ in the centre and the spread of their responses' quality.
struct PromptStates {
  std::vector<double> prior;  ///< [states] probability, before any score is seen; sums to 1
  // the members below are only set with prior = "moments"
  WorldMoments moments{};
  double log_spread_sd = 0;                ///< standard deviation of log_spread over prompts
  std::vector<double> centre, log_spread;  ///< [states] the centre b, and the logarithm of the spread of quality around b

  std::size_t size() const { return prior.size(); }
  std::size_t bytes() const { return (prior.size() + centre.size() + log_spread.size()) * sizeof(double); }
};

/// What one score tells about quality, in tables by state and score. Scores have indices 0, 1, … from the lowest, in steps of 1 / per_level
/// level; a real-valued score is rounded to the nearest.
struct ScoreModel {
  int lowest = 1;     ///< the lowest score, levels
  int per_level = 1;  ///< scores per level; 1 for integer scores
  int scores = 0;
  PromptStates prompts;
  std::vector<double> likelihood;  ///< [states][scores] P(score | state)
  std::vector<double> expected;    ///< [states][scores] E[quality | score, state], levels
  std::vector<double> variance;    ///< [states][scores] Var(quality | score, state), levels^2
  std::vector<double> square;      ///< [states][scores] E[(x - b)^2 | score, state]; only with prior = "moments"

  std::size_t bytes() const { return prompts.bytes() + (likelihood.size() + expected.size() + variance.size() + square.size()) * sizeof(double); }
  std::size_t states() const { return prompts.size(); }
  /// The index of a score given in levels.
  int number_of(double score) const { return std::clamp(static_cast<int>(std::floor((score - lowest) * per_level + 0.5)), 0, scores - 1); }
};

// The model for estimators that use all votes of a response, instead of one score.

/// A judge's single calls and a world, as tables. "Responses" here are kinds of responses, which differ in quality. A response also has one
/// of `traits` lasting traits, such as a probability of a veto. Each judge has one of `classes` equally likely lasting errors about it.
/// Given quality, trait and error, calls are independent.
struct CallModel {
  static constexpr std::size_t lanes = 16;
  int lowest = 1, scores = 0;  ///< a call gives one of `scores` scores lowest, lowest + 1, …
  int judges = 1;              ///< number of judges whose calls are distinguished; 1: all calls count as one judge's
  int traits = 1, classes = 1;
  std::vector<double> trait;    ///< [traits] probability
  std::vector<double> quality;  ///< [responses] levels
  std::vector<double> place;    ///< [responses] quality x in the units of WorldMoments; only with prior = "moments"
  std::size_t width = 0;        ///< responses, rounded up to a multiple of `lanes`
  std::vector<double> call;     ///< [judges][scores][classes][traits][width] P(score of a call); padding 0
  PromptStates prompts;
  /// P(response | state). In a model of a world nearly all are above 0: [tiles of `lanes` states][responses][lanes], padding 0. In a model
  /// of a file of scores they are sparse: share[offset + i] belongs to state first + i, i < count, of a Run. The Runs of one response are
  /// neighbours.
  std::vector<double> share;
  struct Run {
    std::uint32_t response, first, count;
    std::size_t offset;
  };
  std::vector<Run> runs;  ///< empty in a model of a world

  std::size_t responses() const { return quality.size(); }
  std::size_t states() const { return prompts.size(); }
  bool of_world() const { return runs.empty(); }
  std::size_t bytes() const {
    return prompts.bytes() + (trait.size() + quality.size() + place.size() + call.size() + share.size()) * sizeof(double) +
           runs.size() * sizeof(Run);
  }
};

// A judge as P(score | true level).

/// The judge's scores for one kind of prompt. A kind fixes how noisy or severe the judge is, and who judges; given the kind, the responses
/// of a prompt are scored independently.
struct LevelChannel {
  double weight = 1;                ///< probability of this kind of prompt
  std::vector<double> probability;  ///< [levels][levels] P(score k | true level j); rows sum to 1
};

// The reward of a response without a score, which estimators skip.

/// Stands for a missing integer score: the judge's answers could not be read and were dropped. A missing real reward is NaN.
inline constexpr std::uint8_t no_score = 255;

}  // namespace odrpo
