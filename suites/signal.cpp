// Redraws of a batch; none of it changes the state of training: the batch itself is put back.
#include "suites/signal.hpp"

#include <tuple>

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
    const Draws draws = Draws::replicas(r);
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
  return signal_of(sum.data(), exact.data(), static_cast<int>(size), squares, replicas);
}

}  // namespace odrpo
