// The rollouts that `[record] rollouts` keeps: those of the step, with the advantages of the update; they change nothing else.
#include "train/kept_rollouts.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "estimators/definition.hpp"
#include "results/store/digest.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/results/sample.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "tests/train/tiny.hpp"
#include "tests/train/trained.hpp"
#include "train/batched/engine.hpp"
#include "train/prompt_batch.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/bandit.hpp"

using namespace odrpo;

namespace {

const std::vector<double>& column(const RunRecord& r, const char* name) {
  for (const Curve& c : r.rollouts)
    if (c.name == name) return c.values;
  FAIL("no column " << name);
  return r.rollouts[0].values;
}

bool same_rollouts(const RunRecord& a, const RunRecord& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  if (a.rollouts.size() != b.rollouts.size()) return false;
  for (std::size_t c = 0; c < a.rollouts.size(); ++c)
    if (a.rollouts[c].name != b.rollouts[c].name ||
        !std::equal(a.rollouts[c].values.begin(), a.rollouts[c].values.end(), b.rollouts[c].values.begin(), b.rollouts[c].values.end(), same))
      return false;
  return true;
}

}  // namespace

TEST_CASE("kept rollouts are those of the step: prompts, qualities of the world, and advantages that follow from the rewards by definition") {
  for (const char* estimator : {"grpo", "odrpo-gini(maxrl)", "rank-grpo", "rloo"})
    for (const bool gaps : {false, true}) {
      INFO(estimator << (gaps ? " with missing scores" : ""));
      RunSpec spec = small_run(PolicyKind::linear, estimator);
      spec.learn.steps = 12, spec.learn.dead_groups = gaps ? DeadGroups::drop : DeadGroups::keep;
      if (gaps) spec.rater.parse_policy = ParsePolicy::drop, spec.rater.parse_failure = 0.3;
      spec.record.rollouts = 5;
      const RunRecord r = run(spec);
      REQUIRE(r.status == RunStatus::ok);
      RunCache shared;
      const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
      const std::size_t batch = static_cast<std::size_t>(spec.learn.batch), size = static_cast<std::size_t>(spec.learn.rollouts), all = batch * size;
      REQUIRE(column(r, "step").size() == 4 * all);  // steps 0, 5, 10 and the last, 11
      CHECK(r.rollouts.size() == 6);                 // no length
      PromptOrder order(spec.env.bandit.prompts, spec.learn.batch);
      int missing = 0;
      for (std::size_t s = 0; s < 4; ++s) {
        const int step = s < 3 ? static_cast<int>(s) * 5 : 11;
        std::vector<std::uint32_t> prompts(batch);
        order.choose(*problem.random, spec.run_key, step, prompts.data());
        std::vector<double> wanted;
        std::vector<std::uint8_t> mask;
        for (std::size_t g = 0; g < batch; ++g) {
          std::vector<double> seen, rewards;
          for (std::size_t i = s * all + g * size; i < s * all + (g + 1) * size; ++i) {
            CHECK(column(r, "step")[i] == step);
            REQUIRE(column(r, "prompt")[i] == prompts[g]);
            const auto action = static_cast<std::size_t>(column(r, "response")[i]);
            CHECK(column(r, "quality")[i] == problem.world->quality[prompts[g] * static_cast<std::size_t>(problem.world->width) + action]);
            rewards.push_back(column(r, "reward")[i]);
            if (!std::isnan(rewards.back())) seen.push_back(rewards.back());
          }
          std::vector<double> out(seen.size());
          if (!seen.empty()) advantages(spec.estimator, spec.env.bandit.levels, seen, no_median, out);
          const bool dead = seen.empty() || std::count(seen.begin(), seen.end(), seen[0]) == std::ssize(seen);
          std::size_t next = 0;
          for (const double reward : rewards) {
            missing += std::isnan(reward);
            wanted.push_back(std::isnan(reward) ? 0 : out[next++]);
            mask.push_back(!std::isnan(reward) && !(gaps && dead));
          }
        }
        whiten_definition(whitening_of(spec), wanted, mask);
        for (std::size_t i = 0; i < all; ++i) CHECK(column(r, "advantage")[s * all + i] == Approx(wanted[i]).margin(2e-6));
      }
      CHECK((missing > 0) == gaps);
    }
}

TEST_CASE("kept rollouts have the means that the curves of their steps have, of the toy language model too") {
  Suite suite = loaded(checkpoint_sample::lm, {"record.every=3", "record.rollouts=3", "learn.whiten=none", "rater.mixed.parse_policy=drop", "rater.mixed.parse_failure=0.2"});
  RunSpec votes = small_run(PolicyKind::linear, "posterior(grpo)", 4);
  votes.rater.aggregate = Aggregate::all, votes.rater.sampling = Sampling::draws;
  votes.learn.steps = 10, votes.record.every = 3, votes.record.rollouts = 3, votes.learn.whiten = Whiten::none;
  for (const RunSpec& spec : {suite.runs[0], votes}) {
    const RunRecord r = checkpoint_sample::undisturbed(spec);
    REQUIRE(r.status == RunStatus::ok);
    const std::size_t all = static_cast<std::size_t>(spec.learn.batch * spec.learn.rollouts);
    CHECK(column(r, "step").size() == kept_rollouts(spec, spec.learn.steps));
    for (std::size_t s = 0; s < r.step.size() && r.step[s] < spec.learn.steps; ++s) {
      INFO("step " << r.step[s]);
      REQUIRE(column(r, "step")[s * all] == r.step[s]);
      double reward = 0, count = 0, quality = 0, squares = 0;
      for (std::size_t i = s * all; i < (s + 1) * all; ++i) {
        if (const double x = column(r, "reward")[i]; !std::isnan(x)) reward += x, count += 1;
        quality += column(r, "quality")[i];
        squares += column(r, "advantage")[i] * column(r, "advantage")[i];
      }
      CHECK(reward / count == Approx(recorded_curve(r, "reward").values[s]));
      CHECK(quality / static_cast<double>(all) == Approx(recorded_curve(r, "batch_quality").values[s]));
      CHECK(std::sqrt(squares / static_cast<double>(all)) == Approx(recorded_curve(r, "advantage_rms").values[s]));
    }
    const bool text = spec.env.kind == WorldKind::toy_lm;
    REQUIRE(r.rollouts.size() == (text ? 7 : 6));
    if (!text) continue;
    for (const double length : column(r, "length")) CHECK((length >= 1 && length <= 12 && length == std::floor(length)));
    CHECK(column(r, "response")[0] != column(r, "response")[1]);
  }
}

TEST_CASE("kept rollouts change neither digest nor key nor the other values of a run, but the fingerprint of the suite") {
  const Folder folder;
  const Suite without = tiny(), with = tiny({"record.rollouts=7"});
  CHECK(spec_key(with.runs[0]) == spec_key(without.runs[0]));
  CHECK(suite_facts(with, "1").fingerprint != suite_facts(without, "1").fingerprint);
  const RunReport plain = run(without, folder.file("without.h5"), 1), one = run(with, folder.file("one.h5"), 1), two = run(with, folder.file("two.h5"), 2);
  CHECK(one.digest == plain.digest);
  CHECK(two.digest == plain.digest);
  const auto a = sample::read_all(folder.file("one.h5")).records, b = sample::read_all(folder.file("two.h5")).records;
  REQUIRE(a.size() == 8);
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].id);
    CHECK(column(a[i], "step").size() == 4 * 8 * 8);  // steps 0, 7, 14 and 19 of 8 x 8 rollouts
    CHECK(same_rollouts(a[i], b[i]));
    CHECK(same_rollouts(a[i], checkpoint_sample::undisturbed(with.runs[i])));
  }
  for (const RunRecord& r : sample::read_all(folder.file("without.h5")).records) CHECK(r.rollouts.empty());
}

TEST_CASE("preflight counts kept rollouts, and refuses more of a run than a reader takes") {
  const Suite some = tiny({"learn.steps=10000", "record.rollouts=100"});
  const double kept = static_cast<double>(kept_rollouts(some.runs[0], 10000));
  CHECK(kept == 101 * 64);
  CHECK(recorded_bytes(some.runs[0]) - recorded_bytes(tiny({"learn.steps=10000"}).runs[0]) == kept * 7 * 8);
  const auto [code, message] = sample::failure_of([] { check_limits(tiny({"learn.steps=10000", "record.rollouts=1"})); });
  CHECK(code == Exit::limits);
  CHECK(message == "a run would keep 640,000 rollouts, more than 500,000; a larger `rollouts` in [record] keeps fewer");
}

TEST_CASE("runs that keep rollouts train on the CPU") {
  RunSpec spec = small_run();
  CHECK(why_not_batched(spec).empty());
  spec.record.rollouts = 1;
  CHECK(why_not_batched(spec) == "`rollouts` of [record] are kept on the CPU");
}
