// Whole steps against their definition in double: what random runs make of their scores, whitening, mask, ratio, clip and update.
#include <cmath>
#include <limits>
#include <random>

#include "config/spec.hpp"
#include "estimators/batch_forms.hpp"
#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"
#include "tests/policies/softmax/dense.hpp"
#include "tests/train/trained.hpp"
#include "train/worlds/bandit.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

RunSpec random_run(std::mt19937& g) {
  RunSpec r = small_run(any(g, {PolicyKind::tabular, PolicyKind::linear}));
  do {
    r.estimator = *parse_estimator(any(g, {"reinforce", "rloo", "grpo", "rank-grpo", "maxrl", "convex-reinforce", "odrpo(grpo)",
                                           "odrpo-linear(maxrl)", "odrpo-gini(grpo)", "odrpo-gini-median(maxrl)", "odrpo(maxrl)",
                                           "max-at-k", "max-at-k-centred", "mc-grpo", "gopo", "arena", "dgae", "qae", "grpo-passk", "corpo", "corpo", "bnpo", "shrunk", "odrpo-bitwise(grpo)", "odrpo-bitwise(maxrl)"}));
    r.estimator.compat = compat_words[g() % std::size(compat_words)].value;
    if (r.estimator.form == Form::odrpo) r.estimator.median = any(g, {MedianRule::lower, MedianRule::mid, MedianRule::upper});
    if (r.estimator.form == Form::maxrl) r.estimator.origin = any(g, {0, 1});
    if (reads_key(r.estimator.form, FormKeys::ddof) && r.estimator.compat == Compat::paper) r.estimator.ddof = any(g, {0, 1});
  } while (compat_refusal(r.estimator));
  if (r.estimator.form == Form::corpo) r.estimator.r_min = any(g, {1.0, 4.5, 7.0});
  const Basis basis = row_of(r.estimator.form).basis;
  if (g() % 3 == 0 && (basis == Basis::reward || basis == Basis::level)) {
    double value = 0;
    for (int k = 0; k < r.env.bandit.levels; ++k) r.estimator.values.push_back(value += 0.25 + static_cast<double>(g() % 32) / 8);
  }
  r.votes = any(g, {1, 3});
  r.rater.aggregate = any(g, {Aggregate::mode, Aggregate::median, Aggregate::mean, Aggregate::expected});
  if (basis == Basis::bit) r.rater.aggregate = any(g, {Aggregate::mode, Aggregate::median});
  r.rater.parse_failure = any(g, {0.0, 0.3});
  r.rater.parse_policy = any(g, {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero});
  r.learn.steps = 4;
  r.learn.batch = any(g, {1, 8, 24});
  r.learn.rollouts = any(g, {2, 3, 8, 13});
  if (leaves_pivot(r.estimator.form)) r.learn.rollouts = any(g, {3, 13});
  r.learn.kl = any(g, {0.0, 0.05});
  r.learn.whiten = any(g, {Whiten::none, Whiten::response, Whiten::token, Whiten::scale, Whiten::compat});
  r.learn.whiten_ddof = any(g, {0, 1});
  r.learn.whiten_eps = any(g, {0.0, 0.5});
  r.learn.dead_groups = any(g, {DeadGroups::keep, DeadGroups::drop, DeadGroups::resample});
  if (r.learn.dead_groups == DeadGroups::resample) r.env.bandit.prompts = 12 * r.learn.batch, r.learn.max_batches = 12;
  r.learn.epochs = any(g, {1, 3});
  r.learn.ratio_clip = any(g, {0.0, 0.1});
  r.learn.optimizer.kind = any(g, {OptimizerKind::adam, OptimizerKind::sgd});
  r.learn.optimizer.lr = r.learn.optimizer.kind == OptimizerKind::sgd ? 0.5 : 0.05;
  r.learn.optimizer.schedule = any(g, {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine});
  r.learn.optimizer.eps = 1e-5;  // a gradient that is zero but for rounding must not become a step
  r.learn.optimizer.clip = any(g, {0.0, 0.05});
  r.learn.optimizer.weight_decay = any(g, {0.0, 0.1});
  r.run_key = derive_key(3, g());
  return r;
}

/// The reward of rollout k; NaN for none.
double seen_reward(const RewardBatch& b, std::size_t k) {
  if (b.kind.real) return static_cast<double>(b.reward[k]);
  return b.score[k] == no_score ? std::nan("") : b.score[k];
}

/// The batch's advantages before whitening, and who takes part.
struct ByDefinition {
  Values raw;
  std::vector<std::uint8_t> mask;
};
ByDefinition advantages_of(const RunSpec& spec, const RewardBatch& b) {
  ByDefinition d;
  const int rollouts = spec.learn.rollouts;
  const bool whole = row_of(spec.estimator.form).reads == Reads::batch;
  Values all, of_batch(b.raw.size());
  for (std::size_t k = 0; k < b.raw.size(); ++k) all.push_back(seen_reward(b, k));
  if (whole) batch_advantages(spec.estimator, spec.env.bandit.levels, rollouts, all, {}, of_batch);
  for (int group = 0; group < spec.learn.batch; ++group) {
    Values there;
    for (int i = 0; i < rollouts; ++i)
      if (const double r = seen_reward(b, static_cast<std::size_t>(group * rollouts + i)); !std::isnan(r)) there.push_back(r);
    Values out(there.size());
    if (!whole) advantages(spec.estimator, spec.env.bandit.levels, there, no_median, out);
    const bool equal = std::adjacent_find(there.begin(), there.end(), std::not_equal_to<>()) == there.end();
    const bool dead = equal && (spec.estimator.form != Form::shrunk || there.empty()) && (spec.estimator.form != Form::corpo || std::all_of(out.begin(), out.end(), [](double a) { return a == 0; }));
    bool pivot = leaves_pivot(spec.estimator.form);  // is still to come
    for (int i = 0, next = 0; i < rollouts; ++i) {
      const bool missing = std::isnan(seen_reward(b, static_cast<std::size_t>(group * rollouts + i)));
      const bool leaves = pivot && !missing && there[static_cast<std::size_t>(next)] == group_median(there, MedianRule::lower);
      if (leaves) pivot = false;
      d.raw.push_back(missing ? 0 : whole ? of_batch[static_cast<std::size_t>(group * rollouts + i)] : out[static_cast<std::size_t>(next++)]);
      d.mask.push_back(!missing && !leaves && !(dead && spec.learn.dead_groups == DeadGroups::drop));
    }
  }
  return d;
}

/// What a run's batch is divided by, as docs/reference/estimators.md has it.
struct Scale {
  bool on;
  int ddof;
  double added, inside, least;
};
Scale scale_of(const RunSpec& spec) {
  constexpr Scale off{false, 0, 0, 0, 0};
  const bool levels = has_norm(spec.estimator.form);
  switch (spec.learn.whiten) {
    case Whiten::none: return off;
    case Whiten::response:
    case Whiten::scale:
    case Whiten::token: return {true, spec.learn.whiten_ddof, spec.learn.whiten_eps, 0, 0};
    case Whiten::compat: break;
  }
  switch (spec.estimator.compat) {
    case Compat::paper: return spec.estimator.form == Form::mc_grpo || spec.estimator.form == Form::corpo || row_of(spec.estimator.form).reads == Reads::batch ? off : Scale{true, 0, 0, 0, 0};
    case Compat::verl: return levels || spec.estimator.form == Form::reinforce ? Scale{true, 1, 0, 1e-8, 0} : off;
    case Compat::trl: return levels ? Scale{true, 1, 1e-4, 0, 0} : off;
    case Compat::nemo: return levels ? Scale{true, 1, 0, 0, 0} : spec.estimator.form == Form::reinforce ? Scale{true, 0, 0, 0, 1e-8} : off;
    case Compat::gdpo: return {true, 1, 1e-4, 0, 0};
    case Compat::relax: return levels ? Scale{true, 1, 1e-4, 0, 0} : spec.estimator.form == Form::reinforce ? Scale{true, 0, 0, 0, 1e-8} : off;
    default: return off;
  }
}

Values whitened(const RunSpec& spec, const ByDefinition& d) {
  const Scale scale = scale_of(spec);
  double count = 0, sum = 0, squares = 0, low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t k = 0; k < d.raw.size(); ++k)
    if (d.mask[k]) count += 1, sum += d.raw[k], low = std::min(low, d.raw[k]), high = std::max(high, d.raw[k]);
  for (std::size_t k = 0; k < d.raw.size(); ++k)
    if (d.mask[k]) squares += (d.raw[k] - sum / count) * (d.raw[k] - sum / count);
  const double variance = squares / (count - scale.ddof), below = std::sqrt(std::max(variance + scale.inside, scale.least)) + scale.added;
  Values out(d.raw.size());
  for (std::size_t k = 0; k < d.raw.size(); ++k) {
    if (!d.mask[k]) continue;
    out[k] = !scale.on ? d.raw[k] : low == high ? 0.0 : (d.raw[k] - (spec.learn.whiten == Whiten::scale ? 0.0 : sum / count)) / below;
  }
  return out;
}

double worst(const std::vector<float>& got, const Values& wanted, const std::vector<std::uint8_t>& mask = {}) {
  double most = 0, size = 1e-3;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!mask.empty() && !mask[k]) continue;  // what stands there is not used
    most = std::max(most, std::fabs(static_cast<double>(got[k]) - wanted[k]));
    size = std::max(size, std::fabs(wanted[k]));
  }
  return most / size;
}

/// Mean quality of the policy over the world's prompts, and its KL from uniform.
std::pair<double, double> means_of(const Dense& dense, const BanditWorld& w) {
  double quality = 0, kl = 0;
  for (int p = 0; p < w.prompts; ++p) {
    const Values pi = dense.probabilities(p);
    for (int a = 0; a < w.actions; ++a) {
      quality += pi[a] * static_cast<double>(w.quality[static_cast<std::size_t>(p) * w.width + a]) / w.prompts;
      if (pi[a] > 0) kl += pi[a] * std::log(pi[a] * w.actions) / w.prompts;
    }
  }
  return {quality, kl};
}

/// Is some ratio so near the clip that the rounding of floats may decide on which side it lies?
bool at_the_clip(const Dense& dense, const BanditRun& s, double clip) {
  for (std::size_t k = 0; k < s.action.size(); ++k) {
    const Values pi = dense.probabilities(static_cast<int>(s.step.prompt[k / static_cast<std::size_t>(dense.shape.rollouts)]));
    if (std::fabs(std::fabs(pi[s.action[k]] / dense.old[k] - 1) - clip) < 1e-5) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("steps of random runs are what their definitions say, from the scores to the policy") {
  const unsigned seed = 17;
  CAPTURE(seed);
  std::mt19937 g(seed);
  int dropped = 0, clipped = 0, moved = 0, undecided = 0;
  for (int round = 0; round < 420; ++round) {
    const RunSpec spec = random_run(g);
    const LearnConfig& learn = spec.learn;
    INFO(round << ' ' << estimator_formula(spec.estimator) << " whiten " << static_cast<int>(learn.whiten) << " epochs " << learn.epochs);
    RunCache shared;
    const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
    const BanditWorld& w = *problem.world;
    BanditRun s(problem);
    const PolicyShape shape{
        w.prompts, w.actions, w.width, learn.batch, learn.rollouts, w.features, w.feature.empty() ? nullptr : w.feature.data()};
    Dense dense(spec.policy.kind, shape, learn.optimizer, learn.steps * learn.epochs);
    for (int t = 0; t < learn.steps; ++t) {
      train_step(s, t, {.update = false}, never);
      const ByDefinition d = advantages_of(spec, s.step.batch);
      CHECK(worst(s.step.batch.raw, d.raw) < 2e-5);
      CHECK(worst(s.step.batch.advantage, whitened(spec, d), d.mask) < 5e-5);
      const auto mask = [&](std::size_t k) { return s.step.batch.mask.empty() || s.step.batch.mask[k] != 0; };
      for (std::size_t k = 0; k < d.mask.size(); ++k) {
        REQUIRE(mask(k) == (d.mask[k] != 0));
        dropped += !mask(k);
      }
      // the update, from the advantages that were just found right
      dense.remember(s.step.prompt, s.action);
      double share = 0;
      // a reward divided by 1e-6 drowns the others in sums of floats
      bool close = std::any_of(s.step.batch.advantage.begin(), s.step.batch.advantage.end(), [](float a) { return std::fabs(a) > 1e4f; });
      for (int e = 0; e < learn.epochs; ++e) {
        close = close || (e > 0 && learn.ratio_clip > 0 && at_the_clip(dense, s, learn.ratio_clip));
        share += dense.gradient(s.step.prompt, s.action, s.step.batch.advantage, {learn.kl, d.mask.data(), e > 0, learn.ratio_clip});
        dense.update(t * learn.epochs + e);
      }
      undecided += close;
      if (close) break;
      s.step.clipped = 0;
      s.update_policy(t, false);
      CHECK(s.step.clipped == Approx(share).margin(1e-9));
      clipped += share > 0;
      const ExactMeans now = s.policy.exact(w.quality.data());
      const auto [quality, kl] = means_of(dense, w);
      CHECK(static_cast<double>(now.quality) == Approx(quality).margin(2e-4));
      CHECK(static_cast<double>(now.kl) == Approx(kl).margin(2e-4));
      moved += kl > 1e-3;
    }
  }
  CHECK(dropped > 1000);
  CHECK(clipped > 50);
  CHECK(moved > 700);
  CHECK(undecided < 20);
}
