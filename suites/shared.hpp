// Worlds, laws and rated worlds that runs share, made on demand; and the problem of one run: its spec with everything const made from it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "envs/bandit.hpp"
#include "envs/channel.hpp"
#include "envs/rate.hpp"
#include "estimators/batch.hpp"
#include "kernels/random_batch.hpp"
#include "policies/softmax_policy.hpp"
#include "suites/train.hpp"

namespace odrpo {

/// Everything a run decides or is given; const while it trains.
struct Problem {
  const RunSpec* spec;
  Isa isa;
  std::shared_ptr<const BanditWorld> world;
  std::shared_ptr<const RatedWorld> rated;
  const RandomStages* random;
  const RateStages* rate;
  const EstimatorStages* estimator;
  std::shared_ptr<const BatchEstimator> advantages;  ///< shares its tables with the other runs of this estimator
  Whitening whitening;                               ///< of a batch's advantages
  int action_blocks;                                 ///< blocks of 4 words that hold one word for every rollout of a prompt
};

/// Weights after the supervised steps of a transformer, which all runs of one seed, world and model share.
struct WarmStart {
  std::vector<float> weights;  ///< empty without supervised steps
  std::size_t bytes() const { return weights.size() * sizeof(float); }
};
std::shared_ptr<const WarmStart> shared_warm_start(Shared& shared, const std::string& key,
                                                   const std::function<std::shared_ptr<const WarmStart>()>& make);

/// The run's estimator. Runs of one estimator share its tables by histogram, which are made once they have enough groups between them:
/// `look_up` false = this run has no use for them.
std::shared_ptr<const BatchEstimator> shared_estimator(Shared& shared, const RunSpec& spec, Isa isa, bool look_up = true);

/// Looks the world and the rater's rows up in `shared`, or makes them. Nothing when `stop` was set meanwhile.
std::optional<Problem> make_problem(const RunSpec& spec, Shared& shared, Isa isa, const std::atomic<bool>& stop, bool look_up = true);
std::optional<Problem> make_problem(RunSpec&&, Shared&, Isa, const std::atomic<bool>&, bool = true) = delete;  // it points to its spec

}  // namespace odrpo
