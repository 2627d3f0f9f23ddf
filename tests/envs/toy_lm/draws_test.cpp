// Literal calls about texts: the distribution of their aggregate is the distribution that sampling = "law" draws from, under every rule; words of their own.
#include <cmath>
#include <set>

#include "envs/toy_lm/demonstrations.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/chi_square.hpp"
#include "tests/envs/toy_lm/perfect.hpp"

using namespace odrpo;

namespace {

constexpr std::uint64_t key = 41;

struct Aggregation {
  Aggregate aggregate;
  TieRule tie;
};
constexpr Aggregation aggregations[] = {{Aggregate::mode, TieRule::first},        {Aggregate::mode, TieRule::lowest},
                                        {Aggregate::mode, TieRule::highest},      {Aggregate::mode, TieRule::median_low},
                                        {Aggregate::mode, TieRule::nearest_mean}, {Aggregate::median, TieRule::first},
                                        {Aggregate::mean, TieRule::first}};

/// Judges: one biased, one whose calls fail, one that writes JSON badly, one that does all of it and more.
std::vector<RaterConfig> judges() {
  RaterConfig biased = rater_presets()[2].config;  // wide
  biased.text.length_bias = 0.2, biased.text.flattery = 0.3;
  biased.text.misfire = 0.25, biased.text.overlook = 0.3;
  RaterConfig failing = rater_presets()[1].config;  // veto
  failing.parse_failure = 0.2;
  RaterConfig json = rater_presets()[0].config;  // mixed
  json.text.json_odd = 0.3, json.text.json_broken = 0.3;
  RaterConfig all = biased;
  all.parse_failure = 0.1;
  all.text.json_odd = 0.5, all.text.json_broken = 0.4;
  all.noise.push_back(SeverityOffset{0.5});
  all.noise.push_back(SharedBias{0.4});
  return {biased, failing, json, all};
}

/// Place of a reward among the outcomes, or -1.
int outcome_of(const Outcomes& outcomes, float reward) {
  if (reward != reward) return outcomes.missing;
  if (outcomes.value.empty()) return static_cast<int>(reward) - outcomes.lowest;
  for (std::size_t k = 0; k < outcomes.value.size(); ++k)
    if (outcomes.value[k] == reward) return static_cast<int>(k);  // the same float, not nearly the same
  return -1;
}

}  // namespace

TEST_CASE("toy-lm: literal calls follow the law: judges x policies x aggregates x votes", "[draws]") {
  const ToyLm world = make_toy_lm({}, 11);
  CAPTURE(key);
  int tests = 0;
  double worst = 0, sum_z = 0;
  for (RaterConfig rater : judges())
    for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero})
      for (const auto& [aggregate, tie] : aggregations)
        for (const int votes : {1, 2, 5}) {
          rater.parse_policy = policy;
          rater.aggregate = aggregate;
          rater.tie = tie;
          rater.sampling = Sampling::law;
          TextRater by_distribution(rater, votes, key);
          rater.sampling = Sampling::draws;
          TextRater by_calls(rater, votes, key);
          const ToyPrompt prompt = make_prompt(world, static_cast<std::uint32_t>(tests));
          const auto response = tests % 3 == 0 ? best_response(world, prompt) : demonstration(world, prompt, {}, 3);
          const Text text = read_text(world, prompt, response);
          const Verdict verdict = judge_text(text);
          const auto distribution = by_distribution.distribution(text, verdict);
          std::vector<double> counts(distribution.size(), 0.0);
          int strange = 0;
          for (std::uint32_t step = 0; step < 250; ++step)
            for (std::uint32_t rollout = 0; rollout < 8; ++rollout) {
              const int at = outcome_of(by_distribution.outcomes(), by_calls.reward(text, verdict, 0, step, rollout));
              if (at < 0 || at >= static_cast<int>(distribution.size())) ++strange;
              else counts[static_cast<std::size_t>(at)] += 1;
            }
          const Fit fit = fit_of(distribution, counts);
          CAPTURE(tests, static_cast<int>(policy), static_cast<int>(aggregate), static_cast<int>(tie), votes, fit.z);
          CHECK(strange == 0);
          CHECK_FALSE(fit.impossible);
          CHECK(fit.z < 5);
          CHECK(by_calls.expected_calls() == by_distribution.expected_calls());
          worst = std::max(worst, fit.z);
          sum_z += fit.z;
          ++tests;
        }
  CAPTURE(tests, worst, sum_z / tests);
  CHECK(tests == 4 * 3 * 7 * 3);
  CHECK(std::fabs(sum_z / tests) < 0.25);  // about 4 standard errors
}

TEST_CASE("toy-lm: literal calls are a function of key, step, prompt and rollout, and of nothing else", "[draws]") {
  const ToyLm world = make_toy_lm({}, 12);
  RaterConfig rater = judges()[3];
  rater.sampling = Sampling::draws;
  rater.aggregate = Aggregate::mean;
  const ToyPrompt prompt = make_prompt(world, 5), other = make_prompt(world, 6);
  const auto response = best_response(world, prompt), answer = best_response(world, other);
  const Text text = read_text(world, prompt, response), elsewhere = read_text(world, other, answer);
  const Verdict verdict = judge_text(text);
  TextRater rater_a(rater, 7, key), rater_b(rater, 7, key), rater_c(rater, 7, key + 1);
  std::set<float> seen;
  int moved = 0;
  for (std::uint32_t step = 0; step < 20; ++step)
    for (std::uint32_t rollout = 0; rollout < 3; ++rollout) {
      const float reward = rater_a.reward(text, verdict, 1, step, rollout);
      rater_b.reward(elsewhere, judge_text(elsewhere), 7, step, rollout);
      CHECK(rater_b.reward(text, verdict, 2, step, rollout) == reward);  // the word belongs to the distribution alone
      moved += rater_c.reward(text, verdict, 1, step, rollout) != reward;
      seen.insert(reward);
    }
  CHECK(seen.size() > 10);
  CHECK(moved > 40);
}

TEST_CASE("toy-lm: answers that are read keep the places of their calls", "[draws]") {
  const ToyLm world = make_toy_lm({}, 12);
  RaterConfig drops = judges()[0];
  drops.sampling = Sampling::draws;
  drops.parse_failure = 0.4;
  drops.parse_policy = ParsePolicy::drop;
  RaterConfig zeros = drops;  // the same words: a call that cannot be read scores 0
  zeros.parse_policy = ParsePolicy::zero;
  const ToyPrompt prompt = make_prompt(world, 5);
  const auto response = best_response(world, prompt);
  const Text text = read_text(world, prompt, response);
  TextRater dropping(drops, 9, key), scoring(zeros, 9, key);
  int left_out = 0;
  for (std::uint32_t step = 0; step < 20; ++step) {
    const auto all = scoring.votes(text, judge_text(text), step, 1);
    REQUIRE(all.size() == 9);
    std::vector<ReadAnswer> readable;
    for (const ReadAnswer& a : all)
      if (a.score > 0) readable.push_back(a);
    const auto read = dropping.votes(text, judge_text(text), step, 1);
    REQUIRE(read.size() == readable.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      CHECK(read[i].call == readable[i].call);
      CHECK(read[i].score == readable[i].score);
    }
    left_out += 9 - static_cast<int>(read.size());
  }
  CHECK(left_out > 30);
}

TEST_CASE("toy-lm: literal calls go where the law is refused, and where all of them fail", "[draws]") {
  const ToyLm world = make_toy_lm({}, 13);
  const ToyPrompt prompt = make_prompt(world, 1);
  const auto response = best_response(world, prompt);
  const Text text = read_text(world, prompt, response);
  RaterConfig rater = rater_presets()[0].config;
  rater.sampling = Sampling::draws;
  rater.tie = TieRule::nearest_mean;
  TextRater many(rater, 1024, key);
  const float reward = many.reward(text, judge_text(text), 0, 0, 254);
  CHECK((reward >= 9 && reward <= 10));
  CHECK(text_distribution_cost(rater, 1024).seconds < 1e-3);
  CHECK(text_distribution_cost(rater, 1024).calls_seconds > 1e-5);
  rater.parse_failure = 1;
  const auto always = [&](ParsePolicy policy) {
    rater.parse_policy = policy;
    return TextRater(rater, 3, key).reward(text, judge_text(text), 0, 0, 0);
  };
  CHECK(always(ParsePolicy::resample) == 1);
  CHECK(always(ParsePolicy::zero) == 0);
  CHECK(std::isnan(always(ParsePolicy::drop)));
}
