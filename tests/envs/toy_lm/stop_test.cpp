// Judges of texts that stop early: their law against literal calls, and the calls that they expect against those that are made.
#include <cmath>
#include <vector>

#include "envs/toy_lm/demonstrations.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "kernels/shared/word.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/chi_square.hpp"

using namespace odrpo;

namespace {

constexpr std::uint64_t key = 20261128;

/// `judges` alike: a panel makes its calls one after the other and counts them, and each of its calls has the law of one judge's.
RaterConfig alike(int judges) {
  LatentScale scale;
  scale.sigma = 0.6, scale.spread = 0.3;
  set_thresholds(scale, NumberRows(static_cast<std::size_t>(judges), {-1.2, -0.3, 0.4, 1.1}));
  RaterConfig rater;
  rater.noise = {LatentNoise{scale}};
  return rater;
}

}  // namespace

TEST_CASE("toy-lm: a judge that stops early: literal calls follow the law, and expect as many calls", "[draws]") {
  CAPTURE(key);
  const ToyLm world = make_toy_lm({}, 11);
  std::uint32_t tests = 0;
  double sum_z = 0;
  for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero})
    for (const Word<TieRule>& tie : tie_words)
      for (const auto& [votes, stop] : {std::pair{4, 2}, {7, 3}, {3, 3}})
        for (const bool json : {false, true}) {
          RaterConfig rater = rater_presets()[2].config;  // wide
          rater.noise.push_back(UniformFlip{0.3});
          rater.parse_failure = 0.15;
          if (json) rater.text.json_odd = 0.3, rater.text.json_broken = 0.3;
          rater.parse_policy = policy;
          rater.tie = tie.value;
          rater.stop = stop;
          TextRater by_law(rater, votes, key);
          rater.sampling = Sampling::draws;
          TextRater by_calls(rater, votes, key);
          const ToyPrompt prompt = make_prompt(world, tests);
          const auto response = demonstration(world, prompt, {}, 3);
          const Text text = read_text(world, prompt, response);
          const Verdict verdict = judge_text(text);
          const auto law = by_law.law(text, verdict);
          std::vector<double> counts(law.size(), 0.0);
          for (std::uint32_t step = 0; step < 250; ++step)
            for (std::uint32_t rollout = 0; rollout < 8; ++rollout) {
              const float reward = by_calls.reward(text, verdict, 0, step, rollout);
              const int at = reward == reward ? static_cast<int>(reward) - by_law.outcomes().lowest : by_law.outcomes().missing;
              REQUIRE((at >= 0 && at < static_cast<int>(law.size())));
              counts[static_cast<std::size_t>(at)] += 1;
            }
          const Fit fit = fit_of(law, counts);
          CAPTURE(tests, static_cast<int>(policy), tie.word, votes, stop, json, fit.z);
          CHECK_FALSE(fit.impossible);
          CHECK(fit.z < 5);
          CHECK(by_calls.expected_calls() == by_law.expected_calls());
          const double again = policy == ParsePolicy::resample ? 1.15 : 1;
          if (stop == votes) CHECK((json || by_law.expected_calls() == Approx(votes * again)));
          else if (!json) CHECK(by_law.expected_calls() < votes * again);
          sum_z += fit.z;
          ++tests;
        }
  CHECK(tests == 3 * 5 * 3 * 2);
  CHECK(std::abs(sum_z / tests) < 0.4);
}

TEST_CASE("toy-lm: a panel that stops early counts the calls that it made, and judges alike make as many as one expects", "[draws]") {
  CAPTURE(key);
  const ToyLm world = make_toy_lm({}, 11);
  const ToyPrompt prompt = make_prompt(world, 3);
  const auto response = demonstration(world, prompt, {}, 3);
  const Text text = read_text(world, prompt, response);
  const Verdict verdict = judge_text(text);
  for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero}) {
    RaterConfig one = alike(1), two = alike(2);
    for (RaterConfig* rater : {&one, &two}) {
      rater->sampling = Sampling::draws;
      rater->parse_failure = 0.25;
      rater->parse_policy = policy;
      rater->stop = 3;
    }
    TextRater single(one, 8, key), panel(two, 8, key);
    double sum = 0, squares = 0;
    const int rounds = 20000;
    for (int i = 0; i < rounds; ++i) {
      panel.reward(text, verdict, 0, static_cast<std::uint32_t>(i), 0);
      const double made = panel.expected_calls();
      REQUIRE(made == std::floor(made));
      sum += made, squares += made * made;
    }
    single.reward(text, verdict, 0, 0, 0);
    const double mean = sum / rounds, error = std::sqrt((squares / rounds - mean * mean) / rounds);
    CAPTURE(static_cast<int>(policy), mean, error, single.expected_calls());
    CHECK(std::abs(mean - single.expected_calls()) < 4.5 * error);
    CHECK(mean < 8);
  }
}
