// Training with corrected scores: batches of every form against the definition on scores that elimination corrects, and what is refused.
#include <cmath>
#include <random>

#include "config/catalogue/believed_judge.hpp"
#include "config/spec.hpp"
#include "envs/bandit/believed.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/train/trained.hpp"
#include "train/worlds/bandit.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

/// The solution of C c = R by elimination with row pivots. Rows of C are divided by their sums.
Values eliminated(Values matrix, const Values& right) {
  const std::size_t n = right.size();
  std::vector<Values> rows;
  for (std::size_t j = 0; j < n; ++j) {
    Values row(matrix.begin() + static_cast<std::ptrdiff_t>(j * n), matrix.begin() + static_cast<std::ptrdiff_t>((j + 1) * n));
    double total = 0;
    for (const double x : row) total += x;
    for (double& x : row) x /= total;
    row.push_back(right[j]);
    rows.push_back(row);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j)
      if (std::fabs(rows[j][i]) > std::fabs(rows[i][i])) std::swap(rows[i], rows[j]);
    for (std::size_t j = 0; j < n; ++j)
      if (j != i) {
        const double factor = rows[j][i] / rows[i][i];
        for (std::size_t k = i; k <= n; ++k) rows[j][k] -= factor * rows[i][k];
      }
  }
  Values solution;
  for (std::size_t i = 0; i < n; ++i) solution.push_back(rows[i][n] / rows[i][i]);
  return solution;
}

RunSpec random_run(std::mt19937& g, std::string_view word) {
  RunSpec r = small_run(any(g, {PolicyKind::tabular, PolicyKind::linear}), std::string(word));
  const char* raters[] = {"mixed", "veto", "gauss", "hetero", "low20", "high10"};
  const auto preset = [&] {
    const char* name = raters[g() % 6];
    return std::find_if(rater_presets().begin(), rater_presets().end(), [&](const RaterPreset& p) { return p.word == name; })->config;
  };
  r.rater = preset();
  if (g() % 3 == 0) r.model = preset();
  r.votes = any(g, {1, 4});
  r.rater.aggregate = any(g, {Aggregate::mode, Aggregate::median});
  r.rater.parse_failure = any(g, {0.0, 0.3});
  r.rater.parse_policy = any(g, {ParsePolicy::resample, ParsePolicy::drop});
  r.learn.steps = 3;
  r.learn.rollouts = leaves_pivot(r.estimator.form) ? 9 : 8;
  r.learn.whiten = Whiten::none;
  r.run_key = derive_key(3, g());
  return r;
}

}  // namespace

TEST_CASE("steps with corrected scores are the form's on scores that elimination corrects") {
  const unsigned seed = 29;
  CAPTURE(seed);
  std::mt19937 g(seed);
  RunCache shared;
  int compared = 0, missing = 0;
  for (const std::string_view word : corrected_catalogue())
    for (int round = 0; round < 3; ++round) {
      const RunSpec spec = random_run(g, word);
      const int levels = spec.env.levels();
      INFO(word << " votes " << spec.votes << " model " << spec.model.has_value());
      if (correct_judge(spec).refusal) continue;  // maxrl on scores below 0
      const Values channel = mean_channel(level_channels(believed_rater(spec), levels, spec.votes));
      Values plain;
      for (int k = 1; k <= levels; ++k) plain.push_back(k);
      const EstimatorConfig form = with_values(form_of(spec.estimator), eliminated(channel, plain));
      const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
      BanditRun s(problem);
      for (int t = 0; t < spec.learn.steps; ++t) {
        train_step(s, t, {.update = false}, never);
        const RewardBatch& b = s.step.batch;
        for (int group = 0; group < spec.learn.batch; ++group) {
          Values seen;
          const std::size_t first = static_cast<std::size_t>(group * spec.learn.rollouts), rollouts = static_cast<std::size_t>(spec.learn.rollouts);
          for (std::size_t i = 0; i < rollouts; ++i)
            if (b.score[first + i] != no_score) seen.push_back(b.score[first + i]);
          Values out(seen.size());
          if (!seen.empty()) advantages(form, levels, seen, no_median, out);
          for (std::size_t i = 0, next = 0; i < rollouts; ++i) {
            const bool there = b.score[first + i] != no_score;
            CHECK(static_cast<double>(b.raw[first + i]) == Approx(there ? out[next++] : 0).epsilon(2e-5).margin(2e-5));
            ++compared, missing += !there;
          }
        }
        s.update_policy(t, false);
      }
    }
  CHECK(compared > 5000);
  CHECK(missing > 50);
}

TEST_CASE("a judge that cannot be corrected is refused before a step") {
  RunSpec spec = small_run(PolicyKind::tabular, "corrected(grpo)");
  spec.rater = std::find_if(rater_presets().begin(), rater_presets().end(), [](const RaterPreset& p) { return p.word == "s2"; })->config;
  RunCache shared;
  CHECK_THROWS_WITH(make_bandit_problem(spec, shared, best_isa(), never), Catch::Matchers::Contains("condition number"));
  spec.rater = rater_presets()[0].config;
  spec.rater.aggregate = Aggregate::mean;
  spec.votes = 8;
  CHECK_THROWS_WITH(make_bandit_problem(spec, shared, best_isa(), never), Catch::Matchers::Contains("real-valued"));
}

TEST_CASE("runs of one judge share corrected scores, and another judge has its own") {
  RunCache shared;
  RunSpec spec = small_run(PolicyKind::tabular, "corrected(reinforce)");
  const auto of = [&](const RunSpec& run) { return shared.estimator(run, best_isa()); };
  const auto one = of(spec), same = of(spec);
  spec.model = rater_presets()[1].config;
  const auto other = of(spec);
  const std::uint8_t score[] = {1, 5, 9, 9, 9, 9, 9, 10};
  float a[8], b[8], c[8];
  (*one)(estimator_stages(best_isa()), score, 1, a);
  (*same)(estimator_stages(best_isa()), score, 1, b);
  (*other)(estimator_stages(best_isa()), score, 1, c);
  CHECK(std::equal(a, a + 8, b));
  CHECK_FALSE(std::equal(a, a + 8, c));
}
