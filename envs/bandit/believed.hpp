// Builds the model of judge and world that a posterior estimator believes in: tables over kinds of prompts, traits, calls and scores.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Factors of the spread of quality within a prompt, for a prior that follows the policy (docs/posterior.md). Reason: once a policy has
/// learned, its responses to a prompt differ less in quality than those of the world.
inline constexpr double following_scales[] = {1, 0.5, 0.25};

/// Options of the quadrature over prompts. A prompt is described by the centre and the spread of its responses' quality. Nodes of centre
/// and log spread are evenly spaced, only as close as the scores of a group make necessary (docs/lab/posterior-measured.md, Nodes).
struct PromptGrid {
  int members = 8;            ///< number of scores in a group
  double error_variance = 0;  ///< lower bound of a score's error variance, on the scale where quality is normal (least_error_variance())
  std::vector<double> spread_scales = {1};  ///< factors of the spread, equally likely, e.g. following_scales
  int qualities_per_level = 16;  ///< number of grid points of quality per level; 1 if the world's quality has whole levels only
  bool moments = false;          ///< prior = "moments": nodes wide enough for any estimated moments. Not for a file's responses
};

/// Returns a lower bound for the error variance of the mean of `votes` calls. It comes from the noise's sigma and, without a latent scale, from
/// rounding to levels. Unit: square of the scale where quality is normal.
double least_error_variance(const BanditConfig& world, const RaterConfig& rater, int votes);

/// Number of states (kinds of prompts) that believe_prompts() makes for this world, rater and grid.
std::size_t count_states(const BanditConfig& world, const RaterConfig& rater, const PromptGrid& grid);

/// Kinds of responses, kinds of prompts (states), and how likely each kind of response is in each state. A kind of response is a quality of
/// the world's grid, or a distribution of a file's responses.
struct BelievedPrompts {
  std::vector<double> quality;  ///< [responses] levels
  std::vector<double> place;    ///< [responses] quality on the scale where it is normal within a prompt; empty for a file
  PromptStates states;
  struct Member {
    std::uint32_t response;
    double probability;
  };
  std::vector<Member> member;      ///< state after state: the kinds of response that occur, with probabilities
  std::vector<std::size_t> first;  ///< [states + 1] where a state's members begin

  bool of_file() const { return place.empty(); }
  std::span<const Member> members(std::size_t state) const {
    return std::span(member).subspan(first[state], first[state + 1] - first[state]);
  }
};
/// Makes the kinds of responses and of prompts in a world, or in its file.
BelievedPrompts believe_prompts(const WorldSource& source, int levels, const PromptGrid& grid);

// All combinations of the traits that a rater's noise draws for prompts and responses, with their probabilities.

/// One combination of traits, and its probability.
struct Drawn {
  Traits traits;
  double probability = 1;
};
/// Returns all combinations of a prompt's traits and of the judge of the panel that answers first, with probabilities.
std::vector<Drawn> prompt_traits(const RaterConfig& rater);
/// Returns all combinations of a response's traits, with probabilities.
std::vector<Drawn> response_traits(const RaterConfig& rater);
/// Returns the traits of a response, with those of its prompt filled in.
Traits joined(const Traits& prompt, Traits response);

// The model of estimators that use all votes of a response (docs/posterior.md): distributions of single calls, given lasting traits.

/// Model of `votes` calls of a rater about each response of a world. Traits of prompt and response are the same in all calls about a
/// response (lasting traits). The model draws a prompt's traits anew for each response, so that responses are independent given the state
/// of their prompt. If the judges of a panel answer in turn, each judge has its own distribution and its own lasting error about a
/// response. If judges are random, all calls have the judges' mean distribution, and lasting errors count as errors of a call. Ignores
/// hacking. Throws Failure(Exit::limits) where the table is too large.
CallModel make_call_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes, const PromptGrid& grid = {});

/// Returns an upper bound for the number of kinds of responses in a model of the rater: qualities of a world or distributions of a file.
double believed_responses(const RaterConfig& rater, int levels);
/// Returns an upper bound for the number of distributions of single calls in the model: one per judge, lasting traits, and kind of response.
double call_cells(const RaterConfig& rater, int levels);
/// Returns the bytes of these distributions. make_call_model() refuses more than most_call_model_bytes.
double call_model_bytes(const RaterConfig& rater, int levels);
inline constexpr double most_call_model_bytes = 1 << 30;
inline constexpr const char* too_large_for_all_votes =
    "the laws of its single calls take more than 1 GiB, too much for a model of all votes; aggregate = \"mode\" or \"mean\" needs a small "
    "part of it";

// The model of estimators that use one score of a response (docs/posterior.md), by quadrature over prompts, responses and their traits.

inline constexpr int per_level_of_reals = 32;  ///< real-valued scores are rounded to 1/32 level: fine enough for means of up to 32 votes

/// P(score | kind of response) of the score that `votes` calls give, averaged over the traits of prompt and response and over the judge that answers.
struct ScoreRows {
  ScoreModel numbers;               ///< only its members lowest, per_level and scores are set
  std::vector<double> probability;  ///< [responses][scores]; a row sums to the probability that a response has a score
  std::span<const double> of(std::size_t response) const {
    const auto scores = static_cast<std::size_t>(numbers.scores);
    return std::span(probability).subspan(response * scores, scores);
  }
};
/// Makes the rows for the kinds of responses of `believed`. Throws as make_score_model().
ScoreRows make_score_rows(const RaterConfig& rater, const BelievedPrompts& believed, int levels, int votes);

/// Makes a model of the score, integer or real-valued, that `votes` calls of a rater give a response. A state is a prompt's centre and spread, or a
/// kind of prompt of the world's file. The model integrates over quality (on the world's grid), over the traits of prompt and response, and
/// over the judge that answers. For several calls to a panel, each call has the mean distribution of its judges. Real-valued scores are
/// rounded to 1/32 level. Ignores hacking. Throws Failure(Exit::limits) where the distribution of so many votes has too many outcomes.
ScoreModel make_score_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes = 1,
                            const PromptGrid& grid = {});
/// The same from its parts; for prior = "moments" if `believed` is.
ScoreModel make_score_model(const BelievedPrompts& believed, const ScoreRows& rows);

/// Returns P(integer score of `votes` calls | quality 1, 1 + 1/per_level, ..., levels): one table for each combination of a prompt's traits
/// and the judge that answers, averaged over the traits of a response, or with `apart` one for each of these too. Not for a rater with a
/// channel_refusal(). Where a response may end without a score, rows sum to the probability of one. Ignores hacking. Throws as
/// make_score_model().
std::vector<LevelChannel> level_channels(const RaterConfig& rater, int levels, int votes, int per_level = 1, bool apart = false);

/// The reason why there are no level_channels(): that of whole_score_refusal(), except for responses that may end without a score, or a
/// file's responses; nullopt if there are.
std::optional<std::string> channel_refusal(RaterConfig rater, int votes);

}  // namespace odrpo
