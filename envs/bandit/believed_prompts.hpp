// The kinds of prompts of a world as the states of a model, and which responses a prompt of each kind has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Of a prior that follows the policy: by which factors the spread of prompts may be smaller than the world's, since a policy that has
/// learned answers with responses that are alike.
inline constexpr double following_scales[] = {1, 0.5, 0.25};

/// Even nodes over prompts, and factors of their spread. The nodes of centres and of the logarithm of spreads are as far apart as the
/// scores of a group allow: sums over them are then integrals (docs/posterior.md, Nodes).
struct PromptGrid {
  int members = 8;            ///< scores of a group
  double error_variance = 0;  ///< of a response's score, at least, on the scale where quality is normal (least_error_variance())
  std::vector<double> spread_scales = {1};
  int qualities_per_level = 16;  ///< 1 where the world's quality is whole levels
  bool moments = false;          ///< the prior is to be told by moments: the same states for any moments. Not of a file's responses
};

/// Of what `votes` calls of a rater say about a response of that world, at least: sigma of its noise, and the rounding to whole levels.
double least_error_variance(const BanditConfig& world, const RaterConfig& rater, int votes);

/// How many states the prompts of such a world have.
std::size_t count_states(const BanditConfig& world, const RaterConfig& rater, const PromptGrid& grid);

/// Kinds of responses: every quality of a world, 1/16 level apart, or the laws of a file's responses.
struct BelievedPrompts {
  std::vector<double> quality;  ///< [responses] levels
  std::vector<double> place;    ///< [responses] on the scale where the quality of a prompt's responses is normal; empty of a file
  PromptStates states;
  struct Member {
    std::uint32_t response;
    double probability;
  };
  std::vector<Member> member;      ///< of each state: the kinds that its responses can have
  std::vector<std::size_t> first;  ///< [states + 1] where a state's members begin

  bool of_file() const { return place.empty(); }
  std::span<const Member> members(std::size_t state) const {
    return std::span(member).subspan(first[state], first[state + 1] - first[state]);
  }
};
BelievedPrompts believe_prompts(const WorldSource& source, int levels, const PromptGrid& grid);

// What a rater's noise draws of prompts and responses: all combinations of traits with their probabilities.

/// Traits that are drawn with a probability.
struct Drawn {
  Traits traits;
  double probability = 1;
};
/// What the noise draws of a prompt, and which judge of a panel answers first.
std::vector<Drawn> prompt_traits(const RaterConfig& rater);
/// What it draws of a response.
std::vector<Drawn> response_traits(const RaterConfig& rater);
/// The traits of a response of a prompt.
Traits joined(const Traits& prompt, Traits response);

}  // namespace odrpo
