// Redraws of a batch; none of it changes the state of training: the batch itself is put back.
#include "suites/signal.hpp"

#include <cmath>
#include <tuple>

#include "kernels/math.hpp"

namespace odrpo {

GradientSignal gradient_signal(const Problem& problem, TrainState& s, int t) {
  const int replicas = problem.spec->record.gradient;
  const std::size_t size = s.policy.gradient_size();
  const auto batch = std::make_tuple(s.action, s.batch);
  std::vector<float> exact(size), g(size);
  std::vector<double> sum(size, 0.0);
  s.policy.exact_gradient(problem.world->quality.data(), exact.data());
  double squares = 0;  // sum over redraws of |g|^2
  for (int r = 0; r < replicas; ++r) {
    const Draws draws{Purpose::replica_action, Purpose::replica_rating, Purpose::replica_vote, static_cast<std::uint32_t>(r)};
    sample_responses(problem, s, t, draws);
    rate_responses(problem, s, t, draws);
    estimate_advantages(problem, s);
    s.policy.gradient(s.action.data(), s.batch.advantage.data(), rollout_terms(problem, s, 0), g.data());
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] += g[i];
      squares += static_cast<double>(g[i]) * g[i];
    }
  }
  std::tie(s.action, s.batch) = batch;
  double along = 0, of_mean = 0, of_exact = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double mean = sum[i] / replicas;
    along += mean * exact[i];
    of_mean += mean * mean;
    of_exact += static_cast<double>(exact[i]) * exact[i];
  }
  GradientSignal signal{std::nan(""), std::nan("")};
  if (of_mean > 0 && of_exact > 0) signal.cosine = along / (math::sqrt(of_mean) * math::sqrt(of_exact));
  if (replicas > 1) {
    // trace of the covariance; |mean|^2 of n redraws is too large by trace / n
    const double trace = (squares - replicas * of_mean) / (replicas - 1);
    if (trace > 0) signal.snr = (of_mean - trace / replicas) / trace;
  }
  return signal;
}

}  // namespace odrpo
