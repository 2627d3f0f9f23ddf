// aggregate = "all": whole training steps against Bayes' rule vote by vote, batch after batch, and what runs of it are.
#include <cmath>
#include <random>

#include "config/spec.hpp"
#include "estimators/definition.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/preset.hpp"
#include "tests/rounds.hpp"
#include "tests/train/trained.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/bandit.hpp"
#include "train/worlds/toy_lm.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

RunSpec all_votes(RunSpec r, int votes) {
  r.votes = votes;
  r.rater.aggregate = Aggregate::all;
  r.rater.sampling = sampling_of(r.rater, votes);
  return r;
}

RunSpec random_run(std::mt19937& g) {
  RunSpec r = small_run(any(g, {PolicyKind::tabular, PolicyKind::linear}),
                        any<std::string>(g, {"posterior(grpo)", "posterior(reinforce)", "posterior(maxrl)", "posterior(mc-grpo)"}));
  r.estimator.prior = any(g, {PriorRule::following, PriorRule::moments, PriorRule::fixed});
  r.estimator.keep = any(g, {0.95, 0.5});
  if (g() % 4 == 0) {
    r.rater = preset(any<std::string_view>(g, {"panel-essays", "panel-dialogue"}));
    r.rater.order = any(g, {JudgeOrder::turn, JudgeOrder::random});
    r.env.bandit.levels = rater_levels(r.rater);
  } else {
    r.rater = preset(any<std::string_view>(g, {"mixed", "veto", "low20", "s2"}));
    if (g() % 3 == 0) r.model = preset(any<std::string_view>(g, {"mixed", "low20"}));
  }
  r.rater.parse_failure = any(g, {0.0, 0.4});
  r.rater.parse_policy = any(g, {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero});
  r = all_votes(r, any(g, {2, 3, 6}));
  r.learn.steps = 3;
  r.learn.batch = any(g, {1, 6});
  r.learn.rollouts = leaves_pivot(r.estimator.form) ? 3 : any(g, {2, 5});
  r.learn.whiten = Whiten::none;
  r.learn.dead_groups = any(g, {DeadGroups::keep, DeadGroups::drop});
  r.learn.optimizer.lr = 0.5;
  r.run_key = derive_key(5, g());
  return r;
}

double share_of(const CallModel& m, std::size_t state, std::size_t response) {
  const std::size_t lanes = CallModel::lanes;
  return m.share[(state / lanes * m.responses() + response) * lanes + state % lanes];  // of worlds
}

/// Of one response: sums over qualities of P(votes | quality) share times 1, quality, its square, (place - b)^2; [states] each.
struct Sums {
  Values one, quality, quality_squares, square;
};
Sums sums_of(const CallModel& m, const std::vector<std::pair<int, int>>& votes) {  // judge, score number
  Sums s{Values(m.states()), Values(m.states()), Values(m.states()), Values(m.states())};
  for (std::size_t r = 0; r < m.responses(); ++r) {
    double p = 0;
    for (int t = 0; t < m.traits; ++t) {
      double of_trait = m.trait[static_cast<std::size_t>(t)];
      for (int j = 0; j < m.judges; ++j) {
        double of_judge = 0;
        for (int u = 0; u < m.classes; ++u) {
          double of_class = 1.0 / m.classes;
          for (const auto& [judge, k] : votes)
            if (judge == j)
              of_class *= m.call[(static_cast<std::size_t>(j * m.scores + k) * static_cast<std::size_t>(m.classes * m.traits) +
                                  static_cast<std::size_t>(u * m.traits + t)) *
                                     m.width +
                                 r];
          of_judge += of_class;
        }
        of_trait *= of_judge;
      }
      p += of_trait;
    }
    for (std::size_t c = 0; c < m.states(); ++c) {
      const double joint = p * share_of(m, c, r), d = m.place.empty() ? 0 : m.place[r] - m.prompts.centre[c];
      s.one[c] += joint, s.quality[c] += joint * m.quality[r], s.quality_squares[c] += joint * m.quality[r] * m.quality[r];
      s.square[c] += joint * d * d;
    }
  }
  return s;
}

}  // namespace

TEST_CASE("steps with all votes are what Bayes' rule says, batch after batch", "[slow][unsanitized]") {
  const unsigned seed = 31;
  CAPTURE(seed);
  std::mt19937 g(seed);
  int compared = 0, missing = 0, panels = 0;
  RunCache shared;
  for (int round = 0; round < rounds(15, 40); ++round) {
    const RunSpec spec = random_run(g);
    INFO(round << ' ' << estimator_word(spec.estimator) << " prior " << static_cast<int>(spec.estimator.prior) << " votes " << spec.votes);
    const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
    REQUIRE(problem.posterior.votes);
    const CallModel& m = problem.posterior.votes->model();
    BanditRun s(problem);
    StatePrior prior(m.prompts.prior);
    WorldMoments moments = m.prompts.moments;
    if (spec.estimator.prior == PriorRule::moments) prior.set_moments(m.prompts, moments);
    panels += m.judges > 1;
    for (int t = 0; t < spec.learn.steps; ++t) {
      train_step(s, t, {.update = false}, never);
      const RewardBatch& b = s.step.batch;
      Values state_sum(m.states());
      WorldMoments seen{};
      for (int group = 0; group < spec.learn.batch; ++group) {
        std::vector<Sums> sums;
        std::vector<bool> there;
        Values log_w(m.states());
        for (std::size_t c = 0; c < m.states(); ++c) log_w[c] = std::log(std::max(prior.probability()[c], 1e-300));
        for (int i = 0; i < spec.learn.rollouts; ++i) {
          std::vector<std::pair<int, int>> votes;
          for (int v = 0; v < spec.votes; ++v) {
            const int score = b.score[static_cast<std::size_t>((group * spec.learn.rollouts + i) * spec.votes + v)];
            const int judge = m.judges > 1 ? judge_in_turn(spec.run_key, s.step.prompt[static_cast<std::size_t>(group)], v, m.judges) : 0;
            if (score != no_score) votes.emplace_back(judge, score - m.lowest);
          }
          sums.push_back(sums_of(m, votes));
          there.push_back(!votes.empty());
          missing += votes.empty();
          for (std::size_t c = 0; c < m.states() && there.back(); ++c) log_w[c] += std::log(std::max(sums.back().one[c], 1e-300));
        }
        Values w(m.states());
        double total = 0;
        const double top = *std::max_element(log_w.begin(), log_w.end());
        for (std::size_t c = 0; c < w.size(); ++c) total += w[c] = std::exp(log_w[c] - top);
        for (double& x : w) x /= total;
        Values value;
        double square = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
          if (!there[i]) continue;
          double mean = 0;
          for (std::size_t c = 0; c < w.size(); ++c)
            if (sums[i].one[c] > 0) mean += w[c] * sums[i].quality[c] / sums[i].one[c], square += w[c] * sums[i].square[c] / sums[i].one[c];
          value.push_back(mean);
        }
        // E[mean of (q - mean q)^2] less the variance of the values
        double open = 0, mean_value = 0;
        const double n = static_cast<double>(value.size());
        for (const double x : value) mean_value += x / n;
        for (std::size_t c = 0; c < w.size() && n > 0; ++c) {
          double own = 0, mean = 0, squares = 0;
          for (std::size_t i = 0; i < sums.size(); ++i) {
            if (!there[i] || !(sums[i].one[c] > 0)) continue;
            const double e = sums[i].quality[c] / sums[i].one[c];
            mean += e / n, squares += e * e / n, own += (sums[i].quality_squares[c] / sums[i].one[c] - e * e) / n;
          }
          open += w[c] * ((1 - 1 / n) * own + squares - mean * mean);
        }
        for (const double x : value) open -= (x - mean_value) * (x - mean_value) / n;
        bool even = true;
        for (const double x : value) even = even && std::fabs(x - value[0]) < 1e-9;
        if (even) std::fill(value.begin(), value.end(), value.empty() ? 0 : value[0]);
        bool undecided = false;  // mc-grpo asks which values equal the median
        for (std::size_t i = 0; i < value.size(); ++i)
          for (std::size_t j = 0; j < i; ++j)
            undecided = undecided || (leaves_pivot(spec.estimator.form) && value[i] != value[j] && std::fabs(value[i] - value[j]) < 1e-9);
        Values out(value.size());
        if (!value.empty()) advantages(form_of(spec.estimator), spec.env.bandit.levels, value, no_median, out, floor_squared(spec.estimator, open));
        for (int i = 0, next = 0; i < spec.learn.rollouts; ++i) {
          const auto k = static_cast<std::size_t>(group * spec.learn.rollouts + i);
          const double wanted = there[static_cast<std::size_t>(i)] ? out[static_cast<std::size_t>(next++)] : 0;
          if (!undecided) CHECK(static_cast<double>(b.raw[k]) == Approx(wanted).epsilon(1e-6).margin(1e-6));
          if (!b.mask.empty() && !leaves_pivot(spec.estimator.form))
            REQUIRE((b.mask[k] != 0) == (there[static_cast<std::size_t>(i)] && !(even && spec.learn.dead_groups == DeadGroups::drop)));
          ++compared;
        }
        for (std::size_t c = 0; c < w.size(); ++c) {
          state_sum[c] += w[c];
          if (spec.estimator.prior != PriorRule::moments) continue;
          seen.mean += w[c] * m.prompts.centre[c];
          seen.variance += w[c] * m.prompts.centre[c] * m.prompts.centre[c];
        }
        seen.square += value.empty() ? moments.square : square / static_cast<double>(value.size());
      }
      const double keep = spec.estimator.keep, groups = spec.learn.batch;
      if (spec.estimator.prior == PriorRule::following) {
        for (double& x : state_sum) x /= groups;
        prior.follow(state_sum, keep);
      }
      if (spec.estimator.prior == PriorRule::moments) {
        const double mean = seen.mean / groups;
        moments.mean = keep * moments.mean + (1 - keep) * mean;
        moments.variance = keep * moments.variance + (1 - keep) * std::max(seen.variance / groups - mean * mean, 0.01);
        moments.square = keep * moments.square + (1 - keep) * std::max(seen.square / groups, 0.01);
        prior.set_moments(m.prompts, moments);
      }
      s.update_policy(t, false);
    }
  }
  CHECK(compared > rounds(250, 1000));
  CHECK(missing > rounds(-1, 10));
  CHECK(panels > rounds(0, 3));
}

TEST_CASE("one vote is the score of one call, whatever it is called") {
  RunSpec spec = small_run(PolicyKind::tabular, "posterior(grpo)");
  const double one = final_of(run(spec), "final_quality");
  spec = all_votes(spec, 1);
  CHECK(final_of(run(spec), "final_quality") == one);
}

TEST_CASE("all votes of a good judge are worth more than one", "[.slow]") {
  RunSpec spec = small_run(PolicyKind::tabular, "posterior(grpo)");
  spec.rater = preset("s2");
  spec.learn.steps = 400;
  double one = 0, eight = 0;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    spec.run_key = derive_key(11, seed);
    one += final_of(run(spec), "final_gain");
    eight += final_of(run(all_votes(spec, 8)), "final_gain");
  }
  CHECK(eight > one);
}

TEST_CASE("votes are told apart by judge where the model has the run's judges, in the bandit and of texts") {
  RunSpec spec = small_run(PolicyKind::linear, "posterior(grpo)");
  spec.rater = preset("panel-essays");
  spec.env.bandit.levels = rater_levels(spec.rater);
  spec = all_votes(spec, 3);
  spec.learn.steps = 2;
  const int judges = panel_size(spec.rater.noise);
  RunCache shared;
  const auto judges_of = [&](const RunSpec& of) { return make_bandit_problem(of, shared, best_isa(), never)->posterior.judges(); };
  CHECK(judges_of(spec) == judges);
  RunSpec other = spec;
  other.model = spec.rater;
  LatentScale& scale = std::get<LatentNoise>(other.model->noise[0]).scale;
  NumberRows rows;
  for (int j = 0; j + 1 < judges; ++j) rows.emplace_back(scale.thresholds(j).begin(), scale.thresholds(j).end());
  set_thresholds(scale, rows);
  CHECK(judges_of(other) == 1);  // a panel of one judge less: none of its judges is one of the run's
  other = spec;
  other.rater.order = JudgeOrder::random;
  CHECK(judges_of(other) == 1);
  const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
  BanditRun bandit(problem);
  train_step(bandit, 0, {}, never);
  REQUIRE(bandit.step.batch.first_judge.size() == bandit.step.prompt.size());
  for (std::size_t b = 0; b < bandit.step.prompt.size(); ++b)
    CHECK(bandit.step.batch.first_judge[b] == judge_in_turn(spec.run_key, bandit.step.prompt[b], 0, judges));

  const Suite suite = loaded(R"toml([suite]
name = "texts"
[grid]
env = "toy-lm"
policy = "small"
rater = "panel-essays"
estimator = "posterior(grpo)"
votes = 3
[rater.panel-essays]
aggregate = "all"
[policy.small]
base = "transformer"
warm_steps = 0
[env.toy-lm]
vocabulary = 40
prompts = 8
response_tokens = 12
evaluated_prompts = 4
[learn]
steps = 1
batch = 4
)toml");
  const RunSpec text_spec = suite.runs[0];
  const ToyLmProblem texts = *make_toy_lm_problem(text_spec, shared, best_isa(), never);
  ToyLmRun run(texts);
  run.begin(never);
  train_step(run, 0, {}, never);
  REQUIRE(run.step.batch.first_judge.size() == 4);
  for (std::size_t b = 0; b < 4; ++b)
    CHECK(run.step.batch.first_judge[b] == judge_in_turn(text_spec.run_key, texts.prompts[run.step.prompt[b]].index, 0, judges));
}

TEST_CASE("a model of all votes that is too large is refused before anything starts") {
  const std::string suite = R"toml([suite]
name = "large"
[grid]
estimator = "posterior(grpo)"
votes = 4
[env.bandit]
levels = 100
[rater.mixed]
aggregate = "all"
offset.sd = 0.5
bias.sd = 0.5
[limits]
memory_gib = 1000
)toml";
  try {
    check_limits(loaded(suite));
    FAIL("accepted");
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::limits);
    INFO(failure.what());
    CHECK(std::string_view(failure.what())
              .find("rater mixed, as estimator posterior(grpo) believes it to be: the laws of its single calls") != std::string_view::npos);
  }
  CHECK_NOTHROW(check_limits(loaded(suite, {"env.bandit.levels=10"})));
}

TEST_CASE("all votes: of a judge and of a panel, in the bandit and of texts") {
  const Suite suite = loaded(R"toml([suite]
name = "all"
[grid]
rater = ["panel-essays", "veto"]
estimator = ["posterior(grpo)", "moments"]
votes = 5
zip = [{ env = "bandit", policy = "linear" }, { env = "toy-lm", policy = "small" }]
[rater.panel-essays]
aggregate = "all"
[rater.veto]
aggregate = "all"
parse_failure = 0.3
parse_policy = "drop"
[estimator.moments]
base = "posterior(rloo)"
prior = "moments"
[policy.small]
base = "transformer"
warm_steps = 4
warm_batch = 4
[env.bandit]
prompts = 16
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
  int trained = 0;
  for (const RunSpec& spec : suite.runs) {
    INFO(spec.id);
    const RunRecord r = run(spec);
    CHECK(r.status == RunStatus::ok);
    CHECK(final_of(r, "final_reward") >= 1);
    ++trained;
  }
  CHECK(trained >= 4);
}
