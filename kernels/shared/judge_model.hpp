// What is believed about a judge and a world, as tables: which scores each state of a prompt makes likely, and what they then say of
// quality.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
  int per_level = 1;  ///< 1 of integer scores
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

// What is believed about single calls of a judge and about a world, as tables: for estimators that see all votes of a response.

/// Kinds of responses differ in their quality. Besides, a response has one of `traits` kinds of lasting traits, such as the probability of
/// a veto, and each judge one of `classes` equally likely kinds of lasting error about it. Given those, calls are independent.
struct CallModel {
  static constexpr std::size_t lanes = 16;
  int lowest = 1, scores = 0;  ///< of a call: lowest, lowest + 1, …
  int judges = 1;              ///< whose calls are told apart; 1: all calls are of one judge
  int traits = 1, classes = 1;
  std::vector<double> trait;    ///< [traits] probability
  std::vector<double> quality;  ///< [responses] levels
  std::vector<double> place;    ///< [responses] on the scale where quality is normal; only with prior = "moments"
  std::size_t width = 0;        ///< responses, rounded up to a multiple of `lanes`
  std::vector<double> call;     ///< [judges][scores][classes][traits][width] P(score); padding 0
  PromptStates prompts;
  /// P(response | state). Of a world, whose states have nearly all responses, for each tile of `lanes` states (padding 0) a row of every
  /// response; of a file runs: share[offset + i] of the states first + i, i < count, those of one response together.
  std::vector<double> share;
  struct Run {
    std::uint32_t response, first, count;
    std::size_t offset;
  };
  std::vector<Run> runs;  ///< empty of a world

  std::size_t responses() const { return quality.size(); }
  std::size_t states() const { return prompts.size(); }
  bool of_world() const { return runs.empty(); }
  std::size_t bytes() const {
    return prompts.bytes() + (trait.size() + quality.size() + place.size() + call.size() + share.size()) * sizeof(double) +
           runs.size() * sizeof(Run);
  }
};

// A judge between true levels and scores, for one kind of prompt.

/// Responses of one prompt are scored independently, given the kind of their prompt: how noisy or severe the judge is there, who it is.
struct LevelChannel {
  double weight = 1;                ///< probability of this kind of prompt
  std::vector<double> probability;  ///< [levels][levels] P(score k | true level j); rows sum to 1
};

// What raters leave and estimators skip: the reward of a response that ended without a score.

/// An integer score that is not there: the judge's answers could not be read and were dropped. Of real rewards: NaN.
inline constexpr std::uint8_t no_score = 255;

}  // namespace odrpo
