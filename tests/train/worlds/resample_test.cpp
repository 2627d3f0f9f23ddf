// Steps that draw prompts in the place of dead groups: which prompts, which scores, what is counted, and when a run fails.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/train/trained.hpp"
#include "train/batched/run_layout.hpp"
#include "train/worlds/bandit.hpp"

using namespace odrpo;

namespace {

RunSpec resampling_run(PolicyKind policy) {
  RunSpec r = small_run(policy);
  r.env.bandit.prompts = 100;
  r.learn.batch = 16, r.learn.rollouts = 3, r.learn.steps = 30;
  r.learn.dead_groups = DeadGroups::resample, r.learn.max_batches = 20;
  r.learn.optimizer.kind = OptimizerKind::sgd, r.learn.optimizer.lr = 0.5;  // nothing of a step is pending: a run can be asked for any batch of it
  return r;
}

bool teaches(const std::uint8_t* score, int rollouts) { return *std::min_element(score, score + rollouts) != *std::max_element(score, score + rollouts); }

/// The prompts of the shuffles of all epochs, one after another.
std::vector<std::uint32_t> sequence_of(const RunSpec& spec, int epochs) {
  PromptOrder whole(spec.env.bandit.prompts, spec.env.bandit.prompts);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(epochs * spec.env.bandit.prompts));
  for (int e = 0; e < epochs; ++e) whole.choose(random_stages(best_isa()), spec.run_key, e, &all[static_cast<std::size_t>(e * spec.env.bandit.prompts)]);
  return all;
}

}  // namespace

TEST_CASE("resampling steps take the next prompts of the shuffles whose groups teach, with the responses and scores that a plain run gives them") {
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    const RunSpec spec = resampling_run(policy);
    RunSpec plain = spec;
    plain.learn.dead_groups = DeadGroups::keep;
    RunCache shared;
    const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never), plain_problem = *make_bandit_problem(plain, shared, best_isa(), never);
    BanditRun run(problem), other(plain_problem);
    const std::vector<std::uint32_t> sequence = sequence_of(spec, 40);
    const std::size_t batch = static_cast<std::size_t>(spec.learn.batch), rollouts = static_cast<std::size_t>(spec.learn.rollouts);
    std::size_t next = 0, several = 0, passed_over = 0;
    double drawn = 0;
    for (int t = 0; t < spec.learn.steps; ++t) {
      INFO("step " << t);
      std::vector<std::uint32_t> prompts;
      std::vector<std::uint16_t> actions;
      std::vector<std::uint8_t> scores;
      std::set<std::uint32_t> before;
      double dead = 0, groups = 0;
      while (prompts.size() < batch) {
        for (std::size_t b = 0; b < batch; ++next) {
          if (before.insert(sequence[next]).second) other.step.prompt[b++] = sequence[next];
          else ++passed_over;
        }
        other.sample_rollouts(t);
        other.score_rollouts(t, never);
        for (std::size_t b = 0; b < batch; ++b) {
          const std::uint8_t* score = &other.step.batch.score[b * rollouts];
          groups += 1;
          if (!teaches(score, spec.learn.rollouts)) {
            dead += 1;
            continue;
          }
          prompts.push_back(other.step.prompt[b]);
          actions.insert(actions.end(), &other.action[b * rollouts], &other.action[b * rollouts] + rollouts);
          scores.insert(scores.end(), score, score + rollouts);
        }
      }
      several += groups > static_cast<double>(batch);
      drawn += groups * static_cast<double>(rollouts);
      prompts.resize(batch), actions.resize(batch * rollouts), scores.resize(batch * rollouts);
      train_step(run, t, {}, never);
      REQUIRE(run.step.prompt == prompts);
      REQUIRE(run.action == actions);
      REQUIRE(run.step.batch.score == scores);
      CHECK(dead_shares(spec, run.step.batch).groups == Approx(dead / groups));
      CHECK(run.step.rollouts == drawn);
      // the plain run learns from the same batch
      other.step.prompt = prompts, other.action = actions, other.step.batch.score = scores;
      other.policy.forward(t, prompts.data());
      other.estimate_advantages();
      other.update_policy(t, false);
      REQUIRE(run.policy.exact(problem.world->quality.data()).quality == other.policy.exact(problem.world->quality.data()).quality);
    }
    CHECK(several > 20);
    CHECK(passed_over > 5);
  }
}

TEST_CASE("a resampling run counts what it draws, and its judge's calls") {
  for (const int votes : {1, 3}) {
    RunSpec spec = resampling_run(PolicyKind::tabular);
    spec.learn.optimizer = {};
    spec.learn.optimizer.lr = 0.05;
    spec.votes = votes, spec.env.bandit.prompts = 300;
    const RunRecord r = run(spec);
    REQUIRE(r.status == RunStatus::ok);
    const double least = static_cast<double>(spec.learn.steps) * spec.learn.batch * spec.learn.rollouts;
    CHECK(final_of(r, "drawn_rollouts") > least);
    CHECK(std::fmod(final_of(r, "drawn_rollouts"), spec.learn.batch * spec.learn.rollouts) == 0);
    CHECK(final_of(r, "judge_calls") == final_of(r, "drawn_rollouts") * votes);
    CHECK(recorded_curve(r, "drawn_rollouts").values.back() == final_of(r, "drawn_rollouts"));
    CHECK(recorded_curve(r, "dead_groups").values.front() > 0);
  }
}

TEST_CASE("a resampling run fails where max_batches or the world's prompts are not enough") {
  RunSpec spec = resampling_run(PolicyKind::tabular);
  spec.policy.tilt = 1000;  // one response for each prompt
  spec.rater = RaterConfig{};  // an exact judge
  const auto message = [&](int most) -> std::string {
    spec.learn.max_batches = most;
    try {
      run(spec);
    } catch (const Failure& failure) {
      CHECK(failure.code == Exit::runs_failed);
      return failure.what();
    }
    return "nothing was thrown";
  };
  CHECK(message(3) == "step 0: the scores of 48 of 48 groups are all equal, and a batch needs 16 others: max_batches = 3");
  CHECK(message(10) == "step 0: the scores of 96 of 96 groups are all equal, and a batch needs 16 others: the world has no more prompts for another draw");
}

TEST_CASE("devices refuse steps that draw again, and forms that read the whole batch") {
  const char* drawn = "prompts in the place of dead groups are drawn on the CPU";
  CHECK(why_not_batched(resampling_run(PolicyKind::tabular)) == drawn);
  for (const char* word : {"bnpo", "shrunk"})
    CHECK(why_not_batched(small_run(PolicyKind::tabular, word)) == "estimator " + std::string(word) + " reads the scores of the whole batch, which is worked out on the CPU");
  CHECK(why_not_batched(small_run()).empty());
}
