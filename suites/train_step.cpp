// The stages of a training step.
#include "suites/train_step.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/clock.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

// Shuffles the prompts of an epoch: Fisher-Yates, place i drawn by word i of the epoch's order.
void shuffle(const Problem& problem, TrainState& s, std::uint32_t epoch) {
  const std::uint32_t n = static_cast<std::uint32_t>(s.order.size()), nobody = 0;
  problem.random->fill(s.order_word.data(), problem.spec->run_key, Purpose::order, epoch, &nobody, 1, 0,
                       static_cast<int>(s.order_word.size() / 4));
  std::iota(s.order.begin(), s.order.end(), 0u);
  for (std::uint32_t i = 0; i + 1 < n; ++i) std::swap(s.order[i], s.order[i + uniform_below(s.order_word[i], n - i)]);
}

}  // namespace

TrainState make_state(const Problem& problem) {
  const RunSpec& spec = *problem.spec;
  const BanditWorld& w = *problem.world;
  const LearnConfig& learn = spec.learn;
  const std::size_t batch = learn.batch, rollouts = batch * learn.rollouts;
  const PolicyShape shape{
      w.prompts, w.actions, w.width, learn.batch, learn.rollouts, w.features, w.feature.empty() ? nullptr : w.feature.data()};
  TrainState s{SoftmaxPolicy(spec.policy.kind, shape, learn.optimizer, learn.steps * learn.epochs, problem.isa, learn.epochs),
               BatchEstimator(spec.estimator, w.levels, learn.rollouts)};
  if (s.estimator.needs_median())
    s.median.emplace(RunningRule{spec.estimator.running, MedianRule::lower, spec.estimator.window, spec.estimator.rho},
                     first_median(w.levels));
  s.order.resize(w.prompts);
  s.order_word.resize((static_cast<std::size_t>(w.prompts) + 3) / 4 * 4);
  s.prompt.resize(batch);
  s.word.resize(batch * problem.action_blocks * 4);
  if (spec.rater.sampling == Sampling::draws) s.vote_word.resize(static_cast<std::size_t>(learn.rollouts) * ((spec.votes + 3) / 4) * 4);
  s.action.resize(rollouts);
  if (problem.rated->real) s.reward.resize(rollouts);
  else s.score.resize(rollouts);
  if (problem.rated->gaps || learn.dead_groups == DeadGroups::drop) s.kept.resize(rollouts);
  s.raw.resize(rollouts);
  s.advantage.resize(rollouts);
  return s;
}

void choose_prompts(const Problem& problem, TrainState& s, int t) {
  if (s.median) s.estimator.set_median(s.median->value());  // of earlier batches; redraws of this batch use it too
  // an epoch deals every prompt at most once; the rest that does not fill a batch is dropped
  const int batch = problem.spec->learn.batch, per_epoch = problem.world->prompts / batch;
  if (t % per_epoch == 0) shuffle(problem, s, static_cast<std::uint32_t>(t / per_epoch));
  const auto first = s.order.begin() + (t % per_epoch) * batch;
  std::copy(first, first + batch, s.prompt.begin());
}

void sample_responses(const Problem& problem, TrainState& s, int t, const Draws& draws) {
  problem.random->fill(s.word.data(), problem.spec->run_key, draws.action, static_cast<std::uint32_t>(t), s.prompt.data(),
                       problem.spec->learn.batch, draws.first_block * static_cast<std::uint32_t>(problem.action_blocks),
                       problem.action_blocks);
  s.policy.sample(s.word.data(), problem.action_blocks, s.action.data());
}

void rate_responses(const Problem& problem, TrainState& s, int t, const Draws& draws) {
  const RunSpec& spec = *problem.spec;
  const RateBatch batch{s.prompt.data(), s.action.data(), spec.learn.batch, spec.learn.rollouts, problem.world->width};
  const std::uint32_t step = static_cast<std::uint32_t>(t);
  const Seen seen{s.score.data(), s.reward.data()};
  if (problem.rated->sampling == Sampling::draws) {
    const std::uint32_t blocks = static_cast<std::uint32_t>(spec.learn.rollouts * ((spec.votes + 3) / 4));
    return problem.rate->by_draws(problem.rated->view(), batch, *problem.random, spec.run_key, draws.vote, step, draws.first_block * blocks,
                                  s.vote_word.data(), seen);
  }
  problem.random->fill(s.word.data(), spec.run_key, draws.rating, step, s.prompt.data(), spec.learn.batch,
                       draws.first_block * static_cast<std::uint32_t>(problem.action_blocks), problem.action_blocks);
  problem.rate->by_law(problem.rated->view(), batch, s.word.data(), problem.action_blocks, seen);
}

void estimate_advantages(const Problem& problem, TrainState& s) {
  const LearnConfig& learn = problem.spec->learn;
  if (problem.rated->real) s.estimator.real(s.reward.data(), learn.batch, s.raw.data());
  else if (problem.rated->gaps) s.estimator.with_gaps(*problem.estimator, s.score.data(), learn.batch, s.raw.data());
  else s.estimator(*problem.estimator, s.score.data(), learn.batch, s.raw.data());
  const std::uint8_t* kept = nullptr;
  if (!s.kept.empty()) {
    const bool drop = learn.dead_groups == DeadGroups::drop;
    with_rewards(s, [&](const auto& seen) { return mark_kept(seen.data(), learn.batch, learn.rollouts, drop, s.kept.data()); });
    kept = s.kept.data();
  }
  std::copy(s.raw.begin(), s.raw.end(), s.advantage.begin());
  if (problem.whitening.on) problem.estimator->whiten(problem.whitening, s.advantage.data(), kept, static_cast<int>(s.advantage.size()));
}

RolloutTerms rollout_terms(const Problem& problem, const TrainState& s, int epoch) {
  const LearnConfig& learn = problem.spec->learn;
  return {learn.kl, s.kept.empty() ? nullptr : s.kept.data(), epoch > 0, learn.ratio_clip};
}

void update_policy(const Problem& problem, TrainState& s, int t) {
  const int epochs = problem.spec->learn.epochs;
  if (epochs > 1) s.policy.remember(s.action.data());
  for (int e = 0; e < epochs; ++e) {
    if (e > 0) s.policy.forward(first_update(problem, t) + e, s.prompt.data());
    s.clipped += s.policy.gradient(s.action.data(), s.advantage.data(), rollout_terms(problem, s, e));
    s.policy.update();
  }
  s.updates += epochs;
}

void meet_batch(const Problem& problem, TrainState& s, int t) {
  LapClock clock(s.seconds);
  choose_prompts(problem, s, t);
  clock.lap(stage_prompts);
  s.policy.forward(first_update(problem, t), s.prompt.data());
  sample_responses(problem, s, t, training_draws);
  clock.lap(stage_policy);
  rate_responses(problem, s, t, training_draws);
  clock.lap(stage_rater);
  estimate_advantages(problem, s);
  if (s.median) with_rewards(s, [&](const auto& seen) { s.median->add_batch(seen); });
  clock.lap(stage_estimator);
}

void learn_from_batch(const Problem& problem, TrainState& s, int t) {
  LapClock clock(s.seconds);
  update_policy(problem, s, t);
  clock.lap(stage_update);
}

void train_step(const Problem& problem, TrainState& s, int t) {
  meet_batch(problem, s, t);
  learn_from_batch(problem, s, t);
}

}  // namespace odrpo
