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
  double along = 0, of_mean = 0, of_exact = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double mean = sum[i] / replicas;
    along += mean * exact[i];
    of_mean += mean * mean;
    of_exact += static_cast<double>(exact[i]) * exact[i];
  }
  return signal_of(along, of_mean, of_exact, squares, replicas);
}

}  // namespace odrpo
