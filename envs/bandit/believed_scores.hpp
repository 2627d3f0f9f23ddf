// The model of a judge that posterior estimators use (docs/posterior.md): quadrature over prompts, responses and their traits.
#pragma once
#include "envs/bandit/believed_prompts.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

inline constexpr int per_level_of_reals = 32;  ///< how finely real-valued scores are read: means of up to 32 votes are told apart

/// Of the score, whole or real-valued, that `votes` calls of a rater give a world's responses. A state is a prompt's centre and spread, or
/// a prompt of the file whose responses the world has. Quality is integrated over as worlds round it, on 1/16 level, and so is what the
/// noise draws of prompts and responses and which judge of a panel answers; several calls to a panel are taken as calls to its mean judge.
/// Real-valued scores are read to 1/32 level. Hacking is not in the model. Failure `limits` where the law of so many votes is too long.
ScoreModel make_score_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes = 1,
                            const PromptGrid& grid = {});

/// What a rater makes of responses of whole quality 1..levels, for each kind of prompt that its noise draws, the judge of a panel among
/// them: the law of the whole score that `votes` calls give, averaged over what the noise draws of a response, which all its calls share.
/// For raters without whole_score_refusal(); not of a file's responses. Responses that hack are left out.
/// Failure as make_score_model().
std::vector<LevelChannel> level_channels(const RaterConfig& rater, int levels, int votes);

}  // namespace odrpo
