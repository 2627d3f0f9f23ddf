// One call into each module of the installed library, so that the link needs all of them.
#include <cstdio>
#include <vector>

#include "envs/rater/vote.hpp"
#include "estimators/batch.hpp"
#include "kernels/random_batch.hpp"
#include "policies/softmax/policy.hpp"

using namespace odrpo;

int main() {
  const Isa isa = best_isa();
  const std::uint32_t prompt[] = {0, 1};
  std::uint32_t word[16];
  random_stages(isa).fill(word, 2026, Purpose::action, 0, prompt, 2, 0, 2);
  SoftmaxPolicy policy(PolicyKind::tabular, {2, 10, 32, 2, 8}, {}, 1, isa);
  std::uint16_t action[16];
  policy.forward(0, prompt);
  policy.sample(word, 2, action);
  BatchEstimator estimator(parse_estimator("odrpo-gini-median(grpo)").value(), 10, 8);
  const double pmf[10] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  double distribution[10];
  vote_distribution(pmf, 3, TieRule::lowest, distribution);
  std::vector<std::uint8_t> score(16);
  for (int i = 0; i < 16; ++i) score[i] = static_cast<std::uint8_t>(action[i] + 1);
  std::vector<float> advantage(16);
  estimator(estimator_stages(isa), score.data(), 2, advantage.data());
  policy.gradient(action, advantage.data(), {});
  policy.update();
  const std::vector<float> quality(64, 1.0f);
  // before any warm-up has ended a step is small: ln 10 = 2.3026 hardly moves
  std::printf("law %.4f entropy %.1f\n", distribution[0], policy.exact(quality.data()).entropy);
}
