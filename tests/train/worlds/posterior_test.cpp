// Training with posterior scores: whole steps against Bayes' rule in double, tables against single groups, and who shares what.
#include <cmath>
#include <random>

#include "config/spec.hpp"
#include "envs/bandit/believed.hpp"
#include "estimators/definition.hpp"
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/rounds.hpp"
#include "tests/train/trained.hpp"
#include "train/worlds/bandit.hpp"
#include "train/worlds/posterior_model.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

RunSpec random_run(std::mt19937& g) {
  const auto words = posterior_catalogue();
  RunSpec r = small_run(any(g, {PolicyKind::tabular, PolicyKind::linear}), std::string(words[g() % words.size()]));
  r.estimator.prior = any(g, {PriorRule::following, PriorRule::moments, PriorRule::fixed});
  r.estimator.keep = any(g, {0.95, 0.5, 0.0, 1.0});
  if (divides_by_deviation(r.estimator.form)) r.estimator.floor = any(g, {std::optional<double>(), std::optional(0.0), std::optional(0.3)});
  r.rater = rater_presets()[g() % 6].config;
  if (g() % 3 == 0) r.model = rater_presets()[g() % 6].config;
  r.votes = any(g, {1, 3});
  r.rater.aggregate = any(g, {Aggregate::mode, Aggregate::median, Aggregate::mean, Aggregate::expected});
  r.rater.parse_failure = any(g, {0.0, 0.3});
  r.rater.parse_policy = any(g, {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero});
  r.learn.steps = 5;
  r.learn.batch = any(g, {1, 8});
  r.learn.rollouts = leaves_pivot(r.estimator.form) ? any(g, {3, 9}) : any(g, {3, 8});
  r.learn.whiten = Whiten::none;
  r.learn.dead_groups = any(g, {DeadGroups::keep, DeadGroups::drop});
  r.learn.optimizer.lr = 0.5;
  r.run_key = derive_key(3, g());
  return r;
}

/// The prior of a run by the letter of docs/posterior.md.
struct Believed {
  const ScoreModel& model;
  Values prior;
  WorldMoments moments;

  explicit Believed(const ScoreModel& m, PriorRule rule) : model(m), prior(m.prompts.prior), moments(m.prompts.moments) {
    if (rule == PriorRule::moments) set_moments();
  }
  void set_moments() {
    const double t = model.prompts.log_spread_sd, middle = std::log(moments.square) / 2 - t * t;
    double total = 0;
    for (std::size_t c = 0; c < prior.size(); ++c) {
      const double b = (model.prompts.centre[c] - moments.mean) / std::sqrt(moments.variance), s = (model.prompts.log_spread[c] - middle) / t;
      total += prior[c] = std::exp(-(b * b + s * s) / 2);
    }
    for (double& p : prior) p /= total;
  }
  std::size_t cell(std::size_t c, int k) const { return c * static_cast<std::size_t>(model.scores) + static_cast<std::size_t>(k); }
  Values weights(const std::vector<int>& seen) const {
    Values w(prior.size());
    double highest = -1e300, total = 0;
    for (std::size_t c = 0; c < w.size(); ++c) {
      w[c] = prior[c] > 0 ? std::max(std::log(prior[c]), -700.0) : -700;
      for (const int k : seen) w[c] += std::max(std::log(model.likelihood[cell(c, k)]), -700.0);
      highest = std::max(highest, w[c]);
    }
    for (double& x : w) total += x = std::exp(x - highest);
    for (double& x : w) x /= total;
    return w;
  }
  /// E[mean of (q - mean q)^2 | group] less the variance of the values.
  double open(const Values& w, const std::vector<int>& seen) const {
    const double n = static_cast<double>(seen.size());
    double all = 0, mean_value = 0;
    for (const int k : seen) mean_value += mean(w, model.expected, k) / n;
    for (std::size_t c = 0; c < w.size(); ++c) {
      double own = 0, centre = 0, squares = 0;
      for (const int k : seen) {
        const double e = model.expected[cell(c, k)];
        own += model.variance[cell(c, k)] / n, centre += e / n, squares += e * e / n;
      }
      if (n > 0) all += w[c] * ((1 - 1 / n) * own + squares - centre * centre);
    }
    for (const int k : seen) all -= std::pow(mean(w, model.expected, k) - mean_value, 2) / n;
    return std::max(all, 0.0);
  }
  double mean(const Values& w, const Values& of, int k) const {
    double sum = 0;
    for (std::size_t c = 0; c < w.size(); ++c) sum += w[c] * of[cell(c, k)];
    return sum;
  }
};

double reward_at(const RewardBatch& b, std::size_t k) {
  if (b.kind.real) return static_cast<double>(b.reward[k]);
  return b.score[k] == no_score ? std::nan("") : b.score[k];
}

}  // namespace

TEST_CASE("steps with posterior scores are what Bayes' rule says, batch after batch", "[.slow]") {
  const unsigned seed = 23;
  CAPTURE(seed);
  std::mt19937 g(seed);
  int compared = 0, missing = 0;
  RunCache shared;
  for (int round = 0; round < rounds(25, 150); ++round) {
    const RunSpec spec = random_run(g);
    const int rollouts = spec.learn.rollouts;
    const bool in_float = spec.estimator.prior != PriorRule::fixed;
    INFO(round << ' ' << estimator_word(spec.estimator) << " prior " << static_cast<int>(spec.estimator.prior) << " aggregate "
               << static_cast<int>(spec.rater.aggregate) << " votes " << spec.votes);
    const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
    BanditRun s(problem);
    Believed believed(problem.posterior.model->model, spec.estimator.prior);
    for (int t = 0; t < spec.learn.steps; ++t) {
      train_step(s, t, {.update = false}, never);
      const RewardBatch& b = s.step.batch;
      Values state_sum(believed.prior.size());
      WorldMoments sums;
      for (int group = 0; group < spec.learn.batch; ++group) {
        std::vector<int> seen;
        Values value;
        bool equal = true;
        for (int i = 0; i < rollouts; ++i) {
          const double r = reward_at(b, static_cast<std::size_t>(group * rollouts + i));
          missing += std::isnan(r);
          if (!std::isnan(r)) seen.push_back(believed.model.number_of(r));
        }
        const Values w = believed.weights(seen);
        for (const int k : seen) value.push_back(believed.mean(w, believed.model.expected, k)), equal = equal && k == seen[0];
        if (!value.empty()) {
          const auto [low, high] = std::minmax_element(value.begin(), value.end());
          if (*high - *low < 1e-9) std::fill(value.begin(), value.end(), value[0]);
        }
        // mc-grpo asks which values equal the median, and others which is larger: rounding decides where those of two scores are as good as equal
        bool undecided = false;
        for (std::size_t i = 0; i < seen.size(); ++i)
          for (std::size_t j = 0; j < i; ++j) undecided = undecided || (seen[i] != seen[j] && std::fabs(value[i] - value[j]) < (in_float ? 1e-5 : 1e-12));
        undecided = undecided && (leaves_pivot(spec.estimator.form) || in_float);
        Values out(value.size());
        const double floor = floor_squared(spec.estimator, believed.open(w, seen));
        if (!value.empty()) advantages(form_of(spec.estimator), spec.env.bandit.levels, value, no_median, out, floor);
        for (int i = 0, next = 0; i < rollouts; ++i) {
          const std::size_t k = static_cast<std::size_t>(group * rollouts + i);
          const bool there = !std::isnan(reward_at(b, k));
          const double wanted = there ? out[static_cast<std::size_t>(next++)] : 0;
          // without a floor an error of a value counts up to 1,000 times: groups whose values are closer together are computed in double
          const double error = !in_float ? 1e-6 : spec.estimator.floor == 0 ? 2e-3 : 1e-4;
          if (!undecided) CHECK(static_cast<double>(b.raw[k]) == Approx(wanted).epsilon(error).margin(error));
          if (!b.mask.empty() && !leaves_pivot(spec.estimator.form))
            REQUIRE((b.mask[k] != 0) == (there && !(equal && spec.learn.dead_groups == DeadGroups::drop)));
          ++compared;
        }
        for (std::size_t c = 0; c < w.size(); ++c) state_sum[c] += w[c];
        if (spec.estimator.prior != PriorRule::moments) continue;
        double square = 0;
        for (const int k : seen) square += believed.mean(w, believed.model.square, k) / static_cast<double>(seen.size());
        sums.square += seen.empty() ? believed.moments.square : square;
        for (std::size_t c = 0; c < w.size(); ++c) {
          sums.mean += w[c] * believed.model.prompts.centre[c];
          sums.variance += w[c] * believed.model.prompts.centre[c] * believed.model.prompts.centre[c];
        }
      }
      const double keep = spec.estimator.keep, groups = spec.learn.batch;
      if (spec.estimator.prior == PriorRule::following)
        for (std::size_t c = 0; c < state_sum.size(); ++c)
          believed.prior[c] = keep * believed.prior[c] + (1 - keep) * state_sum[c] / groups;
      if (spec.estimator.prior == PriorRule::moments) {
        const double mean = sums.mean / groups;
        const auto towards = [&](double& old, double now) { old = keep * old + (1 - keep) * now; };
        towards(believed.moments.mean, mean);
        towards(believed.moments.variance, std::max(sums.variance / groups - mean * mean, 0.01));
        towards(believed.moments.square, std::max(sums.square / groups, 0.01));
        believed.set_moments();
      }
      s.update_policy(t, false);
    }
  }
  CHECK(compared > rounds(1000, 10000));
  CHECK(missing > rounds(10, 100));
}

TEST_CASE("advantages by histogram are those of single groups, bit by bit", "[unsanitized]") {
  for (const std::string_view word : posterior_catalogue()) {
    RunSpec spec = small_run(PolicyKind::tabular, std::string(word));
    if (leaves_pivot(spec.estimator.form)) continue;
    INFO(word);
    spec.estimator.prior = PriorRule::fixed;
    spec.learn.steps = 5000;  // enough groups for a table
    RunCache shared;
    const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
    REQUIRE(problem.posterior.advantages);
    RewardBatch looked_up = make_rewards(spec, *problem.advantages, problem.posterior);
    PosteriorTables single = problem.posterior;
    single.advantages = nullptr;
    RewardBatch computed = make_rewards(spec, *problem.advantages, single);
    std::mt19937 g(7);
    for (int round = 0; round < 200; ++round) {
      for (std::size_t i = 0; i < computed.score.size(); ++i)
        looked_up.score[i] = computed.score[i] = static_cast<std::uint8_t>(1 + g() % (round % 2 ? 10 : 3));
      estimate_advantages(spec, estimator_stages(best_isa()), {}, looked_up, {});
      estimate_advantages(spec, estimator_stages(best_isa()), {}, computed, {});
      REQUIRE(looked_up.raw == computed.raw);
    }
  }
}

TEST_CASE("a prior that keeps everything is the world's prior with smaller spreads beside it") {
  RunSpec spec = small_run(PolicyKind::linear, "posterior(grpo)");
  spec.estimator.keep = 1;
  RunCache shared;
  const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
  BanditRun s(problem);
  const std::vector<std::uint8_t> score{1, 7, 8, 8, 7, 8, 9, 7};
  Values before(score.size()), after(score.size());
  double floor = 0;
  s.step.batch.posterior->values(score.data(), 1, before.data(), &floor);
  for (int t = 0; t < 20; ++t) train_step(s, t, {}, never);
  s.step.batch.posterior->begin_batch();
  s.step.batch.posterior->values(score.data(), 1, after.data(), &floor);
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(before[i] == Approx(after[i]).epsilon(1e-12));
}

TEST_CASE("posterior scores and the toy language model") {
  const Suite suite = loaded(R"toml([suite]
name = "toy"
[grid]
env = "toy-lm"
policy = "small"
estimator = ["posterior(grpo)", "fixed", "moments", "grpo"]
[estimator.fixed]
base = "posterior(maxrl)"
prior = "fixed"
model = "veto"
[estimator.moments]
base = "posterior(rloo)"
prior = "moments"
[policy.small]
base = "transformer"
warm_steps = 4
warm_batch = 4
[env.toy-lm]
vocabulary = 40
prompts = 8
response_tokens = 12
evaluated_prompts = 4
[learn]
steps = 6
batch = 4
[record]
every = 3
)toml");
  std::vector<double> kl;
  for (const RunSpec& spec : suite.runs) {
    INFO(spec.id);
    const RunRecord r = run(spec);
    CHECK(r.status == RunStatus::ok);
    kl.push_back(final_of(r, "final_kl"));
  }
  CHECK(kl[0] != kl[3]);
}

TEST_CASE("a model that is the run's own rater under another name changes nothing, and another judge does") {
  RunSpec spec = small_run(PolicyKind::tabular, "posterior(grpo)");
  const double own = final_of(run(spec), "final_quality");
  spec.model = spec.rater;
  CHECK(final_of(run(spec), "final_quality") == own);
  for (const RaterPreset& p : rater_presets())
    if (p.word == "s2") spec.model = p.config;
  CHECK(final_of(run(spec), "final_quality") != own);
}
