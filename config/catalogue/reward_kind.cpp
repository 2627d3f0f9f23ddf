// The kind of rewards of a run.
#include "config/catalogue/reward_kind.hpp"

#include "config/spec.hpp"
#include "envs/toy_lm/rate_texts.hpp"

namespace odrpo {

RewardKind reward_kind(const RunSpec& spec) {
  const RaterConfig rater = with_json_failures(spec.rater);
  return {.real = real_valued(rater, spec.votes),
          .gaps = has_gaps(rater),
          .lowest = lowest_score(rater),
          .levels = spec.env.levels(),
          .votes = scores_of_response(rater, spec.votes),
          .members = members_of_response(rater, spec.votes)};
}

int group_size(const RunSpec& spec) { return spec.learn.rollouts * members_of_response(spec.rater, spec.votes); }

}  // namespace odrpo
