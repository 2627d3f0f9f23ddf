// Implements the stages, records and state of a run in the bandit.
#include "train/worlds/bandit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "kernels/math.hpp"
#include "policies/softmax/policy.hpp"
#include "train/run_record.hpp"
#include "train/worlds/posterior_model.hpp"
#include "train/worlds/rollout_world.hpp"

namespace odrpo {
namespace {

PolicyShape policy_shape(const RunSpec& spec, const BanditWorld& w) {
  return {w.prompts, w.actions, w.width, spec.learn.batch, spec.learn.rollouts, w.features, w.feature.empty() ? nullptr : w.feature.data(), !resamples(spec)};
}

}  // namespace

std::optional<BanditProblem> make_bandit_problem(const RunSpec& spec, RunCache& cache, Isa isa, const std::atomic<bool>& stop,
                                                 bool look_up) {
  const bool features = spec.policy.kind == PolicyKind::linear;
  const int distribution_votes = spec.rater.sampling == Sampling::law ? spec.votes : 1;
  const std::string quality_key = fmt::format("{} {} {}", spec.run_key, canonical_fields(spec.env), source_text(spec));  // with features or without
  const std::string world_key = fmt::format("{} {}", quality_key, features);
  const std::string rater_key =
      fmt::format("{} levels {} votes {}", canonical_fields(without_cost(spec.rater)), spec.env.bandit.levels, distribution_votes);

  BanditProblem problem{};
  problem.spec = &spec;
  problem.isa = isa;
  problem.world = cache.world(world_key, [&]() -> std::shared_ptr<const BanditWorld> {
    WorldSource source = resolve_source(spec.env.bandit, spec.rater);
    if (spec.judge) {
      const auto fitted = cache.rollout_prior(rollout_prior_key(spec), [&] { return fit_rollout_prior(spec.env.bandit, *spec.judge); });
      source.drawn = draw_rollout_world(spec.env.bandit, *fitted, spec.run_key);
    }
    auto world = std::make_shared<const BanditWorld>(make_bandit(spec.env.bandit, source, spec.run_key, features, &stop));
    return stop ? nullptr : world;
  });
  if (!problem.world) return std::nullopt;
  if (features && spec.policy.tilt > 0)
    problem.fit = cache.fit(world_key, [&] {
      return std::make_shared<const LinearFit>(LinearFit{fit_linear(policy_shape(spec, *problem.world), problem.world->quality.data())});
    });
  const auto distributions = cache.distributions(rater_key, [&] { return std::make_shared<DistributionCache>(spec.rater, spec.env.bandit.levels, distribution_votes); });
  problem.rated = cache.rated(fmt::format("{} {} of {}", quality_key, rater_key, spec.votes), [&]() -> std::shared_ptr<const RatedWorld> {
    auto rated = rate_world(*problem.world, spec.rater, spec.votes, spec.run_key, *distributions, stop);
    return rated ? std::make_shared<const RatedWorld>(std::move(*rated)) : nullptr;
  });
  if (!problem.rated) return std::nullopt;
  problem.random = &random_stages(isa);
  problem.rate = &rate_stages(isa);
  problem.estimator = &estimator_stages(isa);
  problem.advantages = cache.estimator(spec, isa, look_up);
  problem.posterior = posterior_tables(spec, cache, *problem.advantages, isa, look_up);
  problem.outside = cache.outside(spec);
  problem.whitening = whitening_of(spec);
  problem.action_blocks = (spec.learn.rollouts + 3) / 4;
  return problem;
}

namespace {

SoftmaxPolicy make_policy(const BanditProblem& problem) {
  const PolicyConfig& config = problem.spec->policy;
  const LearnConfig& learn = problem.spec->learn;
  const PolicyShape shape = policy_shape(*problem.spec, *problem.world);
  SoftmaxPolicy policy(config.kind, shape, learn.optimizer, learn.steps * learn.epochs, problem.isa, learn.epochs);
  const std::span<const double> fit = problem.fit ? problem.fit->theta : std::span<const double>();
  if (config.tilt > 0) policy.start_at(tilted_parameters(config.kind, shape, problem.world->quality.data(), fit, config.tilt));
  return policy;
}

}  // namespace

BanditRun::BanditRun(const Problem& p)
    : problem(&p),
      policy(make_policy(p)),
      step{PromptOrder(p.world->prompts, p.spec->learn.batch), make_rewards(*p.spec, *p.advantages, p.posterior)} {
  const RunSpec& spec = *p.spec;
  const std::size_t batch = spec.learn.batch;
  step.batch.outside.program = p.outside, step.batch.outside.library = p.library;
  step.prompt.resize(batch);
  word.resize(batch * p.action_blocks * 4);
  if (spec.rater.sampling == Sampling::draws) vote_word.resize(static_cast<std::size_t>(spec.learn.rollouts) * ((spec.votes + 3) / 4) * 4);
  action.resize(batch * spec.learn.rollouts);
  if (spec.record.logits > 0) logits.resize(static_cast<std::size_t>(p.world->prompts) * p.world->width);
  if (!bills_by_judge(spec)) return;
  by_judge.assign(static_cast<std::size_t>(panel_size(spec.rater.noise)), 0.0);
  if (p.rated->stop > 0) turn_calls.resize(batch * p.rated->turns);
}

void BanditRun::choose_prompts(int t) {
  begin_batch(step.batch);
  step.batch.outside.step = t;
  begin_drawing(*problem->spec, step);
  draw_prompts(t);
}

bool BanditRun::draw_prompts(int t) {
  if (!next_prompts(*problem->spec, *problem->random, t, step)) return false;
  for (std::size_t b = 0; b < step.batch.first_judge.size(); ++b)
    step.batch.first_judge[b] = judge_in_turn(problem->spec->run_key, step.prompt[b], 0, panel_size(problem->spec->rater.noise));
  return true;
}

void BanditRun::sample_rollouts(int t) {
  if (resamples(*problem->spec) && t < problem->spec->learn.steps) policy.look_at(step.prompt.data());
  else policy.forward(first_update(t), step.prompt.data());
  draw_actions(t, Draws::training());
}

bool BanditRun::score_rollouts(int t, const std::atomic<bool>&) {
  const double made = draw_scores(t, Draws::training());
  const RatedWorld& rated = *problem->rated;
  if (t == problem->spec->learn.steps) return true;  // the batch of the last record: its calls do not count
  if (rated.stop > 0) calls_so_far += rated.calls.empty() ? made : expected_calls();
  if (!by_judge.empty()) count_by_judge();
  return true;
}

void BanditRun::count_by_judge() {
  const RunSpec& spec = *problem->spec;
  const int judges = static_cast<int>(by_judge.size()), turns = std::min(judges, spec.votes);
  for (std::size_t b = 0; b < step.prompt.size(); ++b)
    for (int turn = 0; turn < turns; ++turn) {
      const double all = static_cast<double>(spec.learn.rollouts) * calls_of_turn(spec.votes, turn, turns);
      by_judge[static_cast<std::size_t>(judge_in_turn(spec.run_key, step.prompt[b], turn, judges))] +=
          turn_calls.empty() ? all : turn_calls[b * turns + turn];
    }
}

void BanditRun::estimate_advantages() {
  odrpo::estimate_advantages(*problem->spec, *problem->estimator, problem->whitening, step.batch, step.prompt);
  end_batch(step.batch);
}

void BanditRun::draw_actions(int t, const Draws& draws) {
  problem->random->fill(word.data(), problem->spec->run_key, draws.action, static_cast<std::uint32_t>(t), step.prompt.data(),
                        problem->spec->learn.batch, draws.replica * static_cast<std::uint32_t>(problem->action_blocks),
                        problem->action_blocks);
  policy.sample(word.data(), problem->action_blocks, action.data());
}

double BanditRun::draw_scores(int t, const Draws& draws) {
  const RunSpec& spec = *problem->spec;
  const RateBatch batch{step.prompt.data(), action.data(), spec.learn.batch, spec.learn.rollouts, problem->world->width};
  const std::uint32_t at = static_cast<std::uint32_t>(t);
  const Seen seen{step.batch.score.data(), step.batch.reward.data(), turn_calls.empty() ? nullptr : turn_calls.data()};
  if (problem->rated->sampling == Sampling::draws) {
    const std::uint32_t blocks = static_cast<std::uint32_t>(spec.learn.rollouts * ((spec.votes + 3) / 4));
    return problem->rate->by_draws(problem->rated->view(), batch, *problem->random, spec.run_key, draws.vote, at, draws.replica * blocks,
                                   vote_word.data(), seen);
  }
  problem->random->fill(word.data(), spec.run_key, draws.rating, at, step.prompt.data(), spec.learn.batch,
                        draws.replica * static_cast<std::uint32_t>(problem->action_blocks), problem->action_blocks);
  problem->rate->by_distribution(problem->rated->view(), batch, word.data(), problem->action_blocks, seen);
  return 0;
}

double BanditRun::expected_calls() const {
  double calls = 0;
  for (std::size_t i = 0; i < action.size(); ++i) {
    const std::size_t prompt = step.prompt[i / problem->spec->learn.rollouts];
    calls += problem->rated->calls_of(prompt * problem->world->width + action[i]);
  }
  return calls;
}

RolloutTerms BanditRun::rollout_terms(int epoch) const {
  const LearnConfig& learn = problem->spec->learn;
  return {learn.kl, step.batch.mask_or_null(), epoch > 0, learn.ratio_clip};
}

void BanditRun::update_policy(int t, bool) {
  const int epochs = problem->spec->learn.epochs;
  if (epochs > 1) policy.remember(action.data());
  for (int e = 0; e < epochs; ++e) {
    if (e > 0) policy.forward(first_update(t) + e, step.prompt.data());
    step.clipped += policy.gradient(action.data(), step.batch.advantage.data(), rollout_terms(e));
    policy.update();
  }
  step.updates += epochs;
}

void BanditRun::measure_gradient(int t) {
  if (problem->spec->record.gradient > 0) gradient = gradient_quality(*this, t);
}

void BanditRun::record_policy(RunRecord& r) {
  const ExactMeans now = policy.exact(problem->world->quality.data());
  add_value(r, *problem->spec, CurveId::quality, now.quality);
  add_value(r, *problem->spec, CurveId::kl, now.kl);
  add_value(r, *problem->spec, CurveId::entropy, now.entropy);
  finite = std::isfinite(now.quality);
  if (problem->spec->record.logits > 0 && r.step.back() == problem->spec->learn.steps) logits = policy.exact_logits();  // before the last batch moves on
}

void BanditRun::add_final_values(RunRecord& r) const {
  if (problem->spec->record.logits == 0) return;
  const int actions = problem->world->actions, prompts = problem->world->prompts;
  const std::size_t width = static_cast<std::size_t>(problem->world->width);
  const std::vector<float> start = make_policy(*problem).exact_logits();
  // ln(p / (1 - p)) of an action: its logit less the log-sum-exp of the others'
  const auto log_odds = [actions](const float* logit, int chosen) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int a = 0; a < actions; ++a)
      if (a != chosen) most = std::max(most, static_cast<double>(logit[a]));
    for (int a = 0; a < actions; ++a)
      if (a != chosen) sum += math::exp(static_cast<double>(logit[a]) - most);
    return static_cast<double>(logit[chosen]) - most - math::log(sum);
  };
  std::vector<double> rise;
  for (std::size_t p = 0; p < static_cast<std::size_t>(prompts); ++p) {
    const float* before = &start[p * width];
    const int best = static_cast<int>(std::max_element(before, before + actions) - before);
    rise.push_back(log_odds(&logits[p * width], best) - log_odds(before, best));
  }
  double mean = 0, squares = 0;
  for (const double x : rise) mean += x / prompts;
  for (const double x : rise) squares += (x - mean) * (x - mean) / prompts;
  const std::vector<double>& entropy = curve_of(r, "entropy");
  r.finals.push_back({"logit_shift", mean});
  r.finals.push_back({"logit_spread", std::sqrt(squares)});
  r.finals.push_back({"entropy_collapse", entropy.back() < entropy.front() / 10 ? 1.0 : 0.0});
}

std::vector<double> BanditRun::levels_reached() {
  std::vector<float> thresholds;
  for (int k = 2; k <= problem->world->levels; ++k) thresholds.push_back(static_cast<float>(k) - 0.5f);
  return policy.exact_shares(problem->world->quality.data(), thresholds);
}

void BanditRun::record_batch(RunRecord& r) {
  add_value(r, *problem->spec, CurveId::gradient_cosine, gradient.cosine);
  add_value(r, *problem->spec, CurveId::gradient_snr, gradient.snr);
}

double BanditRun::batch_truth() const {
  double truth = 0;
  for (std::size_t i = 0; i < action.size(); ++i) truth += response(i).quality;
  return truth / static_cast<double>(action.size());
}

KeptResponse BanditRun::response(std::size_t i) const {
  const std::size_t row = step.prompt[i / problem->spec->learn.rollouts];
  return {.id = static_cast<double>(action[i]), .quality = problem->world->quality[row * problem->world->width + action[i]]};
}

double BanditRun::judge_calls() const {
  const RunSpec& spec = *problem->spec;
  if (problem->rated->stop > 0) return calls_so_far * calls_per_vote(spec.rater);
  return resamples(spec) ? step.rollouts * spec.votes * calls_per_vote(spec.rater) : bandit_judge_calls(spec);
}

GradientQuality gradient_quality(BanditRun& run, int t) {
  const BanditProblem& problem = *run.problem;
  RewardBatch& rewards = run.step.batch;
  const int replicas = problem.spec->record.gradient;
  const std::size_t size = run.policy.gradient_size();
  const auto batch = std::make_tuple(run.action, rewards);
  std::vector<float> exact(size), g(size);
  std::vector<double> sum(size, 0.0);
  run.policy.exact_gradient(problem.world->quality.data(), exact.data());
  double squares = 0;  // sum over redraws of |g|^2
  for (int r = 0; r < replicas; ++r) {
    const Draws draws = Draws::replicas(r);
    run.draw_actions(t, draws);
    run.draw_scores(t, draws);
    estimate_advantages(*problem.spec, *problem.estimator, problem.whitening, rewards, run.step.prompt);
    run.policy.gradient(run.action.data(), rewards.advantage.data(), run.rollout_terms(0), g.data());
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] += g[i];
      squares += static_cast<double>(g[i]) * g[i];
    }
  }
  std::tie(run.action, rewards) = batch;
  return quality_of(sum.data(), exact.data(), static_cast<int>(size), squares, replicas);
}

}  // namespace odrpo
