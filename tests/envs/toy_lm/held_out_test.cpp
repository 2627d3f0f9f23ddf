// Grounding, pairs of responses and instruction following: small examples by hand, and draws against their exact expectations.
#include "envs/toy_lm/held_out.hpp"

#include <cmath>

#include "envs/toy_lm/demonstrations.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/perfect.hpp"
#include "tests/envs/toy_lm/prompt.hpp"

using namespace odrpo;
using namespace odrpo::toy_test;

namespace {

const ToyLm& world() {
  static const ToyLm w = make_toy_lm({}, 41);
  return w;
}

// Prompts and rows of tokens that own their memory.
struct Rows {
  std::vector<ToyPrompt> prompts;
  std::vector<Token> tokens;
  void add(const ToyPrompt& p, std::vector<Token> r) {
    r.resize(24, world().vocabulary.end());
    prompts.push_back(p);
    tokens.insert(tokens.end(), r.begin(), r.end());
  }
  ResponseBatch batch() const { return {&world(), prompts, tokens, 24}; }
};

Rows demonstrations(int prompts, int rollouts, std::uint32_t first) {
  Rows rows;
  for (int p = 0; p < prompts; ++p)
    for (int r = 0; r < rollouts; ++r) {
      const ToyPrompt prompt = make_prompt(world(), static_cast<std::uint32_t>(p));
      rows.add(prompt, demonstration(world(), prompt, {0.3}, first + static_cast<std::uint32_t>(r)));
    }
  return rows;
}

constexpr const char* best = "key0 so fact0 . fact1 because fact2 . tone0.0 key1 <end>";
constexpr const char* unsupported = "key0 so fact7 . fact1 because fact2 . tone0.0 key1 <end>";
constexpr const char* one_fact = "key0 so fact0 . fact0 because key0 . tone0.0 key1 <end>";
constexpr const char* unanswered = "key0 so fact0 . fact1 because fact2 . tone0.0 key5 <end>";

}  // namespace

TEST_CASE("grounding by hand: what supports, what the filter asks for, and perfect judges") {
  const ToyPrompt p = hand_prompt(world());
  CHECK(of(is_supported, world(), p, best));
  CHECK_FALSE(of(is_supported, world(), p, unsupported));
  CHECK_FALSE(of(is_supported, world(), p, one_fact));
  CHECK(of(is_supported, world(), p, unanswered));
  CHECK(of(passes_filter, world(), p, unsupported));
  CHECK_FALSE(of(passes_filter, world(), p, unanswered));
  CHECK_FALSE(of(passes_filter, world(), p, "key0 so fact0 . fact1 because fact2 . tone0.0 key1"));  // does not end
  CHECK_FALSE(of(passes_filter, world(), p, "key0 fact1 key1 <end>"));                               // too short

  const ToyLm hard = make_toy_lm({.difficulty = Difficulty::hard}, 41);
  CHECK(of(is_supported, hard, p, best));
  CHECK_FALSE(of(is_supported, hard, p, unsupported));
  constexpr const char* two_facts = "key0 so fact0 . fact1 because key0 . tone0.0 key1 <end>";
  CHECK(of(is_supported, world(), p, two_facts));
  CHECK_FALSE(of(is_supported, hard, p, two_facts));
  CHECK_FALSE(of(is_supported, hard, p, "key0 so fact1 . fact0 because fact2 . tone0.0 key1 <end>"));  // in another order

  Rows rows;
  for (const char* r : {best, unsupported, one_fact, unanswered, best}) rows.add(p, words(world(), r));
  const ResponseMean perfect = grounding(rows.batch(), {{1, 1}, {1, 1}}, 1, 0);
  CHECK(perfect.count == 5);
  CHECK(perfect.mean == 0.4);
  CHECK(perfect.sd == Approx(std::sqrt((2 * 0.36 + 3 * 0.16) / 4)));
  // expectation: 0.9 and 0.7 for the two supported, 1 - 0.8 and 1 - 0.6 for the two that are not, 0 for the one filtered out
  CHECK(expected_grounding(rows.batch(), {{0.9, 0.7}, {0.8, 0.6}}) == Approx((0.8 * 2 + 0.3 * 2) / 5));
  CHECK(grounding({&world(), {}, {}, 24}, {}, 1, 0).count == 0);
}

TEST_CASE("grounding by draws: the mean is the expectation, the judges are independent, rollouts and steps differ") {
  const Rows rows = demonstrations(200, 3, 0);
  const GroundingConfig config;
  const double expected = expected_grounding(rows.batch(), config);
  CHECK(expected > 0.2);
  double sum = 0, squares = 0;
  const int steps = 300;
  for (std::uint32_t s = 0; s < steps; ++s) {
    const double x = grounding(rows.batch(), config, 5, s).mean;
    sum += x / steps;
    squares += x * x / steps;
  }
  const double se = std::sqrt((squares - sum * sum) / steps);
  CHECK(se > 0);
  CHECK(std::abs(sum - expected) < 5 * se);

  // one supported response many times: halves come with probability s1 (1 - s2) + s2 (1 - s1)
  Rows same;
  const ToyPrompt p = hand_prompt(world());
  for (int i = 0; i < 20000; ++i) same.add(p, words(world(), best));
  const ResponseMean e = grounding(same.batch(), {{0.9, 0.6}, {0.5, 0.5}}, 5, 0);
  // mean 0.75, variance (0.09 + 0.24) / 4 when independent
  CHECK(std::abs(e.mean - 0.75) < 5 * std::sqrt(0.0825 / 20000));
  CHECK(e.sd * e.sd == Approx(0.0825).epsilon(0.03));
  CHECK(grounding(same.batch(), {{0.9, 0.6}, {0.5, 0.5}}, 5, 0).mean == e.mean);
  CHECK(grounding(same.batch(), {{0.9, 0.6}, {0.5, 0.5}}, 5, 1).mean != e.mean);
}

TEST_CASE("the law of a comparison by hand") {
  const PairwiseConfig c{1.0, 0.25, 0.0};
  CHECK(compare_distribution(0, c).win == Approx(0.401293674317076));
  CHECK(compare_distribution(0, c).lose == Approx(0.401293674317076));
  CHECK(compare_distribution(0, c).tie == Approx(0.197412651365847));
  CHECK(compare_distribution(1, {2.0, 0.0, 0.0}).win == Approx(0.691462461274013));
  CHECK(compare_distribution(1, {2.0, 0.0, 0.0}).tie == 0);
  for (double d : {-9.0, -0.3, 2.0}) {
    const Outcome3 distribution = compare_distribution(d, c);
    CHECK(distribution.win + distribution.tie + distribution.lose == Approx(1.0).epsilon(1e-13));
  }
  const PairwiseConfig exact{0.0, 0.25, 0.0};
  CHECK((compare_distribution(0.25, exact).tie == 1 && compare_distribution(0.26, exact).win == 1 && compare_distribution(-0.26, exact).lose == 1));
  CHECK((compare_distribution(0.25, exact).win == 0 && compare_distribution(0.26, exact).tie == 0 && compare_distribution(-0.26, exact).tie == 0));
}

TEST_CASE("win rate by hand with an exact judge: quality, length, ties") {
  const ToyPrompt p = hand_prompt(world());
  const char* longer = "key0 so fact0 . fact1 because fact2 . tone0.0 key1 plain0 plain1 <end>";  // 12 words: 10 - 4/16
  Rows model, baseline;
  for (const auto& [a, b] : {std::pair{best, unsupported}, {best, best}, {longer, best}, {one_fact, best}}) {
    model.add(p, words(world(), a));
    baseline.add(p, words(world(), b));
  }
  const WinRate w = win_rate(model.batch(), baseline.batch(), {0.0, 0.1, 0.0}, 1, 0);  // win, tie, loss, loss
  CHECK((w.wins == 1 && w.ties == 1 && w.losses == 2));
  CHECK(w.raw.mean == 0.375);
  CHECK(w.control.raw == 0.375);
  CHECK(w.raw.count == 4);
  // 0.2 a word outweighs the quarter level that two words cost
  const WinRate lengthy = win_rate(model.batch(), baseline.batch(), {0.0, 0.1, 0.2}, 1, 0);
  CHECK((lengthy.wins == 2 && lengthy.ties == 1 && lengthy.losses == 1));
  // the same rows the other way round
  const WinRate back = win_rate(baseline.batch(), model.batch(), {0.0, 0.1, 0.2}, 1, 0);
  CHECK((back.wins == 1 && back.ties == 1 && back.losses == 2));
  Rows other = baseline;
  other.prompts[2] = make_prompt(world(), 8);
  CHECK_THROWS_AS(win_rate(model.batch(), other.batch(), {}, 1, 0), Failure);
  other.add(p, words(world(), best));
  CHECK_THROWS_AS(win_rate(model.batch(), other.batch(), {}, 1, 0), Failure);
}

TEST_CASE("win rate by draws: raw mean and each outcome are as expected") {
  const Rows model = demonstrations(150, 2, 0), baseline = demonstrations(150, 2, 10);
  const PairwiseConfig config{1.5, 0.5, 0.1};
  const LengthControl expected = expected_win_rate(model.batch(), baseline.batch(), config);
  std::vector<double> quality, length;
  for (int i = 0; i < 300; ++i) {
    const Text a = model.batch().text(i), b = baseline.batch().text(i);
    quality.push_back(judge_text(a).quality() - judge_text(b).quality());
    length.push_back(a.length() - b.length());
  }
  const LengthControl by_numbers = expected_win_rate(quality, length, config);  // the same distribution of what is known of the texts
  CHECK((by_numbers.raw == expected.raw && by_numbers.rate == expected.rate));
  length.pop_back();
  CHECK_THROWS_AS(expected_win_rate(quality, length, config), Failure);
  double ties = 0;
  for (int i = 0; i < 300; ++i) {
    const Text a = model.batch().text(i), b = baseline.batch().text(i);
    ties += compare_distribution(judge_text(a).quality() - judge_text(b).quality() + 0.1 * (a.length() - b.length()), config).tie;
  }
  double sum = 0, squares = 0, tied = 0, controlled = 0;
  const int steps = 200;
  for (std::uint32_t s = 0; s < steps; ++s) {
    const WinRate w = win_rate(model.batch(), baseline.batch(), config, 6, s);
    CHECK(w.wins + w.ties + w.losses == 300);
    CHECK(w.raw.mean == Approx((w.wins + 0.5 * w.ties) / 300));
    sum += w.raw.mean / steps;
    squares += w.raw.mean * w.raw.mean / steps;
    tied += static_cast<double>(w.ties) / steps;
    controlled += w.control.rate / steps;
    REQUIRE(w.control.converged);
  }
  const double se = std::sqrt((squares - sum * sum) / steps);
  CHECK(std::abs(sum - expected.raw) < 5 * se);
  CHECK(std::abs(tied - ties) < 5 * std::sqrt(ties / steps));
  CHECK(std::abs(controlled - expected.rate) < 5 * se + 0.005);  // the fit is not linear in the preferences
}

TEST_CASE("length control by hand: one group, two groups, nothing, everything won") {
  // all lengths equal: the mean preference, moved by the ridge as its stationary point says
  const std::vector<double> y{1, 1, 1, 0}, same{3, 3, 3, 3};
  const LengthControl one = control_length(y, same);
  CHECK(one.converged);
  CHECK(one.length == 0);
  CHECK(std::abs(4 * (one.rate - 0.75) + control_ridge * one.model) < 1e-9);
  CHECK(one.rate == Approx(0.75).margin(1e-3));

  // 1000 comparisons 5 words longer, 80 % won, and 1000 shorter by 5, 40 % won: x = +-tanh(1), model = mean of the logits
  std::vector<double> preference, difference;
  for (int i = 0; i < 1000; ++i) {
    preference.push_back(i < 800 ? 1 : 0);
    difference.push_back(5);
    preference.push_back(i < 400 ? 1 : 0);
    difference.push_back(-5);
  }
  const LengthControl two = control_length(preference, difference);
  const double high = std::log(4.0), low = std::log(2.0 / 3);
  CHECK(two.converged);
  CHECK(two.model == Approx((high + low) / 2).margin(1e-5));
  CHECK(two.length == Approx((high - low) / 2 / std::tanh(1.0)).margin(1e-5));
  CHECK(two.rate == Approx(1 / (1 + std::exp(-(high + low) / 2))).margin(1e-5));
  CHECK(two.raw == Approx(0.6));

  const LengthControl none = control_length({}, {});
  CHECK((none.rate == 0.5 && !none.converged));
  const std::vector<double> won(500, 1.0);
  std::vector<double> ramp(500);
  for (int i = 0; i < 500; ++i) ramp[i] = i % 7;
  const LengthControl all = control_length(won, ramp);
  CHECK(all.converged);
  CHECK((all.rate > 0.99 && all.rate < 1));
  // separated: longer always wins, shorter always loses
  std::vector<double> sign(500);
  for (int i = 0; i < 500; ++i) {
    ramp[i] = i % 2 ? 4 : -4;
    sign[i] = i % 2;
  }
  const LengthControl apart = control_length(sign, ramp);
  CHECK(apart.converged);
  CHECK(apart.rate == Approx(0.5).margin(1e-9));
}

TEST_CASE("length control finds the coefficients that made the preferences, and is the minimum of its loss") {
  std::mt19937_64 g(3);
  std::normal_distribution<double> z(2, 5);
  const int n = 4000;
  std::vector<double> difference(n), preference(n), x(n);
  double mean = 0, square = 0;
  for (double& d : difference) d = std::floor(z(g)), mean += d / n;
  for (double d : difference) square += (d - mean) * (d - mean) / n;
  for (int i = 0; i < n; ++i) {
    x[i] = std::tanh(difference[i] / std::sqrt(square));
    preference[i] = 1 / (1 + std::exp(-(-0.4 + 1.7 * x[i])));
  }
  const LengthControl fit = control_length(preference, difference);
  CHECK(fit.converged);
  CHECK(fit.iterations < 12);
  CHECK(fit.model == Approx(-0.4).margin(1e-5));
  CHECK(fit.length == Approx(1.7).margin(1e-5));
  CHECK(fit.rate == Approx(1 / (1 + std::exp(0.4))).margin(1e-5));
  const auto loss = [&](double model, double length) {
    double sum = 0.5 * control_ridge * (model * model + length * length);
    for (int i = 0; i < n; ++i) {
      const double s = model + length * x[i];
      sum += std::log1p(std::exp(s)) - preference[i] * s;
    }
    return sum;
  };
  const double least = loss(fit.model, fit.length);
  for (double h : {-0.01, 0.01}) {
    CHECK(loss(fit.model + h, fit.length) > least);
    CHECK(loss(fit.model, fit.length + h) > least);
  }
}

TEST_CASE("length control removes a judge's length bias, and keeps a true difference") {
  std::mt19937_64 g(4);
  std::normal_distribution<double> z(3, 4);
  const PairwiseConfig config{1.0, 0.25, 0.2};  // the model's answers are 3 words longer on average
  for (double advantage : {0.0, 0.7}) {
    std::vector<double> difference, preference;
    for (int i = 0; i < 3000; ++i) {
      difference.push_back(std::floor(z(g) + 0.5));
      const Outcome3 distribution = compare_distribution(advantage + config.length_slope * difference.back(), config);
      preference.push_back(distribution.win + 0.5 * distribution.tie);
    }
    const Outcome3 fair = compare_distribution(advantage, config);
    const LengthControl fit = control_length(preference, difference);
    CHECK(fit.raw > fair.win + 0.5 * fair.tie + 0.07);
    CHECK(fit.rate == Approx(fair.win + 0.5 * fair.tie).margin(0.025));
    CHECK(fit.length > 0.5);
  }
}

TEST_CASE("instruction following by hand: strict, loose, and the four shares") {
  const ToyPrompt p = hand_prompt(world()), opening = hand_prompt(world(), KeywordOrder::opening);
  const auto strict = [&](const ToyPrompt& q, const char* text) { return of(followed_strictly, world(), q, text); };
  const auto loose = [&](const ToyPrompt& q, const char* text) { return of(followed_loosely, world(), q, text); };
  CHECK(strict(p, best) == 0b1111);
  CHECK(strict(p, "key1 key0 fact0 <end>") == 0b1001);
  CHECK(strict(p, "key0 so fact0 . fact1 because fact2 . tone0.0 key1") == 0b0111);
  CHECK(strict(p, "") == 0);
  // brief: 8..14 words
  const char* greeted = "so key0 so fact0 . fact1 because fact2 . tone0.0 key1 <end>";
  CHECK(strict(opening, greeted) == 0b1101);
  CHECK(loose(opening, greeted) == 0b1111);                                                     // without the first word
  CHECK(loose(opening, "um well key0 so fact0 . fact1 because fact2 . key1 <end>") == 0b1111);  // without fillers
  CHECK(loose(opening, "so then key0 so fact0 . fact1 because fact2 . key1 <end>") == 0b1101);  // two words too many
  const char* sixteen = "so key0 so fact0 . fact1 because fact2 . tone0.0 key1 and fact0 . fact1 then <end>";
  CHECK(strict(p, sixteen) == 0b1011);
  CHECK(loose(p, sixteen) == 0b1111);  // without first and last word: 14
  CHECK(loose(p, "key0 so fact0 . fact1 . fact2 . key1 . fact0 . fact1 . fact2 . fact0 <end>") == 0b1011);  // 17 words
  CHECK(loose(p, "key0 so fact0 . fact1 . fact2 . key1 . fact0 um fact1 . fact2 . fact0 <end>") == 0b1111);  // 14 without all three
  // each instruction may hold in a variant of its own: here the order without the first word, the length as it stands
  CHECK(loose(p, "key1 so key0 fact0 fact1 fact2 . key1 <end>") == 0b1111);
  CHECK(loose(p, best) == 0b1111);
  CHECK(loose(p, "") == 0);

  Rows rows;
  rows.add(p, words(world(), best));
  rows.add(opening, words(world(), greeted));
  rows.add(p, words(world(), "key1 key0 fact0 <end>"));
  const InstructionScores s = instruction_following(rows.batch());
  CHECK(s.prompt_strict.mean == Approx(1.0 / 3));
  CHECK(s.instruction_strict.mean == Approx((1 + 0.75 + 0.5) / 3));
  CHECK(s.prompt_loose.mean == Approx(2.0 / 3));
  // the third: without its first word the second keyword is gone, so the order does not hold in any variant
  CHECK(s.instruction_loose.mean == Approx((1 + 1 + 0.5) / 3));
  CHECK(s.average() == Approx((1.0 / 3 + 0.75 + 2.0 / 3 + 2.5 / 3) / 4));
  CHECK(s.prompt_strict.count == 3);
}

TEST_CASE("instruction following: loose never less than strict, and consistent with the requirements") {
  const Rows rows = demonstrations(400, 1, 0);
  for (int i = 0; i < 400; ++i) {
    const Text t = rows.batch().text(i);
    const unsigned strict = followed_strictly(t);
    CHECK((strict & ~followed_loosely(t)) == 0);
    const unsigned asked = static_cast<unsigned>(Requirement::keywords) | static_cast<unsigned>(Requirement::order) |
                           static_cast<unsigned>(Requirement::length) | static_cast<unsigned>(Requirement::end);
    CHECK((strict == 0b1111) == ((judge_text(t).violations & asked) == 0));
  }
}

TEST_CASE("ceilings: no response expects more grounding, a perfect text reaches it, and its instructions are all followed") {
  constexpr GroundingConfig config;
  constexpr double ceiling = grounding_ceiling(config);
  CHECK(ceiling == Approx((config.sensitivity[0] + config.sensitivity[1]) / 2));
  CHECK(grounding_ceiling({{0.2, 0.1}, {0.5, 0.3}}) == Approx(0.6));  // judges who say yes to what is not supported
  CHECK(held_out_ceiling(config) == Approx((ceiling + 2) / 3));
  const Rows some = demonstrations(200, 2, 0);
  Rows perfect;
  for (int i = 0; i < some.batch().count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Rows one;
    one.add(some.prompts[at], {some.tokens.begin() + 24 * i, some.tokens.begin() + 24 * (i + 1)});
    CHECK(expected_grounding(one.batch(), config) <= ceiling);
    perfect.add(some.prompts[at], best_response(world(), some.prompts[at]));
  }
  CHECK(expected_grounding(perfect.batch(), config) == Approx(ceiling).epsilon(1e-13));
  CHECK(instruction_following(perfect.batch()).average() == 1);
  const LengthControl wins = expected_win_rate(perfect.batch(), some.batch(), {});
  CHECK((wins.rate > 0.95 && wins.rate < 1));
  CHECK(held_out_mean(ceiling, wins.rate, 1) < held_out_ceiling(config));
  const int steps = 100, n = perfect.batch().count();  // the judges' answers, drawn
  double sum = 0, variance = 0;
  for (std::uint32_t s = 0; s < steps; ++s) sum += grounding(perfect.batch(), config, 7, s).mean / steps;
  for (const double p : config.sensitivity) variance += p * (1 - p) / 4;  // of a response's mean of two independent answers
  CHECK(std::abs(sum - ceiling) < 5 * std::sqrt(variance / (n * steps)));
}

TEST_CASE("best responses win everything, and the mean of the three") {
  Rows best_rows;
  Rows poor = demonstrations(100, 1, 0);
  for (const ToyPrompt& p : poor.prompts) best_rows.add(p, best_response(world(), p));
  CHECK(expected_grounding(best_rows.batch(), {}) == Approx(0.9));
  CHECK(instruction_following(best_rows.batch()).average() == 1.0);
  CHECK(expected_win_rate(best_rows.batch(), poor.batch(), {}).rate > 0.9);
  CHECK(held_out_mean(0.9, 0.6, 0.3) == Approx(0.6));
}
