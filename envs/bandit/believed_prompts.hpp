// The kinds of prompts of a world as the states of a model, and which responses a prompt of each kind has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "envs/bandit/world.hpp"
#include "kernels/score_model.hpp"

namespace odrpo {

/// Of a prior that follows the policy: by which factors the spread of prompts may be smaller than the world's, since a policy that has
/// learned answers with responses that are alike.
inline constexpr double following_scales[] = {1, 0.5, 0.25};

/// Gauss-Hermite nodes over prompts, and factors of their spread.
struct PromptGrid {
  int centres = 41, spreads = 5;
  int even_spreads = 13;  ///< of `moments`
  std::vector<double> spread_scales = {1};
  int qualities_per_level = 16;  ///< 1 where the world's quality is whole levels
  bool moments = false;          ///< the prior is to be told by moments: evenly spaced states instead. Not of a file's responses
  /// Of a normal world or one on a latent scale; those of a file may be some more.
  std::size_t most_states() const {
    return static_cast<std::size_t>(centres) *
           (moments ? static_cast<std::size_t>(even_spreads) : static_cast<std::size_t>(spreads) * spread_scales.size());
  }
};

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

}  // namespace odrpo
