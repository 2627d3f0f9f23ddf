// The model of a judge for estimators that see all votes of a response (docs/posterior.md): the law of single calls, given what lasts.
#pragma once
#include "envs/bandit/believed_prompts.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/call_model.hpp"

namespace odrpo {

/// Of `votes` calls of a rater about each of a world's responses. What the noise draws of a prompt or a response lasts: it is the same in all
/// calls about a response. Of a prompt it is drawn for each response anew, so that responses are independent given the prompt's state.
/// The calls of a panel whose judges answer in turn are told apart, and each judge errs about a response in its own lasting way; where each
/// call draws its judge, calls are of the mean judge, and a judge's lasting error counts as one of the call. Hacking is not in the model. Failure `limits` where the table is too large.
CallModel make_call_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes, const ScoreModelGrid& grid = {});

/// Bytes that the model of a rater takes, without the shares of its states.
double call_model_bytes(const RaterConfig& rater, int levels, double responses);

}  // namespace odrpo
