// What random draws are for: the first part of the question that kernels/random.hpp answers.
#pragma once
#include <cstdint>

namespace odrpo {

/// What a draw is for. Values are part of the numbers' definition: never reuse or renumber one.
enum class Purpose : std::uint32_t {
  derive = 1,          ///< 64-bit keys from a suite's seed
  order = 2,           ///< order of prompts in an epoch: step = epoch
  action = 3,          ///< choice of a response: block = 4 rollouts
  rating = 4,          ///< aggregated score from its distribution: block = 4 rollouts
  vote = 5,            ///< literal votes: block = 4 votes of one rollout; of texts: one attempt at one vote
  replica_action = 6,  ///< the same for redraws of a batch (gradient signal and noise)
  replica_rating = 7,
  replica_vote = 8,
  vote_judge = 9,  ///< which judge of a panel a call goes to, where each call draws one: words as those of the call
  replica_vote_judge = 10,
  world_prompt = 16,     ///< centre and spread of a prompt
  world_feature = 17,    ///< features of a response: block = 2 normals
  world_direction = 18,  ///< hidden direction of the features
  world_residual = 19,   ///< what the features do not explain: block = 2 normals
  world_hack = 20,       ///< does a response hack the reward: block = 4 responses
  world_response = 21,   ///< which responses of a file a prompt has: block = 4 choices
  trait_spread = 32,     ///< the rater's sigma class of a prompt
  trait_veto = 33,       ///< is a response ambiguous, and its veto class: one block a response
  trait_offset = 34,     ///< the rater's severity class towards a prompt
  trait_response = 35,   ///< the rater's sigma class of a response: one block a response, or step = hash of the text
  trait_judge = 36,      ///< which judge of a panel is the first to rate a prompt
  trait_error = 37,      ///< class of a judge's lasting error about a response: as trait_response, block or step of the judge
  trait_bias = 38,       ///< class of the error about a response that all calls share: as trait_response

  toy_prompt = 48,         ///< words of a prompt: two blocks
  toy_demonstration = 49,  ///< demonstration `step` of a prompt
  toy_grounding = 50,      ///< held-out grounding: two judges' answers, block = rollout
  toy_pairwise = 51,       ///< held-out win rate: the judge's comparison, block = rollout
  toy_json = 52,           ///< how a judge's answer is written: block = call
  toy_evaluation = 53,     ///< tokens of responses that are only evaluated: block = 4 tokens

  transformer_start = 64,  ///< first weights: step = part, prompt = matrix, block = 2 normals

  latent_place = 72,  ///< a judge on a latent scale: b of a prompt (step 0), e and z of response `step` - 1
  latent_judge = 73,  ///< lasting errors of judges about response `step`: block = 2 judges
  latent_call = 74,   ///< errors of calls about response `step`: block = 2 ratings
  latent_outlier = 75,  ///< outliers of response `step`: block 0 its own veto, then block = 2 ratings

  resample = 80,  ///< items of a bootstrap's resample: step = resample, prompt = stratum, block = 4 items
};

}  // namespace odrpo
