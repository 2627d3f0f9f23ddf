// The stages of a training step.
#include "suites/train_step.hpp"

#include "kernels/clock.hpp"

namespace odrpo {
TrainState make_state(const Problem& problem) {
  const RunSpec& spec = *problem.spec;
  const BanditWorld& w = *problem.world;
  const LearnConfig& learn = spec.learn;
  const std::size_t batch = learn.batch, rollouts = batch * learn.rollouts;
  const PolicyShape shape{
      w.prompts, w.actions, w.width, learn.batch, learn.rollouts, w.features, w.feature.empty() ? nullptr : w.feature.data()};
  TrainState s{SoftmaxPolicy(spec.policy.kind, shape, learn.optimizer, learn.steps * learn.epochs, problem.isa, learn.epochs),
               PromptOrder(w.prompts, learn.batch), make_rewards(spec, *problem.advantages)};
  s.prompt.resize(batch);
  s.word.resize(batch * problem.action_blocks * 4);
  if (spec.rater.sampling == Sampling::draws) s.vote_word.resize(static_cast<std::size_t>(learn.rollouts) * ((spec.votes + 3) / 4) * 4);
  s.action.resize(rollouts);
  return s;
}

void choose_prompts(const Problem& problem, TrainState& s, int t) {
  begin_batch(s.batch);
  s.order.choose(*problem.random, problem.spec->run_key, t, s.prompt.data());
}

void sample_responses(const Problem& problem, TrainState& s, int t, const Draws& draws) {
  problem.random->fill(s.word.data(), problem.spec->run_key, draws.action, static_cast<std::uint32_t>(t), s.prompt.data(),
                       problem.spec->learn.batch, draws.replica * static_cast<std::uint32_t>(problem.action_blocks), problem.action_blocks);
  s.policy.sample(s.word.data(), problem.action_blocks, s.action.data());
}

void rate_responses(const Problem& problem, TrainState& s, int t, const Draws& draws) {
  const RunSpec& spec = *problem.spec;
  const RateBatch batch{s.prompt.data(), s.action.data(), spec.learn.batch, spec.learn.rollouts, problem.world->width};
  const std::uint32_t step = static_cast<std::uint32_t>(t);
  const Seen seen{s.batch.score.data(), s.batch.reward.data()};
  if (problem.rated->sampling == Sampling::draws) {
    const std::uint32_t blocks = static_cast<std::uint32_t>(spec.learn.rollouts * ((spec.votes + 3) / 4));
    return problem.rate->by_draws(problem.rated->view(), batch, *problem.random, spec.run_key, draws.vote, step, draws.replica * blocks,
                                  s.vote_word.data(), seen);
  }
  problem.random->fill(s.word.data(), spec.run_key, draws.rating, step, s.prompt.data(), spec.learn.batch,
                       draws.replica * static_cast<std::uint32_t>(problem.action_blocks), problem.action_blocks);
  problem.rate->by_law(problem.rated->view(), batch, s.word.data(), problem.action_blocks, seen);
}

void estimate_advantages(const Problem& problem, TrainState& s) {
  estimate_advantages(*problem.spec, *problem.estimator, problem.whitening, s.batch);
}

RolloutTerms rollout_terms(const Problem& problem, const TrainState& s, int epoch) {
  const LearnConfig& learn = problem.spec->learn;
  return {learn.kl, s.batch.kept_or_null(), epoch > 0, learn.ratio_clip};
}

void update_policy(const Problem& problem, TrainState& s, int t) {
  const int epochs = problem.spec->learn.epochs;
  if (epochs > 1) s.policy.remember(s.action.data());
  for (int e = 0; e < epochs; ++e) {
    if (e > 0) s.policy.forward(first_update(problem, t) + e, s.prompt.data());
    s.clipped += s.policy.gradient(s.action.data(), s.batch.advantage.data(), rollout_terms(problem, s, e));
    s.policy.update();
  }
  s.updates += epochs;
}

void meet_batch(const Problem& problem, TrainState& s, int t) {
  LapClock clock(s.seconds);
  choose_prompts(problem, s, t);
  clock.lap(stage_prompts);
  s.policy.forward(first_update(problem, t), s.prompt.data());
  sample_responses(problem, s, t, Draws::training());
  clock.lap(stage_policy);
  rate_responses(problem, s, t, Draws::training());
  clock.lap(stage_rater);
  estimate_advantages(problem, s);
  end_batch(s.batch);
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
