// The model of a judge that posterior estimators use (docs/posterior.md): quadrature over prompts, responses and their traits.
#pragma once
#include <vector>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/score_model.hpp"

namespace odrpo {

/// Of a prior that follows the policy: by which factors the spread of prompts may be smaller than the world's, since a policy that has
/// learned answers with responses that are alike.
inline constexpr double following_scales[] = {1, 0.5, 0.25};

inline constexpr int per_level_of_reals = 32;  ///< how finely real-valued scores are read: means of up to 32 votes are told apart

/// Gauss-Hermite nodes over prompts, and factors of their spread.
struct ScoreModelGrid {
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

/// Of the score, whole or real-valued, that `votes` calls of a rater give a world's responses. A state is a prompt's centre and spread, or
/// a prompt of the file whose responses the world has. Quality is integrated over as worlds round it, on 1/16 level, and so is what the
/// noise draws of prompts and responses and which judge of a panel answers; several calls to a panel are taken as calls to its mean judge.
/// Real-valued scores are read to 1/32 level. Hacking is not in the model. Failure `limits` where the law of so many votes is too long.
ScoreModel make_score_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes = 1,
                            const ScoreModelGrid& grid = {});

}  // namespace odrpo
