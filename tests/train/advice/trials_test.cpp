// Outcomes: those of train(), remembered, saved and loaded.
#include <bit>
#include <cstdint>
#include <string>

#include "config/spec.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/record.hpp"
#include "tests/catch.hpp"
#include "tests/train/advice/ask.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

std::vector<RunSpec> some_runs(const AdviceQuestion& q, const JudgeWorld& judge) {
  std::vector<RunSpec> runs;
  for (int seed = 0; seed < 3; ++seed)
    for (const PolicyKind policy : q.policies)
      for (const AdviceChoice& choice : all_choices(q, judge.rater)) runs.push_back(spec_of(q, {&judge, choice, policy, 0.3, 6, seed, 3}));
  return runs;
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool same(const Outcome& a, const Outcome& b) {
  if (!same(a.gain, b.gain) || !same(a.calls, b.calls) || a.failed != b.failed || a.steps != b.steps || a.gains.size() != b.gains.size())
    return false;
  for (std::size_t i = 0; i < a.gains.size(); ++i)
    if (!same(a.gains[i], b.gains[i])) return false;
  return true;
}
bool same(const std::vector<Outcome>& a, const std::vector<Outcome>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const Outcome& x, const Outcome& y) { return same(x, y); });
}

const auto quiet = [](std::size_t) {};

}  // namespace

TEST_CASE("outcomes are those of train, whatever the number of threads") {
  const AdviceQuestion q = small_question(1e5, {"grpo", "odrpo(maxrl)"});
  const JudgeWorld judge = judge_named("mixed");
  const std::vector<RunSpec> runs = some_runs(q, judge);
  std::atomic<bool> stop{false};
  Trials one(1, stop), three(3, stop);
  const auto a = one.train(runs, quiet), b = three.train(runs, quiet);
  REQUIRE((a && b));
  REQUIRE(same(*a, *b));
  RunCache cache;
  for (std::size_t i = 0; i < runs.size(); i += 7) {
    const RunRecord record = train(runs[i], cache, stop);
    double gain = 0, calls = 0;
    for (const Final& value : record.finals) {
      if (value.name == "final_gain") gain = value.value;
      if (value.name == "judge_calls") calls = value.value;
    }
    INFO(runs[i].id);
    REQUIRE(same((*a)[i].gain, gain));
    REQUIRE(same((*a)[i].calls, calls));
    REQUIRE((*a)[i].steps == std::vector<int>{0, 2, 4, 6});
    REQUIRE((*a)[i].gains.front() == 0);
    REQUIRE(same((*a)[i].gains.back(), gain));
  }
}

TEST_CASE("what is known is not trained again, and saved outcomes go on") {
  const AdviceQuestion q = small_question(1e5, {"grpo"});
  const JudgeWorld judge = judge_named("mixed");
  const std::vector<RunSpec> runs = some_runs(q, judge);
  std::atomic<bool> stop{false};
  Trials first(1, stop);
  const auto half = first.train(std::span(runs).first(runs.size() / 2), quiet);
  const auto whole = first.train(runs, quiet);
  REQUIRE(whole);
  REQUIRE(first.trained() == runs.size());
  const std::string text = first.saved("1.2");
  Trials second(1, stop);
  REQUIRE(second.load(text, "1.2"));
  REQUIRE(same(*second.train(runs, quiet), *whole));
  REQUIRE(second.trained() == 0);
  REQUIRE(second.saved("1.2") == text);

  Trials other(1, stop);
  REQUIRE_FALSE(other.load(text, "1.3"));
  for (std::size_t at = 0; at < text.size(); at += 97) {
    std::string damaged = text;
    damaged[at] ^= 1;
    INFO("byte " << at);
    REQUIRE_FALSE(other.load(damaged, "1.2"));
    REQUIRE_FALSE(other.load(text.substr(0, at), "1.2"));
  }
  REQUIRE(other.known() == 0);
}

TEST_CASE("a stop leaves what is finished") {
  const AdviceQuestion q = small_question(1e5, {"grpo"});
  const JudgeWorld judge = judge_named("mixed");
  const std::vector<RunSpec> runs = some_runs(q, judge);
  std::atomic<bool> stop{true};
  Trials trials(2, stop);
  REQUIRE_FALSE(trials.train(runs, quiet));
  REQUIRE(trials.known() == 0);
  stop = false;
  REQUIRE(trials.train(runs, quiet));
}

TEST_CASE("a training that diverges counts as no gain") {
  const AdviceQuestion q = small_question(1e5, {"grpo"});
  const JudgeWorld judge = judge_named("mixed");
  RunSpec run = spec_of(q, {&judge, {}, PolicyKind::linear, 1e6, 50, 0, 1});
  run.learn.optimizer.kind = OptimizerKind::sgd;
  run.learn.optimizer.lr = 1e300;
  std::atomic<bool> stop{false};
  Trials trials(1, stop);
  const auto outcome = trials.train(std::span(&run, 1), quiet);
  REQUIRE(outcome);
  REQUIRE(outcome->front().failed);
  REQUIRE(outcome->front().gain == 0);
  Trials again(1, stop);
  REQUIRE(again.load(trials.saved("1"), "1"));
  REQUIRE(again.train(std::span(&run, 1), quiet)->front().failed);
}
