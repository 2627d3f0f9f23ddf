// What is believed about single calls of a judge and about a world, as tables: for estimators that see all votes of a response.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/shared/score_model.hpp"

namespace odrpo {

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

}  // namespace odrpo
