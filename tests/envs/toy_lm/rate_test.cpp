// Distributions of rewards of texts against literal judges: every call scored, written as JSON, read back and aggregated.
#include <cmath>
#include <vector>

#include "envs/rater/vote.hpp"
#include "envs/toy_lm/demonstrations.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/words.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/chi_square.hpp"
#include "tests/envs/toy_lm/perfect.hpp"
#include "tests/envs/toy_lm/prompt.hpp"

using namespace odrpo;

namespace {

/// Random words in order.
struct Words {
  std::uint64_t key;
  std::uint32_t count = 0;
  double uniform() {
    const Words4 w = draw(key, Purpose::replica_vote, count / 4, 0, 0);
    return (static_cast<double>(w.x[count++ % 4]) + 0.5) * 0x1p-32;
  }
};

int drawn(const std::vector<double>& pmf, double u) {
  std::size_t k = 0;
  for (double below = pmf[0]; u >= below && k + 1 < pmf.size(); below += pmf[++k]) {
  }
  return static_cast<int>(k);
}

// one literal call about a text: a score 1..10, or 0 = nothing readable
int call(const RaterConfig& rater, const std::vector<double>& meant, Words& words) {
  if (words.uniform() < rater.parse_failure) return 0;
  const int score = 1 + drawn(meant, words.uniform());
  if (rater.text.json_odd == 0 && rater.text.json_broken == 0) return score;
  const JsonJudge judge{rater.text.json_odd, rater.text.json_broken};
  return parse_score(write_answer(choose_answer(judge, words.key, words.count++, 0, 0), score, toy_levels), toy_levels).value_or(0);
}

// the reward of `votes` literal calls; NaN = none
double reward(const RaterConfig& rater, const std::vector<double>& meant, int votes, Words& words) {
  std::vector<int> scores;
  for (int v = 0; v < votes; ++v) {
    int score = call(rater, meant, words);
    if (score == 0 && rater.parse_policy == ParsePolicy::resample) {
      score = call(rater, meant, words);
      if (score == 0) score = 1;
    }
    if (score == 0 && rater.parse_policy == ParsePolicy::drop) continue;
    scores.push_back(score);
  }
  if (scores.empty()) return std::nan("");
  if (rater.aggregate == Aggregate::mode) return vote(scores, rater.tie);
  std::sort(scores.begin(), scores.end());
  if (rater.aggregate == Aggregate::median) return scores[(scores.size() - 1) / 2];
  double sum = 0;
  for (const int s : scores) sum += s;
  return sum / static_cast<double>(scores.size());
}

}  // namespace

TEST_CASE("toy-lm: the law of a text's reward is that of literal judges") {
  const ToyLm world = make_toy_lm({}, 11);
  Words words{21};
  int tests = 0;
  double worst = 0, sum_z = 0;
  for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero})
    for (const Aggregate aggregate : {Aggregate::mode, Aggregate::median, Aggregate::mean})
      for (const int votes : {1, 3})
        for (const bool json : {false, true}) {
          RaterConfig rater = rater_presets()[2].config;  // wide
          rater.aggregate = aggregate;
          rater.parse_policy = policy;
          rater.parse_failure = json ? 0.05 : 0.2;
          if (json) rater.text.json_odd = 0.3, rater.text.json_broken = 0.3;
          rater.text.length_bias = 0.2;
          rater.text.misfire = 0.25;
          rater.text.overlook = 0.3;
          TextRater text_rater(rater, votes, 5);
          const ToyPrompt prompt = make_prompt(world, static_cast<std::uint32_t>(tests));
          const auto response = demonstration(world, prompt, {}, 3);
          const Text text = read_text(world, prompt, response);
          const Verdict verdict = judge_text(text);
          const auto distribution = text_rater.distribution(text, verdict);
          double total = 0;
          for (const double p : distribution) total += p;
          CHECK(total == Approx(1).epsilon(1e-12));
          // what one call means, without failures of any kind
          const auto biases = biases_of(rater.text);
          const SeenText seen = see_text(biases, text_features(text), verdict);
          std::vector<double> meant(toy_levels);
          text_row(Channel(rater.noise, toy_levels), seen, text_traits(rater.noise, 5, text, seen), meant);
          const Outcomes& outcomes = text_rater.outcomes();
          std::vector<double> counts(distribution.size(), 0.0);
          const int rounds = 4000;
          for (int r = 0; r < rounds; ++r) {
            const double x = reward(rater, meant, votes, words);
            std::size_t at = 0;
            if (x != x) at = static_cast<std::size_t>(outcomes.missing);
            else if (outcomes.value.empty()) at = static_cast<std::size_t>(static_cast<int>(x) - outcomes.lowest);
            else
              while (!(std::fabs(static_cast<double>(outcomes.value[at]) - x) < 1e-5)) REQUIRE(++at < distribution.size());
            counts[at] += 1;
          }
          const auto [z, impossible] = fit_of(distribution, counts);
          CHECK_FALSE(impossible);
          INFO("policy " << static_cast<int>(policy) << " aggregate " << static_cast<int>(aggregate) << " votes " << votes << " json "
                         << json << " z " << z);
          CHECK(z < 4.5);
          worst = z > worst ? z : worst;
          sum_z += z;
          ++tests;
        }
  CAPTURE(worst);
  CHECK(std::fabs(sum_z / tests) < 0.6);
}

TEST_CASE("toy-lm: the law of a call under every policy for unreadable answers, by hand") {
  // an exact judge of a text worth 10 with a word of tone: 1 and 10 with probability 1/2 each, and half of the calls fail
  const ToyLm world = make_toy_lm({}, 31);
  const ToyPrompt prompt = toy_test::hand_prompt(world);
  const std::vector<Token> response = toy_test::words(world, "key0 so fact0 . fact1 because fact2 . tone0.0 key1 <end>");
  const Text text = read_text(world, prompt, response);
  RaterConfig rater;
  rater.noise = {GaussianNoise{0.0, 0.0, GaussianForm::rounded}};
  rater.text.misfire = 0.5;
  const auto distribution = [&](ParsePolicy policy, double failure, int votes = 1) {
    rater.parse_policy = policy;
    rater.parse_failure = failure;
    TextRater judge(rater, votes, 1);
    const auto distribution_now = judge.distribution(text, judge_text(text));
    return std::vector<double>(distribution_now.begin(), distribution_now.end());
  };
  CHECK(distribution(ParsePolicy::resample, 0.5) == std::vector<double>{0.375 + 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0.375});
  CHECK(distribution(ParsePolicy::drop, 0.5) == std::vector<double>{0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0.25, 0.5});
  CHECK(distribution(ParsePolicy::zero, 0.5) == std::vector<double>{0.5, 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0.25});
  // and it goes into the distribution of N votes: the median of three calls of which none fails
  rater.text.misfire = 0.25;
  rater.aggregate = Aggregate::median;
  const auto three = distribution(ParsePolicy::resample, 0, 3);
  CHECK(three[0] == Approx(3 * 0.25 * 0.25 * 0.75 + 0.25 * 0.25 * 0.25));
  CHECK(three[9] == Approx(1 - three[0]));
}

TEST_CASE("toy-lm: a law's outcome is picked in proportion, and never one of probability 0") {
  const std::vector<double> distribution{0, 0.25, 0.5, 0.25, 0};
  int counts[5] = {};
  for (std::uint32_t w = 0; w < 1024; ++w) ++counts[TextRater::pick(distribution, w << 22)];
  CHECK(counts[0] == 0);
  CHECK(counts[1] == 256);
  CHECK(counts[2] == 512);
  CHECK(counts[3] == 256);
  CHECK(TextRater::pick(distribution, 0xFFFFFFFFu) == 3);
}

TEST_CASE("toy-lm: calls that are asked for again are counted") {
  const ToyLm world = make_toy_lm({}, 1);
  const ToyPrompt prompt = make_prompt(world, 0);
  const auto response = best_response(world, prompt);
  const Text text = read_text(world, prompt, response);
  RaterConfig rater = rater_presets()[3].config;
  rater.parse_failure = 0.25;
  TextRater again(rater, 4, 1);
  again.distribution(text, judge_text(text));
  CHECK(again.expected_calls() == Approx(5.0));
  rater.parse_policy = ParsePolicy::drop;
  TextRater dropped(rater, 4, 1);
  dropped.distribution(text, judge_text(text));
  CHECK(dropped.expected_calls() == 4.0);
  // answers in broken JSON are asked for again too: half of those that come, where an exact judge always means 10
  rater.parse_policy = ParsePolicy::resample;
  rater.noise = {GaussianNoise{0.0, 0.0, GaussianForm::rounded}};
  rater.text.json_broken = 0.5;
  TextRater broken(rater, 4, 1);
  broken.distribution(text, judge_text(text));
  CHECK(broken.expected_calls() == Approx(4 * (1 + 0.25 + 0.75 * 0.5)));
}

TEST_CASE("toy-lm: an expected score is the mean of what a call means, whatever the words, and answers are not parsed") {
  const ToyLm world = make_toy_lm({}, 11);
  RaterConfig rater = rater_presets()[2].config;  // wide
  rater.noise.push_back(SharedBias{0.5});
  rater.text.length_bias = 0.2;
  rater.text.misfire = 0.25;
  RaterConfig expected = rater;
  expected.aggregate = Aggregate::expected;
  expected.text.json_odd = 0.3, expected.text.json_broken = 0.3;  // change nothing
  TextRater one(rater, 1, 5), mean(expected, 3, 5);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const ToyPrompt prompt = make_prompt(world, i);
    const auto response = demonstration(world, prompt, {}, i);
    const Text text = read_text(world, prompt, response);
    const Verdict verdict = judge_text(text);
    double by_distribution = 0;
    const auto distribution = one.distribution(text, verdict);
    for (std::size_t k = 0; k < distribution.size(); ++k) by_distribution += static_cast<double>(k + 1) * distribution[k];
    const auto reward = static_cast<double>(mean.reward(text, verdict, 7 + i, 0, i));
    CHECK(reward == Approx(by_distribution).epsilon(1e-6));
    CHECK(static_cast<double>(mean.reward(text, verdict, 0x80000000u + i, 3, i + 1)) == reward);
    CHECK(mean.expected_calls() == 3);
  }
}

namespace {

constexpr std::uint64_t key = 20261128;

/// `judges` alike: a panel makes its calls one after the other and counts them, and each of its calls has the distribution of one judge's.
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
          TextRater by_distribution(rater, votes, key);
          rater.sampling = Sampling::draws;
          TextRater by_calls(rater, votes, key);
          const ToyPrompt prompt = make_prompt(world, tests);
          const auto response = demonstration(world, prompt, {}, 3);
          const Text text = read_text(world, prompt, response);
          const Verdict verdict = judge_text(text);
          const auto distribution = by_distribution.distribution(text, verdict);
          std::vector<double> counts(distribution.size(), 0.0);
          for (std::uint32_t step = 0; step < 250; ++step)
            for (std::uint32_t rollout = 0; rollout < 8; ++rollout) {
              const float reward = by_calls.reward(text, verdict, 0, step, rollout);
              const int at = reward == reward ? static_cast<int>(reward) - by_distribution.outcomes().lowest : by_distribution.outcomes().missing;
              REQUIRE((at >= 0 && at < static_cast<int>(distribution.size())));
              counts[static_cast<std::size_t>(at)] += 1;
            }
          const Fit fit = fit_of(distribution, counts);
          CAPTURE(tests, static_cast<int>(policy), tie.word, votes, stop, json, fit.z);
          CHECK_FALSE(fit.impossible);
          CHECK(fit.z < 5);
          CHECK(by_calls.expected_calls() == by_distribution.expected_calls());
          const double again = policy == ParsePolicy::resample ? 1.15 : 1;
          if (stop == votes) CHECK((json || by_distribution.expected_calls() == Approx(votes * again)));
          else if (!json) CHECK(by_distribution.expected_calls() < votes * again);
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
