// The judge as posterior estimators believe in it, as tables: prompts, combinations of traits, single calls, scores.
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

/// Kinds of responses: every quality of a world, 1/16 level apart, or the distributions of a file's responses.
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

// The model of a judge for estimators that see all votes of a response (docs/posterior.md): the distribution of single calls, given what lasts.

/// Of `votes` calls of a rater about each of a world's responses. What the noise draws of a prompt or a response lasts: it is the same in
/// all calls about a response. Of a prompt it is drawn for each response anew, so that responses are independent given the prompt's state.
/// The calls of a panel whose judges answer in turn are told apart, and each judge errs about a response in its own lasting way; where each
/// call draws its judge, calls are of the mean judge, and a judge's lasting error counts as one of the call. Hacking is not in the model.
/// Failure `limits` where the table is too large.
CallModel make_call_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes, const PromptGrid& grid = {});

/// Kinds of responses that a model of the rater has, at most: qualities of a world, distributions of a file.
double believed_responses(const RaterConfig& rater, int levels);
/// Distributions of single calls that it has, at most: combinations of judges, of what lasts, and of responses.
double call_cells(const RaterConfig& rater, int levels);
/// Bytes of these distributions; more than most_call_model_bytes are refused.
double call_model_bytes(const RaterConfig& rater, int levels);
inline constexpr double most_call_model_bytes = 1 << 30;
inline constexpr const char* too_large_for_all_votes =
    "the laws of its single calls take more than 1 GiB, too much for a model of all votes; aggregate = \"mode\" or \"mean\" needs a small "
    "part of it";

// The model of a judge that posterior estimators use (docs/posterior.md): quadrature over prompts, responses and their traits.

inline constexpr int per_level_of_reals = 32;  ///< how finely real-valued scores are read: means of up to 32 votes are told apart

/// Of the score, whole or real-valued, that `votes` calls of a rater give a world's responses. A state is a prompt's centre and spread, or
/// a prompt of the file whose responses the world has. Quality is integrated over as worlds round it, on 1/16 level, and so is what the
/// noise draws of prompts and responses and which judge of a panel answers; several calls to a panel are taken as calls to its mean judge.
/// Real-valued scores are read to 1/32 level. Hacking is not in the model. Failure `limits` where the distribution of so many votes is too long.
ScoreModel make_score_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes = 1,
                            const PromptGrid& grid = {});

/// What a rater makes of responses of whole quality 1..levels, for each kind of prompt that its noise draws, the judge of a panel among
/// them: the distribution of the integer score that `votes` calls give, averaged over what the noise draws of a response, which all its calls share.
/// For raters without whole_score_refusal(); not of a file's responses. Responses that hack are left out.
/// Failure as make_score_model().
std::vector<LevelChannel> level_channels(const RaterConfig& rater, int levels, int votes);

}  // namespace odrpo
