// aggregate = "fraction": what training makes of all votes of a prompt, against the formula with the shares f_ik of votes that reach k.
#include <cmath>
#include <random>

#include "config/spec.hpp"
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/train/trained.hpp"
#include "train/run_record.hpp"
#include "train/worlds/bandit.hpp"
#include "train/worlds/toy_lm.hpp"

using namespace odrpo;

namespace {

RunSpec fraction_run(const std::string& estimator, int votes) {
  RunSpec r = small_run(PolicyKind::tabular, estimator, votes);
  r.rater.aggregate = Aggregate::fraction;
  r.rater.sampling = sampling_of(r.rater, votes);
  return r;
}

RunSpec random_run(std::mt19937& g) {
  RunSpec r = fraction_run(any(g, {"odrpo(grpo)", "odrpo(maxrl)", "odrpo-linear(grpo)", "odrpo-gini(maxrl)", "odrpo-gini-median(grpo)",
                                   "odrpo-gini-median(maxrl)", "convex-reinforce"}),
                           any(g, {2, 3, 4, 8, 32}));
  if (r.estimator.form == Form::odrpo) {
    r.estimator.median = any(g, {MedianRule::lower, MedianRule::mid, MedianRule::upper});
    r.estimator.eps = any(g, {0.0, 0.1});
    r.estimator.compat = r.estimator.norm == Norm::grpo && r.estimator.eps == 0 ? any(g, {Compat::paper, Compat::trl}) : Compat::paper;
  }
  r.rater.parse_failure = any(g, {0.0, 0.3, 0.9});
  r.rater.parse_policy = any(g, {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero});
  r.learn.rollouts = any(g, {2, 3, 8, 13});
  r.learn.whiten = Whiten::none;
  r.learn.dead_groups = any(g, {DeadGroups::keep, DeadGroups::drop});
  r.run_key = derive_key(7, g());
  return r;
}

/// Of one group of responses with their readable votes: advantages, and is every vote equal?
struct Group {
  std::vector<double> advantage;
  bool dead = true;
  double dead_levels = 0;
};

/// A_i = sum over k of w_k (f_ik - mu_k) / (N_k + eps), literally.
Group by_formula(const EstimatorConfig& e, int levels, int lowest, const std::vector<std::vector<int>>& votes) {
  Group out{std::vector<double>(votes.size(), 0.0)};
  std::vector<int> all;
  for (const auto& of : votes) all.insert(all.end(), of.begin(), of.end());
  std::sort(all.begin(), all.end());
  const double n = static_cast<double>(all.size());
  if (all.empty()) return out.dead_levels = levels - lowest, out;
  out.dead = all.front() == all.back();
  const double lower = all[(all.size() - 1) / 2], upper = all[all.size() / 2];
  const double median = e.median == MedianRule::lower ? lower : e.median == MedianRule::upper ? upper : (lower + upper) / 2;
  const double ddof = e.compat == Compat::trl ? 1 : 0, eps = e.compat == Compat::trl ? 1e-4 : e.eps;
  for (int k = 1; k <= levels; ++k) {
    const auto share = [k](const std::vector<int>& of) {
      return static_cast<double>(std::count_if(of.begin(), of.end(), [k](int v) { return v >= k; })) / static_cast<double>(of.size());
    };
    const double mu = share(all), variance = mu * (1 - mu);
    if (mu == 0 || mu == 1) {
      out.dead_levels += k > lowest;
      continue;
    }
    double w = 1, norm = 1;
    if (e.form == Form::convex_reinforce) w = std::sqrt(k);
    else if (e.weight == Weight::linear) w = k;
    else if (e.weight == Weight::gini) w = std::sqrt(k) * (0.1 + 4 * variance);
    else if (e.weight == Weight::gini_median) w = std::sqrt(k) * (0.1 + 4 * variance * std::exp(-std::max(median - k, 0.0) / 2));
    if (e.form == Form::odrpo) norm = (e.norm == Norm::maxrl ? mu : std::sqrt(variance * n / (n - ddof))) + eps;
    for (std::size_t i = 0; i < votes.size(); ++i)
      if (!votes[i].empty()) out.advantage[i] += w * (share(votes[i]) - mu) / norm;
  }
  return out;
}

std::vector<int> readable(const RewardBatch& b, std::size_t i) {
  std::vector<int> votes;
  for (int v = 0; v < b.kind.votes; ++v)
    if (const int s = b.score[i * static_cast<std::size_t>(b.kind.votes) + static_cast<std::size_t>(v)]; s != no_score) votes.push_back(s);
  return votes;
}

void check_same_curves(const RunRecord& a, const RunRecord& b) {
  REQUIRE(a.status == RunStatus::ok);
  REQUIRE(a.curves.size() == b.curves.size());
  for (std::size_t c = 0; c < a.curves.size(); ++c) {
    INFO(a.curves[c].name);
    REQUIRE(a.curves[c].values.size() == b.curves[c].values.size());
    for (std::size_t i = 0; i < a.curves[c].values.size(); ++i) {
      const double x = a.curves[c].values[i], y = b.curves[c].values[i];
      CHECK((x == y || (std::isnan(x) && std::isnan(y))));
    }
  }
}

}  // namespace

TEST_CASE("fraction: advantages, masks and summaries of random runs are those of the shares of votes that reach a level") {
  const unsigned seed = 20261123;
  CAPTURE(seed);
  std::mt19937 g(seed);
  int masked = 0, large = 0, empty = 0, dead = 0, partial = 0;
  for (int round = 0; round < 300; ++round) {
    const RunSpec spec = random_run(g);
    INFO(round << " " << estimator_word(spec.estimator) << " N " << spec.votes << " G " << spec.learn.rollouts);
    RunCache shared;
    const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
    BanditRun s(problem);
    const RewardBatch& b = s.step.batch;
    REQUIRE((b.kind.votes == spec.votes && !b.kind.real));
    const int rollouts = spec.learn.rollouts, lowest = lowest_score(spec.rater);
    for (int t = 0; t < 3; ++t) {
      train_step(s, t, {.update = true}, never);
      double seen = 0, rated = 0, dead_groups = 0, dead_levels = 0;
      for (int group = 0; group < spec.learn.batch; ++group) {
        std::vector<std::vector<int>> votes;
        for (int i = 0; i < rollouts; ++i) votes.push_back(readable(b, static_cast<std::size_t>(group * rollouts + i)));
        const Group want = by_formula(spec.estimator, 10, lowest, votes);
        dead_groups += want.dead, dead_levels += want.dead_levels;
        for (int i = 0; i < rollouts; ++i) {
          const std::size_t at = static_cast<std::size_t>(group * rollouts + i);
          const auto& own = votes[static_cast<std::size_t>(i)];
          const double a = want.advantage[static_cast<std::size_t>(i)];
          CHECK(std::fabs(static_cast<double>(b.raw[at]) - a) < 2e-5 * std::max(1.0, std::fabs(a)) + 2e-5);
          const bool takes_part = !own.empty() && !(want.dead && spec.learn.dead_groups == DeadGroups::drop);
          CHECK((b.mask.empty() || b.mask[at] != 0) == takes_part);
          masked += !takes_part, empty += own.empty();
          partial += !own.empty() && static_cast<int>(own.size()) < spec.votes;
          if (own.empty()) continue;
          double sum = 0;
          for (const int v : own) sum += v;
          seen += sum / static_cast<double>(own.size()), rated += 1;
        }
      }
      const BatchSummary summary = summarise(spec, b);
      const double responses = static_cast<double>(spec.learn.batch) * rollouts;
      if (rated > 0) CHECK(summary.reward == Approx(seen / rated).epsilon(1e-12));
      else CHECK(std::isnan(summary.reward));
      CHECK(summary.missing == Approx(1 - rated / responses).margin(1e-12));
      CHECK(summary.dead.groups == Approx(dead_groups / spec.learn.batch).margin(1e-12));
      CHECK(summary.dead.levels == Approx(dead_levels / (spec.learn.batch * (10.0 - lowest))).margin(1e-12));
      dead += dead_groups > 0;
    }
    large += rollouts * spec.votes > most_rollouts;
  }
  CAPTURE(masked, large, empty, dead, partial);
  CHECK(masked > 100);
  CHECK(large > 20);
  CHECK(empty > 100);
  CHECK(dead > 10);
  CHECK(partial > 1000);
}

TEST_CASE("fraction: the votes are the literal calls of the other aggregates, of panels too") {
  for (const bool panel : {false, true})
    for (const auto& [policy, failure] : {std::pair{ParsePolicy::resample, 0.0}, {ParsePolicy::drop, 0.4}, {ParsePolicy::zero, 0.2}}) {
      RunSpec apart = fraction_run("odrpo(grpo)", 5);
      if (panel)
        for (const RaterPreset& preset : rater_presets())
          if (preset.word == "panel-dialogue") apart.rater = preset.config, apart.env.bandit.levels = rater_levels(preset.config);
      apart.rater.aggregate = Aggregate::fraction;
      apart.rater.parse_failure = failure, apart.rater.parse_policy = policy;
      apart.rater.sampling = sampling_of(apart.rater, apart.votes);
      RunSpec mean = apart;
      mean.rater.aggregate = Aggregate::mean;
      mean.rater.sampling = Sampling::draws;
      RunCache shared;
      const BanditProblem one = *make_bandit_problem(apart, shared, best_isa(), never);
      const BanditProblem two = *make_bandit_problem(mean, shared, best_isa(), never);
      BanditRun a(one), b(two);
      for (int t = 0; t < 20; ++t) {
        train_step(a, t, {.update = false}, never);
        train_step(b, t, {.update = false}, never);
        REQUIRE(a.action == b.action);
        for (std::size_t i = 0; i < a.action.size(); ++i) {
          const std::vector<int> votes = readable(a.step.batch, i);
          const float reward = b.step.batch.reward[i];
          if (votes.empty()) {
            CHECK(std::isnan(reward));
            continue;
          }
          int sum = 0;
          for (const int v : votes) sum += v;
          CHECK(reward == static_cast<float>(static_cast<double>(sum) / static_cast<double>(votes.size())));
        }
      }
    }
}

TEST_CASE("fraction: one vote is the score of one call, bit by bit") {
  for (const char* estimator : {"odrpo(grpo)", "odrpo-gini-median(maxrl)", "grpo"})
    for (const double failure : {0.0, 0.3}) {
      RunSpec spec = small_run(PolicyKind::linear, estimator, 1);
      spec.learn.steps = 40;
      spec.rater.parse_failure = failure;
      spec.rater.parse_policy = ParsePolicy::drop;
      RunSpec apart = spec, mean = spec;
      apart.rater.aggregate = Aggregate::fraction;
      mean.rater.aggregate = Aggregate::mean;
      const RunRecord one = run(apart);
      check_same_curves(one, run(spec));
      check_same_curves(one, run(mean));
    }
}

TEST_CASE("fraction: a running median pools all votes, and redraws of the gradient leave the batch as it was") {
  RunSpec spec = fraction_run("odrpo-gini-median(grpo)", 4);
  spec.estimator.median = MedianRule::running;
  spec.estimator.window = 100'000;
  spec.record.gradient = 5;
  spec.rater.parse_failure = 0.2, spec.rater.parse_policy = ParsePolicy::drop;
  RunCache shared;
  const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
  BanditRun s(problem);
  std::vector<int> pool;
  for (int t = 0; t < 10; ++t) {
    train_step(s, t, {.update = true, .recorded = false}, never);
    for (std::size_t i = 0; i < s.action.size(); ++i)
      for (const int v : readable(s.step.batch, i)) pool.push_back(v);
    std::sort(pool.begin(), pool.end());
    CHECK(s.step.batch.median->value() == pool[(pool.size() - 1) / 2]);
    const auto score = s.step.batch.score;
    const auto raw = s.step.batch.raw, of_vote = s.step.batch.of_vote;
    const GradientQuality quality = gradient_quality(s, t);
    CHECK((std::isfinite(quality.cosine) && std::isfinite(quality.snr)));
    CHECK((s.step.batch.score == score && s.step.batch.raw == raw && s.step.batch.of_vote == of_vote));
  }
}

TEST_CASE("toy-lm: fraction takes the votes that the mean takes, as one group") {
  const std::string lm = R"toml([suite]
name = "lm"
[grid]
env = "toy-lm"
rater = ["apart", "mean"]
policy = "p"
estimator = "odrpo-gini(grpo)"
votes = 4
[rater.apart]
base = "mixed"
aggregate = "fraction"
[rater.mean]
base = "mixed"
aggregate = "mean"
sampling = "draws"
[policy.p]
base = "transformer"
warm_steps = 30
warm_batch = 16
[learn]
steps = 3
batch = 4
rollouts = 3
)toml";
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{}, {"rater.apart.parse_failure=0.5", "rater.apart.parse_policy=drop", "rater.mean.parse_failure=0.5",
                                     "rater.mean.parse_policy=drop"}}) {
    const Suite suite = loaded(lm, set);
    REQUIRE(suite.runs.size() == 2);
    RunCache shared;
    const RunSpec apart = suite.runs[0], mean = suite.runs[1];
    const auto one = make_toy_lm_problem(apart, shared, best_isa(), never), two = make_toy_lm_problem(mean, shared, best_isa(), never);
    ToyLmRun a(*one), b(*two);
    for (int t = 0; t < 2; ++t) {
      train_step(a, t, {.update = false}, never);
      train_step(b, t, {.update = false}, never);
      CHECK(a.judge_calls() == b.judge_calls());
      const RewardBatch& batch = a.step.batch;
      REQUIRE((batch.kind.votes == 4 && batch.raw.size() == 12));
      for (std::size_t group = 0; group < 4; ++group) {
        std::vector<std::vector<int>> votes;
        for (std::size_t i = 3 * group; i < 3 * group + 3; ++i) {
          votes.push_back(readable(batch, i));
          int sum = 0;
          for (const int v : votes.back()) sum += v;
          if (votes.back().empty()) CHECK(std::isnan(b.step.batch.reward[i]));
          else CHECK(b.step.batch.reward[i] == static_cast<float>(static_cast<double>(sum) / static_cast<double>(votes.back().size())));
        }
        const Group want = by_formula(apart.estimator, 10, 1, votes);
        for (std::size_t i = 0; i < 3; ++i)
          CHECK(static_cast<double>(batch.raw[3 * group + i]) == Approx(want.advantage[i]).margin(1e-4));
      }
    }
  }
}
