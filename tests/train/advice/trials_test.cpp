// Outcomes: those of train(), remembered, saved and loaded.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/record.hpp"
#include "tests/catch.hpp"
#include "tests/train/advice/ask.hpp"
#include "train/advice/race.hpp"
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

namespace {

// Trains the place on seeds until it has so many.
void train(RateSearch& rates, int place, int seeds, const std::function<double(int place, int seed)>& gain) {
  while (rates.seeds(place) < seeds) rates.add(place, gain(place, rates.seeds(place)));
}

// The stages of the race on one choice, then its refinement.
RateSearch searched(const std::function<double(int place, int seed)>& gain, double tolerance) {
  RateSearch rates;
  for (const auto& [spacing, seeds] : {std::pair(first_spacing, 1), {coarse_spacing, 1}, {coarse_spacing, 3}, {fine_spacing, 6}, {fine_spacing, 16}})
    for (const int place : rates.around_best(spacing)) train(rates, place, seeds, gain);
  for (;;) {
    const std::vector<int> wanted = rates.wanted(tolerance);
    if (wanted.empty()) return rates;
    for (const int place : wanted) train(rates, place, 16, gain);
  }
}

}  // namespace

TEST_CASE("rates of the grid are eight to a decade, with two digits") {
  REQUIRE(rate_at(lowest_rate) == 0.0032);
  REQUIRE(rate_at(0) == 1);
  REQUIRE(rate_at(highest_rate) == 320);
  for (int place = lowest_rate; place <= highest_rate; ++place) {
    INFO("place " << place);
    REQUIRE(rate_at(place) == Approx(std::pow(10.0, place / 8.0)).epsilon(0.03));
    if (place >= lowest_rate + 8) REQUIRE(rate_at(place) == Approx(10 * rate_at(place - 8)));
  }
}

TEST_CASE("a parabola's top is found from three points, however far they are apart") {
  const auto curve = [](double x) { return 3 - 0.5 * (x - 0.7) * (x - 0.7); };
  for (const double left : {1.0, 2.0, 4.0})
    for (const double right : {1.0, 2.0, 4.0}) {
      const ParabolaTop top = parabola_top(left, curve(0) - curve(-left), right, curve(0) - curve(right));
      REQUIRE(top.offset == Approx(0.7));
      REQUIRE(top.above == Approx(3 - curve(0)));
    }
  REQUIRE(parabola_top(1, 0, 1, 0).above == 0);  // a plain has no top
}

TEST_CASE("the search ends where a finer grid adds no more than the tolerance") {
  // steep on one side, as the tabular policy's curve; gains as shares of the headroom
  for (double peak = -17; peak <= 17; peak += 0.35) {
    const auto curve = [&](double place) {
      const double x = place - peak;
      return 0.94 - (x < 0 ? 0.012 : 0.004) * x * x;
    };
    const RateSearch rates = searched([&](int place, int) { return curve(place); }, 0.002);
    INFO("peak at " << peak << ", found " << rates.best());
    REQUIRE(0.94 - curve(rates.best()) <= 0.005);  // a parabola underestimates a curve with a bend at its top
    REQUIRE(rates.finer().above <= 0.0035);
  }
  // the issue's: 89.8 at .1, 94.6 at .18, 92.7 at .32, between two coarse rates
  const std::vector<double> gains{0.651, 0.812, 0.898, 0.932, 0.946, 0.943, 0.927, 0.9, 0.864, 0.819, 0.771, 0.734};  // places -10 to 1
  const RateSearch rates = searched(
      [&](int place, int) { return place < -10 ? 0.3 : place > 1 ? 0.65 : gains[static_cast<std::size_t>(place + 10)]; }, 0.003);
  REQUIRE(rate_at(rates.best()) == 0.18);
}

TEST_CASE("a best rate at the end of the first grid is followed beyond it, to the end of all rates") {
  const RateSearch low = searched([](int place, int) { return -place / 100.0; }, 0.001);
  REQUIRE(low.best() == lowest_rate);
  REQUIRE(low.finer().above == 0);
  REQUIRE(searched([](int place, int) { return place / 100.0; }, 0.001).best() == highest_rate);
}

TEST_CASE("rates that the tuning seeds rule out are not as good") {
  RateSearch rates;
  std::mt19937_64 words(20261126);
  std::normal_distribution<double> normal;
  for (int seed = 0; seed < 16; ++seed)
    for (const auto& [place, gain] : {std::pair(0, 0.90), {1, 0.895}, {2, 0.85}, {-2, 0.899}, {-4, 0.9}}) rates.add(place, gain + 0.005 * normal(words));
  rates.add(-1, 0.95);  // has trained on one seed alone
  std::vector<int> near = rates.as_good();
  near.push_back(rates.best());
  std::sort(near.begin(), near.end());
  INFO("seed 20261126, best " << rates.best());
  REQUIRE(std::find(near.begin(), near.end(), 2) == near.end());
  REQUIRE(std::find(near.begin(), near.end(), -1) == near.end());
  REQUIRE(std::find(near.begin(), near.end(), -2) != near.end());
}
