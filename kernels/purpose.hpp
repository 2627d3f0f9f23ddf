// Lists the purposes of random words: the first component of the counter (purpose, step, prompt, block) in kernels/random.hpp.
#pragma once
#include <cstdint>

namespace odrpo {

/// What a random word is drawn for. All results depend on these numbers: never reuse or renumber one. Comments give the counter's
/// components: "step = epoch", or "block = 4 rollouts" if one block of the counter has the words of four rollouts.
enum class Purpose : std::uint32_t {
  derive = 1,          ///< 64-bit random keys, from a suite's seed
  order = 2,           ///< order of prompts in an epoch: step = epoch
  action = 3,          ///< choice of a response: block = 4 rollouts
  rating = 4,          ///< a response's aggregated score, drawn from its known distribution: block = 4 rollouts
  vote = 5,            ///< single votes: block = 4 votes of one rollout; in the toy language model, one attempt at one vote
  replica_action = 6,  ///< `action`, when a batch is drawn again to measure the signal and the noise of its gradient
  replica_rating = 7,  ///< `rating` of a batch that is drawn again
  replica_vote = 8,    ///< `vote` of a batch that is drawn again
  vote_judge = 9,      ///< which judge of a panel answers a call, if each call draws its judge: step, prompt and block of the call
  replica_vote_judge = 10,  ///< `vote_judge` of a batch that is drawn again
  world_prompt = 16,     ///< centre and spread of a prompt
  world_feature = 17,    ///< features of a response: block = 2 normal numbers
  world_direction = 18,  ///< the hidden direction in feature space along which quality grows
  world_residual = 19,   ///< the part of quality that the features do not explain: block = 2 normal numbers
  world_hack = 20,       ///< whether a response hacks the reward: block = 4 responses
  world_response = 21,   ///< which responses of a file a prompt gets: block = 4 choices
  trait_spread = 32,     ///< the class of noise (spread_class) that the rater has for a prompt
  trait_veto = 33,       ///< whether a response is ambiguous, and its class of vetoes: block = response, or step = hash of its text
  trait_offset = 34,     ///< the class of severity (offset_class) that the rater has for a prompt
  trait_response = 35,   ///< the class of noise that the rater has for a response: block = response, or step = hash of its text
  trait_judge = 36,      ///< which judge of a panel is the first to rate a prompt
  trait_error = 37,      ///< class of a judge's lasting error about a response: step = judge, block = response; or hash of its text, judge
  trait_bias = 38,       ///< class of the error about a response that all calls share: counter as for trait_response

  toy_prompt = 48,         ///< the words in a prompt's text: two blocks
  toy_demonstration = 49,  ///< a demonstration for a prompt: step = number of the demonstration
  toy_grounding = 50,      ///< the answers of two judges in the held-out measure of grounding: block = rollout
  toy_pairwise = 51,       ///< the judge's comparison in the held-out win rate: block = rollout
  toy_json = 52,           ///< the form in which a judge writes its answer as JSON: block = call
  toy_evaluation = 53,     ///< tokens of responses that are evaluated but not trained on: block = 4 tokens

  transformer_start = 64,  ///< initial weights of a transformer: step = part, prompt = matrix, block = 2 normal numbers

  latent_place = 72,  ///< quality on a judge's latent scale: centre of a prompt (step 0), a response's own part (step = response + 1)
  latent_judge = 73,  ///< lasting errors of judges about a response: step = response, block = 2 judges
  latent_call = 74,   ///< errors of single calls about a response: step = response, block = 2 calls
  latent_outlier = 75,  ///< outliers among the scores of a response (= step): block 0 its own veto, later blocks = 2 scores each

  dump_quality = 76,  ///< true qualities of a dump's group given its scores: step = draw, prompt = group, block = 4 words (state, then responses)
  dump_vote = 77,     ///< new scores of the same responses: step = draw, prompt = group, block = 4 words
  dump_prior = 78,    ///< which groups count in the fit of a draw's prior: step = draw, prompt = window of steps, block = 4 groups

  resample = 80,  ///< items drawn by a bootstrap: step = number of the resample, prompt = stratum, block = 4 items
};

}  // namespace odrpo
