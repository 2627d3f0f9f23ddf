// The model of a judge for estimators that see all votes of a response (docs/posterior.md): the law of single calls, given what lasts.
#pragma once
#include "envs/bandit/believed_prompts.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Of `votes` calls of a rater about each of a world's responses. What the noise draws of a prompt or a response lasts: it is the same in
/// all calls about a response. Of a prompt it is drawn for each response anew, so that responses are independent given the prompt's state.
/// The calls of a panel whose judges answer in turn are told apart, and each judge errs about a response in its own lasting way; where each
/// call draws its judge, calls are of the mean judge, and a judge's lasting error counts as one of the call. Hacking is not in the model.
/// Failure `limits` where the table is too large.
CallModel make_call_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes, const PromptGrid& grid = {});

/// Kinds of responses that a model of the rater has, at most: qualities of a world, laws of a file.
double believed_responses(const RaterConfig& rater, int levels);
/// Laws of single calls that it has, at most: combinations of judges, of what lasts, and of responses.
double call_cells(const RaterConfig& rater, int levels);
/// Bytes of these laws; more than most_call_model_bytes are refused.
double call_model_bytes(const RaterConfig& rater, int levels);
inline constexpr double most_call_model_bytes = 1 << 30;
inline constexpr const char* too_large_for_all_votes =
    "the laws of its single calls take more than 1 GiB, too much for a model of all votes; aggregate = \"mode\" or \"mean\" needs a small "
    "part of it";

}  // namespace odrpo
